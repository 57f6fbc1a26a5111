//! Percentiles and medians of samples.

use std::time::Duration;

/// Times in the order in which they were measured.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the time that `percent` percent of the samples do not exceed, or zero without
    /// samples.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(place).copied().unwrap_or_default()
    }

    pub(crate) fn max(&self) -> Duration {
        self.0.iter().max().copied().unwrap_or_default()
    }
}

/// Returns the median; of an even number of values, the upper one. Returns zero without values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(crate) fn ratio(above: Duration, below: Duration) -> f64 {
    above.as_secs_f64() / below.as_secs_f64()
}
