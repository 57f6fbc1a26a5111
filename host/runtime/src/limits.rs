//! The limits of a plugin with their defaults and reasons, and the tick that measures CPU time. This
//! module holds only numbers; each limit is enforced where the resource is used.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Interval at which a running guest is interrupted to yield and to check its deadline. It is short
/// enough that a loop delays other work by only a few milliseconds. It is long enough that an idle
/// gateway hardly wakes up.
pub(crate) const TICK: Duration = Duration::from_millis(4);

/// The limits of one plugin. Every field has a default, and the field name ends with its unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PluginLimits {
    /// Maximum number of concurrent calls. A slow supplier must not occupy the whole pool.
    pub calls_max: u32,
    /// Maximum time that a call waits for a permit before it is rejected as overloaded. It is long
    /// enough for a burst and short enough to leave time for the call.
    pub queue_wait_ms: u64,
    /// Maximum duration of one call, regardless of its deadline.
    pub call_ms_max: u64,
    /// Maximum CPU time of one call. Parsing the largest response takes 10 to 60 ms, depending on
    /// the language. An endless loop must not run until the deadline.
    pub cpu_ms_max: u64,
    /// Maximum linear memory, summed over all memories of the call. A 200 KB response needs about 3
    /// MB in Rust and 40 MB in JavaScript.
    pub memory_bytes_max: usize,
    /// Maximum number of elements in all tables. These are function pointers; a JavaScript engine
    /// has 60,000.
    pub table_elements_max: usize,
    /// Maximum number of core instances. A composed component has up to 40.
    pub instances_max: usize,
    /// Maximum number of memories: one, or one for each language in a composed component.
    pub memories_max: usize,
    /// Maximum number of tables, for the same reason.
    pub tables_max: usize,
    /// Maximum number of live resource handles. Only components built for WASI use them.
    pub handles_max: usize,
    /// Maximum number of bytes that one host call or the result of the call may take from the
    /// guest. This includes request bodies.
    pub host_call_bytes_max: usize,
    /// Maximum number of HTTP requests of one call. It suffices for a paginated search, but not for
    /// a crawl.
    pub requests_max: u32,
    /// Maximum number of concurrent HTTP requests of one call.
    pub concurrent_requests_max: usize,
    /// Maximum size of a decompressed response body.
    pub response_bytes_max: usize,
    /// Maximum number of response headers.
    pub response_headers_max: usize,
    /// Maximum total size of the names and values of response headers.
    pub response_header_bytes_max: usize,
    /// Maximum number of log lines of one call. Further lines are counted and dropped.
    pub log_lines_max: u32,
    /// Maximum number of characters of a log line.
    pub log_line_chars_max: usize,
    /// Maximum size of all values and keys in the plugin's cache.
    pub cache_bytes_max: usize,
}

impl Default for PluginLimits {
    fn default() -> Self {
        Self {
            calls_max: 64,
            queue_wait_ms: 2_000,
            call_ms_max: 60_000,
            cpu_ms_max: 1_000,
            memory_bytes_max: 64 << 20,
            table_elements_max: 60_000,
            instances_max: 40,
            memories_max: 4,
            tables_max: 40,
            handles_max: 1_000,
            host_call_bytes_max: 8 << 20,
            requests_max: 64,
            concurrent_requests_max: 16,
            response_bytes_max: 8 << 20,
            response_headers_max: 100,
            response_header_bytes_max: 64 << 10,
            log_lines_max: 100,
            log_line_chars_max: 2_000,
            cache_bytes_max: 4 << 20,
        }
    }
}

impl PluginLimits {
    /// Returns the CPU time limit in ticks of the engine, at least one.
    pub(crate) fn cpu_ticks(&self, tick: Duration) -> u64 {
        (u128::from(self.cpu_ms_max) * 1_000_000 / tick.as_nanos().max(1))
            .try_into()
            .unwrap_or(u64::MAX)
            .max(1)
    }
}
