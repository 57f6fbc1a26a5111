//! JSON resources of details of fares and tickets that only some suppliers state. A value that the
//! supplier does not state is absent.

use crate::flight::seat::SeatResource;
use crate::flight::service::{BaggageResource, ServiceTypeResource};
use crate::value::{IsoDateTime, MoneyResource, same_variants};
use host_domain::flight;
use host_domain::flight::booking::FlightBooking;
use serde::Serialize;
use utoipa::ToSchema;

/// Deadline of the payment of an offer, and of its price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PaymentTermsResource {
    /// Whether the offer must be paid when it is booked.
    instant_payment_required: bool,
    /// Time by which a booking that is held without payment must be paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    payment_required_by: Option<IsoDateTime>,
    /// Time until which the price of a booking that is held without payment cannot change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    price_guaranteed_until: Option<IsoDateTime>,
}

/// Whether the ticket is paid at the supplier, and the terms while it is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TicketPaymentStatusResource {
    /// Whether the supplier waits for the payment.
    awaiting_payment: bool,
    /// Time by which the ticket must be paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    payment_required_by: Option<IsoDateTime>,
    /// Time until which the price cannot change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    price_guaranteed_until: Option<IsoDateTime>,
}

/// Fare basis, seat and bags of one passenger on one segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SegmentPassengerDetailsResource {
    /// Fare basis code of the airline.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "Y20LGTN2")]
    fare_basis_code: Option<String>,
    /// Assigned seat. Absent if none is assigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    seat: Option<SeatResource>,
    /// Bags that the fare includes, with their limits. Absent if they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    baggage: Vec<BaggageResource>,
}

/// The system that a record locator belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LocatorSystemResource {
    /// The airline.
    Airline,
    /// A global distribution system. Airlines do not know its locator.
    DistributionSystem,
}

/// A record locator of the booking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecordLocatorResource {
    /// The locator itself.
    #[schema(example = "RZPNX8")]
    locator: String,
    /// System that the locator belongs to.
    system: LocatorSystemResource,
    /// IATA code of the airline or the distribution system.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        required = false,
        nullable = false,
        pattern = "^[A-Z0-9]{2}$",
        example = "BA"
    )]
    carrier_code: Option<String>,
    /// Name of the airline or the distribution system.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    carrier: Option<String>,
}

/// The type of a document that an airline issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TicketDocumentTypeResource {
    ElectronicTicket,
    /// A document for a service of a flight of the ticket.
    ElectronicMiscellaneousDocumentAssociated,
    /// A document for a service without a flight.
    ElectronicMiscellaneousDocumentStandalone,
    Other,
}

/// A document that the airline issued, such as an electronic ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TicketDocumentResource {
    /// Type of the document.
    #[serde(rename = "type")]
    kind: TicketDocumentTypeResource,
    /// Number of the document, such as the ticket number.
    #[schema(example = "1252106312810")]
    number: String,
    /// Passengers that the document is for. Empty if the supplier does not say.
    passenger_ids: Vec<String>,
}

/// A service that the supplier offers together with the fare. It cannot be purchased here.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AttachableServiceResource {
    /// Type of the service.
    #[serde(rename = "type")]
    kind: ServiceTypeResource,
    /// Name that the supplier gives the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "Seat 7A")]
    name: Option<String>,
    /// Passengers who can have the service. Empty if all can.
    passenger_ids: Vec<String>,
    /// Segments that the service is for. Empty if it is for the whole ticket.
    segment_ids: Vec<String>,
    /// Details of the bag. Absent if the service is not a bag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    baggage: Option<BaggageResource>,
    /// The seat. Absent if the service is not a seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    seat: Option<SeatResource>,
    /// Price of one unit, possibly in another currency than the fare.
    unit_amount: MoneyResource,
    /// Maximum number of units. Absent if the supplier does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 1, maximum = 255)]
    max_quantity: Option<u32>,
}

/// Builds the documents of a ticket. A passenger who is not part of the booking is left out.
pub fn documents(booking: &FlightBooking) -> Vec<TicketDocumentResource> {
    let document = |document: &flight::TicketDocument| TicketDocumentResource {
        kind: document.document_type.into(),
        number: document.number.clone(),
        passenger_ids: passenger_ids(booking, &document.passengers),
    };
    let documents = booking.details.ticket.documents.iter();
    documents.map(document).collect()
}

/// Builds the services that the supplier offered with the fare, for the first response of the
/// prebook.
pub fn attachable_services(booking: &FlightBooking) -> Vec<AttachableServiceResource> {
    let service = |service: &flight::AttachableService| {
        let segment_ids = booking.segment_ids(&service.supplier_segment_ids);
        AttachableServiceResource {
            kind: service.service_type.into(),
            name: service.name.clone(),
            passenger_ids: passenger_ids(booking, &service.passengers),
            segment_ids: segment_ids.iter().map(ToString::to_string).collect(),
            baggage: service.bag.map(BaggageResource::from),
            seat: service.seat.as_ref().map(SeatResource::from),
            unit_amount: service.unit_amount.into(),
            max_quantity: service.max_quantity.map(u32::from),
        }
    };
    let services = booking.details.ticket.attachable_services.iter();
    services.map(service).collect()
}

fn passenger_ids(booking: &FlightBooking, positions: &[u8]) -> Vec<String> {
    let passengers = &booking.details.passengers;
    let known = positions.iter();
    let known = known.filter_map(|at| passengers.get(usize::from(*at)));
    known.map(|passenger| passenger.id.to_string()).collect()
}

impl From<flight::PaymentTerms> for PaymentTermsResource {
    fn from(terms: flight::PaymentTerms) -> Self {
        Self {
            instant_payment_required: terms.instant_payment_required,
            payment_required_by: terms.payment_required_by.map(IsoDateTime::from),
            price_guaranteed_until: terms.price_guaranteed_until.map(IsoDateTime::from),
        }
    }
}

impl From<flight::TicketPaymentStatus> for TicketPaymentStatusResource {
    fn from(status: flight::TicketPaymentStatus) -> Self {
        Self {
            awaiting_payment: status.awaiting_payment,
            payment_required_by: status.payment_required_by.map(IsoDateTime::from),
            price_guaranteed_until: status.price_guaranteed_until.map(IsoDateTime::from),
        }
    }
}

impl From<&flight::SegmentPassengerDetails> for SegmentPassengerDetailsResource {
    fn from(details: &flight::SegmentPassengerDetails) -> Self {
        let bags = details.baggage.iter();
        Self {
            fare_basis_code: details.fare_basis_code.clone(),
            seat: details.seat.as_ref().map(SeatResource::from),
            baggage: bags.copied().map(BaggageResource::from).collect(),
        }
    }
}

impl From<&flight::RecordLocator> for RecordLocatorResource {
    fn from(locator: &flight::RecordLocator) -> Self {
        Self {
            locator: locator.locator.clone(),
            system: locator.system.into(),
            carrier_code: locator.carrier_code.clone(),
            carrier: locator.carrier.clone(),
        }
    }
}

same_variants! { LocatorSystemResource <= flight::LocatorSystem: Airline, DistributionSystem }

same_variants! {
    TicketDocumentTypeResource <= flight::TicketDocumentType: ElectronicTicket,
    ElectronicMiscellaneousDocumentAssociated, ElectronicMiscellaneousDocumentStandalone, Other
}
