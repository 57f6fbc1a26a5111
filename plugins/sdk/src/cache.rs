//! A small cache of the plugin's own, shared by its calls. It may forget.

use std::time::Duration;

use crate::host;

/// What was kept under the key, if it still is.
pub fn get(key: &str) -> Option<Vec<u8>> {
    host::cache_get(key)
}

/// Keeps a value of at most 64 KiB for at most a day.
pub fn set(key: &str, value: &[u8], keep: Duration) {
    host::cache_set(
        key,
        value,
        u32::try_from(keep.as_millis()).unwrap_or(u32::MAX),
    );
}
