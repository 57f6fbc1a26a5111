//! JSON resource of flight bookings, used in reads, lists and events.

use crate::failure::{FailureResource, failure};
use crate::flight::airline_change::{self, AirlineInitiatedChangeResource};
use crate::flight::cancellation::{self, FlightCancellationResource};
use crate::flight::details::{
    self, PaymentTermsResource, RecordLocatorResource, TicketDocumentResource,
    TicketPaymentStatusResource,
};
use crate::flight::itinerary::FareConditionsResource;
use crate::flight::payment::{self, FlightPaymentResource};
use crate::flight::service::{self, FlightServiceResource};
use crate::flight::ticket::{self, BookedJourneyResource, FlightPassengerResource};
use crate::value::{IsoDateTime, MoneyResource, same_variants};
use host_domain::booking::BookingStatus;
use host_domain::flight::booking::FlightBooking;
use host_domain::flight::itinerary::FareCondition;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The status of a flight booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FlightBookingStatusResource {
    /// The service has accepted the request.
    Created,
    /// The supplier is being asked to bind the fare.
    PrebookInProgress,
    /// The fare is bound and the booking can be completed. No seat is reserved.
    ReadyForComplete,
    /// The booking is being paid and ticketed.
    CompleteInProgress,
    /// The ticket is issued.
    Confirmed,
    CancelInProgress,
    Canceled,
    Failed,
    /// The booking was not completed in time.
    Expired,
}

/// The cancellation terms of the fare.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FlightCancellationPolicyResource {
    /// Whether the fare is refundable before departure. Null if the airline does not say.
    #[schema(required)]
    refundable: Option<bool>,
    /// Amount kept on a refund before departure, possibly in a different currency than the price.
    /// Null if the airline does not say.
    #[schema(required)]
    penalty: Option<MoneyResource>,
}

/// A flight booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FlightBookingResource {
    #[schema(pattern = "^bkg_[a-zA-Z0-9-]+$")]
    id: String,
    /// Reference that the client gave at prebook. It need not be unique.
    #[schema(required)]
    reference_id: Option<String>,
    /// Supplier of the offer. It never changes.
    #[schema(pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SUPPLIER_A")]
    supplier: String,
    /// Status of the booking.
    status: FlightBookingStatusResource,
    /// Price of ticket and services. Null until the fare is bound.
    #[schema(required)]
    total_amount: Option<MoneyResource>,
    /// Price of the ticket without taxes. Null if the supplier does not report it.
    #[schema(required)]
    fare_amount: Option<MoneyResource>,
    /// Taxes of the ticket. Null if the supplier does not report them.
    #[schema(required)]
    fare_tax_amount: Option<MoneyResource>,
    /// Price of all purchased services.
    services_amount: MoneyResource,
    /// Services that are or are being purchased, with the ticket or after it.
    services: Vec<FlightServiceResource>,
    /// All payments that were started, oldest first.
    payments: Vec<FlightPaymentResource>,
    /// Time until which the booking can be completed. Present only in READY_FOR_COMPLETE.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<IsoDateTime>,
    cancellation_policy: FlightCancellationPolicyResource,
    fare_conditions: FareConditionsResource,
    /// Passengers by type: adults, children, infants. Passengers of one type keep the order of the
    /// request.
    passengers: Vec<FlightPassengerResource>,
    /// Current journeys in order of travel. Empty until the fare is bound.
    journeys: Vec<BookedJourneyResource>,
    /// The supplier's order id. Null until the order exists.
    #[schema(required)]
    supplier_reference: Option<String>,
    /// The airline's record locator. Present if the airline provides one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "RZPNX8")]
    airline_pnr: Option<String>,
    /// Time at which the ticket was issued.
    #[schema(required)]
    confirmed_at: Option<IsoDateTime>,
    /// Time at which the ticket was cancelled.
    #[schema(required)]
    canceled_at: Option<IsoDateTime>,
    /// Fee and refund of the cancellation. Present once the booking is CANCELED.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancellation: Option<FlightCancellationResource>,
    /// Reason of the failure. Present if the booking failed or a cancellation was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureResource>,
    /// Changes by the airline, oldest first.
    airline_initiated_changes: Vec<AirlineInitiatedChangeResource>,
    /// Fees of the ticket. Absent if the supplier does not report them separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    fee_amount: Option<MoneyResource>,
    /// Deadline of the supplier for the payment of the fare. Absent if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    payment_terms: Option<PaymentTermsResource>,
    /// Whether the ticket is paid at the supplier. Absent if the supplier does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    payment_status: Option<TicketPaymentStatusResource>,
    /// Record locators of airlines and distribution systems. Absent if none is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    record_locators: Vec<RecordLocatorResource>,
    /// Documents that the airline issued, such as electronic tickets. Absent if none is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    documents: Vec<TicketDocumentResource>,
    created_at: IsoDateTime,
    updated_at: IsoDateTime,
}

/// Builds the booking for responses about it and for events, where payments include their payment
/// method.
pub fn full_booking(booking: &FlightBooking) -> FlightBookingResource {
    let payments = booking
        .payments
        .iter()
        .map(payment::payment_with_method)
        .collect();
    FlightBookingResource {
        payments,
        ..booking_without_payment_methods(booking)
    }
}

/// Builds the booking as an item of a list, where payments have no payment method.
pub fn booking_without_payment_methods(booking: &FlightBooking) -> FlightBookingResource {
    let (status, details) = (booking.status(), &booking.details);
    let payments = booking.payments.iter().map(payment::payment_without_method);
    let ticket = &details.ticket;
    let locators = ticket.record_locators.iter();
    FlightBookingResource {
        id: booking.id.to_string(),
        reference_id: booking.reference_id.clone(),
        supplier: booking.supplier.to_string(),
        status: status.into(),
        total_amount: booking.total().map(MoneyResource::from),
        fare_amount: details.fare.map(MoneyResource::from),
        fare_tax_amount: details.fare_tax.map(MoneyResource::from),
        services_amount: booking.services_amount().into(),
        services: service::booked_services(booking),
        payments: payments.collect(),
        expires_at: (status == BookingStatus::ReadyForComplete)
            .then(|| booking.offer_expires_at.into()),
        cancellation_policy: details.fare_conditions.refund.into(),
        fare_conditions: details.fare_conditions.into(),
        passengers: ticket::passengers(booking),
        journeys: ticket::journeys(booking),
        supplier_reference: booking.supplier_reference.clone(),
        airline_pnr: details.airline_pnr.clone(),
        confirmed_at: booking.confirmed_at.map(IsoDateTime::from),
        canceled_at: booking.canceled_at.map(IsoDateTime::from),
        cancellation: details
            .cancellation
            .as_ref()
            .map(cancellation::cancellation),
        failure: booking.failure.as_ref().map(failure),
        airline_initiated_changes: details.changes.iter().map(airline_change::change).collect(),
        fee_amount: ticket.fee.map(MoneyResource::from),
        payment_terms: ticket.payment_terms.map(PaymentTermsResource::from),
        payment_status: ticket.payment_status.map(TicketPaymentStatusResource::from),
        record_locators: locators.map(RecordLocatorResource::from).collect(),
        documents: details::documents(booking),
        created_at: booking.created_at.into(),
        updated_at: booking.updated_at.into(),
    }
}

impl From<FareCondition> for FlightCancellationPolicyResource {
    fn from(refund: FareCondition) -> Self {
        Self {
            refundable: refund.allowed,
            penalty: refund.penalty.map(MoneyResource::from),
        }
    }
}

impl From<BookingStatus> for FlightBookingStatusResource {
    fn from(status: BookingStatus) -> Self {
        match status {
            BookingStatus::Created => Self::Created,
            BookingStatus::PrebookInProgress => Self::PrebookInProgress,
            BookingStatus::ReadyForComplete => Self::ReadyForComplete,
            BookingStatus::CompleteInProgress => Self::CompleteInProgress,
            BookingStatus::Confirmed => Self::Confirmed,
            BookingStatus::CancelInProgress => Self::CancelInProgress,
            // A ticket has no parts, so it is only cancelled as a whole.
            BookingStatus::PartiallyCanceled | BookingStatus::Canceled => Self::Canceled,
            BookingStatus::Failed => Self::Failed,
            BookingStatus::Expired => Self::Expired,
        }
    }
}

same_variants! {
    FlightBookingStatusResource => BookingStatus: Created, PrebookInProgress, ReadyForComplete,
    CompleteInProgress, Confirmed, CancelInProgress, Canceled, Failed, Expired
}
