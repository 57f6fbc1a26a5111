//! JSON resources of the passengers and journeys of a flight booking.

use crate::flight::details::SegmentPassengerDetailsResource;
use crate::flight::itinerary::{CabinResource, JourneyTimesResource, SegmentFlightResource};
use host_domain::flight::booking::{self, FlightBooking};
use host_domain::flight::itinerary::{Segment, SegmentPassenger};
use host_domain::flight::passenger;
use host_domain::id::SegmentId;
use serde::Serialize;
use utoipa::ToSchema;

/// A membership in an airline's loyalty programme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LoyaltyAccountResource {
    #[schema(pattern = "^[A-Z0-9]{2}$", example = "BA")]
    airline_iata_code: String,
    /// Masked membership number. The whole number is never returned.
    #[schema(example = "****1234")]
    membership_number: String,
}

/// A passenger of a booking. Travel documents are never returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FlightPassengerResource {
    #[schema(pattern = "^psg_[a-zA-Z0-9-]+$")]
    id: String,
    first_name: String,
    last_name: String,
    loyalty_accounts: Vec<LoyaltyAccountResource>,
}

/// The cabin and baggage of one passenger on one segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct BookedSeatResource {
    #[schema(pattern = "^psg_[a-zA-Z0-9-]+$")]
    passenger_id: String,
    cabin_class: CabinResource,
    /// Name that the airline gives the cabin.
    #[schema(required)]
    cabin_name: Option<String>,
    /// Number of checked bags. Null if it is not known.
    #[schema(required, minimum = 0)]
    checked_bags: Option<u32>,
    /// Number of cabin bags. Null if it is not known.
    #[schema(required, minimum = 0)]
    carry_on_bags: Option<u32>,
    #[serde(flatten)]
    details: SegmentPassengerDetailsResource,
}

/// A booked flight under one flight number from one airport to the next.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BookedSegmentResource {
    /// Id of the segment. It stays the same if the airline only reschedules the flight.
    #[schema(pattern = "^seg_[a-zA-Z0-9-]+$")]
    id: String,
    #[serde(flatten)]
    flight: SegmentFlightResource,
    /// Cabin and baggage of each passenger. Empty if the supplier does not report them.
    passengers: Vec<BookedSeatResource>,
}

/// A booked journey from an origin to a destination.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BookedJourneyResource {
    #[schema(pattern = "^jrn_[a-zA-Z0-9-]+$")]
    id: String,
    #[serde(flatten)]
    times: JourneyTimesResource,
    /// Name that the airline gives the fare.
    #[schema(required)]
    fare_brand: Option<String>,
    /// Segments in order of travel.
    segments: Vec<BookedSegmentResource>,
}

/// Builds the passengers of a booking in the order of the request.
pub fn passengers(booking: &FlightBooking) -> Vec<FlightPassengerResource> {
    let mut passengers: Vec<_> = booking.details.passengers.iter().collect();
    passengers.sort_by_key(|passenger| passenger.position);
    passengers.into_iter().map(passenger).collect()
}

fn passenger(passenger: &booking::BookedPassenger) -> FlightPassengerResource {
    FlightPassengerResource {
        id: passenger.id.to_string(),
        first_name: passenger.first_name.clone(),
        last_name: passenger.last_name.clone(),
        loyalty_accounts: passenger.loyalty_accounts.iter().map(loyalty).collect(),
    }
}

fn loyalty(account: &passenger::LoyaltyAccount) -> LoyaltyAccountResource {
    LoyaltyAccountResource {
        airline_iata_code: account.airline_iata_code.clone(),
        membership_number: account.membership_number.clone(),
    }
}

pub fn journeys(booking: &FlightBooking) -> Vec<BookedJourneyResource> {
    let journey = |booked: &booking::BookedJourney| {
        let journey = &booked.journey;
        let segments = booked.segment_ids.iter().zip(&journey.segments);
        BookedJourneyResource {
            id: booked.id.to_string(),
            times: journey.into(),
            fare_brand: journey.fare_brand.clone(),
            segments: segments
                .map(|(id, flown)| segment(booking, id, flown))
                .collect(),
        }
    };
    booking.details.journeys.iter().map(journey).collect()
}

fn segment(booking: &FlightBooking, id: &SegmentId, segment: &Segment) -> BookedSegmentResource {
    let seats = segment.passengers.iter();
    BookedSegmentResource {
        id: id.to_string(),
        flight: segment.into(),
        passengers: seats.filter_map(|has| seat(booking, has)).collect(),
    }
}

/// Returns the cabin and baggage of a passenger, or `None` if the passenger is not part of the
/// booking.
fn seat(booking: &FlightBooking, seat: &SegmentPassenger) -> Option<BookedSeatResource> {
    let passengers = &booking.details.passengers;
    let passenger = passengers.get(usize::from(seat.passenger))?;
    Some(BookedSeatResource {
        passenger_id: passenger.id.to_string(),
        cabin_class: seat.cabin.into(),
        cabin_name: seat.cabin_name.clone(),
        checked_bags: seat.checked_bags.map(u32::from),
        carry_on_bags: seat.carry_on_bags.map(u32::from),
        details: (&seat.details).into(),
    })
}
