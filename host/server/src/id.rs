//! New identifiers: time-ordered, so that rows made together lie together.

use uuid::Uuid;

/// Makes identifiers. One for the process; a test gives its own.
pub trait IdSource: Send + Sync {
    /// 128 bits that were never given before.
    fn bits(&self) -> u128;
}

/// UUID version 7: milliseconds, then random bits.
#[derive(Debug, Default)]
pub struct TimeOrdered;

impl IdSource for TimeOrdered {
    fn bits(&self) -> u128 {
        Uuid::now_v7().as_u128()
    }
}

/// A request id for a request that brought none.
#[must_use]
pub fn request_id() -> String {
    format!("req_{}", Uuid::now_v7())
}
