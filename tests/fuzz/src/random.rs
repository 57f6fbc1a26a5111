//! A repeatable source of random numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// A `SplitMix64` generator. The same seed gives the same numbers in every version.
pub struct Random(AtomicU64);

impl Random {
    /// Creates a generator from a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// Returns the next number.
    pub fn bits64(&self) -> u64 {
        const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
        let drawn = self.0.fetch_add(GAMMA, Ordering::Relaxed);
        let mut z = drawn.wrapping_add(GAMMA);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
