//! Records of plugin calls and of exchanges with suppliers. They suffice to reconstruct a day and
//! contain no secrets and no personal data. This module defines the records, not where they are
//! stored.

use host_domain::owner::Mode;
use host_domain::personal::PersonalWords;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Timestamp;
use std::time::Duration;

/// A sink for records. Its methods run on the request's own task and must not block.
pub trait CallSink: Send + Sync {
    fn record_call(&self, record: &CallRecord<'_>);
    fn record_exchange(&self, record: &ExchangeRecord<'_>);
    /// Counts items of a supplier's response that were left out for the same reason. The reason is
    /// one of a few, because it becomes a label of a metric: the field that breaks a rule of the
    /// interface, or what the plugin reports.
    fn record_dropped_items(
        &self,
        supplier: &SupplierId,
        capability: Capability,
        reason: &str,
        count: u64,
    );
}

/// The outcome of a plugin call, for metrics and for the circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PluginCallOutcome {
    Succeeded,
    /// The supplier does not have the requested item.
    NotFound,
    Refused,
    Declined,
    RateLimited,
    /// No complete response arrived in time.
    TimedOut,
    Unavailable,
    InvalidResponse,
    /// The webhook request does not originate from the supplier.
    InvalidSignature,
    /// Credentials, settings or grants are wrong.
    Misconfigured,
    /// A change was not sent.
    NotSent,
    /// A change may have taken effect.
    Unknown,
    /// The plugin trapped or exceeded a limit.
    Trapped,
    /// No permit was available for the call.
    Overloaded,
    /// The circuit is open, so the plugin was not called.
    CircuitOpen,
    /// The plugin does not export the capability.
    Unsupported,
    /// The call was dropped before it finished.
    Canceled,
}

impl PluginCallOutcome {
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
            Self::InvalidResponse => "invalid_response",
            Self::InvalidSignature => "invalid_signature",
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

#[derive(Debug, Clone)]
pub struct CallRecord<'a> {
    pub supplier: &'a SupplierId,
    /// SHA-256 of the executed component in hexadecimal.
    pub digest: &'a str,
    pub capability: Capability,
    /// Called function of the capability, e.g. `price`.
    pub function: &'static str,
    pub request_id: &'a str,
    pub organization: &'a str,
    pub mode: Option<Mode>,
    pub booking: Option<&'a str>,
    pub started_at: Timestamp,
    /// Includes the wait for a permit.
    pub duration: Duration,
    pub outcome: PluginCallOutcome,
    /// A sentence for operators.
    pub detail: Option<&'a str>,
    /// Number of HTTP requests that the call made or attempted.
    pub exchanges: u32,
    /// Peak of the linear memory.
    pub memory_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExchangeOutcome {
    /// A complete response with any status.
    Completed,
    /// The grants do not allow the request.
    Denied,
    NotSent,
    /// No complete response arrived in time.
    TimedOut,
    ConnectionLost,
    TooLarge,
}

impl ExchangeOutcome {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Denied => "denied",
            Self::NotSent => "not_sent",
            Self::TimedOut => "timed_out",
            Self::ConnectionLost => "connection_lost",
            Self::TooLarge => "too_large",
        }
    }
}

/// The record of an exchange between a plugin and its supplier.
#[derive(Debug, Clone)]
pub struct ExchangeRecord<'a> {
    pub supplier: &'a SupplierId,
    /// SHA-256 of the executed component in hexadecimal.
    pub digest: &'a str,
    pub capability: Capability,
    pub request_id: &'a str,
    pub organization: &'a str,
    pub mode: Option<Mode>,
    pub booking: Option<&'a str>,
    pub method: &'a str,
    /// Scheme, host and port.
    pub origin: &'a str,
    /// Path without the query. Segments that contain an e-mail address or a word about the people of
    /// the booking are masked.
    pub path: &'a str,
    pub status: Option<u16>,
    pub request_bytes: usize,
    /// Size of the decompressed body.
    pub response_bytes: usize,
    pub started_at: Timestamp,
    pub duration: Duration,
    pub outcome: ExchangeOutcome,
    /// A sentence for operators.
    pub detail: Option<&'a str>,
}

/// A sink that discards records. Traces are still written.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSink;

impl CallSink for NoSink {
    fn record_call(&self, _record: &CallRecord<'_>) {}
    fn record_exchange(&self, _record: &ExchangeRecord<'_>) {}
    fn record_dropped_items(
        &self,
        _supplier: &SupplierId,
        _capability: Capability,
        _reason: &str,
        _count: u64,
    ) {
    }
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
        operation = record.capability.as_str(),
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

/// Redacts a path for logs: masks segments that contain an e-mail address or one of these words, and
/// truncates the path to 512 characters.
pub(crate) fn redact_path(path: &str, personal: &PersonalWords) -> String {
    let masked = path.split('/').map(|segment| {
        let is_address = segment.contains('@') || segment.contains("%40");
        let is_personal = is_address || personal.occur_in(segment);
        if is_personal { "…" } else { segment }
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
        let personal = PersonalWords::new(["Ada"]);
        for (path, redacted) in [
            ("/v3/hotels/lp1897", "/v3/hotels/lp1897"),
            ("/guests/a@b.com/x", "/guests/…/x"),
            ("/guests/a%40b.com", "/guests/…"),
            ("/guests/king-ada", "/guests/…"),
        ] {
            assert_eq!(redact_path(path, &personal), redacted);
        }
    }
}
