//! The wall clock.

use crate::host;
use crate::types::TimestampMs;

/// Returns the milliseconds since 1970-01-01T00:00:00Z.
pub fn now_ms() -> TimestampMs {
    host::now_ms()
}
