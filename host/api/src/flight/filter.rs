//! Filters of fares, and their validation.

use crate::extract::Violations;
use crate::flight::AirlineCode;
use crate::identifier::check_distinct;
use host_domain::flight::{self, supplier_api};
use host_domain::money::Money;
use host_resources::flight::itinerary::CabinResource;
use host_resources::value::Amount;
use serde::Deserialize;
use std::collections::HashSet;
use utoipa::ToSchema;

/// Time of day, `HH:MM`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, ToSchema)]
#[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "08:30")]
pub(crate) struct ClockTime(String);

/// Filters of fares. `meta.unsupported_filters` names the filters that the supplier does not apply;
/// the gateway applies them instead.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FlightFilters)]
pub(crate) struct FlightFiltersRequest {
    /// Cabin class of every segment.
    cabin_class: Option<CabinResource>,
    /// Maximum number of stops of each journey.
    #[schema(minimum = 0, maximum = 9, example = 1)]
    max_stops: Option<u32>,
    /// Only fares whose segments are all sold by these airlines.
    #[serde(default)]
    #[schema(max_items = 50)]
    airlines: Vec<AirlineCode>,
    /// Only fares without a segment sold by one of these airlines.
    #[serde(default)]
    #[schema(max_items = 50)]
    excluded_airlines: Vec<AirlineCode>,
    /// Earliest local departure time of each journey.
    departure_after: Option<ClockTime>,
    /// Latest local departure time of each journey; not before `departure_after`.
    departure_before: Option<ClockTime>,
    /// Latest local arrival time of each journey, on any day.
    arrival_before: Option<ClockTime>,
    /// Only refundable fares (possibly for a fee) if true, only non-refundable ones if false. A
    /// fare whose refundability is unknown matches neither.
    refundable: Option<bool>,
    /// Only fares that include a checked bag for every passenger with a seat if true, only other
    /// fares if false.
    checked_bag: Option<bool>,
    /// Maximum total for all passengers, in `currency`, which is then required; must be more than
    /// 0.
    pub(super) max_total: Option<Amount>,
}

impl FlightFiltersRequest {
    /// Adds violations for filters that no fare can match.
    pub(super) fn validate(&self, found: &mut Violations<'_>) {
        check_distinct(Some(&self.airlines), "/filters/airlines", found);
        let excluded = &self.excluded_airlines;
        check_distinct(Some(excluded), "/filters/excluded_airlines", found);
        let wanted = self.airlines.iter().enumerate();
        let wanted: HashSet<&AirlineCode> = wanted
            .filter(|(at, _)| found.are_valid(&[&format!("/filters/airlines/{at}")]))
            .map(|(_, airline)| airline)
            .collect();
        for (at, airline) in excluded.iter().enumerate() {
            let pointer = format!("/filters/excluded_airlines/{at}");
            if wanted.contains(airline) && found.are_valid(&[&pointer]) {
                found.push(pointer, "contradiction", "also occurs in airlines");
            }
        }
        let times = ["/filters/departure_after", "/filters/departure_before"];
        if let (Some(after), Some(before)) = (&self.departure_after, &self.departure_before)
            && before < after
            && found.are_valid(&times)
        {
            let detail = "must not be before departure_after";
            found.push("/filters/departure_before", "contradiction", detail);
        }
    }

    pub(super) fn into_supplier_filters(self, max_total: Option<Money>) -> supplier_api::Filters {
        let codes = |airlines: Vec<AirlineCode>| airlines.into_iter().map(|code| code.0).collect();
        let text = |time: Option<ClockTime>| time.map(|time| time.0);
        supplier_api::Filters {
            cabin: self.cabin_class.map(flight::Cabin::from),
            max_stops: (self.max_stops).map(|stops| u8::try_from(stops).unwrap_or(u8::MAX)),
            airlines: codes(self.airlines),
            excluded_airlines: codes(self.excluded_airlines),
            departure_after: text(self.departure_after),
            departure_before: text(self.departure_before),
            arrival_before: text(self.arrival_before),
            refundable: self.refundable,
            checked_bag: self.checked_bag,
            max_total,
        }
    }
}
