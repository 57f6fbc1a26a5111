//! A flight booking: what it holds and the states that it can be in. How it
//! moves is in `transition`, what is to be done next in `step`.

mod part;
#[cfg(test)]
mod tests;
mod ticket;
mod transition;

pub use part::{
    BookedChange, BookedJourney, BookedPassenger, BookedService, Cancellation, ServicePurchase,
    ServicePurchaseState, RefundedBy, RefundBreakdown, ServiceStatus,
};

use crate::booking::{Failure, PaymentCollector, ChangeSource};
use crate::flight::itinerary::FareConditions;
use crate::flight::passenger::{Contact, Travellers};
use crate::flight::supply::{SupplierBooking, PrebookResponse};
use crate::id::{BookingId, PaymentId, PurchaseId};
use crate::leg::RemoteCall;
use crate::money::Money;
use crate::owner::Owner;
use crate::payment::{Payment, PaymentEvent};
use crate::supplier::SupplierId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The statuses of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names of the interface")]
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
    /// Every status, in the order of the interface.
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

    /// The name in the API, e.g. `READY_FOR_COMPLETE`.
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

    /// Reads a name of the API.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Whether it still keeps others from booking the same offer, where a
    /// supplier takes one booking an offer.
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

/// Where a booking is, with what only holds there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum State {
    /// Accepted by the gateway.
    Created,
    /// The supplier is asked to bind the fare.
    PrebookInProgress {
        /// Since when.
        since: Timestamp,
    },
    /// Bound; waits for the caller. No seat is held.
    ReadyForComplete,
    /// Being paid and ticketed.
    CompleteInProgress {
        /// The supplier's part; due while the payment is not held.
        book: RemoteCall,
    },
    /// Ticketed.
    Confirmed {
        /// When to read it anew at the supplier, after a hint that it changed.
        refresh: Option<RemoteCall>,
    },
    /// Being cancelled.
    CancelInProgress {
        /// The supplier's part.
        cancel: RemoteCall,
    },
    /// The ticket is released.
    Canceled,
    /// Came to nothing.
    Failed,
    /// Was not completed in time.
    Expired,
}

/// A flight booking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Booking {
    /// Its id; also its reference at the supplier.
    pub id: BookingId,
    /// Whose it is.
    pub owner: Owner,
    /// Counts changes; every update is conditional on it.
    pub version: i64,
    /// Who answered the offer; stays so for good.
    pub supplier: SupplierId,
    /// The caller's reference.
    pub reference_id: Option<String>,
    /// Opaque, the adapter's.
    pub supplier_offer: String,
    /// What no other unfinished booking may hold; none where the supplier
    /// takes any number of bookings an offer.
    pub exclusive_key: Option<String>,
    /// Opaque, the adapter's; once bound.
    pub supplier_prebook: Option<String>,
    /// Once booked.
    pub supplier_reference: Option<String>,
    /// The airline's record locator, where it provides one.
    pub airline_pnr: Option<String>,
    /// Whom the airline writes to.
    pub contact: Contact,
    /// Who was priced.
    pub travellers: Travellers,
    /// Who flies, in the order in which fares are priced: by type.
    pub passengers: Vec<BookedPassenger>,
    /// Documents and whole membership numbers, sealed; none: there are none.
    pub sealed_passenger_data: Option<String>,
    /// What was offered.
    pub offered_total: Money,
    /// What the ticket costs; once bound.
    pub ticket_total: Option<Money>,
    /// Without taxes, where told.
    pub fare: Option<Money>,
    /// Taxes, where told.
    pub fare_tax: Option<Money>,
    /// What the fare allows.
    pub fare_conditions: FareConditions,
    /// As they are flown.
    pub journeys: Vec<BookedJourney>,
    /// Extras, bought or being bought.
    pub services: Vec<BookedService>,
    /// Purchases of extras, oldest first.
    pub purchases: Vec<ServicePurchase>,
    /// By the airline, oldest first.
    pub changes: Vec<BookedChange>,
    /// How many parts have got an id.
    pub id_sequence: u32,
    /// Whether the payer pays in a browser.
    pub use_payment_sdk: bool,
    /// Who takes the money.
    pub payment_collector: PaymentCollector,
    /// Until when it can be completed.
    pub offer_expires_at: Timestamp,
    /// Where it is.
    pub state: State,
    /// Every payment that was begun, oldest first.
    pub payments: Vec<Payment>,
    /// How often a cancellation was begun.
    pub cancellation_count: u32,
    /// What the cancellation kept and gave back.
    pub cancellation: Option<Cancellation>,
    /// Why it failed, or why a cancellation was refused.
    pub failure: Option<Failure>,
    /// When the gateway accepted it.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When the ticket was issued.
    pub confirmed_at: Option<Timestamp>,
    /// When the ticket was released.
    pub canceled_at: Option<Timestamp>,
}

/// What happens to a booking.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The supplier is about to be asked.
    PrebookStarted,
    /// The supplier bound the fare.
    PrebookConfirmed {
        /// The bound fare.
        bound: Box<PrebookResponse>,
        /// Until when it can be completed.
        expires_at: Timestamp,
        /// A payment that waits for the payer's browser.
        payment: Option<Payment>,
    },
    /// The supplier refused, or its answer cannot be used.
    PrebookRefused(Failure),
    /// No outcome came within [`crate::booking::PREBOOK_UNKNOWN_MS`].
    PrebookTimedOut,
    /// It was not completed in time.
    OfferExpired,
    /// The caller completes. With a new payment, with the browser's, or with none.
    BookStarted {
        /// A hold to ask for.
        payment: Option<Payment>,
    },
    /// The mark before the booking leaves.
    BookSent {
        /// When to read back without an answer.
        next_at: Timestamp,
    },
    /// The booking could not be sent: nothing was bought.
    BookNotSent,
    /// The supplier accepted and has not decided.
    BookAccepted {
        /// The supplier's id, once known.
        supplier_reference: Option<String>,
        /// When to read back next.
        next_at: Timestamp,
    },
    /// Read back without result.
    BookUnresolved {
        /// When to read back next.
        next_at: Timestamp,
    },
    /// Not there when read back; to be sent again as the same call.
    BookResendScheduled {
        /// When.
        at: Timestamp,
    },
    /// The ticket is issued.
    BookConfirmed {
        /// As the supplier has it.
        state: Box<SupplierBooking>,
        /// The id of what the supplier collected, where it collects payment.
        payment: PaymentId,
    },
    /// The supplier says no, or reading back proved that nothing was booked.
    BookRefused(Failure),
    /// The supplier's checkout is not completed.
    CheckoutNotCompleted,
    /// The caller cancels.
    CancelStarted,
    /// The mark before the cancellation leaves.
    CancelSent {
        /// When to read back without an answer.
        next_at: Timestamp,
    },
    /// The cancellation could not be sent; try again.
    CancelNotSent {
        /// When.
        retry_at: Timestamp,
    },
    /// The supplier accepted and has not decided.
    CancelAccepted {
        /// When to read back next.
        next_at: Timestamp,
    },
    /// Read back without result.
    CancelUnresolved {
        /// When to read back next.
        next_at: Timestamp,
    },
    /// The ticket is released.
    CancelSucceeded(Box<SupplierBooking>),
    /// The supplier says no.
    CancelRefused(Failure),
    /// Reading back shows that the cancellation never took place.
    CancelNotExecuted(Failure),
    /// The caller asks again for a cancellation whose run waits for its next try.
    CancelExpedited,
    /// An operator says how much a cancellation gives back that nobody could tell.
    RefundDecided(Money),
    /// The caller buys extras.
    PurchaseStarted {
        /// The purchase; its services are new.
        purchase: Box<ServicePurchase>,
        /// What is bought.
        services: Vec<BookedService>,
        /// A hold to ask for.
        payment: Box<Payment>,
    },
    /// The mark before the purchase leaves.
    PurchaseSent {
        /// When to read back without an answer.
        next_at: Timestamp,
    },
    /// The purchase could not be sent: nothing was bought.
    PurchaseNotSent,
    /// Read back without result.
    PurchaseUnresolved {
        /// When to read back next.
        next_at: Timestamp,
    },
    /// Not there when read back; to be sent again as the same call.
    PurchaseResendScheduled {
        /// When.
        at: Timestamp,
    },
    /// The extras are on the ticket.
    PurchaseSucceeded(Box<SupplierBooking>),
    /// The supplier says no, or reading back proved that nothing was bought.
    PurchaseRefused(Failure),
    /// The supplier or the processor says that something changed: read it anew there.
    ChangeReported(ChangeSource),
    /// A read after a hint gave no answer.
    RefreshFailed {
        /// When to try again.
        next_at: Timestamp,
    },
    /// As the supplier has a ticket after a hint.
    Refreshed {
        /// What the supplier has.
        state: Box<SupplierBooking>,
        /// The hint that was the reason to read.
        change_reported_at: Timestamp,
    },
    /// Something happens to a payment.
    Payment {
        /// Which.
        id: PaymentId,
        /// What.
        event: PaymentEvent,
    },
}

impl Booking {
    /// The status of the interface.
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

    /// What the extras on the ticket cost.
    #[must_use]
    pub fn services_amount(&self) -> Money {
        let bought = self
            .services
            .iter()
            .filter(|service| service.status.is_bought());
        let minor = bought.map(|service| service.total().minor).sum();
        Money::new(minor, self.offered_total.currency)
    }

    /// Ticket and extras; none before the fare is bound.
    #[must_use]
    pub fn total(&self) -> Option<Money> {
        self.ticket_total?.plus(self.services_amount()).ok()
    }

    /// The payment that the present or next completion uses.
    #[must_use]
    pub fn current_payment(&self) -> Option<&Payment> {
        let ticket = |payment: &&Payment| self.purchase_for_payment(&payment.id).is_none();
        let mut payments = self.payments.iter().rev().filter(ticket);
        payments.find(|payment| payment.has_funds())
    }

    /// The purchase whose outcome is open, if there is one.
    #[must_use]
    pub fn open_purchase(&self) -> Option<&ServicePurchase> {
        let mut purchases = self.purchases.iter();
        purchases.find(|purchase| purchase.call().is_some())
    }

    /// A purchase by its id.
    #[must_use]
    pub fn purchase(&self, id: &PurchaseId) -> Option<&ServicePurchase> {
        self.purchases.iter().find(|purchase| purchase.id == *id)
    }

    /// Whether there are bags on the ticket.
    #[must_use]
    pub fn has_bags(&self) -> bool {
        self.services
            .iter()
            .any(|service| service.baggage.is_some() && service.status == ServiceStatus::Confirmed)
    }

    /// Whether the ticket is released and nobody has said how much is given back.
    #[must_use]
    pub fn is_refund_undecided(&self) -> bool {
        let mut cancellation = self.cancellation.iter();
        cancellation.any(|cancellation| cancellation.refund.is_none())
    }

    /// How a refund is spread over what was paid: ticket first, then extras.
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

    /// Our reference at the supplier for the present cancellation.
    #[must_use]
    pub fn cancellation_client_reference(&self) -> String {
        format!("{}-cancel-{}", self.id, self.cancellation_count)
    }

    /// Our reference at the supplier for a purchase.
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
