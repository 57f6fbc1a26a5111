//! What watches ask, and when it is asked.

use crate::hotel::{Board, Location, Stay};
use crate::id::{AskId, HotelId, PlaceId};
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

const HOUR_S: i64 = 60 * 60;
const DAY_S: i64 = 24 * HOUR_S;
/// Of a day in UTC−12, where days end last, after the same day has ended in UTC.
const UTC_MINUS_12_OFFSET_S: i64 = 12 * HOUR_S;
/// No question is asked more often, however near check-in is.
const INTERVAL_MIN_MS: i64 = 1000;

/// What is watched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum WatchTarget {
    /// The offers of one hotel.
    Hotel {
        /// Which.
        hotel_id: HotelId,
    },
    /// The hotels of an area.
    Trip {
        /// Where.
        area: Area,
        /// What they must have.
        filters: TripFilters,
    },
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Around a saved place.
    Place(PlaceId),
    /// Around a point.
    Around {
        /// Its middle.
        center: Location,
        /// Metres.
        radius_m: u32,
    },
}

/// What the hotels of a trip must have.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TripFilters {
    /// 0 to 5.
    pub min_star_rating: Option<f64>,
    /// 0 to 10.
    pub min_guest_rating: Option<f64>,
    /// Only refundable, or only not.
    pub refundable: Option<bool>,
    /// Any of these; empty: all.
    pub boards: Vec<Board>,
}

/// What is asked for a watch. Watches of one tenant with the same question share
/// the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceQuery {
    /// What is watched.
    pub target: WatchTarget,
    /// When and who.
    pub stay: Stay,
}

impl PriceQuery {
    /// When check-in has passed everywhere.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        midnight_utc(self.stay.check_in).plus_s(DAY_S + UTC_MINUS_12_OFFSET_S)
    }

    /// When to ask again, so that all questions spread over the interval: each has
    /// an instant of its own in it. Near check-in the interval is shorter: half in
    /// the last week, a quarter in the last two days. The last time is at
    /// [`Question::expires_at`], where there is nothing to ask any more.
    #[must_use]
    pub fn next_check(&self, id: &AskId, interval_s: i64, now: Timestamp) -> Timestamp {
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
    // The last day that can be written has no midnight in UTC that can be.
    let midnight = day.to_zoned(jiff::tz::TimeZone::UTC);
    midnight.map_or(Timestamp(0).plus_ms(i64::MAX), |midnight| {
        Timestamp(midnight.timestamp().as_millisecond())
    })
}

/// A number that has nothing to do with the order of ids.
fn phase_hash(id: &AskId) -> u32 {
    // FNV-1a.
    id.as_str().bytes().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
