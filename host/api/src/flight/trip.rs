//! Journeys and travellers of a fare request, and their validation.

use crate::extract::Violations;
use host_application::catalog::local_date;
use host_domain::flight::passenger::Travellers;
use host_domain::flight::supplier_api;
use host_domain::time::{Date, Timestamp};
use host_resources::value::IsoDate;
use jiff::ToSpan;
use serde::Deserialize;
use utoipa::ToSchema;

/// Maximum number of days ahead. Airlines publish their flights about a year ahead.
const DAYS_AHEAD_MAX: i64 = 365;
/// Maximum number of passengers with a seat that airlines accept in one booking.
const SEATS_MAX: usize = 9;

/// IATA code of an airport or city.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(pattern = "^[A-Z]{3}$", example = "LHR")]
pub(crate) struct AirportCode(String);

/// A journey to price.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JourneyRequest {
    origin: AirportCode,
    #[schema(example = "JFK")]
    destination: AirportCode,
    /// Local date of departure: from today to 365 days ahead, and not before that of the previous
    /// journey.
    date: IsoDate,
}

/// Age of a child in years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(minimum = 2, maximum = 17, example = 7)]
pub(crate) struct FlightChildAge(u32);

/// Travellers to price. At most nine may occupy a seat.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TravellersRequest {
    #[schema(minimum = 1, maximum = 9, example = 1)]
    adults: u32,
    /// Ages of the children at the time of travel: 2 to 17.
    #[serde(default)]
    #[schema(max_items = 8, example = json!([]))]
    children: Vec<FlightChildAge>,
    /// Number of infants younger than two. Each sits on an adult's lap, so there may not be more
    /// infants than adults.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 9, default = 0)]
    infants: u32,
}

/// Adds violations for journeys with the same origin and destination, with past or too distant
/// dates, or out of order. A date is past once it has ended in every time zone.
pub(super) fn validate_journeys(
    journeys: &[JourneyRequest],
    now: Timestamp,
    found: &mut Violations<'_>,
) {
    let last_day = now.date_utc().saturating_add(DAYS_AHEAD_MAX.days());
    let mut previous: Option<Date> = None;
    for (at, journey) in journeys.iter().enumerate() {
        let here = format!("/journeys/{at}");
        let ends = [format!("{here}/origin"), format!("{here}/destination")];
        let [origin, destination] = &ends;
        if found.are_valid(&[origin, destination]) && journey.origin == journey.destination {
            let detail = "must differ from the origin";
            found.push(destination, "same_as_origin", detail);
        }
        if !found.are_valid(&[&format!("{here}/date")]) {
            continue;
        }
        let date = journey.date.0;
        let mut on_date = |code: &str, detail: &str| {
            found.push(format!("{here}/date"), code, detail);
        };
        if date < local_date::local_date(None, now) {
            on_date("in_the_past", "must not be in the past");
        }
        if date > last_day {
            let detail = format!("must be at most {DAYS_AHEAD_MAX} days ahead");
            on_date("too_far_ahead", &detail);
        }
        if previous.is_some_and(|previous| date < previous) {
            let detail = "must not be before the date of the previous journey";
            on_date("before_previous", detail);
        }
        previous = Some(date);
    }
}

impl TravellersRequest {
    pub(super) fn validate(&self, found: &mut Violations<'_>) {
        let [adults, children, infants] =
            ["adults", "children", "infants"].map(|name| format!("/passengers/{name}"));
        if !found.are_valid(&[&adults]) {
            return;
        }
        if self.infants > self.adults && found.are_valid(&[&infants]) {
            let detail = "must not be more than the adults";
            found.push(infants, "too_large", detail);
        }
        let seats = usize::try_from(self.adults).unwrap_or(usize::MAX);
        let seats = seats.saturating_add(self.children.len());
        if seats > SEATS_MAX && found.are_valid(&[&children]) {
            let detail = format!("adults and children must be at most {SEATS_MAX} together");
            found.push("/passengers", "too_many", detail);
        }
    }
}

impl From<JourneyRequest> for supplier_api::RequestedJourney {
    fn from(journey: JourneyRequest) -> Self {
        Self {
            origin: journey.origin.0,
            destination: journey.destination.0,
            date: journey.date.0,
        }
    }
}

/// The schema limits all numbers to less than 256.
impl From<TravellersRequest> for Travellers {
    fn from(request: TravellersRequest) -> Self {
        let byte = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        Self {
            adults: byte(request.adults),
            children: request.children.iter().map(|age| byte(age.0)).collect(),
            infants: byte(request.infants),
        }
    }
}
