//! Lodge's responses for rates, bookings and cancellations, with only the fields that are used.

use serde::Deserialize;
use serde_json::value::RawValue;
use stopover_sdk::lenient::LenientList;
use stopover_sdk::money::Decimal;
use stopover_sdk::types::Board;

#[derive(Deserialize)]
pub(crate) struct Rates {
    pub(crate) currency: String,
    pub(crate) hotels: Option<LenientList<HotelRates>>,
}

#[derive(Deserialize)]
pub(crate) struct HotelRates {
    pub(crate) hotel: Hotel,
    pub(crate) rates: Option<LenientList<Rate>>,
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
    /// Whether the rate is sold only together with another travel service.
    #[serde(default)]
    pub(crate) package: bool,
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
    #[serde(with = "BoardCode")]
    pub(crate) board: Board,
    pub(crate) board_text: String,
    pub(crate) total: Decimal,
    pub(crate) due_at_hotel: Option<DueAtHotel>,
    pub(crate) terms: Terms,
    pub(crate) about: Option<AboutRoom>,
}

/// What Lodge says about a room of a feature-rich hotel.
#[derive(Deserialize)]
pub(crate) struct AboutRoom {
    pub(crate) sleeps: u8,
    pub(crate) note: String,
    pub(crate) extras: Vec<Extra>,
    pub(crate) taxes: Vec<Tax>,
}

#[derive(Deserialize)]
pub(crate) struct Extra {
    pub(crate) name: String,
    pub(crate) worth: Option<Price>,
}

#[derive(Deserialize)]
pub(crate) struct Tax {
    pub(crate) name: String,
    pub(crate) price: Price,
    pub(crate) paid: TaxPayment,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaxPayment {
    InTotal,
    OnArrival,
}

#[derive(Deserialize)]
pub(crate) struct Price {
    pub(crate) amount: Decimal,
    pub(crate) currency: String,
}

#[derive(Deserialize)]
#[serde(remote = "Board")]
pub(crate) enum BoardCode {
    #[serde(rename = "RO")]
    RoomOnly,
    #[serde(rename = "BB")]
    BedAndBreakfast,
    /// A board that is not known here.
    #[serde(other)]
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
    /// The amount in per cent of the price.
    pub(crate) percent: Option<Decimal>,
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

#[derive(Deserialize)]
pub(crate) struct Preview {
    pub(crate) currency: String,
    pub(crate) fee: Decimal,
    pub(crate) refund: Decimal,
    pub(crate) free_until: Option<String>,
}
