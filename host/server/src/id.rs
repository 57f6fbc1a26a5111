//! New identifiers: time-ordered, so that rows made together lie together.

use uuid::Uuid;

/// Makes identifiers. One for the process; a test gives its own.
pub trait IdGenerator: Send + Sync {
    /// 128 bits that were never given before.
    fn generate(&self) -> u128;
}

/// UUID version 7: milliseconds, then random bits.
#[derive(Debug, Default)]
pub struct UuidV7Generator;

impl IdGenerator for UuidV7Generator {
    fn generate(&self) -> u128 {
        Uuid::now_v7().as_u128()
    }
}

/// A request id for a request that brought none.
#[must_use]
pub fn new_request_id() -> String {
    format!("req_{}", Uuid::now_v7())
}
