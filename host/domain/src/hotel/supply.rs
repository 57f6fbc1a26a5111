//! What the gateway asks a hotel supplier, and what it is answered.

use crate::hotel::offer::{
    Board, CancellationPolicy, Contact, Guest, HotelSummary, Location, Loyalty, Promotion,
    RoomRate, Stay,
};
use crate::money::{Currency, Money};
use crate::supplier::{SupplierBookingStatus, Checkout};
use crate::time::Timestamp;

/// Names to places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceQuery {
    /// What the user typed.
    pub text: String,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// The most to answer.
    pub limit: u16,
}

/// A place by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The supplier's id.
    pub supplier_place_id: String,
    /// Display name.
    pub name: String,
    /// One line.
    pub address: String,
    /// Its middle.
    pub location: Location,
    /// Metres.
    pub suggested_radius: Option<f64>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// City that it is in, or is.
    pub city: Option<String>,
    /// The supplier's categories.
    pub types: Vec<String>,
    /// Name and address of similar places.
    pub alternatives: Vec<(String, String)>,
}

/// How search results are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchSort {
    /// Nearest first.
    Distance,
    /// Cheapest first.
    Total,
    /// Best rated first.
    GuestRating,
    /// Most stars first.
    StarRating,
}

/// What hotels must have to be found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchFilters {
    /// 0 to 5.
    pub min_star_rating: Option<f64>,
    /// 0 to 10.
    pub min_guest_rating: Option<f64>,
    /// Only refundable, or only not.
    pub refundable: Option<bool>,
    /// Any of these; empty: all.
    pub boards: Vec<Board>,
    /// In the stay's currency.
    pub max_total: Option<Money>,
}

/// Hotels of an area.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// Middle of the area.
    pub center: Location,
    /// Metres.
    pub radius_m: u32,
    /// The supplier's own place, where the caller came from one.
    pub supplier_place_id: Option<String>,
    /// When and who.
    pub stay: Stay,
    /// What they must have.
    pub filters: SearchFilters,
    /// In which order.
    pub sort: SearchSort,
    /// The most to answer.
    pub limit: u16,
}

/// Which filters the adapter applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AppliedFilters {
    /// `min_star_rating`
    pub min_star_rating: bool,
    /// `min_guest_rating`
    pub min_guest_rating: bool,
    /// `refundable`
    pub refundable: bool,
    /// `board`
    pub boards: bool,
    /// `max_total`
    pub max_total: bool,
    /// `sort`
    pub sort: bool,
}

/// A hotel of an area.
#[derive(Debug, Clone, PartialEq)]
pub struct SupplierHotel {
    /// The supplier's id.
    pub supplier_hotel_id: String,
    /// Display name.
    pub name: String,
    /// One line.
    pub address: String,
    /// Where it is.
    pub location: Location,
    /// 0 to 5.
    pub star_rating: Option<f64>,
    /// 0 to 10.
    pub guest_rating: Option<f64>,
    /// For the whole stay.
    pub lowest_total: Option<Money>,
    /// URL.
    pub main_image: Option<String>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResponse {
    /// In the asked order, where `applied.sort`.
    pub hotels: Vec<SupplierHotel>,
    /// What the adapter did of it.
    pub applied: AppliedFilters,
    /// There were more.
    pub truncated: bool,
}

/// Offers of named hotels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRequest {
    /// At most 10.
    pub supplier_hotel_ids: Vec<String>,
    /// When and who.
    pub stay: Stay,
    /// At least 1.
    pub max_offers_per_hotel: u16,
}

/// Something that can be booked.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Opaque, the adapter's; comes back at prebook.
    pub supplier_offer: String,
    /// Whole stay, all rooms.
    pub total: Money,
    /// One an occupancy, in order.
    pub rooms: Vec<RoomRate>,
    /// Of the whole offer.
    pub policy: CancellationPolicy,
    /// Once each.
    pub promotions: Vec<Promotion>,
    /// Where a programme applies.
    pub loyalty: Option<Loyalty>,
    /// When the supplier forgets it.
    pub expires_at: Option<Timestamp>,
}

/// The offers of one hotel.
#[derive(Debug, Clone, PartialEq)]
pub struct HotelOffers {
    /// Which hotel.
    pub hotel: HotelSummary,
    /// What it offers.
    pub offers: Vec<Offer>,
}

/// Offers of the hotels that have any.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceResponse {
    /// Of every amount in it.
    pub currency: Currency,
    /// In the supplier's order.
    pub hotels: Vec<HotelOffers>,
}

/// Re-check an offer and bind it.
#[derive(Debug, Clone, PartialEq)]
pub struct PrebookRequest {
    /// Begins with the booking's id.
    pub client_reference: String,
    /// Which hotel.
    pub supplier_hotel_id: String,
    /// Which offer.
    pub supplier_offer: String,
    /// When and who.
    pub stay: Stay,
    /// What was offered.
    pub total: Money,
    /// Whom to write to.
    pub contact: Contact,
    /// One list a room.
    pub rooms: Vec<Vec<Guest>>,
    /// The end user pays in a browser.
    pub use_payment_sdk: bool,
}

/// A bound offer.
#[derive(Debug, Clone, PartialEq)]
pub struct PrebookResponse {
    /// Opaque, the adapter's; comes back at book.
    pub supplier_prebook: String,
    /// The price now.
    pub total: Money,
    /// As it will stand on the booking.
    pub hotel: HotelSummary,
    /// One an occupancy.
    pub rooms: Vec<RoomRate>,
    /// Of the whole booking.
    pub policy: CancellationPolicy,
    /// Once each.
    pub promotions: Vec<Promotion>,
    /// Where a programme applies.
    pub loyalty: Option<Loyalty>,
    /// Until when it can be booked.
    pub expires_at: Option<Timestamp>,
    /// Of a supplier that collects payment.
    pub checkout: Option<Checkout>,
}

/// Book what was bound.
#[derive(Debug, Clone, PartialEq)]
pub struct BookRequest {
    /// Begins with the booking's id; unique to this attempt.
    pub client_reference: String,
    /// From the prebook.
    pub supplier_prebook: String,
    /// Which hotel.
    pub supplier_hotel_id: String,
    /// When and who.
    pub stay: Stay,
    /// The bound price.
    pub total: Money,
    /// Whom to write to.
    pub contact: Contact,
    /// One list a room.
    pub rooms: Vec<Vec<Guest>>,
}

/// Read a booking back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindRequest {
    /// What was sent at book.
    pub client_reference: String,
    /// Once known.
    pub supplier_reference: Option<String>,
    /// From the prebook.
    pub supplier_prebook: Option<String>,
}

/// A room, as the supplier has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierRoom {
    /// Zero-based.
    pub position: u8,
    /// The supplier's id of the room.
    pub supplier_room_reference: Option<String>,
    /// The hotel's own number.
    pub hotel_confirmation_code: Option<String>,
    /// Released.
    pub canceled: bool,
}

/// What a cancellation kept and gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancellationAmounts {
    /// Kept.
    pub fee: Money,
    /// Given back, where said.
    pub refund: Option<Money>,
    /// The supplier's id of the cancellation.
    pub supplier_reference: Option<String>,
}

/// A booking, as the supplier has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierBooking {
    /// Where it stands.
    pub status: SupplierBookingStatus,
    /// The supplier's id.
    pub supplier_reference: String,
    /// Ours, as the supplier repeats it.
    pub client_reference: Option<String>,
    /// What it costs.
    pub total: Money,
    /// The hotel's own number.
    pub hotel_confirmation_code: Option<String>,
    /// Plain text.
    pub remarks: Option<String>,
    /// The rooms that it tells of.
    pub rooms: Vec<SupplierRoom>,
    /// Freshly read; none: cannot be read.
    pub policy: Option<CancellationPolicy>,
    /// Once cancelled.
    pub cancellation: Option<CancellationAmounts>,
}

/// What reading back found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookingLookup {
    /// This.
    Found(Box<SupplierBooking>),
    /// The supplier answered, and knows nothing of it.
    NotFound,
}

/// A room to release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomReference {
    /// Zero-based.
    pub position: u8,
    /// The supplier's id of the room.
    pub supplier_room_reference: Option<String>,
}

/// End a booking, or release rooms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelRequest {
    /// Begins with the booking's id; unique to this cancellation.
    pub client_reference: String,
    /// What was sent at book.
    pub booking_client_reference: String,
    /// The supplier's id of the booking.
    pub supplier_reference: String,
    /// Empty: all.
    pub rooms: Vec<RoomReference>,
}

/// What cancelling would cost, from the supplier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SupplierQuote {
    /// The supplier's own word.
    Preview {
        /// Kept.
        fee: Money,
        /// Given back, where said.
        refund: Option<Money>,
        /// Free until.
        free_until: Option<Timestamp>,
    },
    /// The policy, freshly read; none: cannot be read.
    Policy(Option<CancellationPolicy>),
}
