//! A flight booking: its data and its states. The transitions are in `transition`, the next steps
//! in `step`.

mod entities;
mod supplier_sync;
#[cfg(test)]
mod tests;
mod transition;

pub use entities::{
    BookedChange, BookedJourney, BookedPassenger, BookedService, Cancellation, RefundBreakdown,
    RefundedBy, ServicePurchase, ServicePurchaseState, ServiceStatus,
};

use crate::booking::{ChangeSource, Failure, PaymentCollector};
use crate::flight::itinerary::FareConditions;
use crate::flight::passenger::{PassengerContact, Travellers};
use crate::flight::supplier_api::{PrebookResponse, SupplierBooking};
use crate::id::{BookingId, PaymentId, PurchaseId};
use crate::money::Money;
use crate::owner::Owner;
use crate::payment::{Payment, PaymentEvent};
use crate::remote_call::RemoteCall;
use crate::supplier::SupplierId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The booking statuses of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the variants are the statuses of the API")]
pub enum Status {
    Created,
    PrebookInProgress,
    ReadyForComplete,
    CompleteInProgress,
    Confirmed,
    CancelInProgress,
    Canceled,
    Failed,
    Expired,
}

impl Status {
    /// All statuses, in the order of the API.
    pub const ALL: [Self; 9] = [
        Self::Created,
        Self::PrebookInProgress,
        Self::ReadyForComplete,
        Self::CompleteInProgress,
        Self::Confirmed,
        Self::CancelInProgress,
        Self::Canceled,
        Self::Failed,
        Self::Expired,
    ];

    /// Returns the name in the API, e.g. `READY_FOR_COMPLETE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "CREATED",
            Self::PrebookInProgress => "PREBOOK_IN_PROGRESS",
            Self::ReadyForComplete => "READY_FOR_COMPLETE",
            Self::CompleteInProgress => "COMPLETE_IN_PROGRESS",
            Self::Confirmed => "CONFIRMED",
            Self::CancelInProgress => "CANCEL_IN_PROGRESS",
            Self::Canceled => "CANCELED",
            Self::Failed => "FAILED",
            Self::Expired => "EXPIRED",
        }
    }

    /// Returns the status with this API name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Returns whether the booking blocks other bookings of the same offer, at suppliers that
    /// accept only one booking per offer.
    #[must_use]
    pub const fn has_offer_lock(self) -> bool {
        match self {
            Self::Created
            | Self::PrebookInProgress
            | Self::ReadyForComplete
            | Self::CompleteInProgress => true,
            Self::Confirmed
            | Self::CancelInProgress
            | Self::Canceled
            | Self::Failed
            | Self::Expired => false,
        }
    }
}

/// The state of a booking, with the data that only this state has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum State {
    /// The gateway accepted the booking.
    Created,
    /// A prebook of the fare was sent to the supplier.
    PrebookInProgress {
        /// Time at which the prebook started.
        started_at: Timestamp,
    },
    /// The fare is prebooked, but no seat is reserved. The client can complete the booking.
    ReadyForComplete,
    /// The booking is being paid and ticketed.
    CompleteInProgress {
        /// The call to the supplier. It stays pending until the payment is authorized.
        book: RemoteCall,
    },
    /// The ticket is issued.
    Confirmed {
        /// The refresh that a reported change requires.
        refresh: Option<RemoteCall>,
    },
    /// A cancellation is in progress.
    CancelInProgress {
        /// The call to the supplier.
        cancel: RemoteCall,
    },
    /// The ticket is cancelled.
    Canceled,
    /// The booking failed.
    Failed,
    /// The booking was not completed in time.
    Expired,
}

/// A flight booking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Booking {
    /// The booking's id, which is also its reference at the supplier.
    pub id: BookingId,
    /// The owner of the booking.
    pub owner: Owner,
    /// The version, incremented by each change. Every update is conditional on it.
    pub version: i64,
    /// The supplier of the offer. It never changes.
    pub supplier: SupplierId,
    /// The client's reference.
    pub reference_id: Option<String>,
    /// The adapter's opaque offer data.
    pub supplier_offer: String,
    /// A key that only one unfinished booking may have. `None` if the supplier accepts any number
    /// of bookings per offer.
    pub exclusive_key: Option<String>,
    /// The adapter's opaque prebook data, once prebooked.
    pub supplier_prebook: Option<String>,
    /// The supplier's id of the booking, once booked.
    pub supplier_reference: Option<String>,
    /// The airline's record locator, if it provides one.
    pub airline_pnr: Option<String>,
    /// The contact for the airline.
    pub contact: PassengerContact,
    /// The travellers that the fare was priced for.
    pub travellers: Travellers,
    /// The passengers, sorted by type, which is the order in which fares are priced.
    pub passengers: Vec<BookedPassenger>,
    /// Documents and full membership numbers, encrypted. `None` if there are none.
    pub sealed_passenger_data: Option<String>,
    /// The offered price.
    pub offered_total: Money,
    /// The price of the ticket, once prebooked.
    pub ticket_total: Option<Money>,
    /// The fare without taxes, if reported.
    pub fare: Option<Money>,
    /// The taxes, if reported.
    pub fare_tax: Option<Money>,
    /// The conditions of the fare.
    pub fare_conditions: FareConditions,
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
    /// Whether the payer pays in a browser.
    pub use_payment_sdk: bool,
    /// The party that collects the payment.
    pub payment_collector: PaymentCollector,
    /// Time until which the booking can be completed.
    pub offer_expires_at: Timestamp,
    /// The state of the booking.
    pub state: State,
    /// All payments that were started, oldest first.
    pub payments: Vec<Payment>,
    /// Number of cancellations that were started.
    pub cancellation_count: u32,
    /// The result of the cancellation: fee and refund.
    pub cancellation: Option<Cancellation>,
    /// The reason why the booking failed or a cancellation was refused.
    pub failure: Option<Failure>,
    /// Time at which the gateway accepted the booking.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which the ticket was issued.
    pub confirmed_at: Option<Timestamp>,
    /// Time at which the ticket was cancelled.
    pub canceled_at: Option<Timestamp>,
}

/// An event that changes a flight booking.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The prebook is about to be sent to the supplier.
    PrebookStarted,
    /// The supplier prebooked the fare.
    PrebookConfirmed {
        /// The prebooked fare.
        bound: Box<PrebookResponse>,
        /// Time until which the booking can be completed.
        expires_at: Timestamp,
        /// The payment that waits for the payer's browser.
        payment: Option<Payment>,
    },
    /// The supplier refused the prebook, or its response cannot be used.
    PrebookRefused(Failure),
    /// No outcome of the prebook became known within [`crate::booking::PREBOOK_TIMEOUT_MS`].
    PrebookTimedOut,
    /// The booking was not completed in time.
    OfferExpired,
    /// The client completes the booking, with a new payment, with the browser's payment, or with
    /// none.
    BookStarted {
        /// A payment to authorize.
        payment: Option<Payment>,
    },
    /// The booking is about to be sent to the supplier.
    BookSent {
        /// Time of the reconciliation if no response arrives.
        next_at: Timestamp,
    },
    /// The booking could not be sent, so nothing was booked.
    BookNotSent,
    /// The supplier accepted the booking and has not decided yet.
    BookAccepted {
        /// The supplier's id, if known.
        supplier_reference: Option<String>,
        /// Time of the next reconciliation.
        next_at: Timestamp,
    },
    /// A reconciliation of the booking gave no result.
    BookUnresolved {
        /// Time of the next reconciliation.
        next_at: Timestamp,
    },
    /// A reconciliation did not find the booking, which is to be resent as the same call.
    BookResendScheduled {
        /// Time of the resend.
        at: Timestamp,
    },
    /// The ticket is issued.
    BookConfirmed {
        /// The booking as the supplier reports it.
        state: Box<SupplierBooking>,
        /// The id of the payment to record if the supplier collects the payment.
        payment: PaymentId,
    },
    /// The supplier refused the booking, or a reconciliation proved that nothing was booked.
    BookRefused(Failure),
    /// The payment at the supplier's checkout is not completed.
    CheckoutNotCompleted,
    /// The client cancels the booking.
    CancelStarted,
    /// The cancellation is about to be sent to the supplier.
    CancelSent {
        /// Time of the reconciliation if no response arrives.
        next_at: Timestamp,
    },
    /// The cancellation could not be sent and is to be retried.
    CancelNotSent {
        /// Time of the retry.
        retry_at: Timestamp,
    },
    /// The supplier accepted the cancellation and has not decided yet.
    CancelAccepted {
        /// Time of the next reconciliation.
        next_at: Timestamp,
    },
    /// A reconciliation of the cancellation gave no result.
    CancelUnresolved {
        /// Time of the next reconciliation.
        next_at: Timestamp,
    },
    /// The ticket is cancelled.
    CancelSucceeded(Box<SupplierBooking>),
    /// The supplier refused the cancellation.
    CancelRefused(Failure),
    /// A reconciliation showed that the cancellation was never executed.
    CancelNotExecuted(Failure),
    /// The client repeats a cancellation request while a cancellation or refund waits for its next
    /// attempt.
    CancelExpedited,
    /// An operator sets the refund of a cancellation whose refund is undecided.
    RefundDecided(Money),
    /// The client buys services.
    PurchaseStarted {
        /// The purchase. Its services are new.
        purchase: Box<ServicePurchase>,
        /// The services to buy.
        services: Vec<BookedService>,
        /// A payment to authorize.
        payment: Box<Payment>,
    },
    /// The purchase is about to be sent to the supplier.
    PurchaseSent {
        /// Time of the reconciliation if no response arrives.
        next_at: Timestamp,
    },
    /// The purchase could not be sent, so nothing was bought.
    PurchaseNotSent,
    /// A reconciliation of the purchase gave no result.
    PurchaseUnresolved {
        /// Time of the next reconciliation.
        next_at: Timestamp,
    },
    /// A reconciliation did not find the purchase, which is to be resent as the same call.
    PurchaseResendScheduled {
        /// Time of the resend.
        at: Timestamp,
    },
    /// The services are on the ticket.
    PurchaseSucceeded(Box<SupplierBooking>),
    /// The supplier refused the purchase, or a reconciliation proved that nothing was bought.
    PurchaseRefused(Failure),
    /// The supplier or the processor reported a change, which must be read there.
    ChangeReported(ChangeSource),
    /// A refresh after a reported change gave no response.
    RefreshFailed {
        /// Time of the retry.
        next_at: Timestamp,
    },
    /// The result of a refresh after a reported change.
    Refreshed {
        /// The booking as the supplier reports it.
        state: Box<SupplierBooking>,
        /// Time of the reported change that caused the refresh.
        change_reported_at: Timestamp,
    },
    /// An event of one of the payments.
    Payment {
        /// The payment.
        id: PaymentId,
        /// The event of the payment.
        event: PaymentEvent,
    },
}

impl Booking {
    /// Returns the booking status of the API.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self.state {
            State::Created => Status::Created,
            State::PrebookInProgress { .. } => Status::PrebookInProgress,
            State::ReadyForComplete => Status::ReadyForComplete,
            State::CompleteInProgress { .. } => Status::CompleteInProgress,
            State::Confirmed { .. } => Status::Confirmed,
            State::CancelInProgress { .. } => Status::CancelInProgress,
            State::Canceled => Status::Canceled,
            State::Failed => Status::Failed,
            State::Expired => Status::Expired,
        }
    }

    /// Returns the price of the services that were bought.
    #[must_use]
    pub fn services_amount(&self) -> Money {
        let bought = self
            .services
            .iter()
            .filter(|service| service.status.is_bought());
        let minor = bought.map(|service| service.total().minor).sum();
        Money::new(minor, self.offered_total.currency)
    }

    /// Returns the price of ticket and services. Returns `None` before the fare is prebooked.
    #[must_use]
    pub fn total(&self) -> Option<Money> {
        self.ticket_total?.plus(self.services_amount()).ok()
    }

    /// Returns the payment that the current or next completion uses.
    #[must_use]
    pub fn current_payment(&self) -> Option<&Payment> {
        let ticket = |payment: &&Payment| self.purchase_for_payment(&payment.id).is_none();
        let mut payments = self.payments.iter().rev().filter(ticket);
        payments.find(|payment| payment.has_funds())
    }

    /// Returns the purchase whose outcome is not known yet, if there is one.
    #[must_use]
    pub fn open_purchase(&self) -> Option<&ServicePurchase> {
        let mut purchases = self.purchases.iter();
        purchases.find(|purchase| purchase.call().is_some())
    }

    /// Returns a purchase by its id.
    #[must_use]
    pub fn purchase(&self, id: &PurchaseId) -> Option<&ServicePurchase> {
        self.purchases.iter().find(|purchase| purchase.id == *id)
    }

    /// Returns whether there are bags on the ticket.
    #[must_use]
    pub fn has_bags(&self) -> bool {
        self.services
            .iter()
            .any(|service| service.baggage.is_some() && service.status == ServiceStatus::Confirmed)
    }

    /// Returns whether the ticket is cancelled and its refund is not decided yet.
    #[must_use]
    pub fn is_refund_undecided(&self) -> bool {
        let mut cancellation = self.cancellation.iter();
        cancellation.any(|cancellation| cancellation.refund.is_none())
    }

    /// Allocates a refund to the payments, oldest first: the ticket, then the services.
    #[must_use]
    pub fn allocate_refund(&self, refund: Money) -> Vec<(PaymentId, Money)> {
        let mut left = refund;
        let mut shares = Vec::new();
        for payment in self.payments.iter().filter(|p| p.has_funds()) {
            let share = left.at_most(payment.refundable());
            if share.currency == payment.amount.currency && !share.is_zero() {
                left = left.less(share);
                shares.push((payment.id.clone(), share));
            }
        }
        shares
    }

    /// Returns the gateway's reference at the supplier for the current cancellation.
    #[must_use]
    pub fn cancellation_client_reference(&self) -> String {
        format!("{}-cancel-{}", self.id, self.cancellation_count)
    }

    /// Returns the gateway's reference at the supplier for a purchase.
    #[must_use]
    pub fn purchase_client_reference(&self, id: &PurchaseId) -> String {
        let at = self.purchases.iter().position(|known| known.id == *id);
        let ordinal = at.unwrap_or(self.purchases.len()).saturating_add(1);
        format!("{}-bags-{ordinal}", self.id)
    }

    fn purchase_for_payment(&self, payment: &PaymentId) -> Option<&ServicePurchase> {
        let mut purchases = self.purchases.iter();
        purchases.find(|purchase| purchase.payment == *payment)
    }
}
