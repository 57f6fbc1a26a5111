//! Types of an itinerary: journey, segment, fare conditions, airline changes.

use crate::flight::details::{SegmentDetails, SegmentPassengerDetails, is_default};
use crate::money::Money;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cabin {
    Economy,
    PremiumEconomy,
    Business,
    First,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The first or only journey.
    Outbound,
    Inbound,
    /// One of several journeys without a return.
    MultiCity,
}

/// The condition of a change or refund under the fare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FareCondition {
    /// Whether it is allowed. `None` if the airline does not report it.
    pub allowed: Option<bool>,
    /// The penalty, possibly in another currency than the fare. `None` if not reported.
    pub penalty: Option<Money>,
}

/// The conditions of a fare before departure. By default nothing is known about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FareConditions {
    pub refund: FareCondition,
    pub change: FareCondition,
}

/// The cabin and bags of one passenger on one segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentPassenger {
    /// Zero-based index of the passenger, in the order of the request.
    pub passenger: u8,
    pub cabin: Cabin,
    pub cabin_name: Option<String>,
    /// Number of checked bags. `None` if unknown.
    pub checked_bags: Option<u8>,
    /// Number of carry-on bags. `None` if unknown.
    pub carry_on_bags: Option<u8>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub details: SegmentPassengerDetails,
}

/// A segment: one flight number from one airport to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The supplier's id, or an empty text if it has none.
    pub supplier_segment_id: String,
    /// IATA code of the airport of departure.
    pub origin: String,
    /// IATA code of the airport of arrival.
    pub destination: String,
    /// Local time of departure without offset, `YYYY-MM-DDTHH:MM`.
    pub departure_time: String,
    /// Local time of arrival without offset, `YYYY-MM-DDTHH:MM`.
    pub arrival_time: String,
    /// IANA time-zone name of the origin, if known.
    pub origin_time_zone: Option<String>,
    /// IANA time-zone name of the destination, if known.
    pub destination_time_zone: Option<String>,
    /// Carrier code and flight number, e.g. `BA117`.
    pub marketing_flight: String,
    pub marketing_carrier: String,
    /// IATA code of the marketing carrier.
    pub marketing_carrier_code: String,
    pub marketing_carrier_logo_url: Option<String>,
    /// Name of the operating carrier, if reported.
    pub operating_carrier: Option<String>,
    pub operating_carrier_logo_url: Option<String>,
    /// Flight time in minutes.
    pub duration_minutes: Option<u32>,
    pub cabin: Cabin,
    /// The passengers, in the order of the request. The list is empty if nothing is known.
    pub passengers: Vec<SegmentPassenger>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub details: SegmentDetails,
}

/// A journey from an origin to a destination, as requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journey {
    /// The supplier's id, or an empty text if it has none.
    pub supplier_journey_id: String,
    /// IATA code of the airport of departure.
    pub origin: String,
    /// IATA code of the airport of arrival.
    pub destination: String,
    pub direction: Direction,
    /// The airline's name of the fare.
    pub fare_brand: Option<String>,
    /// Local time of departure without offset, `YYYY-MM-DDTHH:MM`.
    pub departure_time: String,
    /// Local time of arrival without offset, `YYYY-MM-DDTHH:MM`.
    pub arrival_time: String,
    /// Duration in minutes, connections included.
    pub duration_minutes: Option<u32>,
    /// Number of landings on the way, technical stops included.
    pub stops: u8,
    /// The segments, in order of travel.
    pub segments: Vec<Segment>,
    /// The conditions of this journey alone, if reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fare_conditions: Option<FareConditions>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeType {
    ScheduleChange,
    Cancellation,
    Reroute,
    Equipment,
}

/// A change by the airline to booked flights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AirlineChange {
    pub supplier_change_id: String,
    pub detected_at: Timestamp,
    pub change_type: ChangeType,
    /// Whether the passenger must respond.
    pub action_required: bool,
    pub removed_segments: Vec<Segment>,
    pub added_segments: Vec<Segment>,
    /// Time until which the passenger can respond.
    pub expires_at: Option<Timestamp>,
    pub accepted_at: Option<Timestamp>,
}
