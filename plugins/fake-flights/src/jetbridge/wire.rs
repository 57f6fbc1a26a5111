//! Jetbridge's responses, with only the fields that are used.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use stopover_sdk::http::Response;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::LenientList;
use stopover_sdk::types::flight::Cabin;

use crate::wire::{Airport, Cancellation, Carrier, Conditions};

/// The envelope of a successful response.
#[derive(Deserialize)]
struct Envelope<T> {
    ok: bool,
    result: T,
}

pub(crate) fn result<T: DeserializeOwned>(response: &Response) -> Result<T, DecodeError> {
    let Envelope { ok, result } = response.json()?;
    ensure(ok, "the response contradicts its status")?;
    Ok(result)
}

#[derive(Deserialize)]
pub(crate) struct Fault {
    pub(crate) no: u32,
}

#[derive(Deserialize)]
pub(crate) struct Money {
    pub(crate) units: i64,
    /// Number of decimals of `units`.
    pub(crate) scale: u8,
    pub(crate) ccy: String,
}

#[derive(Deserialize)]
#[serde(remote = "Cabin")]
pub(crate) enum CabinCode {
    #[serde(rename = "Y")]
    Economy,
    #[serde(rename = "W")]
    PremiumEconomy,
    #[serde(rename = "C")]
    Business,
    #[serde(rename = "F")]
    First,
}

#[derive(Deserialize)]
pub(crate) struct Fares {
    pub(crate) fares: Option<LenientList<Fare>>,
    pub(crate) more: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fare {
    pub(crate) fare_key: String,
    /// Expiry in milliseconds since 1970, like all times here.
    pub(crate) valid_until: i64,
    pub(crate) family: String,
    pub(crate) price: Money,
    pub(crate) refundable: Option<bool>,
    pub(crate) conditions: Conditions<Money>,
    pub(crate) needs_document: bool,
    pub(crate) bags: IncludedBags,
    pub(crate) journeys: Vec<Journey>,
}

#[derive(Deserialize)]
pub(crate) struct IncludedBags {
    pub(crate) checked: bool,
    pub(crate) cabin: bool,
}

#[derive(Deserialize)]
pub(crate) struct Journey {
    pub(crate) org: String,
    pub(crate) dst: String,
    pub(crate) family: String,
    pub(crate) minutes: u32,
    pub(crate) legs: Vec<Leg>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Leg {
    pub(crate) org: String,
    pub(crate) dst: String,
    pub(crate) org_tz: String,
    pub(crate) dst_tz: String,
    pub(crate) dep: String,
    pub(crate) arr: String,
    pub(crate) minutes: u32,
    pub(crate) mkt: Carrier,
    pub(crate) no: u32,
    /// Operating carrier; `None` if the marketing carrier operates the flight.
    pub(crate) opr: Option<Carrier>,
    #[serde(with = "CabinCode")]
    pub(crate) cabin: Cabin,
    pub(crate) cabin_name: String,
    /// Pieces per passenger.
    pub(crate) checked: u8,
    pub(crate) cabin_bags: u8,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Prebook {
    pub(crate) prebook_id: String,
    pub(crate) valid_until: i64,
    pub(crate) price: Money,
    pub(crate) fare: Money,
    pub(crate) tax: Money,
    pub(crate) conditions: Conditions<Money>,
    pub(crate) needs_document: bool,
    pub(crate) journeys: Vec<Journey>,
    pub(crate) checkout: Checkout,
}

#[derive(Deserialize)]
pub(crate) struct Checkout {
    pub(crate) url: String,
    pub(crate) token: String,
}

#[derive(Deserialize)]
pub(crate) struct Bookings {
    pub(crate) bookings: Vec<Booking>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Booking {
    pub(crate) booking_id: String,
    pub(crate) client_ref: String,
    pub(crate) status: Status,
    pub(crate) failure: Option<Fault>,
    /// Record locator; empty if there is none.
    pub(crate) pnr: String,
    pub(crate) price: Money,
    pub(crate) fare: Money,
    pub(crate) tax: Money,
    pub(crate) journeys: Vec<Journey>,
    pub(crate) changes: Vec<Change>,
    pub(crate) cancellation: Option<Cancellation<Money>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Status {
    Processing,
    Ticketed,
    Failed,
    CancelRequested,
    Cancelled,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Change {
    pub(crate) change_id: String,
    pub(crate) at: i64,
    pub(crate) r#type: ChangeType,
    pub(crate) must_answer: bool,
    pub(crate) old: Vec<Leg>,
    pub(crate) new: Vec<Leg>,
    pub(crate) answer_by: Option<i64>,
    pub(crate) accepted_at: Option<i64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum ChangeType {
    Schedule,
    /// A type that is not known here.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Quote {
    pub(crate) fee: Money,
    pub(crate) refund: Money,
    pub(crate) valid_until: i64,
}

#[derive(Deserialize)]
pub(crate) struct Airports {
    pub(crate) airports: Option<LenientList<Airport>>,
    pub(crate) more: bool,
}
