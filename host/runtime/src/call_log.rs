//! What is written down of every call into a plugin and of every exchange with
//! its supplier: enough to reconstruct a day, nothing secret, nothing personal.
//! Knows how a record looks, not where it is kept.

use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Timestamp;
use std::time::Duration;

/// Where records go. Called on the request's own task: must not block.
pub trait CallSink: Send + Sync {
    /// A call ended.
    fn call(&self, record: &CallRecord<'_>);
    /// An exchange with the supplier ended.
    fn exchange(&self, record: &ExchangeRecord<'_>);
}

/// How a call ended: a closed list, for metrics and for the circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PluginCallOutcome {
    /// Answered.
    Succeeded,
    /// The supplier has no such thing.
    NotFound,
    /// The supplier's definite no.
    Refused,
    /// A definite no to money.
    Declined,
    /// The supplier's limit is reached.
    RateLimited,
    /// No whole answer in time.
    TimedOut,
    /// The supplier cannot be reached.
    Unavailable,
    /// An answer that cannot be used.
    InvalidResponse,
    /// A delivery that is not the supplier's.
    InvalidSignature,
    /// Credentials, settings or grants are wrong.
    Misconfigured,
    /// A change that did not leave the gateway.
    NotSent,
    /// A change that may have happened.
    Unknown,
    /// The plugin broke: a trap, or more of something than its limits allow.
    Trapped,
    /// No room for the call.
    Overloaded,
    /// The circuit is open; nothing was tried.
    CircuitOpen,
    /// The plugin does not export it.
    Unsupported,
    /// The caller went away.
    Canceled,
}

impl PluginCallOutcome {
    /// Its name in logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "done",
            Self::NotFound => "not_found",
            Self::Refused => "refused",
            Self::Declined => "declined",
            Self::RateLimited => "rate_limited",
            Self::TimedOut => "timed_out",
            Self::Unavailable => "unavailable",
            Self::InvalidResponse => "unreadable",
            Self::InvalidSignature => "unauthentic",
            Self::Misconfigured => "misconfigured",
            Self::NotSent => "not_sent",
            Self::Unknown => "unknown",
            Self::Trapped => "trapped",
            Self::Overloaded => "overloaded",
            Self::CircuitOpen => "circuit_open",
            Self::Unsupported => "unsupported",
            Self::Canceled => "canceled",
        }
    }
}

/// A call into a plugin.
#[derive(Debug, Clone)]
pub struct CallRecord<'a> {
    /// Which supplier.
    pub supplier: &'a SupplierId,
    /// SHA-256 of the component that ran, hexadecimal.
    pub digest: &'a str,
    /// Which capability.
    pub capability: Capability,
    /// Which function of it, e.g. `price`.
    pub function: &'static str,
    /// The request that caused it.
    pub request_id: &'a str,
    /// Whose request.
    pub organization: &'a str,
    /// The booking that it is about.
    pub booking: Option<&'a str>,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, waiting for its turn included.
    pub duration: Duration,
    /// How it ended.
    pub outcome: PluginCallOutcome,
    /// One sentence more, for operators.
    pub detail: Option<&'a str>,
    /// HTTP requests that it made, or tried to make.
    pub exchanges: u32,
    /// Linear memory at its largest, bytes.
    pub memory_bytes: usize,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExchangeOutcome {
    /// A whole response, of whatever status.
    Completed,
    /// Grants do not allow it.
    Denied,
    /// Nothing left the gateway.
    NotSent,
    /// No whole response in time.
    TimedOut,
    /// The connection broke.
    ConnectionLost,
    /// The response is larger than allowed.
    TooLarge,
}

impl ExchangeOutcome {
    /// Its name in logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "answered",
            Self::Denied => "denied",
            Self::NotSent => "not_sent",
            Self::TimedOut => "timed_out",
            Self::ConnectionLost => "cut",
            Self::TooLarge => "too_large",
        }
    }
}

/// An exchange between a plugin and its supplier.
#[derive(Debug, Clone)]
pub struct ExchangeRecord<'a> {
    /// Which supplier.
    pub supplier: &'a SupplierId,
    /// SHA-256 of the component that ran, hexadecimal.
    pub digest: &'a str,
    /// Which capability.
    pub operation: Capability,
    /// The request that caused it.
    pub request_id: &'a str,
    /// The booking that it is about.
    pub booking: Option<&'a str>,
    /// HTTP method.
    pub method: &'a str,
    /// Scheme, host and port.
    pub origin: &'a str,
    /// Path, without the query; segments that hold an address are masked.
    pub path: &'a str,
    /// HTTP status, once there was one.
    pub status: Option<u16>,
    /// Bytes of the request's body.
    pub request_bytes: usize,
    /// Bytes of the response's body, decompressed.
    pub response_bytes: usize,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// How it ended.
    pub outcome: ExchangeOutcome,
    /// One sentence more, for operators.
    pub detail: Option<&'a str>,
}

/// A sink that keeps nothing; the traces are written all the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSink;

impl CallSink for NoSink {
    fn call(&self, _record: &CallRecord<'_>) {}
    fn exchange(&self, _record: &ExchangeRecord<'_>) {}
}

pub(crate) fn trace_call(record: &CallRecord<'_>) {
    tracing::debug!(
        target: "supplier_call",
        supplier = record.supplier.as_str(),
        operation = record.capability.as_str(),
        function = record.function,
        request_id = record.request_id,
        booking = record.booking,
        duration_us = u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX),
        outcome = record.outcome.as_str(),
        detail = record.detail,
        exchanges = record.exchanges,
    );
}

pub(crate) fn trace_exchange(record: &ExchangeRecord<'_>) {
    tracing::debug!(
        target: "supplier_exchange",
        supplier = record.supplier.as_str(),
        operation = record.operation.as_str(),
        request_id = record.request_id,
        booking = record.booking,
        method = record.method,
        origin = record.origin,
        path = record.path,
        status = record.status,
        request_bytes = record.request_bytes,
        response_bytes = record.response_bytes,
        duration_us = u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX),
        outcome = record.outcome.as_str(),
        detail = record.detail,
    );
}

/// The path as it may be written down: a segment that holds an e-mail address is
/// masked, and the whole is cut at 512 characters.
pub(crate) fn redact_path(path: &str) -> String {
    let masked = path.split('/').map(|segment| {
        let personal = segment.contains('@') || segment.contains("%40");
        if personal { "…" } else { segment }
    });
    masked
        .collect::<Vec<_>>()
        .join("/")
        .chars()
        .take(512)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn personal_path_segments_are_masked() {
        assert_eq!(redact_path("/v3/hotels/lp1897"), "/v3/hotels/lp1897");
        assert_eq!(redact_path("/guests/a@b.com/x"), "/guests/…/x");
        assert_eq!(redact_path("/guests/a%40b.com"), "/guests/…");
    }
}
