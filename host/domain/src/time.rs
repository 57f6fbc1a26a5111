//! Points in time and dates. The clock is a trait; its real implementation is outside this crate,
//! where I/O is allowed.

use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;

/// A calendar date without time zone, `YYYY-MM-DD`.
pub use jiff::civil::Date;

/// Milliseconds since 1970-01-01T00:00:00Z. Timestamps are stored as integers, because their text
/// form does not sort correctly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// Latest timestamp that can be printed: 9999-12-30T22:00:00.000Z. It is in the year 9999 at every
/// offset from UTC.
const MILLIS_MAX: i64 = 253_402_207_200_000;

impl Timestamp {
    /// The latest timestamp that can be printed.
    pub const MAX: Self = Self(MILLIS_MAX);

    /// Returns the timestamp `ms` milliseconds later, clamped to the years that can be printed.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms).clamp(-MILLIS_MAX, MILLIS_MAX))
    }

    #[must_use]
    pub fn plus_s(self, seconds: i64) -> Self {
        self.plus_ms(seconds.saturating_mul(1000))
    }

    /// Returns the milliseconds from `earlier` until `self`. The result is negative if `earlier` is
    /// later.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Parses an RFC 3339 timestamp.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed: jiff::Timestamp = text.parse().ok()?;
        Some(Self(parsed.as_millisecond()))
    }

    #[must_use]
    pub fn date_utc(self) -> Date {
        self.instant().to_zoned(jiff::tz::TimeZone::UTC).date()
    }

    fn instant(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0.clamp(-MILLIS_MAX, MILLIS_MAX))
            .unwrap_or(jiff::Timestamp::MAX)
    }
}

/// The format is `2026-11-21T10:00:00.000Z`: always three decimals, always UTC.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.instant())
    }
}

/// IANA time-zone names, loaded once: a supplier response may name thousands of zones, and each
/// database lookup checks whether the database was updated. Includes `UTC`, which the database may
/// lack.
static TIME_ZONES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let available = jiff::tz::db().available();
    let names = available.map(|name| name.as_str().to_owned());
    names.chain(["UTC".to_owned()]).collect()
});

/// Returns whether `name` is a time zone, spelled as in the IANA database.
pub fn is_time_zone(name: &str) -> bool {
    TIME_ZONES.contains(name)
}

/// A source of the current time.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamp_prints_with_three_decimals() {
        for (ms, text) in [
            (1_795_255_200_000, "2026-11-21T10:00:00.000Z"),
            (1_795_255_200_050, "2026-11-21T10:00:00.050Z"),
        ] {
            assert_eq!(Timestamp(ms).to_string(), text);
        }
        assert!(Timestamp(i64::MAX).to_string().starts_with("9999-"));
    }

    #[test]
    fn time_zone_names_are_checked_with_exact_spelling() {
        for (name, known) in [
            ("Europe/Rome", true),
            ("America/Argentina/Buenos_Aires", true),
            ("UTC", true),
            ("europe/rome", false),
            ("Europe/Atlantis", false),
            ("Etc/Unknown", false),
            ("+01:00", false),
            ("", false),
        ] {
            assert_eq!(is_time_zone(name), known, "{name}");
        }
    }
}
