//! Parts of an itinerary that offers, bookings and airline-initiated changes share. They are
//! flattened into the resource that contains them.

use crate::flight::segment_details::{SegmentDetailsResource, local_time};
use crate::value::{MoneyResource, same_variants};
use host_domain::flight;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A cabin class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CabinResource {
    Economy,
    PremiumEconomy,
    Business,
    First,
}

/// The direction of a journey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DirectionResource {
    /// The first or only journey.
    Outbound,
    /// The return journey.
    Inbound,
    /// One of several journeys without a return.
    MultiCity,
}

/// Whether a ticket may be refunded or changed, and at what penalty.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FareConditionResource {
    /// Whether it is allowed. Null if the airline does not say.
    #[schema(required)]
    allowed: Option<bool>,
    /// Penalty, possibly in a different currency than the fare. Null if the airline does not say.
    #[schema(required)]
    penalty: Option<MoneyResource>,
}

/// The conditions of a fare before departure.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FareConditionsResource {
    /// Conditions of a refund.
    refund: FareConditionResource,
    /// Conditions of a change to another flight.
    change: FareConditionResource,
}

/// The times and airports of a journey.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JourneyTimesResource {
    /// IATA code of the origin airport.
    #[schema(example = "LHR")]
    origin: String,
    /// IATA code of the destination airport.
    #[schema(example = "JFK")]
    destination: String,
    direction: DirectionResource,
    /// Local time at the origin, without a UTC offset.
    #[schema(example = "2026-11-21T10:00:00")]
    departure_time: String,
    /// Local time at the destination, without a UTC offset.
    #[schema(example = "2026-11-21T13:05:00")]
    arrival_time: String,
    /// Minutes from departure to arrival, connections included. Null if not known.
    #[schema(required, minimum = 0)]
    duration_minutes: Option<u32>,
    /// Number of landings on the way, technical stops included.
    #[schema(minimum = 0)]
    stops: u32,
    /// Conditions of this journey alone. Absent if the airline states only those of the whole
    /// ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    fare_conditions: Option<FareConditionsResource>,
}

/// The times, airports and carriers of a segment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SegmentFlightResource {
    /// IATA code of the origin airport.
    #[schema(example = "LHR")]
    origin: String,
    /// IATA code of the destination airport.
    #[schema(example = "JFK")]
    destination: String,
    /// Local time at the origin, without a UTC offset.
    #[schema(example = "2026-11-21T10:00:00")]
    departure_time: String,
    /// Local time at the destination, without a UTC offset.
    #[schema(example = "2026-11-21T13:05:00")]
    arrival_time: String,
    /// Carrier code and flight number.
    #[schema(example = "BA117")]
    marketing_flight: String,
    /// Name of the airline that sells the flight.
    #[schema(example = "British Airways")]
    marketing_carrier: String,
    /// URL of the marketing carrier's logo.
    #[schema(required)]
    marketing_carrier_logo_url: Option<String>,
    /// Name of the airline that operates the flight. Null if it is not known.
    #[schema(required)]
    operating_carrier: Option<String>,
    /// URL of the operating carrier's logo.
    #[schema(required)]
    operating_carrier_logo_url: Option<String>,
    /// Minutes of flight. Null if not known.
    #[schema(required, minimum = 0)]
    duration_minutes: Option<u32>,
    #[serde(flatten)]
    details: SegmentDetailsResource,
}

same_variants! { CabinResource <=> flight::Cabin: Economy, PremiumEconomy, Business, First }

same_variants! { DirectionResource <= flight::Direction: Outbound, Inbound, MultiCity }

impl From<flight::FareCondition> for FareConditionResource {
    fn from(condition: flight::FareCondition) -> Self {
        Self {
            allowed: condition.allowed,
            penalty: condition.penalty.map(MoneyResource::from),
        }
    }
}

impl From<flight::FareConditions> for FareConditionsResource {
    fn from(conditions: flight::FareConditions) -> Self {
        Self {
            refund: conditions.refund.into(),
            change: conditions.change.into(),
        }
    }
}

impl From<&flight::Journey> for JourneyTimesResource {
    fn from(journey: &flight::Journey) -> Self {
        Self {
            origin: journey.origin.clone(),
            destination: journey.destination.clone(),
            direction: journey.direction.into(),
            departure_time: local_time(&journey.departure_time),
            arrival_time: local_time(&journey.arrival_time),
            duration_minutes: journey.duration_minutes,
            stops: journey.stops.into(),
            fare_conditions: journey.fare_conditions.map(FareConditionsResource::from),
        }
    }
}

impl From<&flight::Segment> for SegmentFlightResource {
    fn from(segment: &flight::Segment) -> Self {
        Self {
            origin: segment.origin.clone(),
            destination: segment.destination.clone(),
            departure_time: local_time(&segment.departure_time),
            arrival_time: local_time(&segment.arrival_time),
            marketing_flight: segment.marketing_flight.clone(),
            marketing_carrier: segment.marketing_carrier.clone(),
            marketing_carrier_logo_url: segment.marketing_carrier_logo_url.clone(),
            operating_carrier: segment.operating_carrier.clone(),
            operating_carrier_logo_url: segment.operating_carrier_logo_url.clone(),
            duration_minutes: segment.duration_minutes,
            details: (&segment.details).into(),
        }
    }
}
