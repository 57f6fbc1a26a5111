//! The current date at a hotel.

use host_domain::time::{Date, Timestamp};
use jiff::tz::{self, TimeZone};

/// The UTC offset at which a day ends last. A hotel with an unknown time zone may be there.
const LATEST_OFFSET: tz::Offset = tz::Offset::constant(-12);

/// Returns the date in a time zone. If the time zone is unknown or does not exist, returns the date
/// where the day ends last.
pub fn local_date(time_zone: Option<&str>, now: Timestamp) -> Date {
    let known = time_zone.and_then(|name| TimeZone::get(name).ok());
    let zone = known.unwrap_or_else(|| TimeZone::fixed(LATEST_OFFSET));
    let instant = jiff::Timestamp::from_millisecond(now.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    instant.to_zoned(zone).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_is_local_to_the_hotel() {
        let noon = Timestamp::parse("2026-11-21T11:30:00Z").unwrap();
        for (zone, day) in [
            (Some("UTC"), "2026-11-21"),
            (Some("Pacific/Kiritimati"), "2026-11-22"),
            (Some("Pacific/Pago_Pago"), "2026-11-21"),
            (Some("Nowhere/Atall"), "2026-11-20"),
            (None, "2026-11-20"),
        ] {
            assert_eq!(local_date(zone, noon).to_string(), day, "{zone:?}");
        }
    }
}
