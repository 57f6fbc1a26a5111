//! Skylane's responses, with only the fields that are used.

use serde::Deserialize;
use stopover_sdk::lenient::LenientList;
use stopover_sdk::money::Decimal;
use stopover_sdk::types::flight::Cabin;

use crate::wire::{Airport, Cancellation, Carrier, Conditions};

/// The envelope of every response.
#[derive(Deserialize)]
pub(crate) struct Data<T> {
    pub(crate) data: T,
}

#[derive(Deserialize)]
pub(crate) struct Money {
    pub(crate) value: Decimal,
    pub(crate) currency: String,
}

#[derive(Deserialize)]
#[serde(remote = "Cabin", rename_all = "lowercase")]
pub(crate) enum CabinCode {
    Economy,
    #[serde(rename = "premium")]
    PremiumEconomy,
    Business,
    First,
}

#[derive(Deserialize)]
pub(crate) struct Found {
    pub(crate) offers: Option<LenientList<Offer>>,
    pub(crate) more: bool,
}

#[derive(Deserialize)]
pub(crate) struct Offer {
    pub(crate) id: String,
    pub(crate) expires_at: String,
    pub(crate) brand: String,
    pub(crate) total: Money,
    pub(crate) base: Money,
    pub(crate) tax: Money,
    pub(crate) conditions: Conditions<Money>,
    pub(crate) passports_required: bool,
    pub(crate) slices: Vec<Slice>,
    /// Bags for sale with the offer. Only an offer that was priced again has them.
    #[serde(default)]
    pub(crate) bags: Vec<OfferedBag>,
}

#[derive(Deserialize)]
pub(crate) struct Slice {
    pub(crate) id: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) duration: String,
    pub(crate) brand: String,
    pub(crate) segments: Vec<Segment>,
}

#[derive(Deserialize)]
pub(crate) struct Segment {
    pub(crate) id: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) from_zone: String,
    pub(crate) to_zone: String,
    pub(crate) from_terminal: Option<String>,
    pub(crate) to_terminal: Option<String>,
    pub(crate) departs: String,
    pub(crate) arrives: String,
    pub(crate) duration: String,
    pub(crate) carrier: Carrier,
    pub(crate) flight_no: String,
    /// Operating carrier; `None` if the marketing carrier operates the flight.
    pub(crate) operator: Option<Carrier>,
    pub(crate) operator_flight_no: Option<String>,
    pub(crate) travellers: Vec<Seat>,
}

#[derive(Deserialize)]
pub(crate) struct Seat {
    /// Position of the traveller, from 0.
    pub(crate) index: u8,
    #[serde(with = "CabinCode")]
    pub(crate) cabin: Cabin,
    pub(crate) cabin_name: String,
    pub(crate) checked: u8,
    pub(crate) carry_on: u8,
}

#[derive(Deserialize)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) client_ref: String,
    pub(crate) state: OrderState,
    pub(crate) failure: Option<Failure>,
    pub(crate) locator: Option<String>,
    #[serde(default)]
    pub(crate) tickets: Vec<Ticket>,
    pub(crate) total: Money,
    pub(crate) base: Money,
    pub(crate) tax: Money,
    pub(crate) slices: Vec<Slice>,
    pub(crate) bags: Vec<Bag>,
    pub(crate) changes: Vec<Change>,
    pub(crate) cancellation: Option<Cancellation<Money>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OrderState {
    Pending,
    Ticketed,
    Failed,
    Cancelling,
    Cancelled,
}

/// An electronic ticket of one passenger.
#[derive(Deserialize)]
pub(crate) struct Ticket {
    pub(crate) number: String,
    pub(crate) traveller: u8,
}

#[derive(Deserialize)]
pub(crate) struct Failure {
    pub(crate) code: String,
}

#[derive(Deserialize)]
pub(crate) struct Bag {
    /// Id under which the bag was offered.
    pub(crate) id: String,
    /// Client reference of the purchase.
    pub(crate) client_ref: String,
    pub(crate) traveller: u8,
    pub(crate) segments: Vec<String>,
    pub(crate) weight_kg: u32,
    pub(crate) quantity: u8,
    /// Price of one piece.
    pub(crate) price: Money,
}

#[derive(Deserialize)]
pub(crate) struct Change {
    pub(crate) id: String,
    pub(crate) detected_at: String,
    pub(crate) kind: ChangeKind,
    pub(crate) needs_answer: bool,
    pub(crate) removed: Vec<Segment>,
    pub(crate) added: Vec<Segment>,
    pub(crate) answer_by: Option<String>,
    pub(crate) accepted_at: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeKind {
    ScheduleChange,
    /// A kind that is not known here.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(crate) struct Quote {
    pub(crate) fee: Money,
    pub(crate) refund: Money,
    pub(crate) expires_at: String,
}

#[derive(Deserialize)]
pub(crate) struct OfferedBag {
    pub(crate) id: String,
    pub(crate) traveller: u8,
    pub(crate) segments: Vec<String>,
    pub(crate) weight_kg: u32,
    pub(crate) price: Money,
    pub(crate) max: u8,
}

#[derive(Deserialize)]
pub(crate) struct Airports {
    pub(crate) data: Option<LenientList<Airport>>,
    pub(crate) more: bool,
}
