//! Lodge's JSON for rates, bookings and cancellations, with only the fields that are used.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use stopover_sdk::money::Decimal;

#[derive(Serialize)]
pub(crate) struct Stay<'a> {
    pub(crate) arrive: &'a str,
    pub(crate) depart: &'a str,
    pub(crate) rooms: Vec<Party<'a>>,
    pub(crate) nationality: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) residence: Option<&'a str>,
    pub(crate) currency: &'a str,
}

/// The guests of one room.
#[derive(Serialize)]
pub(crate) struct Party<'a> {
    pub(crate) adults: u8,
    pub(crate) child_ages: &'a [u8],
}

#[derive(Serialize)]
pub(crate) struct RatesRequest<'a> {
    #[serde(flatten)]
    pub(crate) stay: Stay<'a>,
    pub(crate) hotels: &'a [String],
    pub(crate) max_rates: u16,
}

#[derive(Deserialize)]
pub(crate) struct Rates {
    pub(crate) currency: String,
    pub(crate) hotels: Vec<HotelRates>,
}

#[derive(Deserialize)]
pub(crate) struct HotelRates {
    pub(crate) hotel: Hotel,
    pub(crate) rates: Vec<Rate>,
}

#[derive(Deserialize)]
pub(crate) struct Rate {
    pub(crate) rate_id: String,
    pub(crate) total: Decimal,
    pub(crate) expires_at: String,
    pub(crate) rooms: Vec<Room>,
    pub(crate) terms: Terms,
    pub(crate) promotions: Vec<Promotion>,
    pub(crate) rewards: Option<Rewards>,
}

#[derive(Deserialize)]
pub(crate) struct Hotel {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) lat: f64,
    pub(crate) lng: f64,
    pub(crate) zone: String,
}

#[derive(Deserialize)]
pub(crate) struct Room {
    pub(crate) name: String,
    pub(crate) board: Board,
    pub(crate) board_text: String,
    pub(crate) total: Decimal,
    pub(crate) due_at_hotel: Option<DueAtHotel>,
    pub(crate) terms: Terms,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Board {
    #[serde(rename = "RO")]
    RoomOnly,
    #[serde(rename = "BB")]
    Breakfast,
    /// A board that is not known here.
    #[serde(other, skip_serializing)]
    Other,
}

#[derive(Deserialize)]
pub(crate) struct DueAtHotel {
    pub(crate) amount: Decimal,
    pub(crate) currency: String,
}

#[derive(Deserialize)]
pub(crate) struct Terms {
    pub(crate) refundable: bool,
    pub(crate) free_until: Option<String>,
    pub(crate) charges: Vec<Charge>,
    pub(crate) restrictions: Vec<Restriction>,
}

#[derive(Deserialize)]
pub(crate) struct Charge {
    pub(crate) from: String,
    pub(crate) amount: Decimal,
}

#[derive(Deserialize)]
pub(crate) struct Restriction {
    pub(crate) code: String,
    pub(crate) text: String,
    pub(crate) from: Option<String>,
    pub(crate) until: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Promotion {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) off: Decimal,
    pub(crate) rooms: Vec<u8>,
}

#[derive(Deserialize)]
pub(crate) struct Rewards {
    pub(crate) program: String,
    pub(crate) member_no: Option<String>,
    pub(crate) points: u32,
}

#[derive(Serialize)]
pub(crate) struct PrebookRequest<'a> {
    pub(crate) rate_id: &'a str,
    pub(crate) client_ref: &'a str,
}

#[derive(Deserialize)]
pub(crate) struct Prebook {
    pub(crate) prebook_id: String,
    pub(crate) currency: String,
    pub(crate) total: Decimal,
    pub(crate) expires_at: String,
    pub(crate) hotel: Hotel,
    pub(crate) rooms: Vec<Room>,
    pub(crate) terms: Terms,
    pub(crate) promotions: Vec<Promotion>,
    pub(crate) rewards: Option<Rewards>,
}

#[derive(Serialize)]
pub(crate) struct BookRequest<'a> {
    pub(crate) prebook_id: &'a str,
    pub(crate) client_ref: &'a str,
    pub(crate) expected_total: String,
    pub(crate) holder: Holder<'a>,
    pub(crate) rooms: Vec<RoomGuests<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Holder<'a> {
    pub(crate) first: &'a str,
    pub(crate) last: &'a str,
    pub(crate) email: &'a str,
    pub(crate) phone: &'a str,
}

#[derive(Serialize)]
pub(crate) struct RoomGuests<'a> {
    pub(crate) guests: Vec<Guest<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Guest<'a> {
    pub(crate) first: &'a str,
    pub(crate) last: &'a str,
    pub(crate) kind: GuestKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) age: Option<u8>,
    pub(crate) lead: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GuestKind {
    Adult,
    Child,
}

#[derive(Deserialize)]
pub(crate) struct Bookings {
    pub(crate) bookings: Vec<Booking>,
}

#[derive(Deserialize)]
pub(crate) struct Booking {
    pub(crate) id: String,
    pub(crate) client_ref: String,
    pub(crate) state: BookingState,
    pub(crate) reject_reason: Option<RejectReason>,
    pub(crate) currency: String,
    pub(crate) total: Decimal,
    pub(crate) confirmation_no: Option<String>,
    pub(crate) remarks: Option<String>,
    pub(crate) rooms: Vec<SupplierRoom>,
    pub(crate) rooms_separable: bool,
    /// [`Terms`], or any other value that the hotel wrote. They are parsed separately, so that a
    /// booking with unreadable terms can be read.
    pub(crate) terms: Option<Box<RawValue>>,
    pub(crate) cancellation: Option<Cancellation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum BookingState {
    Pending,
    Confirmed,
    PartCancelled,
    Cancelling,
    Cancelled,
    Rejected,
}

#[derive(Deserialize)]
pub(crate) struct RejectReason {
    pub(crate) code: String,
}

#[derive(Deserialize)]
pub(crate) struct SupplierRoom {
    /// Number of the room, from 1.
    pub(crate) no: u8,
    pub(crate) r#ref: String,
    pub(crate) confirmation_no: Option<String>,
    pub(crate) cancelled: bool,
}

#[derive(Deserialize)]
pub(crate) struct Cancellation {
    pub(crate) r#ref: String,
    pub(crate) fee: Decimal,
    pub(crate) refund: Decimal,
}

#[derive(Serialize)]
pub(crate) struct CancelRequest<'a> {
    pub(crate) client_ref: &'a str,
    /// Numbers of the rooms, from 1. An empty list means all rooms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rooms: Vec<u16>,
}

#[derive(Deserialize)]
pub(crate) struct Preview {
    pub(crate) currency: String,
    pub(crate) fee: Decimal,
    pub(crate) refund: Decimal,
    pub(crate) free_until: Option<String>,
}
