//! The words of an itinerary: journey, segment, fare conditions, changes.

use crate::money::Money;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A part of the aircraft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the contract")]
pub enum Cabin {
    Economy,
    PremiumEconomy,
    Business,
    First,
}

/// Which way a journey goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The first, or the only one.
    Outbound,
    /// The way back.
    Inbound,
    /// One of several that do not return.
    MultiCity,
}

/// What a change or a refund costs under the fare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FareCondition {
    /// None where the airline does not say.
    pub allowed: Option<bool>,
    /// May be in a currency other than the fare's; none: not said.
    pub penalty: Option<Money>,
}

/// What a fare allows before departure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FareConditions {
    /// Giving it back.
    pub refund: FareCondition,
    /// Flying another time.
    pub change: FareCondition,
}

/// What one passenger has on one segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentPassenger {
    /// Zero-based, the order of the request.
    pub passenger: u8,
    /// Where they sit.
    pub cabin: Cabin,
    /// The airline's name for it.
    pub cabin_name: Option<String>,
    /// Pieces; none: unknown.
    pub checked_bags: Option<u8>,
    /// Pieces; none: unknown.
    pub carry_on_bags: Option<u8>,
}

/// One flight number from one airport to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The supplier's id where it has one, else empty.
    pub supplier_segment_id: String,
    /// IATA code of the airport.
    pub origin: String,
    /// IATA code of the airport.
    pub destination: String,
    /// `YYYY-MM-DDTHH:MM`, local, without offset.
    pub departure_time: String,
    /// `YYYY-MM-DDTHH:MM`, local, without offset.
    pub arrival_time: String,
    /// IANA name, where known.
    pub origin_time_zone: Option<String>,
    /// IANA name, where known.
    pub destination_time_zone: Option<String>,
    /// Carrier code and number, e.g. `BA117`.
    pub marketing_flight: String,
    /// Its name.
    pub marketing_carrier: String,
    /// IATA code.
    pub marketing_carrier_code: String,
    /// URL.
    pub marketing_carrier_logo_url: Option<String>,
    /// Who flies, where it is told.
    pub operating_carrier: Option<String>,
    /// URL.
    pub operating_carrier_logo_url: Option<String>,
    /// Minutes in the air.
    pub duration_minutes: Option<u32>,
    /// Of the fare.
    pub cabin: Cabin,
    /// In the order of the request; empty where nothing is known.
    pub passengers: Vec<SegmentPassenger>,
}

/// From an origin to a destination, as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journey {
    /// The supplier's id where it has one, else empty.
    pub supplier_journey_id: String,
    /// IATA code of the airport.
    pub origin: String,
    /// IATA code of the airport.
    pub destination: String,
    /// Which way.
    pub direction: Direction,
    /// The airline's name of the fare.
    pub fare_brand: Option<String>,
    /// `YYYY-MM-DDTHH:MM`, local, without offset.
    pub departure_time: String,
    /// `YYYY-MM-DDTHH:MM`, local, without offset.
    pub arrival_time: String,
    /// Minutes, connections included.
    pub duration_minutes: Option<u32>,
    /// Landings on the way, technical stops included.
    pub stops: u8,
    /// In order.
    pub segments: Vec<Segment>,
}

/// What an airline changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the contract")]
pub enum ChangeType {
    ScheduleChange,
    Cancellation,
    Reroute,
    Equipment,
}

/// A change by the airline to booked flights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AirlineChange {
    /// The supplier's id of it.
    pub supplier_change_id: String,
    /// When the supplier learned of it.
    pub detected_at: Timestamp,
    /// What it changes.
    pub change_type: ChangeType,
    /// The passenger has to answer.
    pub action_required: bool,
    /// No longer flown.
    pub removed_segments: Vec<Segment>,
    /// Flown instead.
    pub added_segments: Vec<Segment>,
    /// Until when to answer.
    pub expires_at: Option<Timestamp>,
    /// When it was accepted.
    pub accepted_at: Option<Timestamp>,
}
