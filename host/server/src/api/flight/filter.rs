//! What fares must have, and its rules.

use crate::api::extract::Violations;
use crate::api::flight::AirlineCode;
use crate::api::identifier::check_distinct;
use crate::api::value::Amount;
use crate::render::flight::itinerary::Cabin;
use host_domain::flight;
use host_domain::flight::supply;
use host_domain::money::Money;
use serde::Deserialize;
use utoipa::ToSchema;

/// A time of day, `HH:MM`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, ToSchema)]
#[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "08:30")]
pub(crate) struct ClockTime(String);

/// What fares must have. What the supplier does not apply is named in `meta.unsupported_filters`,
/// and applied by the gateway.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlightFilters {
    /// On every segment.
    cabin_class: Option<Cabin>,
    /// Of each journey.
    #[schema(minimum = 0, maximum = 9, example = 1)]
    max_stops: Option<u32>,
    /// Only flights that these airlines sell, all segments.
    #[serde(default)]
    #[schema(max_items = 50)]
    airlines: Vec<AirlineCode>,
    /// No flight that one of these airlines sells.
    #[serde(default)]
    #[schema(max_items = 50)]
    excluded_airlines: Vec<AirlineCode>,
    /// Each journey departs at this time of day, local, or later.
    departure_after: Option<ClockTime>,
    /// Each journey departs at this time of day, local, or earlier; not before `departure_after`.
    departure_before: Option<ClockTime>,
    /// Each journey arrives at this time of day, local, or earlier, whatever the day.
    arrival_before: Option<ClockTime>,
    /// Only fares that can be given back, perhaps at a cost, or only others. A fare of which neither is told
    /// passes neither.
    refundable: Option<bool>,
    /// Only fares with a checked bag for every passenger with a seat, or only others.
    checked_bag: Option<bool>,
    /// The most that all passengers may cost together, in `currency`, which is then required; more than 0.
    pub(super) max_total: Option<Amount>,
}

impl FlightFilters {
    /// Notes filters that no fare can pass.
    pub(super) fn validate(&self, found: &mut Violations<'_>) {
        check_distinct(Some(&self.airlines), "/filters/airlines", found);
        let excluded = &self.excluded_airlines;
        check_distinct(Some(excluded), "/filters/excluded_airlines", found);
        for (at, airline) in excluded.iter().enumerate() {
            if self.airlines.contains(airline) {
                found.push(
                    format!("/filters/excluded_airlines/{at}"),
                    "contradiction",
                    "stands in airlines too",
                );
            }
        }
        if let (Some(after), Some(before)) = (&self.departure_after, &self.departure_before)
            && before < after
        {
            found.push(
                "/filters/departure_before",
                "contradiction",
                "must not be before departure_after",
            );
        }
    }

    /// As suppliers are asked.
    pub(super) fn into_supplier_filters(self, max_total: Option<Money>) -> supply::Filters {
        let codes = |airlines: Vec<AirlineCode>| airlines.into_iter().map(|code| code.0).collect();
        let text = |time: Option<ClockTime>| time.map(|time| time.0);
        supply::Filters {
            cabin: self.cabin_class.map(flight::Cabin::from),
            max_stops: self
                .max_stops
                .map(|stops| u8::try_from(stops).unwrap_or(u8::MAX)),
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
