//! Instants and dates. The clock is a trait; its real implementation lives
//! where I/O is allowed.

use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;

/// A calendar date without time zone, `YYYY-MM-DD`.
pub use jiff::civil::Date;

/// Milliseconds since 1970-01-01T00:00:00Z. Stored as an integer: timestamps
/// as text sort wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// Latest instant that the gateway handles: 9999-12-31T23:59:59.999Z.
const MILLIS_MAX: i64 = 253_402_207_200_000;

impl Timestamp {
    /// This many milliseconds later; stays within the years that can be printed.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms).clamp(-MILLIS_MAX, MILLIS_MAX))
    }

    /// This many seconds later.
    #[must_use]
    pub fn plus_s(self, seconds: i64) -> Self {
        self.plus_ms(seconds.saturating_mul(1000))
    }

    /// Milliseconds from `earlier` until now; negative when it is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Reads an RFC 3339 instant.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>()
            .ok()
            .map(|t| Self(t.as_millisecond()))
    }

    /// The calendar date in UTC.
    #[must_use]
    pub fn date_utc(self) -> Date {
        self.instant().to_zoned(jiff::tz::TimeZone::UTC).date()
    }

    fn instant(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0.clamp(-MILLIS_MAX, MILLIS_MAX))
            .unwrap_or(jiff::Timestamp::MAX)
    }
}

/// `2026-11-21T10:00:00.000Z`: always three decimals, always UTC.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.instant())
    }
}

/// Names of time zones, listed once: an answer of a supplier may name thousands, and the
/// database looks at the clock for each, in case that it has become another meanwhile.
/// UTC is known without a database.
static TIME_ZONES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let available = jiff::tz::db().available();
    let names = available.map(|name| name.as_str().to_owned());
    names.chain(["UTC".to_owned()]).collect()
});

/// Whether it is the name of a time zone, spelled as in the IANA database.
#[must_use]
pub fn is_time_zone(name: &str) -> bool {
    TIME_ZONES.contains(name)
}

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_prints_with_three_decimals() {
        assert_eq!(
            Timestamp(1_795_255_200_000).to_string(),
            "2026-11-21T10:00:00.000Z"
        );
        assert_eq!(
            Timestamp(1_795_255_200_050).to_string(),
            "2026-11-21T10:00:00.050Z"
        );
    }

    #[test]
    fn time_zones_are_known_and_spelled_right() {
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

    #[test]
    fn an_instant_far_away_still_prints() {
        assert!(Timestamp(i64::MAX).to_string().starts_with("9999-"));
    }
}
