//! Rate limits of costly supplier requests, in the memory of this process.

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use host_domain::owner::Mode;
use host_domain::supplier::{ReadError, SupplierId};
use std::num::NonZeroU32;

/// A rate limit in calls a minute for each supplier. Test and live mode are counted separately.
pub struct SupplierRateLimiter(DefaultKeyedRateLimiter<(Mode, SupplierId)>);

impl SupplierRateLimiter {
    /// Creates a rate limit. A limit of 0 is treated as 1.
    pub fn per_minute(calls: u32) -> Self {
        let calls = NonZeroU32::new(calls).unwrap_or(NonZeroU32::MIN);
        Self(RateLimiter::keyed(Quota::per_minute(calls)))
    }

    /// Acquires a permit for one call.
    ///
    /// # Errors
    ///
    /// Fails with the rate-limit error that the supplier itself would return, with the time to wait
    /// in seconds.
    pub fn acquire(&self, mode: Mode, supplier: &SupplierId) -> Result<(), ReadError> {
        self.0.check_key(&(mode, supplier.clone())).map_err(|full| {
            let wait = full.wait_time_from(DefaultClock::default().now());
            let seconds = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
            ReadError::RateLimited {
                retry_after_s: Some(seconds.max(1)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limit_is_separate_for_each_supplier_and_mode() {
        let pace = SupplierRateLimiter::per_minute(2);
        let retry_after_s = Some(30);
        for (mode, supplier, expected) in [
            (Mode::Test, "ONE", Ok(())),
            (Mode::Test, "ONE", Ok(())),
            (
                Mode::Test,
                "ONE",
                Err(ReadError::RateLimited { retry_after_s }),
            ),
            (Mode::Live, "ONE", Ok(())),
            (Mode::Test, "TWO", Ok(())),
        ] {
            let supplier = SupplierId::parse(supplier).unwrap();
            assert_eq!(pace.acquire(mode, &supplier), expected);
        }
    }
}
