//! Reproducible random numbers. All random decisions of a scenario are drawn from here, in one
//! order.

use host_application::id_generator::IdGenerator;

/// A random number generator. The same seed produces the same numbers in every version.
pub(super) struct Random(fuzz::Random);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        // The multiplication spreads neighbouring seeds far apart.
        let random = Self(fuzz::Random::new(seed.wrapping_mul(0xD134_2543_DE82_EF95)));
        random.bits64();
        random
    }

    fn bits64(&self) -> u64 {
        self.0.bits64()
    }

    /// Returns a number in `from..=to`.
    pub(super) fn between(&self, from: i64, to: i64) -> i64 {
        let span = u64::try_from(to - from).unwrap() + 1;
        from + i64::try_from(self.bits64() % span).unwrap()
    }

    /// Returns `true` in the given percentage of cases.
    pub(super) fn percent(&self, percent: i64) -> bool {
        self.between(0, 99) < percent
    }

    /// Returns one of the values.
    pub(super) fn one_of<T: Clone>(&self, all: &[T]) -> T {
        let last = i64::try_from(all.len()).unwrap() - 1;
        all[usize::try_from(self.between(0, last)).unwrap()].clone()
    }
}

impl IdGenerator for Random {
    fn generate(&self) -> u128 {
        u128::from(self.bits64()) << 64 | u128::from(self.bits64())
    }
}
