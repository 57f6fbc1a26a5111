//! The sandbox's time, and the formats of timestamps and local times.

use std::sync::Arc;

use jiff::{Timestamp, civil, tz::TimeZone};

/// A clock that returns milliseconds since 1970-01-01T00:00:00Z. Tests supply one that they
/// control.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the sandbox reads the wall clock"
)]
#[must_use]
pub fn system_clock() -> Clock {
    Arc::new(|| Timestamp::now().as_millisecond())
}

pub(crate) const SECOND_MS: i64 = 1_000;
pub(crate) const MINUTE_MS: i64 = 60 * SECOND_MS;
pub(crate) const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// Formats a time as RFC 3339 in UTC with milliseconds.
pub(crate) fn instant(at_ms: i64) -> String {
    timestamp(at_ms)
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}

pub(crate) fn date_utc(at_ms: i64) -> civil::Date {
    timestamp(at_ms).to_zoned(TimeZone::UTC).date()
}

pub(crate) fn date_in(at_ms: i64, zone: &TimeZone) -> civil::Date {
    timestamp(at_ms).to_zoned(zone.clone()).date()
}

/// Returns the time zone of an IANA name, or UTC if the name is unknown.
pub(crate) fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap_or(TimeZone::UTC)
}

/// Returns the time of a local time; the later one if the clocks were put back.
pub(crate) fn local_to_ms(local: civil::DateTime, zone: &TimeZone) -> i64 {
    zone.to_ambiguous_zoned(local)
        .later()
        .map_or(0, |zoned| zoned.timestamp().as_millisecond())
}

pub(crate) fn ms_to_local(at_ms: i64, zone: &TimeZone) -> civil::DateTime {
    timestamp(at_ms).to_zoned(zone.clone()).datetime()
}

fn timestamp(at_ms: i64) -> Timestamp {
    Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH)
}
