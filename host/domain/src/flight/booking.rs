//! A flight booking: its data, and the states and events that only flight bookings have.

mod cancellation;
mod entities;
mod kind;
mod purchase;
mod supplier_sync;
#[cfg(test)]
mod tests;

pub use entities::{
    BookedChange, BookedJourney, BookedPassenger, BookedService, FlightCancellation,
    RefundBreakdown, RefundedBy, ServicePurchase, ServicePurchaseState, ServiceStatus,
};
pub use kind::FlightStep;

use crate::booking::{Booking, BookingEvent, Failure, Named};
use crate::flight::details::{TicketDetails, is_default};
use crate::flight::itinerary::FareConditions;
use crate::flight::passenger::{PassengerContact, Travellers};
use crate::flight::supplier_api::FlightSupplierBooking;
use crate::id::PurchaseId;
use crate::money::Money;
use crate::payment::Payment;
use crate::remote_call::{AbsenceEvidence, RemoteCall};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

pub type FlightBooking = Booking<FlightBookingDetails>;

/// The state of a flight booking that the supplier confirmed. `refresh` follows a reported change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "booked")]
pub enum FlightBookedState {
    /// The ticket is issued.
    Confirmed { refresh: Option<RemoteCall> },
    /// A cancellation is in progress.
    CancelInProgress {
        /// Time at which the client requested it. The fare's terms are those of this time.
        requested_at: Timestamp,
        cancel: RemoteCall,
    },
    /// The ticket is cancelled.
    Canceled,
}

/// The fields that only flight bookings have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlightBookingDetails {
    /// A key that only one unfinished booking may have. `None` if the supplier accepts any number
    /// of bookings per offer.
    pub exclusive_key: Option<String>,
    /// The airline's record locator, if it provides one.
    pub airline_pnr: Option<String>,
    pub contact: PassengerContact,
    /// The travellers that the fare was priced for.
    pub travellers: Travellers,
    /// The passengers, sorted by type, which is the order in which fares are priced.
    pub passengers: Vec<BookedPassenger>,
    /// Documents and full membership numbers, encrypted. `None` if there are none.
    pub sealed_passenger_data: Option<String>,
    pub offered_total: Money,
    /// The price of the ticket, once prebooked.
    pub ticket_total: Option<Money>,
    /// The fare without taxes, if reported.
    pub fare: Option<Money>,
    /// The taxes, if reported.
    pub fare_tax: Option<Money>,
    pub fare_conditions: FareConditions,
    #[serde(default, skip_serializing_if = "is_default")]
    pub ticket: TicketDetails,
    /// The journeys as currently scheduled.
    pub journeys: Vec<BookedJourney>,
    /// Services such as bags, bought or being bought.
    pub services: Vec<BookedService>,
    /// Purchases of services, oldest first.
    pub purchases: Vec<ServicePurchase>,
    /// Changes by the airline, oldest first.
    pub changes: Vec<BookedChange>,
    /// Number of ids allocated to parts of the booking so far.
    pub id_sequence: u32,
    pub cancellation_count: u32,
    pub cancellation: Option<FlightCancellation>,
}

/// An event that only flight bookings have. `next_at` is the time of the next reconciliation.
#[derive(Debug, Clone, PartialEq)]
pub enum FlightEvent {
    /// The client cancels the booking.
    CancelStarted,
    /// The ticket is cancelled.
    CancelSucceeded(Box<FlightSupplierBooking>),
    /// The client repeats a cancellation request while a cancellation or refund waits for its next
    /// attempt.
    CancelExpedited,
    /// An operator sets the refund of a cancellation whose refund is undecided.
    RefundDecided(Money),
    /// The client buys services.
    PurchaseStarted {
        /// The purchase. Its services are new.
        purchase: Box<ServicePurchase>,
        services: Vec<BookedService>,
        payment: Box<Payment>,
    },
    /// The purchase is about to be sent to the supplier.
    PurchaseSent { next_at: Timestamp },
    /// The purchase could not be sent, so nothing was bought.
    PurchaseNotSent,
    /// A reconciliation of the purchase gave no result.
    PurchaseUnresolved {
        next_at: Timestamp,
        absence: Option<AbsenceEvidence>,
    },
    /// A reconciliation did not find the purchase, which is to be resent as the same call.
    PurchaseResendScheduled { at: Timestamp },
    /// The services are on the ticket.
    PurchaseSucceeded(Box<FlightSupplierBooking>),
    /// The supplier refused the purchase, or a reconciliation proved that nothing was bought.
    PurchaseRefused(Failure),
    /// The result of a refresh after a reported change.
    Refreshed {
        supplier_booking: Box<FlightSupplierBooking>,
        /// Time of the reported change that caused the refresh.
        change_reported_at: Timestamp,
    },
}

impl Named for FlightEvent {
    fn name(&self) -> &'static str {
        match self {
            Self::CancelStarted => "cancel_started",
            Self::CancelSucceeded(_) => "cancel_succeeded",
            Self::CancelExpedited => "cancel_expedited",
            Self::RefundDecided(_) => "refund_decided",
            Self::PurchaseStarted { .. } => "purchase_started",
            Self::PurchaseSent { .. } => "purchase_sent",
            Self::PurchaseNotSent => "purchase_not_sent",
            Self::PurchaseUnresolved { .. } => "purchase_unresolved",
            Self::PurchaseResendScheduled { .. } => "purchase_resend_scheduled",
            Self::PurchaseSucceeded(_) => "purchase_succeeded",
            Self::PurchaseRefused(_) => "purchase_refused",
            Self::Refreshed { .. } => "refreshed",
        }
    }
}

impl From<FlightEvent> for BookingEvent<FlightBookingDetails> {
    fn from(event: FlightEvent) -> Self {
        Self::Kind(event)
    }
}

impl FlightBooking {
    /// Returns the price of the services that were bought.
    pub fn services_amount(&self) -> Money {
        let services = self.details.services.iter();
        let bought = services.filter(|service| service.status.is_bought());
        let minor = bought.map(|service| service.total().minor).sum();
        Money::new(minor, self.details.offered_total.currency)
    }

    /// Returns the price of ticket and services. Returns `None` before the fare is prebooked.
    pub fn total(&self) -> Option<Money> {
        self.details.ticket_total?.plus(self.services_amount()).ok()
    }

    /// Returns the purchase whose outcome is not known yet, if there is one.
    pub fn open_purchase(&self) -> Option<&ServicePurchase> {
        let mut purchases = self.details.purchases.iter();
        purchases.find(|purchase| purchase.call().is_some())
    }

    pub fn purchase(&self, id: &PurchaseId) -> Option<&ServicePurchase> {
        let mut purchases = self.details.purchases.iter();
        purchases.find(|purchase| purchase.id == *id)
    }

    pub fn has_bags(&self) -> bool {
        let confirmed = |service: &BookedService| service.status == ServiceStatus::Confirmed;
        let mut services = self.details.services.iter();
        services.any(|service| service.baggage.is_some() && confirmed(service))
    }

    pub fn cancellation_client_reference(&self) -> String {
        format!("{}-cancel-{}", self.id, self.details.cancellation_count)
    }

    pub fn purchase_client_reference(&self, id: &PurchaseId) -> String {
        let purchases = &self.details.purchases;
        let at = purchases.iter().position(|known| known.id == *id);
        let ordinal = at.unwrap_or(purchases.len()).saturating_add(1);
        format!("{}-bags-{ordinal}", self.id)
    }
}
