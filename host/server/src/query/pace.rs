//! How often a supplier is asked for something costly, in this host's memory.

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use host_domain::owner::Mode;
use host_domain::supplier::{ReadError, SupplierId};
use std::num::NonZeroU32;

/// So many calls a minute for each supplier; the modes do not take from each other.
pub(crate) struct SupplierRateLimiter(DefaultKeyedRateLimiter<(Mode, SupplierId)>);

impl SupplierRateLimiter {
    /// Nothing is 1.
    pub(crate) fn per_minute(calls: u32) -> Self {
        let calls = NonZeroU32::new(calls).unwrap_or(NonZeroU32::MIN);
        Self(RateLimiter::keyed(Quota::per_minute(calls)))
    }

    /// Takes one call, or says as the supplier itself would when to come back.
    pub(crate) fn acquire(&self, mode: Mode, supplier: &SupplierId) -> Result<(), ReadError> {
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
    fn each_supplier_has_its_own_pace_in_each_mode() {
        let pace = SupplierRateLimiter::per_minute(2);
        let one = SupplierId::parse("ONE").unwrap();
        assert_eq!(pace.acquire(Mode::Test, &one), Ok(()));
        assert_eq!(pace.acquire(Mode::Test, &one), Ok(()));
        let refused = pace.acquire(Mode::Test, &one);
        assert_eq!(
            refused,
            Err(ReadError::RateLimited {
                retry_after_s: Some(30)
            })
        );
        assert_eq!(pace.acquire(Mode::Live, &one), Ok(()));
        assert_eq!(
            pace.acquire(Mode::Test, &SupplierId::parse("TWO").unwrap()),
            Ok(())
        );
    }
}
