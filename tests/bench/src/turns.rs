//! Two sides of a measurement in this process, in turn, so that what disturbs
//! disturbs both.

use crate::process::cpu_of;
use crate::sample::{median, ms};
use anyhow::Result;

/// How often each side is asked.
pub(crate) struct Turns {
    /// Requests of one side before the other has its turn.
    pub(crate) round: u32,
    pub(crate) rounds: usize,
}

impl Turns {
    /// Processor time of a request in milliseconds, of either side: medians of
    /// rounds. What they return is passed over.
    pub(crate) fn processor_time<A, B>(
        &self,
        one: impl Fn() -> Result<A>,
        other: impl Fn() -> Result<B>,
    ) -> Result<(f64, f64)> {
        let (mut ones, mut others) = (Vec::new(), Vec::new());
        for number in 0..=self.rounds {
            let pair = (self.take(&one)?, self.take(&other)?);
            // The first one warms up.
            if number > 0 {
                ones.push(pair.0);
                others.push(pair.1);
            }
        }
        Ok((median(ones), median(others)))
    }

    fn take<T>(&self, ask: &impl Fn() -> Result<T>) -> Result<f64> {
        let own = std::process::id();
        let before = cpu_of(own)?;
        for _ in 0..self.round {
            ask()?;
        }
        Ok(ms(cpu_of(own)? - before) / f64::from(self.round))
    }
}
