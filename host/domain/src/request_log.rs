//! The request log: API calls, and the calls of suppliers beneath them, without secrets and
//! personal data.

use crate::id::{BookingId, CallLogId, KeyId, RequestLogId};
use crate::named_enum::named_enum;
use crate::owner::Mode;
use crate::supplier::SupplierId;
use crate::time::Timestamp;

/// An API call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// Begins with the time of the response, so that ids have the order of the log.
    pub id: RequestLogId,
    /// Organization of the key. Empty for calls with an unknown key or path.
    pub organization: String,
    pub mode: Mode,
    /// The id that the client chose or received. Several calls may have the same one.
    pub request_id: String,
    /// Time of the response.
    pub at: Timestamp,
    pub method: String,
    /// Template of the path, `unknown` if no route has the path.
    pub route: String,
    /// Path and query, redacted.
    pub path: String,
    pub status: u16,
    /// Time from the request to the response, in microseconds.
    pub duration_us: u64,
    pub key: Option<KeyId>,
    pub user: String,
    /// The booking that the call changed or failed to change.
    pub booking: Option<BookingId>,
    /// Code of the problem in the response.
    pub code: Option<String>,
    /// Name of the machine that responded.
    pub host: String,
}

impl LoggedRequest {
    /// Returns the time at which the call began, rounded down to a millisecond.
    pub fn began_at(&self) -> Timestamp {
        let ms = self.duration_us.div_ceil(1000);
        self.at.plus_ms(-i64::try_from(ms).unwrap_or(i64::MAX))
    }
}

/// The bodies of an API call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoggedBodies {
    pub request: LoggedBody,
    pub response: LoggedBody,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoggedBody {
    /// Length of the whole body in bytes.
    pub bytes: u64,
    /// The body as JSON, redacted and shortened. `None` if it is empty, no JSON or too long.
    pub text: Option<String>,
}

named_enum! {
    /// The kind of a [`LoggedCall`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum LoggedCallKind {
        /// A call of a plugin.
        Plugin = "plugin",
        /// An HTTP request of a plugin.
        Http = "http",
    }
}

/// A call of a supplier's plugin, or an HTTP request that a plugin made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedCall {
    /// Begins with the time of the end.
    pub id: CallLogId,
    pub organization: String,
    pub mode: Mode,
    /// Id of the API call or of the background work that made the call.
    pub request_id: String,
    pub kind: LoggedCallKind,
    pub supplier: SupplierId,
    pub capability: String,
    /// Function of the plugin. Empty for an HTTP request.
    pub function: String,
    /// Method, origin and path of an HTTP request. Empty for a plugin.
    pub target: String,
    pub started_at: Timestamp,
    /// In microseconds.
    pub duration_us: u64,
    pub outcome: String,
    /// The call failed for a reason of the supplier or the plugin.
    pub is_failure: bool,
    /// A sentence for operators, redacted.
    pub detail: Option<String>,
    /// HTTP status.
    pub status: Option<u16>,
    pub request_bytes: u64,
    pub response_bytes: u64,
}

/// Filter by HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusFilter {
    Exact(u16),
    /// All statuses with this first digit, 1 to 5.
    Class(u16),
}

impl StatusFilter {
    /// Parses a status such as `404`, or a class such as `4xx`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(class) = text.strip_suffix("xx") {
            let class = class.parse().ok().filter(|class| (1..=5).contains(class));
            return class.map(Self::Class);
        }
        let status = text.parse().ok();
        status
            .filter(|status| (100..=599).contains(status))
            .map(Self::Exact)
    }

    /// Returns the lowest and the highest status.
    pub const fn range(self) -> (u16, u16) {
        match self {
            Self::Exact(status) => (status, status),
            Self::Class(class) => (class * 100, class * 100 + 99),
        }
    }

    /// Returns the first digit if all statuses are failures.
    pub const fn failure_class(self) -> Option<u16> {
        let class = self.range().0 / 100;
        if class >= 4 { Some(class) } else { None }
    }
}

/// Filter of the request log. `None` means any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestLogFilter {
    pub status: Option<StatusFilter>,
    pub method: Option<String>,
    pub route: Option<String>,
    /// The id of an API key, or its name.
    pub key: Option<String>,
    pub user: Option<String>,
    /// A supplier that was called beneath the API call.
    pub supplier: Option<SupplierId>,
    /// Earliest time, inclusive.
    pub from: Option<Timestamp>,
    /// Latest time, exclusive.
    pub to: Option<Timestamp>,
}

impl RequestLogId {
    /// Returns an id that sorts by time. `bits` are random; their lower 80 are used.
    pub fn at(time: Timestamp, bits: u128) -> Self {
        Self::from_bits(bits_at(time, bits))
    }

    /// Returns the lowest id of a time.
    pub fn lowest_at(time: Timestamp) -> Self {
        Self::at(time, 0)
    }

    /// Returns the time that the id begins with.
    pub fn time(&self) -> Option<Timestamp> {
        let millis = self
            .as_str()
            .get(Self::PREFIX.len()..)?
            .get(..TIME_DIGITS)?;
        i64::from_str_radix(millis, 16).ok().map(Timestamp)
    }
}

impl CallLogId {
    /// Returns an id that sorts by time. `bits` are random; their lower 80 are used.
    pub fn at(time: Timestamp, bits: u128) -> Self {
        Self::from_bits(bits_at(time, bits))
    }

    /// Returns the lowest id of a time.
    pub fn lowest_at(time: Timestamp) -> Self {
        Self::at(time, 0)
    }
}

/// Hexadecimal digits of the time in an id that begins with it.
const TIME_DIGITS: usize = 12;
const RANDOM_BITS: u32 = 80;

fn bits_at(time: Timestamp, bits: u128) -> u128 {
    let millis = u128::try_from(time.0).unwrap_or_default();
    let random = bits & ((1 << RANDOM_BITS) - 1);
    (millis << RANDOM_BITS) | random
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_log_sort_by_time_and_tell_it() {
        let time = Timestamp(1_795_660_800_123);
        let id = RequestLogId::at(time, u128::MAX);
        assert_eq!(id.time(), Some(time));
        assert!(RequestLogId::lowest_at(time) < id);
        assert!(id < RequestLogId::lowest_at(time.plus_ms(1)));
        assert_eq!(RequestLogId::parse("rql_1").unwrap().time(), None);
    }

    #[test]
    fn status_filter_is_a_status_or_a_class() {
        for (text, range) in [
            ("404", Some((404, 404))),
            ("5xx", Some((500, 599))),
            ("", None),
            ("xx", None),
            ("6xx", None),
            ("99", None),
            ("600", None),
        ] {
            assert_eq!(
                StatusFilter::parse(text).map(StatusFilter::range),
                range,
                "{text}"
            );
        }
    }
}
