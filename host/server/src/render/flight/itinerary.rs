//! What an itinerary is called, wherever one is shown: in an offer, in a booking,
//! in a change by the airline. Flattened into the resource that it is a part of.

use crate::api::value::Money;
use host_domain::flight;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A part of the aircraft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Cabin {
    Economy,
    PremiumEconomy,
    Business,
    First,
}

/// Which way a journey goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Direction {
    /// The first, or the only one.
    Outbound,
    /// The way back.
    Inbound,
    /// One of several that do not return.
    MultiCity,
}

/// What giving back or changing a ticket costs.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct FareCondition {
    /// Null where the airline does not say.
    #[schema(required)]
    allowed: Option<bool>,
    /// What it costs; may be in another currency than the fare. Null where the airline does not say.
    #[schema(required)]
    penalty: Option<Money>,
}

/// What a fare allows before departure.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct FareConditions {
    /// Giving the ticket back.
    refund: FareCondition,
    /// Flying another time.
    change: FareCondition,
}

/// The times and airports of a journey.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct JourneyTimes {
    /// IATA code of the airport.
    #[schema(example = "LHR")]
    origin: String,
    /// IATA code of the airport.
    #[schema(example = "JFK")]
    destination: String,
    direction: Direction,
    /// Local at the origin, without offset.
    #[schema(example = "2026-11-21T10:00:00")]
    departure_time: String,
    /// Local at the destination, without offset.
    #[schema(example = "2026-11-21T13:05:00")]
    arrival_time: String,
    /// From departure to arrival, connections included; null when not known.
    #[schema(required, minimum = 0)]
    duration_minutes: Option<u32>,
    /// Landings on the way, technical stops included.
    #[schema(minimum = 0)]
    stops: u32,
}

/// The times, airports and carriers of a segment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct SegmentFlight {
    /// IATA code of the airport.
    #[schema(example = "LHR")]
    origin: String,
    /// IATA code of the airport.
    #[schema(example = "JFK")]
    destination: String,
    /// Local at the origin, without offset.
    #[schema(example = "2026-11-21T10:00:00")]
    departure_time: String,
    /// Local at the destination, without offset.
    #[schema(example = "2026-11-21T13:05:00")]
    arrival_time: String,
    /// Carrier code and number.
    #[schema(example = "BA117")]
    marketing_flight: String,
    /// Name of the airline that sells the flight.
    #[schema(example = "British Airways")]
    marketing_carrier: String,
    /// URL.
    #[schema(required)]
    marketing_carrier_logo_url: Option<String>,
    /// Name of the airline that flies, where it is told.
    #[schema(required)]
    operating_carrier: Option<String>,
    /// URL.
    #[schema(required)]
    operating_carrier_logo_url: Option<String>,
    /// Minutes in the air; null when not known.
    #[schema(required, minimum = 0)]
    duration_minutes: Option<u32>,
}

impl From<flight::Cabin> for Cabin {
    fn from(cabin: flight::Cabin) -> Self {
        match cabin {
            flight::Cabin::Economy => Self::Economy,
            flight::Cabin::PremiumEconomy => Self::PremiumEconomy,
            flight::Cabin::Business => Self::Business,
            flight::Cabin::First => Self::First,
        }
    }
}

impl From<Cabin> for flight::Cabin {
    fn from(cabin: Cabin) -> Self {
        match cabin {
            Cabin::Economy => Self::Economy,
            Cabin::PremiumEconomy => Self::PremiumEconomy,
            Cabin::Business => Self::Business,
            Cabin::First => Self::First,
        }
    }
}

impl From<flight::Direction> for Direction {
    fn from(direction: flight::Direction) -> Self {
        match direction {
            flight::Direction::Outbound => Self::Outbound,
            flight::Direction::Inbound => Self::Inbound,
            flight::Direction::MultiCity => Self::MultiCity,
        }
    }
}

impl From<flight::FareCondition> for FareCondition {
    fn from(condition: flight::FareCondition) -> Self {
        Self {
            allowed: condition.allowed,
            penalty: condition.penalty.map(Money::from),
        }
    }
}

impl From<flight::FareConditions> for FareConditions {
    fn from(conditions: flight::FareConditions) -> Self {
        Self {
            refund: conditions.refund.into(),
            change: conditions.change.into(),
        }
    }
}

impl From<&flight::Journey> for JourneyTimes {
    fn from(journey: &flight::Journey) -> Self {
        Self {
            origin: journey.origin.clone(),
            destination: journey.destination.clone(),
            direction: journey.direction.into(),
            departure_time: local_time(&journey.departure_time),
            arrival_time: local_time(&journey.arrival_time),
            duration_minutes: journey.duration_minutes,
            stops: journey.stops.into(),
        }
    }
}

impl From<&flight::Segment> for SegmentFlight {
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
        }
    }
}

/// `2026-11-21T10:00:00` of `2026-11-21T10:00`: many readers of ISO 8601 want the seconds.
pub(crate) fn local_time(minutes: &str) -> String {
    format!("{minutes}:00")
}
