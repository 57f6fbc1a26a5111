//! What the gateway asks a flight supplier, and what it is answered.

use crate::flight::itinerary::{AirlineChange, Cabin, FareConditions, Journey};
use crate::flight::passenger::{Contact, Passenger, Travellers};
use crate::money::{Currency, Money};
use crate::supplier::{SupplierBookingStatus, Checkout};
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// From where to where, on which day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedJourney {
    /// IATA code of an airport or city.
    pub origin: String,
    /// IATA code of an airport or city.
    pub destination: String,
    /// Day of departure, local.
    pub date: Date,
}

/// What fares must have. Empty and none: any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// On every segment.
    pub cabin: Option<Cabin>,
    /// Of each journey.
    pub max_stops: Option<u8>,
    /// Marketing carriers by IATA code; all segments.
    pub airlines: Vec<String>,
    /// Marketing carriers by IATA code; no segment.
    pub excluded_airlines: Vec<String>,
    /// `HH:MM`, local, of each journey, inclusive.
    pub departure_after: Option<String>,
    /// `HH:MM`, local, of each journey, inclusive.
    pub departure_before: Option<String>,
    /// `HH:MM`, local, of each journey, inclusive.
    pub arrival_before: Option<String>,
    /// Only refundable, or only not.
    pub refundable: Option<bool>,
    /// Only with, or only without, a checked bag.
    pub checked_bag: Option<bool>,
    /// In the request's currency.
    pub max_total: Option<Money>,
}

/// How fares are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// By price.
    TotalAmount,
    /// By time on the way.
    Duration,
    /// By departure of the first journey.
    DepartureTime,
}

/// Fares between airports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRequest {
    /// In order of travel.
    pub journeys: Vec<RequestedJourney>,
    /// Who.
    pub travellers: Travellers,
    /// None: the supplier's choice.
    pub currency: Option<Currency>,
    /// What they must have.
    pub filters: Filters,
    /// In which order.
    pub sort: Sort,
    /// The other way round.
    pub descending: bool,
    /// The most to answer.
    pub limit: u16,
}

/// Which filters the adapter applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names of the filters")]
pub struct AppliedFilters {
    pub cabin: bool,
    pub max_stops: bool,
    pub airlines: bool,
    pub excluded_airlines: bool,
    pub departure_after: bool,
    pub departure_before: bool,
    pub arrival_before: bool,
    pub refundable: bool,
    pub checked_bag: bool,
    pub max_total: bool,
    pub sort: bool,
}

/// A fare that can be booked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Opaque, the adapter's; comes back at prebook.
    pub supplier_offer: String,
    /// What at most one unfinished booking may hold, where there is such a thing.
    pub exclusive_key: Option<String>,
    /// For all passengers.
    pub total: Money,
    /// The airline's name of the fare.
    pub fare_family: Option<String>,
    /// None: not said.
    pub refundable: Option<bool>,
    /// What it allows.
    pub fare_conditions: FareConditions,
    /// Each passenger needs a travel document.
    pub documents_required: bool,
    /// On every segment, for every passenger with a seat.
    pub checked_bag_included: bool,
    /// On every segment, for every passenger with a seat.
    pub carry_on_included: bool,
    /// One a leg.
    pub journeys: Vec<Journey>,
    /// When the supplier forgets it.
    pub expires_at: Option<Timestamp>,
}

impl Offer {
    /// Minutes of all journeys together; none when that of one is not known.
    #[must_use]
    pub fn total_duration_minutes(&self) -> Option<u32> {
        self.journeys.iter().try_fold(0_u32, |sum, journey| {
            Some(sum.saturating_add(journey.duration_minutes?))
        })
    }
}

/// Fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceResponse {
    /// In the asked order, where `applied.sort`.
    pub offers: Vec<Offer>,
    /// What the adapter did of it.
    pub applied: AppliedFilters,
    /// There were more.
    pub truncated: bool,
}

/// Re-check a fare and bind it to passengers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrebookRequest {
    /// Begins with the booking's id.
    pub client_reference: String,
    /// Which offer.
    pub supplier_offer: String,
    /// What was offered.
    pub total: Money,
    /// Whom to write to.
    pub contact: Contact,
    /// In the order of the request.
    pub passengers: Vec<Passenger>,
    /// The end user pays in a browser.
    pub use_payment_sdk: bool,
}

/// A bound fare. No seat is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrebookResponse {
    /// Opaque, the adapter's; comes back at book.
    pub supplier_prebook: String,
    /// The price now, with the passengers' programmes.
    pub total: Money,
    /// Without taxes, where told.
    pub fare: Option<Money>,
    /// Taxes, where told.
    pub fare_tax: Option<Money>,
    /// What it allows.
    pub fare_conditions: FareConditions,
    /// Each passenger needs a travel document.
    pub documents_required: bool,
    /// One a leg.
    pub journeys: Vec<Journey>,
    /// Until when it can be booked.
    pub expires_at: Option<Timestamp>,
    /// Of a supplier that collects payment.
    pub checkout: Option<Checkout>,
}

/// Book what was bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookRequest {
    /// The booking's id.
    pub client_reference: String,
    /// From the prebook.
    pub supplier_prebook: String,
    /// The bound price.
    pub total: Money,
    /// Whom to write to.
    pub contact: Contact,
    /// In the order of the request.
    pub passengers: Vec<Passenger>,
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
    /// Earliest instant at which it can have been booked.
    pub since: Timestamp,
}

/// What reading back found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookingLookup {
    /// This.
    Found(Box<SupplierBooking>),
    /// The supplier answered, and knows nothing of it.
    NotFound,
}

/// A kind of extra.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the contract")]
pub enum ServiceType {
    Baggage,
    Seat,
    Meal,
    Other,
}

/// A kind of bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the contract")]
pub enum BaggageType {
    Checked,
    CarryOn,
}

/// A bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baggage {
    /// Which kind.
    pub baggage_type: BaggageType,
    /// Kilograms; none: not said.
    pub max_weight_kg: Option<u32>,
}

/// An extra on a ticket, as the supplier has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierService {
    /// The supplier's id of it.
    pub supplier_service_id: String,
    /// Which kind.
    pub service_type: ServiceType,
    /// Zero-based; none: all.
    pub passenger: Option<u8>,
    /// The supplier's ids of the segments that it is for.
    pub supplier_segment_ids: Vec<String>,
    /// Of a bag.
    pub baggage: Option<Baggage>,
    /// How many.
    pub quantity: u8,
    /// Each.
    pub unit_amount: Money,
}

/// What a cancellation kept and gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancellationAmounts {
    /// Kept.
    pub fee: Money,
    /// Given back.
    pub refund: Money,
    /// The supplier's id of the cancellation.
    pub supplier_reference: Option<String>,
}

/// A booking, as the supplier has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierBooking {
    /// Where it stands.
    pub status: SupplierBookingStatus,
    /// The supplier's id; empty while a pending booking has none.
    pub supplier_reference: String,
    /// Ours, as the supplier repeats it.
    pub client_reference: Option<String>,
    /// The airline's record locator.
    pub airline_pnr: Option<String>,
    /// All that was bought, services included.
    pub total: Money,
    /// Without taxes, where told.
    pub fare: Option<Money>,
    /// Taxes, where told.
    pub fare_tax: Option<Money>,
    /// As they are flown now; empty where the supplier does not tell.
    pub journeys: Vec<Journey>,
    /// Extras.
    pub services: Vec<SupplierService>,
    /// By the airline.
    pub changes: Vec<AirlineChange>,
    /// Once cancelled.
    pub cancellation: Option<CancellationAmounts>,
}

/// Ask what cancelling would cost, or list what is for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookingReference {
    /// The supplier's id of the booking.
    pub supplier_reference: String,
    /// What was sent at book.
    pub client_reference: String,
}

/// What cancelling would cost, from the airline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SupplierQuote {
    /// Its own word.
    Quoted {
        /// Kept.
        fee: Money,
        /// Given back.
        refund: Money,
        /// How long it holds.
        expires_at: Option<Timestamp>,
    },
    /// It cannot say; why, for operators.
    Unavailable(String),
}

/// End a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelRequest {
    /// Begins with the booking's id; unique to this cancellation.
    pub client_reference: String,
    /// What was sent at book.
    pub booking_client_reference: String,
    /// The supplier's id of the booking.
    pub supplier_reference: String,
}

/// An extra that is for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvailableService {
    /// The supplier's id of it.
    pub supplier_service_id: String,
    /// Which kind.
    pub service_type: ServiceType,
    /// Zero-based.
    pub passenger: u8,
    /// The supplier's ids of the segments that it is for.
    pub supplier_segment_ids: Vec<String>,
    /// Of a bag.
    pub baggage: Option<Baggage>,
    /// Each.
    pub unit_amount: Money,
    /// The most that can be bought.
    pub max_quantity: u8,
}

/// An extra to buy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceOrderItem {
    /// The supplier's id of it.
    pub supplier_service_id: String,
    /// How many.
    pub quantity: u8,
    /// Each.
    pub unit_amount: Money,
}

/// Buy extras on a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuyRequest {
    /// Begins with the booking's id; unique to this purchase.
    pub client_reference: String,
    /// What was sent at book.
    pub booking_client_reference: String,
    /// The supplier's id of the booking.
    pub supplier_reference: String,
    /// Of all of them.
    pub total: Money,
    /// What.
    pub services: Vec<ServiceOrderItem>,
}

/// An airport.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Airport {
    /// The supplier's id of it.
    pub supplier_airport_id: String,
    /// Three letters.
    pub iata_code: String,
    /// Four letters.
    pub icao_code: Option<String>,
    /// Display name.
    pub name: String,
    /// City that it serves.
    pub city: Option<String>,
    /// State or region.
    pub state: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// Degrees, −90 to 90.
    pub latitude: Option<f64>,
    /// Degrees, −180 to 180.
    pub longitude: Option<f64>,
    /// IANA name.
    pub time_zone: Option<String>,
}

/// Airports in the supplier's order.
#[derive(Debug, Clone, PartialEq)]
pub struct AirportResponse {
    /// At most as many as were asked for.
    pub airports: Vec<Airport>,
    /// There were more.
    pub truncated: bool,
}

/// An airline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Airline {
    /// The supplier's id of it.
    pub supplier_airline_id: String,
    /// Two characters.
    pub iata_code: String,
    /// Three letters.
    pub icao_code: Option<String>,
    /// Display name.
    pub name: String,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// E.g. `oneworld`.
    pub alliance: Option<String>,
    /// URL.
    pub logo_url: Option<String>,
    /// Flies.
    pub is_active: bool,
}
