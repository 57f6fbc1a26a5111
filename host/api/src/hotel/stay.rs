//! Dates and occupancy of searches and offers, and their validation.

use crate::extract::Violations;
use host_application::catalog::local_date;
use host_domain::hotel;
use host_domain::time::{Date, Timestamp};
use host_resources::value::{CountryCode, CurrencyCode, IsoDate};
use jiff::{ToSpan, Unit};
use serde::Deserialize;
use utoipa::ToSchema;

const NIGHTS_MAX: i64 = 60;
const DAYS_AHEAD_MAX: i64 = 700;

/// Age of a child in years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(minimum = 0, maximum = 17, example = 7)]
pub(crate) struct ChildAge(u32);

/// Occupancy of a room.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Occupancy)]
pub(crate) struct OccupancyRequest {
    #[schema(minimum = 1, maximum = 8, example = 2)]
    adults: u32,
    /// Ages of the children: 17 or younger.
    #[serde(default)]
    #[schema(max_items = 8, example = json!([7]))]
    children: Vec<ChildAge>,
}

/// The stay of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StayRequest<'a> {
    pub(crate) check_in: IsoDate,
    pub(crate) check_out: IsoDate,
    pub(crate) occupancy: &'a [OccupancyRequest],
    pub(crate) guest_nationality: CountryCode,
    pub(crate) guest_residence: Option<CountryCode>,
    pub(crate) currency: CurrencyCode,
}

/// Returns the stay of requests that have its fields themselves, so that their published schemas
/// stay flat.
macro_rules! stay_fields {
    ($($request:ident),*) => {$(
        impl $request {
            fn stay_fields(&self) -> StayRequest<'_> {
                StayRequest {
                    check_in: self.check_in,
                    check_out: self.check_out,
                    occupancy: &self.occupancy,
                    guest_nationality: self.guest_nationality,
                    guest_residence: self.guest_residence,
                    currency: self.currency,
                }
            }
        }
    )*};
}
pub(crate) use stay_fields;

impl OccupancyRequest {
    pub(crate) const fn adults_only(adults: u32) -> Self {
        Self {
            adults,
            children: Vec::new(),
        }
    }
}

impl StayRequest<'_> {
    /// Adds violations for past or too distant dates, and for stays of invalid length. A date is
    /// past once it has ended in every time zone; if the hotel's time zone is known, the date is
    /// checked again later.
    pub(crate) fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        let (check_in, check_out) = (self.check_in.0, self.check_out.0);
        if !found.are_valid(&["/check_in"]) {
            return;
        }
        if check_in < local_date::local_date(None, now) {
            found.push("/check_in", "in_the_past", "must not be in the past");
        }
        if days_between(now.date_utc(), check_in) > DAYS_AHEAD_MAX {
            let detail = format!("must be at most {DAYS_AHEAD_MAX} days ahead");
            found.push("/check_in", "too_far_ahead", detail);
        }
        if !found.are_valid(&["/check_out"]) {
            return;
        }
        match days_between(check_in, check_out) {
            ..1 => found.push("/check_out", "not_after_check_in", "must be after check_in"),
            1..=NIGHTS_MAX => {}
            _ => {
                let detail = format!("must be at most {NIGHTS_MAX} nights after check_in");
                found.push("/check_out", "too_long", detail);
            }
        }
    }

    /// Returns whether the occupancy of every room is that of the request.
    pub(crate) fn is_occupancy_valid(&self, found: &Violations<'_>) -> bool {
        let mut rooms = self.occupancy.iter().enumerate();
        let is_valid = |(index, room): (usize, &OccupancyRequest)| {
            let [adults, children] =
                ["adults", "children"].map(|name| format!("/occupancy/{index}/{name}"));
            let is_age_valid = |age| found.are_valid(&[&format!("{children}/{age}")]);
            found.are_valid(&[&adults, &children]) && (0..room.children.len()).all(is_age_valid)
        };
        found.are_valid(&["/occupancy"]) && !self.occupancy.is_empty() && rooms.all(is_valid)
    }

    pub(crate) fn to_stay(self) -> hotel::Stay {
        hotel::Stay {
            check_in: self.check_in.0,
            check_out: self.check_out.0,
            occupancies: self.occupancy.iter().map(hotel::Occupancy::from).collect(),
            guest_nationality: self.guest_nationality.to_alpha2(),
            guest_residence: self.guest_residence.map(CountryCode::to_alpha2),
            currency: self.currency.0,
        }
    }
}

/// Returns the days from one date to another; negative if `to` is earlier.
pub(super) fn days_between(from: Date, to: Date) -> i64 {
    let span = from.until((Unit::Day, to)).unwrap_or_else(|_| 0.days());
    i64::from(span.get_days())
}

/// The schema limits all numbers to less than 256.
impl From<&OccupancyRequest> for hotel::Occupancy {
    fn from(occupancy: &OccupancyRequest) -> Self {
        let byte = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        Self {
            adults: byte(occupancy.adults),
            children: occupancy.children.iter().map(|age| byte(age.0)).collect(),
        }
    }
}
