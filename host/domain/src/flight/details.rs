//! Details of fares and tickets that only some suppliers state.

use crate::flight::service::{BaggageType, ServiceType};
use crate::money::Money;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Times until which an offer must be paid and its price is guaranteed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentTerms {
    /// Whether the offer must be paid when it is booked.
    pub instant_payment_required: bool,
    /// Time by which a booking that is held without payment must be paid.
    pub payment_required_by: Option<Timestamp>,
    /// Time until which the price of a booking that is held without payment cannot change.
    pub price_guaranteed_until: Option<Timestamp>,
}

/// Whether a ticket is paid at the supplier, and the terms while it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketPaymentStatus {
    pub awaiting_payment: bool,
    pub payment_required_by: Option<Timestamp>,
    pub price_guaranteed_until: Option<Timestamp>,
}

/// The parts of an offer's price and the terms of its payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlightOfferDetails {
    /// The fare without taxes and fees.
    pub fare: Option<Money>,
    pub fare_tax: Option<Money>,
    /// The fees, if the supplier states them separately.
    pub fee: Option<Money>,
    pub payment_terms: Option<PaymentTerms>,
}

/// A technical stop within a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TechnicalStop {
    /// IATA code of the airport.
    pub airport: String,
    /// Local time without offset, `YYYY-MM-DDTHH:MM`.
    pub arrival_time: Option<String>,
    /// Local time without offset, `YYYY-MM-DDTHH:MM`.
    pub departure_time: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatPosition {
    Window,
    Middle,
    Aisle,
}

/// A seat of an aircraft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Row and column, e.g. `14B`.
    pub designator: String,
    /// The airline's name of the seat.
    pub name: Option<String>,
    pub position: Option<SeatPosition>,
    /// Information about the seat for the traveller.
    pub disclosures: Vec<String>,
}

/// Bags of one kind with their limits, each of which is `None` if not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BagAllowance {
    pub baggage_type: BaggageType,
    pub pieces: Option<u8>,
    /// Maximum weight of a piece in kilograms.
    pub max_weight_kg: Option<u32>,
    pub max_length_cm: Option<u32>,
    pub max_width_cm: Option<u32>,
    pub max_height_cm: Option<u32>,
}

/// The details of one passenger on one segment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SegmentPassengerDetails {
    pub fare_basis_code: Option<String>,
    /// The seat that is assigned.
    pub seat: Option<Seat>,
    /// The bags that the fare includes.
    pub baggage: Vec<BagAllowance>,
}

/// The details of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SegmentDetails {
    pub origin_terminal: Option<String>,
    pub destination_terminal: Option<String>,
    /// IATA code of the operating carrier.
    pub operating_carrier_code: Option<String>,
    /// Carrier code and flight number of the operating carrier, e.g. `AA6132`.
    pub operating_flight: Option<String>,
    /// The type of aircraft.
    pub aircraft: Option<String>,
    /// IATA code of the type of aircraft, e.g. `380`.
    pub aircraft_code: Option<String>,
    pub technical_stops: Vec<TechnicalStop>,
}

/// A service that is offered together with a fare, before it is booked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachableService {
    pub supplier_service_id: String,
    pub service_type: ServiceType,
    pub name: Option<String>,
    /// Zero-based indexes of the passengers who can have it. Empty if all can.
    pub passengers: Vec<u8>,
    /// The supplier's ids of the segments. Empty if it is for the whole ticket.
    pub supplier_segment_ids: Vec<String>,
    pub bag: Option<BagAllowance>,
    pub seat: Option<Seat>,
    pub unit_amount: Money,
    pub max_quantity: Option<u8>,
}

/// The system that a record locator belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocatorSystem {
    Airline,
    /// A global distribution system. Airlines do not know its locator.
    DistributionSystem,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordLocator {
    pub locator: String,
    pub system: LocatorSystem,
    /// IATA code of the airline or the distribution system.
    pub carrier_code: Option<String>,
    /// Name of the airline or the distribution system.
    pub carrier: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TicketDocumentType {
    ElectronicTicket,
    /// A document for a service of a flight of the ticket.
    ElectronicMiscellaneousDocumentAssociated,
    /// A document for a service without a flight.
    ElectronicMiscellaneousDocumentStandalone,
    Other,
}

/// A document that the airline issued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketDocument {
    pub document_type: TicketDocumentType,
    /// The number of the document, e.g. the ticket number.
    pub number: String,
    /// Zero-based indexes of the passengers. Empty if not reported.
    pub passengers: Vec<u8>,
}

/// The details of a service on a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceDetails {
    pub supplier_service_id: String,
    pub name: Option<String>,
    pub seat: Option<Seat>,
    pub bag: Option<BagAllowance>,
}

/// The details of a fare that is prebooked or a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TicketDetails {
    /// The fees, if the supplier states them separately.
    pub fee: Option<Money>,
    pub payment_terms: Option<PaymentTerms>,
    pub payment_status: Option<TicketPaymentStatus>,
    pub record_locators: Vec<RecordLocator>,
    pub documents: Vec<TicketDocument>,
    /// Services that are on the ticket.
    pub services: Vec<ServiceDetails>,
    /// Services that were offered with the fare. They are not stored, because their prices and
    /// availability change, and a seat map is larger than a booking.
    #[serde(skip)]
    pub attachable_services: Vec<AttachableService>,
}

impl TicketDetails {
    /// Replaces the details that a later response states and keeps the others. Not every response
    /// has them. The fee stays, because it is replaced together with fare and taxes.
    pub fn update(&mut self, later: Self) {
        let Self {
            fee: _,
            payment_terms,
            payment_status,
            record_locators,
            documents,
            services,
            attachable_services,
        } = later;
        self.payment_terms = payment_terms.or(self.payment_terms);
        self.payment_status = payment_status.or(self.payment_status);
        replace_if_stated(&mut self.record_locators, record_locators);
        replace_if_stated(&mut self.documents, documents);
        replace_if_stated(&mut self.services, services);
        replace_if_stated(&mut self.attachable_services, attachable_services);
    }
}

/// Returns whether details state nothing. Bookings do not store such details.
pub(crate) fn is_default<T: Default + PartialEq>(details: &T) -> bool {
    *details == T::default()
}

fn replace_if_stated<T>(known: &mut Vec<T>, stated: Vec<T>) {
    if !stated.is_empty() {
        *known = stated;
    }
}
