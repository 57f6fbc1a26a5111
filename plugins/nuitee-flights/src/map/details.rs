//! Details of journeys: operating flights, aircraft, fare bases, and limits of bags.

use stopover_sdk::lenient::LenientText;
use stopover_sdk::types::flight::PassengerType;
use stopover_sdk::types::flight_details::{
    JourneyDetails, SegmentDetails, SegmentPassengerDetails,
};

use crate::map::baggage::included_bags;
use crate::map::journey::{Trip, fare_of, flight_number};
use crate::wire::rates::SegmentAmenities;
use crate::wire::{Baggage, Segment, SegmentFare};

/// The sources of details beside the segments of a trip.
pub(crate) struct DetailSources<'s, 'a> {
    pub(crate) fares: &'s [SegmentFare<'a>],
    pub(crate) amenities: &'s [SegmentAmenities<'a>],
    pub(crate) baggage: &'s Baggage<'a>,
    pub(crate) passengers: &'s [PassengerType],
}

/// Returns the details of each journey, or none if the journeys of the trip are not known.
pub(crate) fn journey_details(
    trip: Trip<'_>,
    sources: &DetailSources<'_, '_>,
) -> Vec<JourneyDetails> {
    let journeys = trip.segments_by_journey().unwrap_or_default().into_iter();
    journeys
        .map(|segments| JourneyDetails {
            fare_conditions: None,
            segments: segments
                .iter()
                .map(|segment| segment_details(segment, sources))
                .collect(),
        })
        .collect()
}

fn segment_details(segment: &Segment<'_>, sources: &DetailSources<'_, '_>) -> SegmentDetails {
    let mut amenities = sources.amenities.iter();
    let amenities =
        amenities.find(|amenities| segment.key.0.is_some() && amenities.segment_key == segment.key);
    let (aircraft_code, aircraft) = amenities
        .map(|amenities| aircraft(&amenities.aircraft))
        .unwrap_or_default();
    let carrier = segment.carrier.as_ref().value();
    let code = carrier.and_then(|carrier| carrier.operating_code.as_deref());
    let flight = segment.flight.as_ref().value();
    let number = flight.and_then(|flight| flight.operating.as_deref());
    SegmentDetails {
        operating_carrier_code: code.map(str::to_owned),
        operating_flight: code
            .zip(number)
            .map(|(code, number)| flight_number(code, number)),
        aircraft,
        aircraft_code,
        passengers: passenger_details(segment, sources),
        ..SegmentDetails::default()
    }
}

/// Returns the code and the name of an aircraft, of which Nuitee gives one.
fn aircraft(written: &LenientText<'_>) -> (Option<String>, Option<String>) {
    let is_code = written.as_str().len() == 3
        && written
            .as_str()
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    match is_code {
        true => (written.to_owned(), None),
        false => (None, written.to_owned()),
    }
}

/// Returns the details of the passengers of whom Nuitee says something.
fn passenger_details(
    segment: &Segment<'_>,
    sources: &DetailSources<'_, '_>,
) -> Vec<SegmentPassengerDetails> {
    let fare = fare_of(segment, sources.fares);
    let fare_basis_code = fare.and_then(|fare| fare.fare_basis_code.to_owned());
    let passengers = (0..).zip(sources.passengers);
    let details = passengers.map(|(position, passenger)| SegmentPassengerDetails {
        fare_basis_code: fare_basis_code.clone(),
        baggage: included_bags(sources.baggage, *passenger),
        ..SegmentPassengerDetails::new(position)
    });
    details
        .filter(|details| details.fare_basis_code.is_some() || !details.baggage.is_empty())
        .collect()
}
