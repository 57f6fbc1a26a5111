//! Flight data that many suppliers do not return and that the SDK derives, an empty filter, and
//! empty details.

use crate::flight_pricing::Filters;
use crate::time;
use crate::types::flight::{BaggageType, Direction, Segment};
use crate::types::flight_details::{
    Bag, BookingDetails, JourneyDetails, OfferDetails, PrebookDetails, PriceBreakdown, Seat,
    SegmentDetails, SegmentPassengerDetails,
};

impl Default for Filters {
    /// Creates filters that exclude nothing.
    fn default() -> Self {
        Self {
            cabin: None,
            max_stops: None,
            airlines: Vec::new(),
            excluded_airlines: Vec::new(),
            departure_after: None,
            departure_before: None,
            arrival_before: None,
            refundable: None,
            checked_bag: None,
            max_total: None,
        }
    }
}

/// Implements [`Default`] for details in which the supplier says nothing.
macro_rules! empty_details {
    ($($details:ident { $($field:ident),+ })+) => {$(
        impl Default for $details {
            fn default() -> Self {
                Self { $($field: Default::default()),+ }
            }
        }
    )+};
}

empty_details! {
    PriceBreakdown { fare, fare_tax, fee }
    OfferDetails { price, payment_terms, journeys }
    PrebookDetails { price, payment_terms, journeys, services }
    BookingDetails {
        price, payment_status, record_locators, documents, journeys, services, services_left_out
    }
    JourneyDetails { fare_conditions, segments }
    SegmentDetails {
        origin_terminal, destination_terminal, operating_carrier_code, operating_flight, aircraft,
        aircraft_code, technical_stops, passengers
    }
}

impl SegmentPassengerDetails {
    /// Creates the details of a passenger of whom the supplier says nothing.
    pub fn new(passenger: u8) -> Self {
        Self {
            passenger,
            fare_basis_code: None,
            seat: None,
            baggage: Vec::new(),
        }
    }
}

impl Seat {
    /// Creates a seat of which only row and column are known.
    pub fn new(designator: impl Into<String>) -> Self {
        Self {
            designator: designator.into(),
            name: None,
            position: None,
            disclosures: Vec::new(),
        }
    }
}

impl Bag {
    /// Creates bags without a number of pieces and without limits.
    pub fn new(baggage_type: BaggageType) -> Self {
        Self {
            baggage_type,
            pieces: None,
            max_weight_kg: None,
            max_length_cm: None,
            max_width_cm: None,
            max_height_cm: None,
        }
    }
}

impl Direction {
    /// Returns the direction of each journey of a trip, given as (origin, destination) airports. A
    /// single journey is outbound. If a second of two journeys returns to the origin of the first,
    /// it is inbound. All journeys of any other trip are multi-city.
    pub fn for_journeys(journeys: &[(&str, &str)]) -> Vec<Self> {
        match journeys {
            [_] => vec![Self::Outbound],
            [out, back] if (out.0, out.1) == (back.1, back.0) => {
                vec![Self::Outbound, Self::Inbound]
            }
            other => vec![Self::MultiCity; other.len()],
        }
    }
}

/// Returns the minutes of all flights and connections, or `None` if one of them is unknown. Both
/// times of a connection are in the same time zone.
pub fn elapsed_minutes(segments: &[Segment]) -> Option<u32> {
    let flown = segments.iter().map(|segment| segment.duration_minutes);
    let connections = segments.iter().zip(segments.iter().skip(1));
    let waited = connections
        .map(|(before, after)| time::minutes_between(&before.arrival_time, &after.departure_time));
    flown
        .chain(waited)
        .try_fold(0_u32, |total, minutes| total.checked_add(minutes?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_return_journey_is_inbound() {
        use Direction::{Inbound, MultiCity, Outbound};
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a [Direction]);
        let cases: [Case<'_>; 5] = [
            (&[], &[]),
            (&[("LHR", "JFK")], &[Outbound]),
            (&[("LHR", "JFK"), ("JFK", "LHR")], &[Outbound, Inbound]),
            (&[("LHR", "JFK"), ("JFK", "LGW")], &[MultiCity, MultiCity]),
            (
                &[("LHR", "JFK"), ("JFK", "LHR"), ("LHR", "CDG")],
                &[MultiCity, MultiCity, MultiCity],
            ),
        ];
        for (journeys, expected) in cases {
            assert_eq!(Direction::for_journeys(journeys), expected, "{journeys:?}");
        }
    }
}
