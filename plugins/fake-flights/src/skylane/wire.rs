//! Skylane's JSON, with only the fields that are used.

use serde::{Deserialize, Serialize};
use stopover_sdk::money::Decimal;

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

#[derive(Serialize)]
pub(crate) struct Payment<'a> {
    pub(crate) value: String,
    pub(crate) currency: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Search<'a> {
    pub(crate) slices: Vec<SearchedSlice<'a>>,
    pub(crate) travellers: Vec<SearchedTraveller>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cabin: Option<Cabin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_connections: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) currency: Option<&'a str>,
    pub(crate) limit: u16,
}

#[derive(Serialize)]
pub(crate) struct SearchedSlice<'a> {
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    pub(crate) date: &'a str,
}

#[derive(Serialize)]
pub(crate) struct SearchedTraveller {
    pub(crate) r#type: TravellerType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) age: Option<u8>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TravellerType {
    Adult,
    Child,
    Infant,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cabin {
    Economy,
    Premium,
    Business,
    First,
}

#[derive(Deserialize)]
pub(crate) struct Found {
    pub(crate) offers: Vec<Offer>,
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
    pub(crate) conditions: Conditions,
    pub(crate) passports_required: bool,
    pub(crate) slices: Vec<Slice>,
}

#[derive(Deserialize)]
pub(crate) struct Conditions {
    pub(crate) refund: Condition,
    pub(crate) change: Condition,
}

#[derive(Deserialize)]
pub(crate) struct Condition {
    pub(crate) allowed: Option<bool>,
    pub(crate) penalty: Option<Money>,
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
    pub(crate) departs: String,
    pub(crate) arrives: String,
    pub(crate) duration: String,
    pub(crate) carrier: Carrier,
    pub(crate) flight_no: String,
    /// Operating carrier; `None` if the marketing carrier operates the flight.
    pub(crate) operator: Option<Carrier>,
    pub(crate) travellers: Vec<Seat>,
}

#[derive(Deserialize)]
pub(crate) struct Carrier {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) logo: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Seat {
    /// Position of the traveller, from 0.
    pub(crate) index: u8,
    pub(crate) cabin: Cabin,
    pub(crate) cabin_name: String,
    pub(crate) checked: u8,
    pub(crate) carry_on: u8,
}

#[derive(Serialize)]
pub(crate) struct Reprice<'a> {
    pub(crate) travellers: Vec<PricedTraveller<'a>>,
}

#[derive(Serialize)]
pub(crate) struct PricedTraveller<'a> {
    pub(crate) r#type: TravellerType,
    pub(crate) loyalty: Vec<Loyalty<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Loyalty<'a> {
    pub(crate) airline: &'a str,
    pub(crate) number: &'a str,
}

#[derive(Serialize)]
pub(crate) struct OrderRequest<'a> {
    pub(crate) offer_id: &'a str,
    pub(crate) client_ref: &'a str,
    pub(crate) pay: Payment<'a>,
    pub(crate) contact: Contact<'a>,
    pub(crate) travellers: Vec<Traveller<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Contact<'a> {
    pub(crate) email: &'a str,
    pub(crate) phone: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Traveller<'a> {
    pub(crate) r#type: TravellerType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<&'static str>,
    pub(crate) given: &'a str,
    pub(crate) family: &'a str,
    pub(crate) born: &'a str,
    pub(crate) gender: Gender,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nationality: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) document: Option<Document<'a>>,
    pub(crate) loyalty: Vec<Loyalty<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Gender {
    F,
    M,
    X,
}

#[derive(Serialize)]
pub(crate) struct Document<'a> {
    pub(crate) kind: DocumentKind,
    pub(crate) number: &'a str,
    pub(crate) country: &'a str,
    pub(crate) expires: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DocumentKind {
    Passport,
    IdentityCard,
}

#[derive(Deserialize)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) client_ref: String,
    pub(crate) state: OrderState,
    pub(crate) failure: Option<Failure>,
    pub(crate) locator: Option<String>,
    pub(crate) total: Money,
    pub(crate) base: Money,
    pub(crate) tax: Money,
    pub(crate) slices: Vec<Slice>,
    pub(crate) bags: Vec<Bag>,
    pub(crate) changes: Vec<Change>,
    pub(crate) cancellation: Option<Cancellation>,
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
pub(crate) struct Cancellation {
    pub(crate) r#ref: String,
    pub(crate) fee: Money,
    pub(crate) refund: Money,
}

#[derive(Deserialize)]
pub(crate) struct Quote {
    pub(crate) fee: Money,
    pub(crate) refund: Money,
    pub(crate) expires_at: String,
}

#[derive(Serialize)]
pub(crate) struct CancelRequest<'a> {
    pub(crate) client_ref: &'a str,
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

#[derive(Serialize)]
pub(crate) struct BagsRequest<'a> {
    pub(crate) client_ref: &'a str,
    pub(crate) bags: Vec<WantedBag<'a>>,
    pub(crate) pay: Payment<'a>,
}

#[derive(Serialize)]
pub(crate) struct WantedBag<'a> {
    pub(crate) id: &'a str,
    pub(crate) quantity: u8,
}

#[derive(Deserialize)]
pub(crate) struct Airports {
    pub(crate) data: Vec<Airport>,
    pub(crate) more: bool,
}

#[derive(Deserialize)]
pub(crate) struct Airport {
    pub(crate) id: String,
    pub(crate) iata: String,
    pub(crate) icao: String,
    pub(crate) name: String,
    pub(crate) city: String,
    pub(crate) state: String,
    pub(crate) country: String,
    pub(crate) lat: f64,
    pub(crate) lon: f64,
    pub(crate) zone: String,
}

#[derive(Deserialize)]
pub(crate) struct Airline {
    pub(crate) id: String,
    pub(crate) iata: String,
    pub(crate) icao: String,
    pub(crate) name: String,
    pub(crate) country: String,
    pub(crate) alliance: Option<String>,
    pub(crate) logo: Option<String>,
    pub(crate) active: bool,
}
