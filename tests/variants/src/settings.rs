//! What `cargo xtask variants` selects, by environment variables.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Variants of an operation in an ordinary run, in addition to those that decide an answer.
const COUNT: u64 = 300;

/// Large variants of a response in a run of all variants.
const LARGE_COUNT: u64 = 10;
/// Number of variants for each large one in another run.
const LARGE_RATIO: u64 = 200;
/// Number of variants for each large one with items that differ. Work that is not linear usually needs
/// such items.
const DISTINCT_RATIO: u64 = 100;

pub(crate) struct Settings {
    /// Number of variants of an operation; 0 for all.
    pub(crate) count: u64,
    pub(crate) seed: u64,
    /// Part of the names of the only variants to run.
    pub(crate) case: Option<String>,
}

impl Settings {
    pub(crate) fn read() -> Self {
        let number = |name: &str| {
            let text = env::var(name).ok()?;
            let number = text.parse();
            Some(number.unwrap_or_else(|_| panic!("{name} is {text}, which is no number")))
        };
        Self {
            count: number("STOPOVER_VARIANTS_COUNT").unwrap_or(COUNT),
            seed: number("STOPOVER_VARIANTS_SEED").unwrap_or(0),
            case: env::var("STOPOVER_VARIANTS_CASE").ok(),
        }
    }

    /// Returns whether the sample of an operation's variants has the one of this name.
    pub(crate) fn has(&self, name: &str, variants: usize) -> bool {
        self.count == 0 || self.is_sampled(name, variants, self.count)
    }

    /// Returns whether the sample has this large variant. The sample is smaller, because each large
    /// variant takes as long as hundreds of others.
    pub(crate) fn has_large(&self, name: &str, variants: usize) -> bool {
        let count = match self.count {
            0 => LARGE_COUNT,
            count => (count / LARGE_RATIO).max(1),
        };
        self.is_sampled(name, variants, count)
    }

    /// Returns whether the sample has this large variant with items that differ. A run of all variants
    /// has all of them.
    pub(crate) fn has_distinct(&self, name: &str, variants: usize) -> bool {
        let count = (self.count / DISTINCT_RATIO).max(1);
        self.count == 0 || self.is_sampled(name, variants, count)
    }

    fn is_sampled(&self, name: &str, variants: usize, count: u64) -> bool {
        let mut hasher = DefaultHasher::new();
        (self.seed, name).hash(&mut hasher);
        let variants = u64::try_from(variants).unwrap_or(u64::MAX).max(1);
        hasher.finish() % variants < count
    }
}
