//! Price queries of watches, and the times of their checks.

use crate::hotel::{Board, Location, Stay};
use crate::id::{HotelId, PlaceId, PriceCheckId};
use crate::money::Money;
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

const HOUR_S: i64 = 60 * 60;
const DAY_S: i64 = 24 * HOUR_S;
/// Offset of the latest time zone (UTC−12), in seconds. A day ends there this much later than in
/// UTC.
const UTC_MINUS_12_OFFSET_S: i64 = 12 * HOUR_S;
/// Minimum interval between two checks of a query, however near check-in is.
const INTERVAL_MIN_MS: i64 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedPrice {
    pub observed_at: Timestamp,
    /// The lowest price; `None` if nothing is available.
    pub total: Option<Money>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum WatchTarget {
    /// The offers of one hotel.
    Hotel { hotel_id: HotelId },
    /// The hotels of an area.
    Trip { area: Area, filters: TripFilters },
}

/// The area of a trip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// The area around a saved place.
    Place(PlaceId),
    Around {
        center: Location,
        /// Radius in metres.
        radius_m: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TripFilters {
    /// Minimum star rating, 0 to 5.
    pub min_star_rating: Option<f64>,
    /// Minimum guest rating, 0 to 10.
    pub min_guest_rating: Option<f64>,
    /// `true` for refundable offers only, `false` for non-refundable ones only.
    pub refundable: Option<bool>,
    /// Accepted boards. An empty list means all.
    pub boards: Vec<Board>,
}

/// The price query of a watch. Watches of one tenant with the same query share its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceQuery {
    pub target: WatchTarget,
    pub stay: Stay,
}

impl PriceQuery {
    /// Returns when check-in has passed in every time zone.
    pub fn expires_at(&self) -> Timestamp {
        midnight_utc(self.stay.check_in).plus_s(DAY_S + UTC_MINUS_12_OFFSET_S)
    }

    /// Returns when the price should be checked next.
    ///
    /// Each query has a fixed phase within the interval, so that checks are spread evenly. The
    /// interval is halved in the last 7 days before check-in and quartered in the last 2. The last
    /// check is at [`PriceQuery::expires_at`], when there is nothing left to check.
    pub fn next_check(&self, id: &PriceCheckId, interval_s: i64, now: Timestamp) -> Timestamp {
        let left_s = midnight_utc(self.stay.check_in).since(now) / 1000;
        let share = if left_s <= 2 * DAY_S {
            4
        } else if left_s <= 7 * DAY_S {
            2
        } else {
            1
        };
        let interval_ms = interval_s.saturating_mul(1000) / share;
        let interval_ms = interval_ms.max(INTERVAL_MIN_MS);
        let phase_ms = i64::from(phase_hash(id)) % interval_ms;
        let since_ms = now.plus_ms(-phase_ms).0.rem_euclid(interval_ms);
        now.plus_ms(interval_ms - since_ms).min(self.expires_at())
    }
}

fn midnight_utc(day: Date) -> Timestamp {
    // The last date that can be represented has no representable midnight in UTC.
    let midnight = day.to_zoned(jiff::tz::TimeZone::UTC);
    midnight.map_or(Timestamp(0).plus_ms(i64::MAX), |midnight| {
        Timestamp(midnight.timestamp().as_millisecond())
    })
}

/// Returns a hash that is independent of the order of ids.
fn phase_hash(id: &PriceCheckId) -> u32 {
    // The hash is FNV-1a.
    id.as_str().bytes().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
