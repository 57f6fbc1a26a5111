//! Durations and failures of calls, counted by time.

use crate::money::Money;
use crate::named_enum::named_enum;
use crate::owner::{Mode, Tenant};
use crate::supplier::SupplierId;
use crate::time::Timestamp;

/// Upper bounds of the histogram buckets of durations, in microseconds. A last bucket has all
/// longer durations.
pub const DURATION_BUCKET_BOUNDS_US: [u64; 13] = [
    1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
    5_000_000, 10_000_000,
];

/// Number of histogram buckets of durations.
pub const DURATION_BUCKETS: usize = DURATION_BUCKET_BOUNDS_US.len() + 1;

named_enum! {
    /// The subject of statistics.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum StatisticsSubject {
        /// All API calls together.
        Total = "total",
        /// API calls by method and route.
        Route = "route",
        /// Calls of plugins by supplier and function.
        Supplier = "supplier",
    }
}

named_enum! {
    /// The time that a row of the statistics covers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum TimeResolution {
        Minute = "minute",
        Hour = "hour",
    }
}

impl TimeResolution {
    pub const fn ms(self) -> i64 {
        match self {
            Self::Minute => 60_000,
            Self::Hour => 3_600_000,
        }
    }

    /// Returns the beginning of the minute or hour of a time.
    pub const fn floor(self, time: Timestamp) -> Timestamp {
        Timestamp(time.0 - time.0.rem_euclid(self.ms()))
    }
}

/// The numbers of calls, by duration and result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallStatistics {
    pub count: u64,
    /// Calls that failed because of the caller: API calls with a status of 400 to 499.
    pub client_errors: u64,
    /// Calls that failed because of the gateway or the supplier.
    pub server_errors: u64,
    /// Sum of all durations in microseconds.
    pub duration_us_sum: u64,
    pub duration_us_max: u64,
    /// Numbers of calls by bucket of [`DURATION_BUCKET_BOUNDS_US`].
    pub buckets: [u64; DURATION_BUCKETS],
}

/// The key of a row of the statistics.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatisticsKey {
    /// `None` for the sum of all organizations.
    pub organization: Option<String>,
    pub mode: Mode,
    pub resolution: TimeResolution,
    pub subject: StatisticsSubject,
    /// Beginning of the minute or hour.
    pub at: Timestamp,
    /// Method and route, or the supplier. Empty for the total.
    pub name: String,
    /// Function of a supplier's plugin, otherwise empty.
    pub operation: String,
    /// Name of the machine that counted.
    pub host: String,
}

/// The statistics of a subject: of one minute or hour, or of one name over some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatisticsGroup {
    pub subject: StatisticsSubject,
    /// Beginning of the minute or hour. 0 for statistics over some time.
    pub at: Timestamp,
    pub name: String,
    pub operation: String,
    pub calls: CallStatistics,
}

/// The amount of the bookings that suppliers confirmed in an hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookedAmount {
    /// `None` for the sum of all organizations.
    pub organization: Option<String>,
    pub mode: Mode,
    /// Beginning of the hour.
    pub at: Timestamp,
    pub bookings: u64,
    pub amount: Money,
}

named_enum! {
    /// Reason why a call is remembered.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum RemarkableReason {
        /// One of the slowest calls of its minute.
        Slow = "slow",
        /// One of the calls of its minute that failed.
        Failed = "failed",
    }
}

/// A call of a supplier's plugin that explains the statistics of its minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemarkableCall {
    pub tenant: Tenant,
    /// Beginning of the minute.
    pub at: Timestamp,
    pub supplier: SupplierId,
    pub operation: String,
    pub reason: RemarkableReason,
    pub request_id: String,
    pub duration_us: u64,
    pub outcome: String,
}

/// Whether a call failed, and because of whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    Succeeded,
    ClientError,
    ServerError,
}

impl CallStatistics {
    /// Counts a call.
    pub fn add_call(&mut self, duration_us: u64, result: CallResult) {
        self.count += 1;
        match result {
            CallResult::Succeeded => {}
            CallResult::ClientError => self.client_errors += 1,
            CallResult::ServerError => self.server_errors += 1,
        }
        self.duration_us_sum = self.duration_us_sum.saturating_add(duration_us);
        self.duration_us_max = self.duration_us_max.max(duration_us);
        let bucket = DURATION_BUCKET_BOUNDS_US.partition_point(|bound| *bound < duration_us);
        if let Some(count) = self.buckets.get_mut(bucket) {
            *count += 1;
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.client_errors += other.client_errors;
        self.server_errors += other.server_errors;
        self.duration_us_sum = self.duration_us_sum.saturating_add(other.duration_us_sum);
        self.duration_us_max = self.duration_us_max.max(other.duration_us_max);
        for (count, more) in self.buckets.iter_mut().zip(other.buckets) {
            *count += more;
        }
    }

    /// Returns the duration in microseconds that `permille` of the calls do not exceed,
    /// interpolated within its bucket. Returns `None` without calls.
    pub fn quantile_us(&self, permille: u64) -> Option<u64> {
        let total: u64 = self.buckets.iter().sum();
        let rank = (total * permille).div_ceil(1000).max(1);
        let mut below = 0;
        let mut lower = 0;
        let uppers = DURATION_BUCKET_BOUNDS_US.iter().copied().chain([u64::MAX]);
        for (count, upper) in self.buckets.into_iter().zip(uppers) {
            let upper = upper.min(self.duration_us_max).max(lower);
            if below + count >= rank {
                return Some(lower + (upper - lower) * (rank - below) / count.max(1));
            }
            below += count;
            lower = upper;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations_ms: &[u64]) -> CallStatistics {
        let mut statistics = CallStatistics::default();
        for ms in durations_ms {
            statistics.add_call(ms * 1000, CallResult::Succeeded);
        }
        statistics
    }

    #[test]
    fn quantile_is_within_the_class_of_its_duration() {
        assert_eq!(of(&[]).quantile_us(500), None);
        assert_eq!(of(&[3]).quantile_us(500), Some(3_000));
        let mixed = of(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 700]);
        assert_eq!(mixed.quantile_us(500), Some(555));
        assert_eq!(mixed.quantile_us(990), Some(700_000));
        assert_eq!(of(&[60_000]).quantile_us(990), Some(60_000_000));
    }

    #[test]
    fn sum_of_statistics_counts_all_calls() {
        let mut sum = of(&[1, 2, 3]);
        let mut failed = CallStatistics::default();
        failed.add_call(9_000, CallResult::ClientError);
        failed.add_call(9_000, CallResult::ServerError);
        sum.add(&failed);
        assert_eq!((sum.count, sum.client_errors, sum.server_errors), (5, 1, 1));
        assert_eq!((sum.duration_us_sum, sum.duration_us_max), (24_000, 9_000));
        assert_eq!(sum.buckets.iter().sum::<u64>(), 5);
    }
}
