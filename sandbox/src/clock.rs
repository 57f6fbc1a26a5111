//! The time as the sandbox sees it, and how instants and local times are written.

use std::sync::Arc;

use jiff::{Timestamp, civil, tz::TimeZone};

/// Milliseconds since 1970-01-01T00:00:00Z; tests hand in one that they move.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// The machine's own clock.
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

/// RFC 3339 in UTC with milliseconds.
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

/// The zone of that IANA name; UTC for a name that does not exist.
pub(crate) fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap_or(TimeZone::UTC)
}

/// The instant of a local time; the later one where the clocks were put back.
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
