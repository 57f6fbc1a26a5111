//! Flight bookings: the whole resource, as reads, lists and events show it.

use crate::api::value::{IsoDateTime, Money};
use crate::render::cancellation::{self, Failure};
use crate::render::flight::change::{self, AirlineInitiatedChange};
use crate::render::flight::itinerary::FareConditions;
use crate::render::flight::payment::{self, FlightPayment};
use crate::render::flight::refund::{self, FlightCancellation};
use crate::render::flight::service::{self, FlightService};
use crate::render::flight::ticket::{self, BookedJourney, FlightPassenger};
use host_domain::flight::booking::{Booking, Status};
use host_domain::flight::itinerary::FareCondition;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a flight booking is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum FlightBookingStatus {
    /// Accepted by the gateway.
    Created,
    /// The supplier is asked to bind the fare.
    PrebookInProgress,
    /// Bound; waits to be completed. No seat is held.
    ReadyForComplete,
    /// Being paid and ticketed.
    CompleteInProgress,
    /// Ticketed.
    Confirmed,
    /// Being cancelled.
    CancelInProgress,
    /// The ticket is released.
    Canceled,
    /// Came to nothing.
    Failed,
    /// Was not completed in time.
    Expired,
}

/// What cancelling costs under the fare's terms.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct FlightCancellationPolicy {
    /// Whether the fare can be given back before departure; null where the airline does not say.
    #[schema(required)]
    refundable: Option<bool>,
    /// What is kept then, possibly in another currency than the price; null where the airline does not say.
    #[schema(required)]
    penalty: Option<Money>,
}

/// A flight booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct FlightBooking {
    #[schema(
        pattern = "^bkg_[a-zA-Z0-9-]+$",
        example = "bkg_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// The caller's reference given at prebook; not unique.
    #[schema(required)]
    reference_id: Option<String>,
    /// Who answered the offer; stays so for good.
    #[schema(pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SUPPLIER_A")]
    supplier: String,
    /// Where it is.
    status: FlightBookingStatus,
    /// Ticket and services; null until the fare is bound.
    #[schema(required)]
    total_amount: Option<Money>,
    /// Of the ticket, without taxes; null where the supplier does not tell.
    #[schema(required)]
    fare_amount: Option<Money>,
    /// Taxes of the ticket; null where the supplier does not tell.
    #[schema(required)]
    fare_tax_amount: Option<Money>,
    /// Of all services that were bought.
    services_amount: Money,
    /// Bought, or being bought, with or after the ticket.
    services: Vec<FlightService>,
    /// Every payment that was begun, oldest first.
    payments: Vec<FlightPayment>,
    /// Until when it can be completed. Present while it can be: in READY_FOR_COMPLETE.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<IsoDateTime>,
    cancellation_policy: FlightCancellationPolicy,
    fare_conditions: FareConditions,
    /// Adults, children, infants; those of one type in the order of the request.
    passengers: Vec<FlightPassenger>,
    /// In order of travel, as they are flown; empty until the fare is bound.
    journeys: Vec<BookedJourney>,
    /// The supplier's id of the order; null until there is one.
    #[schema(required)]
    supplier_reference: Option<String>,
    /// The airline's record locator. Present when the airline provides one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "RZPNX8")]
    airline_pnr: Option<String>,
    /// When the ticket was issued.
    #[schema(required)]
    confirmed_at: Option<IsoDateTime>,
    /// When the ticket was released.
    #[schema(required)]
    canceled_at: Option<IsoDateTime>,
    /// What the cancellation kept and is to give back. Present once CANCELED.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancellation: Option<FlightCancellation>,
    /// Present when the booking failed or a cancellation was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    /// By the airline, oldest first.
    airline_initiated_changes: Vec<AirlineInitiatedChange>,
    created_at: IsoDateTime,
    updated_at: IsoDateTime,
}

/// A booking as answers about it and events show it: payments say what paid.
pub(crate) fn full(booking: &Booking) -> FlightBooking {
    let payments = booking.payments.iter().map(payment::with_method).collect();
    FlightBooking {
        payments,
        ..without_payment_methods(booking)
    }
}

/// A booking in a list.
pub(crate) fn without_payment_methods(booking: &Booking) -> FlightBooking {
    let status = booking.status();
    FlightBooking {
        id: booking.id.to_string(),
        reference_id: booking.reference_id.clone(),
        supplier: booking.supplier.to_string(),
        status: status.into(),
        total_amount: booking.total().map(Money::from),
        fare_amount: booking.fare.map(Money::from),
        fare_tax_amount: booking.fare_tax.map(Money::from),
        services_amount: booking.services_amount().into(),
        services: service::booked_services(booking),
        payments: booking.payments.iter().map(payment::without_method).collect(),
        expires_at: (status == Status::ReadyForComplete).then(|| booking.offer_expires_at.into()),
        cancellation_policy: booking.fare_conditions.refund.into(),
        fare_conditions: booking.fare_conditions.into(),
        passengers: ticket::passengers(booking),
        journeys: ticket::journeys(booking),
        supplier_reference: booking.supplier_reference.clone(),
        airline_pnr: booking.airline_pnr.clone(),
        confirmed_at: booking.confirmed_at.map(IsoDateTime::from),
        canceled_at: booking.canceled_at.map(IsoDateTime::from),
        cancellation: booking.cancellation.as_ref().map(refund::cancellation),
        failure: booking.failure.as_ref().map(cancellation::failure),
        airline_initiated_changes: booking.changes.iter().map(change::change).collect(),
        created_at: booking.created_at.into(),
        updated_at: booking.updated_at.into(),
    }
}

impl From<FareCondition> for FlightCancellationPolicy {
    fn from(refund: FareCondition) -> Self {
        Self {
            refundable: refund.allowed,
            penalty: refund.penalty.map(Money::from),
        }
    }
}

impl From<Status> for FlightBookingStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Created => Self::Created,
            Status::PrebookInProgress => Self::PrebookInProgress,
            Status::ReadyForComplete => Self::ReadyForComplete,
            Status::CompleteInProgress => Self::CompleteInProgress,
            Status::Confirmed => Self::Confirmed,
            Status::CancelInProgress => Self::CancelInProgress,
            Status::Canceled => Self::Canceled,
            Status::Failed => Self::Failed,
            Status::Expired => Self::Expired,
        }
    }
}

impl From<FlightBookingStatus> for Status {
    fn from(status: FlightBookingStatus) -> Self {
        match status {
            FlightBookingStatus::Created => Self::Created,
            FlightBookingStatus::PrebookInProgress => Self::PrebookInProgress,
            FlightBookingStatus::ReadyForComplete => Self::ReadyForComplete,
            FlightBookingStatus::CompleteInProgress => Self::CompleteInProgress,
            FlightBookingStatus::Confirmed => Self::Confirmed,
            FlightBookingStatus::CancelInProgress => Self::CancelInProgress,
            FlightBookingStatus::Canceled => Self::Canceled,
            FlightBookingStatus::Failed => Self::Failed,
            FlightBookingStatus::Expired => Self::Expired,
        }
    }
}
