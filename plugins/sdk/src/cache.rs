//! A small cache for the plugin's own data, shared by its calls. Entries may be evicted at any
//! time.

use std::time::Duration;

use crate::host;

/// Returns the value stored under the key, unless it expired or was evicted.
pub fn get(key: &str) -> Option<Vec<u8>> {
    host::cache_get(key)
}

/// Stores a value of at most 64 KiB for at most one day.
pub fn set(key: &str, value: &[u8], ttl: Duration) {
    host::cache_set(
        key,
        value,
        u32::try_from(ttl.as_millis()).unwrap_or(u32::MAX),
    );
}
