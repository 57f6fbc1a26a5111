//! Requests to hotel suppliers and their responses.

use crate::hotel::types::{
    Board, CancellationPolicy, Contact, Guest, HotelSummary, Location, Loyalty, Promotion,
    RoomRate, Stay,
};
use crate::money::{Currency, Money};
use crate::supplier::{Checkout, SupplierBookingStatus};
use crate::time::Timestamp;

/// A request for places by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceQuery {
    pub text: String,
    /// Country, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    pub limit: u16,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub supplier_place_id: String,
    pub name: String,
    /// Address on one line.
    pub address: String,
    pub location: Location,
    /// Suggested search radius in metres.
    pub suggested_radius: Option<f64>,
    /// Country, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// The city that the place is in, or is.
    pub city: Option<String>,
    /// The supplier's categories.
    pub types: Vec<String>,
    /// Names and addresses of similar places.
    pub alternatives: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchSort {
    /// Nearest first.
    Distance,
    /// Cheapest first.
    Total,
    /// Best guest rating first.
    GuestRating,
    /// Most stars first.
    StarRating,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchFilters {
    /// Minimum star rating, 0 to 5.
    pub min_star_rating: Option<f64>,
    /// Minimum guest rating, 0 to 10.
    pub min_guest_rating: Option<f64>,
    /// `true` for refundable offers only, `false` for non-refundable ones only.
    pub refundable: Option<bool>,
    /// Accepted boards. An empty list means all.
    pub boards: Vec<Board>,
    /// Maximum total, in the stay's currency.
    pub max_total: Option<Money>,
}

/// A request for hotels in an area.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    pub center: Location,
    /// Radius in metres.
    pub radius_m: u32,
    /// The supplier's own place, if the search started from one.
    pub supplier_place_id: Option<String>,
    pub stay: Stay,
    pub filters: SearchFilters,
    pub sort: SearchSort,
    pub limit: u16,
}

/// The filters that the adapter applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HotelAppliedFilters {
    pub min_star_rating: bool,
    pub min_guest_rating: bool,
    pub refundable: bool,
    pub boards: bool,
    pub max_total: bool,
    pub sort: bool,
}

/// A hotel found in an area.
#[derive(Debug, Clone, PartialEq)]
pub struct SupplierHotel {
    pub supplier_hotel_id: String,
    pub name: String,
    /// Address on one line.
    pub address: String,
    pub location: Location,
    /// Star rating, 0 to 5.
    pub star_rating: Option<f64>,
    /// Guest rating, 0 to 10.
    pub guest_rating: Option<f64>,
    /// Lowest price for the whole stay.
    pub lowest_total: Option<Money>,
    /// URL of the main image.
    pub main_image: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchResponse {
    /// The hotels, in the requested order if `applied.sort` is set.
    pub hotels: Vec<SupplierHotel>,
    pub applied: HotelAppliedFilters,
    pub truncated: bool,
}

/// A request for offers of named hotels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotelPriceRequest {
    /// The supplier's ids of at most 10 hotels.
    pub supplier_hotel_ids: Vec<String>,
    pub stay: Stay,
    /// Maximum number of offers per hotel, at least 1.
    pub max_offers_per_hotel: u16,
    /// Whether to return offers that are sold only together with another travel service.
    pub include_package_rates: bool,
}

/// Method by which an offer can be paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HotelPaymentType {
    /// The total is paid when the offer is booked.
    Prepaid,
    /// The total is paid at the hotel, and not to the gateway.
    PayAtProperty,
    /// The supplier's own name of another type.
    Other(String),
}

/// The details of an offer that only some suppliers state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HotelOfferDetails {
    /// The types by which all rooms can be paid.
    pub payment_types: Vec<HotelPaymentType>,
    /// Whether the offer is sold only together with another travel service. `None` if the
    /// plugin cannot state it.
    pub package_only: Option<bool>,
}

/// Why an offer cannot be sold to a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnsellableReason {
    #[error("the offer may be sold only together with another travel service")]
    PackageOnly,
    /// The gateway collects the total of a booking, so the guest would pay twice.
    #[error("the total can be paid only at the hotel")]
    PayAtPropertyOnly,
}

impl HotelOfferDetails {
    /// Returns why the offer cannot be sold, or `None` if nothing forbids it. Unknown types of
    /// payment forbid nothing. `includes_package_rates` states whether the caller sells the offer
    /// together with another travel service.
    pub fn unsellable_reason(&self, includes_package_rates: bool) -> Option<UnsellableReason> {
        if self.package_only == Some(true) && !includes_package_rates {
            return Some(UnsellableReason::PackageOnly);
        }
        let has = |payment_type| self.payment_types.contains(&payment_type);
        let is_paid_at_property =
            has(HotelPaymentType::PayAtProperty) && !has(HotelPaymentType::Prepaid);
        is_paid_at_property.then_some(UnsellableReason::PayAtPropertyOnly)
    }
}

/// An offer that can be booked.
#[derive(Debug, Clone, PartialEq)]
pub struct HotelOffer {
    /// The adapter's opaque offer data, returned to it at prebook.
    pub supplier_offer: String,
    /// Price for the whole stay and all rooms.
    pub total: Money,
    /// The rooms, one per occupancy, in the same order.
    pub rooms: Vec<RoomRate>,
    /// The cancellation policy of the whole offer.
    pub policy: CancellationPolicy,
    /// The promotions, each listed once.
    pub promotions: Vec<Promotion>,
    pub loyalty: Option<Loyalty>,
    /// Time at which the supplier discards the offer.
    pub expires_at: Option<Timestamp>,
    pub details: HotelOfferDetails,
}

/// The offers of one hotel.
#[derive(Debug, Clone, PartialEq)]
pub struct HotelOffers {
    pub hotel: HotelSummary,
    pub offers: Vec<HotelOffer>,
}

/// The offers of the hotels that have any.
#[derive(Debug, Clone, PartialEq)]
pub struct HotelPriceResponse {
    /// The currency of all amounts in the response.
    pub currency: Currency,
    /// The hotels, in the supplier's order.
    pub hotels: Vec<HotelOffers>,
}

/// A request to check an offer again and prebook it.
#[derive(Debug, Clone, PartialEq)]
pub struct HotelPrebookRequest {
    /// The gateway's reference. It begins with the booking's id.
    pub client_reference: String,
    pub supplier_hotel_id: String,
    pub supplier_offer: String,
    pub stay: Stay,
    pub total: Money,
    pub contact: Contact,
    /// The guests, one list per room.
    pub rooms: Vec<Vec<Guest>>,
    /// Whether the end user pays in a browser.
    pub use_payment_sdk: bool,
}

/// A prebooked offer.
#[derive(Debug, Clone, PartialEq)]
pub struct HotelPrebookResponse {
    /// The adapter's opaque prebook data, returned to it at book.
    pub supplier_prebook: String,
    /// The current price.
    pub total: Money,
    /// The hotel as it will be shown on the booking.
    pub hotel: HotelSummary,
    /// The rooms, one per occupancy.
    pub rooms: Vec<RoomRate>,
    pub policy: CancellationPolicy,
    pub promotions: Vec<Promotion>,
    pub loyalty: Option<Loyalty>,
    /// Time until which the offer can be booked.
    pub expires_at: Option<Timestamp>,
    /// The checkout of a supplier that collects the payment.
    pub checkout: Option<Checkout>,
    /// They decide whether the offer can still be sold. A booking does not store them.
    pub details: HotelOfferDetails,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HotelBookRequest {
    /// The gateway's reference. It begins with the booking's id and is unique to this attempt.
    pub client_reference: String,
    pub supplier_prebook: String,
    pub supplier_hotel_id: String,
    pub stay: Stay,
    /// The prebooked price.
    pub total: Money,
    pub contact: Contact,
    /// The guests, one list per room.
    pub rooms: Vec<Vec<Guest>>,
}

/// A room as the supplier reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierRoom {
    /// Zero-based position of the room.
    pub position: u8,
    pub supplier_room_reference: Option<String>,
    pub hotel_confirmation_code: Option<String>,
    pub canceled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotelCancellationAmounts {
    pub fee: Money,
    /// Refunded amount, if the supplier reports it.
    pub refund: Option<Money>,
    /// The supplier's id of the cancellation.
    pub supplier_reference: Option<String>,
}

/// A booking as the supplier reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotelSupplierBooking {
    pub status: SupplierBookingStatus,
    /// The supplier's id of the booking.
    pub supplier_reference: String,
    /// The gateway's reference, as the supplier repeats it.
    pub client_reference: Option<String>,
    pub total: Money,
    pub hotel_confirmation_code: Option<String>,
    /// Remarks as plain text.
    pub remarks: Option<String>,
    /// The rooms that the supplier reports.
    pub rooms: Vec<SupplierRoom>,
    /// The freshly read policy. `None` if it cannot be read.
    pub policy: Option<CancellationPolicy>,
    /// The amounts of the cancellation, once cancelled.
    pub cancellation: Option<HotelCancellationAmounts>,
    /// Whether the supplier states amounts of the cancellation that cannot be read. Policy or terms
    /// then decide nothing, because they may contradict these amounts.
    pub has_unreadable_amounts: bool,
}

impl HotelSupplierBooking {
    /// Returns whether the supplier reports the room at a position as cancelled.
    pub fn is_room_canceled(&self, position: usize) -> bool {
        let mut rooms = self.rooms.iter();
        rooms.any(|room| usize::from(room.position) == position && room.canceled)
    }

    /// Returns whether the supplier reports a room as cancelled, but the booking as confirmed.
    pub fn contradicts_itself(&self) -> bool {
        let mut rooms = self.rooms.iter();
        self.status == SupplierBookingStatus::Confirmed && rooms.any(|room| room.canceled)
    }
}

/// Requirements on a booking that a lookup finds. `None` accepts any value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HotelFindExpectation {
    /// The currency of the booking.
    pub currency: Option<Currency>,
    /// The number of rooms, none of which may be missing if the booking is confirmed.
    pub rooms: Option<usize>,
}

/// A room to cancel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomReference {
    /// Zero-based position of the room.
    pub position: u8,
    pub supplier_room_reference: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotelCancelRequest {
    /// The gateway's reference. It begins with the booking's id and is unique to this cancellation.
    pub client_reference: String,
    /// The gateway's reference that was sent at book.
    pub booking_client_reference: String,
    pub supplier_reference: String,
    /// The rooms to cancel. An empty list means all.
    pub rooms: Vec<RoomReference>,
}

/// The supplier's data about the cost of cancelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HotelSupplierQuote {
    /// The supplier's own quote.
    Preview {
        fee: Money,
        refund: Option<Money>,
        free_until: Option<Timestamp>,
    },
    /// The freshly read policy. `None` if it cannot be read.
    Policy(Option<CancellationPolicy>),
}
