//! Every limit that a plugin runs under, with its default and its reason. Numbers
//! only: they are enforced where the thing that they limit happens.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The limits of one plugin. Every field has a default; units stand last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PluginLimits {
    /// Calls at the same time. A slow supplier must not hold all of the pool.
    pub calls_max: u32,
    /// How long a call may wait for its turn before it is refused as overloaded:
    /// long enough for a burst, short enough to leave the caller time.
    pub queue_wait_ms: u64,
    /// Longest time of one call, whatever its caller would wait.
    pub call_ms_max: u64,
    /// Time on the processor in one call. Parsing the largest answer takes 10 to
    /// 60 ms, by language; a loop without end must not live until the deadline.
    pub cpu_ms_max: u64,
    /// Linear memory, counted over all memories of the call. A 200 KB answer
    /// needs about 3 MB in Rust and 40 MB in JavaScript.
    pub memory_bytes_max: usize,
    /// Elements of all tables: function pointers, 60,000 in a JavaScript engine.
    pub table_elements_max: usize,
    /// Core instances: a composed component has up to 40.
    pub instances_max: usize,
    /// Memories: one, or one for each language inside a composed component.
    pub memories_max: usize,
    /// Tables, likewise.
    pub tables_max: usize,
    /// Resource handles alive at once; only components built for WASI have any.
    pub handles_max: usize,
    /// Bytes that one call across the boundary may take from the guest: request
    /// bodies, and the answer of the call.
    pub host_call_bytes_max: usize,
    /// HTTP requests of one call: a search in pages, never a crawl.
    pub requests_max: u32,
    /// Of these at the same time.
    pub concurrent_requests_max: usize,
    /// Decompressed body of one response.
    pub response_bytes_max: usize,
    /// Headers of one response.
    pub response_headers_max: usize,
    /// Names and values of these, in all.
    pub response_header_bytes_max: usize,
    /// Log lines of one call; the rest is counted and dropped.
    pub log_lines_max: u32,
    /// Characters of one log line.
    pub log_line_chars_max: usize,
    /// Values in the plugin's cache, with their keys.
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
    pub(crate) const fn admission_wait(&self) -> Duration {
        Duration::from_millis(self.queue_wait_ms)
    }

    pub(crate) const fn call_time(&self) -> Duration {
        Duration::from_millis(self.call_ms_max)
    }

    /// Processor time in ticks of the engine's clock, at least one.
    pub(crate) fn cpu_ticks(&self, tick: Duration) -> u64 {
        (u128::from(self.cpu_ms_max) * 1_000_000 / tick.as_nanos().max(1))
            .try_into()
            .unwrap_or(u64::MAX)
            .max(1)
    }
}
