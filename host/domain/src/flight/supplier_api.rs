//! Requests to flight suppliers and their responses.

use crate::flight::details::{FlightOfferDetails, TicketDetails};
use crate::flight::itinerary::{AirlineChange, Cabin, FareConditions, Journey};
use crate::flight::passenger::{Passenger, PassengerContact, Travellers};
use crate::flight::service::{Baggage, ServiceType};
use crate::money::{Currency, Money};
use crate::supplier::{Checkout, SupplierBookingStatus};
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// A requested journey: origin, destination and date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedJourney {
    /// IATA code of the airport or city of departure.
    pub origin: String,
    /// IATA code of the airport or city of arrival.
    pub destination: String,
    /// Local date of departure.
    pub date: Date,
}

/// Filters of a fare search. An empty or missing filter accepts everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// The cabin on every segment.
    pub cabin: Option<Cabin>,
    /// Maximum number of stops of each journey.
    pub max_stops: Option<u8>,
    /// IATA codes of the accepted marketing carriers, on all segments.
    pub airlines: Vec<String>,
    /// IATA codes of marketing carriers that no segment may have.
    pub excluded_airlines: Vec<String>,
    /// Earliest departure of each journey, local `HH:MM`, inclusive.
    pub departure_after: Option<String>,
    /// Latest departure of each journey, local `HH:MM`, inclusive.
    pub departure_before: Option<String>,
    /// Latest arrival of each journey, local `HH:MM`, inclusive.
    pub arrival_before: Option<String>,
    /// `true` for refundable fares only, `false` for non-refundable ones only.
    pub refundable: Option<bool>,
    /// `true` for fares with a checked bag only, `false` for fares without one only.
    pub checked_bag: Option<bool>,
    /// Maximum total, in the request's currency.
    pub max_total: Option<Money>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    TotalAmount,
    Duration,
    /// By departure of the first journey.
    DepartureTime,
}

/// A request for fares between airports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightPriceRequest {
    /// The journeys, in order of travel.
    pub journeys: Vec<RequestedJourney>,
    pub travellers: Travellers,
    /// The currency of prices. `None` leaves the choice to the supplier.
    pub currency: Option<Currency>,
    pub filters: Filters,
    pub sort: Sort,
    pub descending: bool,
    pub limit: u16,
}

/// The filters that the adapter applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlightAppliedFilters {
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
pub struct FlightOffer {
    /// The adapter's opaque offer data, returned to it at prebook.
    pub supplier_offer: String,
    /// A key that at most one unfinished booking may have, if the supplier limits bookings per
    /// offer.
    pub exclusive_key: Option<String>,
    /// Price for all passengers.
    pub total: Money,
    /// The airline's name of the fare.
    pub fare_family: Option<String>,
    /// Whether the fare is refundable. `None` if not reported.
    pub refundable: Option<bool>,
    pub fare_conditions: FareConditions,
    /// Whether each passenger needs a travel document.
    pub documents_required: bool,
    /// Whether a checked bag is included on every segment, for every passenger with a seat.
    pub checked_bag_included: bool,
    /// Whether a carry-on bag is included on every segment, for every passenger with a seat.
    pub carry_on_included: bool,
    /// The journeys, one per requested journey.
    pub journeys: Vec<Journey>,
    /// Time at which the supplier discards the offer.
    pub expires_at: Option<Timestamp>,
    pub details: FlightOfferDetails,
}

impl FlightOffer {
    /// Returns the total minutes of all journeys. Returns `None` if the duration of any journey is
    /// unknown.
    pub fn total_duration_minutes(&self) -> Option<u32> {
        self.journeys.iter().try_fold(0_u32, |sum, journey| {
            Some(sum.saturating_add(journey.duration_minutes?))
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightPriceResponse {
    /// The offers, in the requested order if `applied.sort` is set.
    pub offers: Vec<FlightOffer>,
    pub applied: FlightAppliedFilters,
    /// Whether there were more results than returned.
    pub truncated: bool,
}

/// A request to check a fare again and prebook it for passengers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightPrebookRequest {
    /// The gateway's reference. It begins with the booking's id.
    pub client_reference: String,
    pub supplier_offer: String,
    pub total: Money,
    pub contact: PassengerContact,
    /// The passengers, in the order of the request.
    pub passengers: Vec<Passenger>,
    /// Whether the end user pays in a browser.
    pub use_payment_sdk: bool,
}

/// A prebooked fare. No seat is reserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightPrebookResponse {
    /// The adapter's opaque prebook data, returned to it at book.
    pub supplier_prebook: String,
    /// The current price, with the passengers' loyalty programmes applied.
    pub total: Money,
    pub fare: Option<Money>,
    pub fare_tax: Option<Money>,
    pub fare_conditions: FareConditions,
    pub documents_required: bool,
    pub journeys: Vec<Journey>,
    /// Time until which the fare can be booked.
    pub expires_at: Option<Timestamp>,
    /// The checkout of a supplier that collects the payment.
    pub checkout: Option<Checkout>,
    pub details: TicketDetails,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightBookRequest {
    /// The gateway's reference: the booking's id.
    pub client_reference: String,
    pub supplier_prebook: String,
    /// The prebooked price.
    pub total: Money,
    pub contact: PassengerContact,
    /// The passengers, in the order of the request.
    pub passengers: Vec<Passenger>,
}

/// A service on a ticket, as the supplier reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierService {
    pub supplier_service_id: String,
    pub service_type: ServiceType,
    /// Zero-based index of the passenger. `None` for all passengers.
    pub passenger: Option<u8>,
    /// The supplier's ids of the segments that the service is for.
    pub supplier_segment_ids: Vec<String>,
    /// The bag, if the service is one.
    pub baggage: Option<Baggage>,
    pub quantity: u8,
    pub unit_amount: Money,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightCancellationAmounts {
    pub fee: Money,
    pub refund: Money,
    /// The supplier's id of the cancellation.
    pub supplier_reference: Option<String>,
}

/// A booking as the supplier reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightSupplierBooking {
    pub status: SupplierBookingStatus,
    /// The supplier's id of the booking. It is empty while a pending booking has none.
    pub supplier_reference: String,
    /// The gateway's reference, as the supplier repeats it.
    pub client_reference: Option<String>,
    pub airline_pnr: Option<String>,
    /// Price of all that was bought, services included.
    pub total: Money,
    pub fare: Option<Money>,
    pub fare_tax: Option<Money>,
    /// The journeys as currently scheduled. The list is empty if the supplier does not report them.
    /// `None` stands for a journey that cannot be read.
    pub journeys: Vec<Option<Journey>>,
    /// The services on the ticket.
    pub services: Vec<SupplierService>,
    /// Whether the ticket has services that cannot be read. That a service is not in the list then
    /// proves nothing.
    pub has_unreadable_services: bool,
    pub changes: Vec<AirlineChange>,
    /// The amounts of the cancellation, once cancelled.
    pub cancellation: Option<FlightCancellationAmounts>,
    /// Whether the supplier states amounts of the cancellation that cannot be read. Policy or terms
    /// then decide nothing, because they may contradict these amounts.
    pub has_unreadable_amounts: bool,
    pub details: TicketDetails,
}

/// A reference to a booking, used to request a cancellation quote or the services for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookingReference {
    pub supplier_reference: String,
    /// The gateway's reference that was sent at book.
    pub client_reference: String,
}

/// The airline's data about the cost of cancelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlightSupplierQuote {
    Quoted {
        fee: Money,
        refund: Money,
        expires_at: Option<Timestamp>,
    },
    /// The airline has no quote. The text gives operators the reason.
    Unavailable(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightCancelRequest {
    /// The gateway's reference. It begins with the booking's id and is unique to this cancellation.
    pub client_reference: String,
    /// The gateway's reference that was sent at book.
    pub booking_client_reference: String,
    pub supplier_reference: String,
}

/// A service that is for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvailableService {
    pub supplier_service_id: String,
    pub service_type: ServiceType,
    /// Zero-based index of the passenger.
    pub passenger: u8,
    pub supplier_segment_ids: Vec<String>,
    pub baggage: Option<Baggage>,
    pub unit_amount: Money,
    pub max_quantity: u8,
}

/// A service to buy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceOrderItem {
    pub supplier_service_id: String,
    pub quantity: u8,
    pub unit_amount: Money,
}

/// A request to buy services for a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuyRequest {
    /// The gateway's reference. It begins with the booking's id and is unique to this purchase.
    pub client_reference: String,
    pub booking_client_reference: String,
    pub supplier_reference: String,
    pub total: Money,
    pub services: Vec<ServiceOrderItem>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Airport {
    pub supplier_airport_id: String,
    /// IATA code, three letters.
    pub iata_code: String,
    /// ICAO code, four letters.
    pub icao_code: Option<String>,
    pub name: String,
    pub city: Option<String>,
    /// State or region.
    pub state: Option<String>,
    /// Country, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// Latitude in degrees, −90 to 90.
    pub latitude: Option<f64>,
    /// Longitude in degrees, −180 to 180.
    pub longitude: Option<f64>,
    /// IANA time-zone name.
    pub time_zone: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AirportResponse {
    /// The airports in the supplier's order, at most as many as requested.
    pub airports: Vec<Airport>,
    pub truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Airline {
    pub supplier_airline_id: String,
    /// IATA code, two characters.
    pub iata_code: String,
    /// ICAO code, three letters.
    pub icao_code: Option<String>,
    pub name: String,
    /// Country, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// The alliance, e.g. `oneworld`.
    pub alliance: Option<String>,
    pub logo_url: Option<String>,
    /// Whether the airline operates flights.
    pub is_active: bool,
}
