//! Alternating measurement of two functions in this process, so that a disturbance affects both.

use crate::process::own_cpu;
use crate::sample::{median, ms};
use anyhow::Result;

/// Number of rounds and of calls per round.
pub(crate) struct PairedRounds {
    /// Calls of one function before the other one follows. The number is small, so that the machine
    /// is equally fast for both.
    pub(crate) round: u32,
    pub(crate) rounds: usize,
}

/// Processor time of both functions, as medians of the rounds.
pub(crate) struct Compared {
    /// Processor time of a call, in milliseconds.
    pub(crate) one: f64,
    pub(crate) other: f64,
    /// Ratio of one to the other in the same round.
    pub(crate) ratio: f64,
}

impl PairedRounds {
    /// Compares two functions. Their results are discarded.
    pub(crate) fn processor_time<A, B>(
        &self,
        one: impl Fn() -> Result<A>,
        other: impl Fn() -> Result<B>,
    ) -> Result<Compared> {
        let mut rounds = Vec::new();
        for number in 0..=self.rounds {
            let round = (self.take(&one)?, self.take(&other)?);
            // The first round warms up.
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
