//! Two sides of a measurement in this process, in turn, so that what disturbs
//! disturbs both.

use crate::process::own_cpu;
use crate::sample::{median, ms};
use anyhow::Result;

/// How often each side is asked.
pub(crate) struct Turns {
    /// Requests of one side before the other has its turn: few, so that the machine is
    /// as fast for both.
    pub(crate) round: u32,
    pub(crate) rounds: usize,
}

/// Processor time of either side, medians of rounds.
pub(crate) struct Compared {
    /// Of a request, in milliseconds.
    pub(crate) one: f64,
    pub(crate) other: f64,
    /// Of one against the other in the same round.
    pub(crate) ratio: f64,
}

impl Turns {
    /// Compares two sides. What they return is passed over.
    pub(crate) fn processor_time<A, B>(
        &self,
        one: impl Fn() -> Result<A>,
        other: impl Fn() -> Result<B>,
    ) -> Result<Compared> {
        let mut rounds = Vec::new();
        for number in 0..=self.rounds {
            let round = (self.take(&one)?, self.take(&other)?);
            // The first one warms up.
            if number > 0 {
                rounds.push(round);
            }
        }
        let of = |number: fn(&(f64, f64)) -> f64| median(rounds.iter().map(number).collect());
        Ok(Compared {
            one: of(|round| round.0),
            other: of(|round| round.1),
            ratio: of(|round| round.0 / round.1),
        })
    }

    fn take<T>(&self, ask: &impl Fn() -> Result<T>) -> Result<f64> {
        let before = own_cpu();
        for _ in 0..self.round {
            ask()?;
        }
        Ok(ms(own_cpu() - before) / f64::from(self.round))
    }
}
