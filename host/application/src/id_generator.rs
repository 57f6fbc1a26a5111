//! New identifiers: ordered by time, so that rows created together are stored together.

use uuid::Uuid;

/// Generates identifiers. The process has one generator; tests supply their own.
pub trait IdGenerator: Send + Sync {
    /// Returns 128 bits that were never returned before.
    fn generate(&self) -> u128;
}

/// Generator of UUIDs of version 7: a timestamp in milliseconds, then random bits.
#[derive(Debug, Default)]
pub struct UuidV7Generator;

impl IdGenerator for UuidV7Generator {
    fn generate(&self) -> u128 {
        Uuid::now_v7().as_u128()
    }
}

pub fn new_request_id() -> String {
    format!("req_{}", Uuid::now_v7())
}
