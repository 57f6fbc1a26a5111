//! A booking of any kind: its data, states and events. Up to the supplier's confirmation, hotels
//! and flights have the same life cycle; what follows is a rule of the kind.

use crate::booking::status::BookingStatus;
use crate::booking::{
    AbsenceRecheck, ChangeSource, Failure, Named, Notifications, Orphan, PaymentCollector,
};
use crate::event::{EventType, Product};
use crate::id::{BookingId, PaymentId};
use crate::money::{Currency, Money};
use crate::owner::Owner;
use crate::payment::{Payment, PaymentEvent};
use crate::remote_call::{AbsenceEvidence, RemoteCall};
use crate::supplier::{SupplierBookingStatus, SupplierId};
use crate::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// The rules and data that only one kind of booking has. The type that implements it holds the
/// fields of that kind.
pub trait BookingKind:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + Sized + 'static
{
    const PRODUCT: Product;
    const EVENT_TYPES: LifecycleEventTypes;

    /// The state of a booking that the supplier confirmed.
    type BookedState: Clone + Debug + PartialEq + Eq + Serialize + DeserializeOwned + Send + Sync;
    type PrebookResponse: Clone + Debug + PartialEq + Send + Sync;
    type SupplierBooking: ReportedBooking + Clone + Debug + PartialEq + Send + Sync;
    /// An event that only this kind has.
    type Event: Named + Clone + Debug + PartialEq + Send + Sync;
    /// A step that only this kind has.
    type Step: Named + Clone + Debug + PartialEq + Eq + Send + Sync;

    /// Returns the prebooked price without services, or the offered one before the prebook.
    fn booked_price(&self) -> Money;
    /// Returns the names of the booking's people and how they are reached. Travel documents are not
    /// among them.
    fn personal_texts(&self) -> Vec<&str>;
    fn apply_prebook(booking: &mut Booking<Self>, prebook: Self::PrebookResponse);
    /// Stores the booking that the supplier confirmed and starts to settle the payments. `payment`
    /// becomes the id of a payment that the supplier collected.
    fn confirm(
        booking: &mut Booking<Self>,
        supplier_booking: &Self::SupplierBooking,
        payment: PaymentId,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Self::BookedState;
    /// Applies an event to a booking that is confirmed. Returns `None` if it does not fit.
    fn apply_booked(
        booking: &mut Booking<Self>,
        state: Self::BookedState,
        event: BookingEvent<Self>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<Self::BookedState>;
    /// Schedules the reads that a reported change of a confirmed booking requires. Returns whether
    /// there is anything to read.
    fn on_change_reported(
        booking: &mut Booking<Self>,
        state: &mut Self::BookedState,
        source: ChangeSource,
        now: Timestamp,
    ) -> bool;
    /// Declines the service purchase that a failed payment was for.
    fn on_payment_failed(_booking: &mut Booking<Self>, _payment: &PaymentId, _now: Timestamp) {}
    /// Returns whether a payment pays for services that were bought after the booking.
    fn pays_for_services(&self, _payment: &PaymentId) -> bool {
        false
    }
    fn booked_status(state: &Self::BookedState) -> BookingStatus;
    /// Returns the step of a confirmed booking that only this kind has, and when it is due.
    fn kind_step(_booking: &Booking<Self>) -> Option<(Timestamp, Self::Step)> {
        None
    }
    /// Returns the call of a confirmed booking that is in progress, or the refresh that is due.
    fn booked_call(state: &Self::BookedState) -> Option<BookedCall<'_>>;
}

/// The types of the events for subscribers up to the confirmation, which both kinds have.
#[derive(Debug, Clone, Copy)]
pub struct LifecycleEventTypes {
    pub created: EventType,
    pub failed: EventType,
    pub expired: EventType,
}

/// A booking as its supplier reports it.
pub trait ReportedBooking {
    fn status(&self) -> &SupplierBookingStatus;
    fn supplier_reference(&self) -> &str;
    fn total(&self) -> Money;
    /// Returns fee and refund of its cancellation, as far as the supplier states them.
    fn stated_cancellation_amounts(&self) -> Option<(Money, Option<Money>)>;
    /// Returns whether the supplier states amounts of its cancellation that cannot be read.
    fn has_unreadable_amounts(&self) -> bool;

    /// Returns whether the supplier states charges that cannot be used. An adapter then states zeros.
    fn has_placeholder_amounts(&self) -> bool {
        let amounts = self.stated_cancellation_amounts();
        amounts.is_some_and(|(fee, refund)| {
            fee.minor == 0 && refund.is_some_and(|refund| refund.minor == 0)
        })
    }

    /// Returns whether its cancellation cost nothing, as far as the supplier states it.
    fn is_canceled_for_free(&self) -> bool {
        let fee = self.stated_cancellation_amounts().map(|(fee, _)| fee);
        let is_charged = fee.is_some_and(|fee| fee.minor != 0);
        !is_charged && !self.has_placeholder_amounts() && !self.has_unreadable_amounts()
    }
}

/// The call of a confirmed booking that is in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BookedCall<'a> {
    /// A refresh after a reported change.
    Refresh(&'a RemoteCall),
    Cancel(&'a RemoteCall),
}

impl<'a> BookedCall<'a> {
    pub const fn call(self) -> &'a RemoteCall {
        match self {
            Self::Refresh(call) | Self::Cancel(call) => call,
        }
    }
}

/// The phase of a booking with regard to its completion.
#[derive(Debug, Clone, Copy)]
pub enum BookingPhase<'a> {
    /// The offer is not bound yet.
    Prebooking,
    /// The offer is bound, and the caller has to complete the booking.
    ReadyToComplete,
    /// The booking is being paid and booked.
    Completing(&'a RemoteCall),
    /// The booking is confirmed.
    Confirmed,
    /// The booking was confirmed, and is cancelled or being cancelled since.
    Canceling,
    /// The booking failed, before or after the offer was prebooked.
    Failed { was_prebooked: bool },
    /// The booking expired before it was completed.
    Expired,
}

/// The state of a booking, with the data that only this state has. `B` is the state after the
/// supplier's confirmation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum BookingState<B> {
    /// The gateway accepted the booking.
    Created,
    /// A prebook of the offer was sent to the supplier.
    PrebookInProgress { started_at: Timestamp },
    /// The offer is prebooked. The client can complete the booking.
    ReadyForComplete,
    /// The booking is being paid and booked.
    CompleteInProgress {
        /// The call to the supplier. It stays pending until the payment is authorized.
        book: RemoteCall,
    },
    /// The supplier confirmed the booking, which may have been cancelled since.
    Booked(B),
    /// The booking failed.
    Failed {
        /// The later lookups, if the booking failed because its supplier did not have it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        absence: Option<AbsenceRecheck>,
    },
    /// The booking was not completed in time.
    Expired,
}

/// A booking. `K` holds the fields and rules of its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Booking<K: BookingKind> {
    /// The booking's id, which is also its reference at the supplier.
    pub id: BookingId,
    pub owner: Owner,
    /// The version, incremented by each change. Every update is conditional on it.
    pub version: i64,
    /// The supplier of the offer. It never changes.
    pub supplier: SupplierId,
    pub reference_id: Option<String>,
    /// The adapter's opaque offer data.
    pub supplier_offer: String,
    /// The adapter's opaque prebook data, once prebooked.
    pub supplier_prebook: Option<String>,
    /// The supplier's id of the booking, once booked.
    pub supplier_reference: Option<String>,
    /// Whether the payer pays in a browser.
    pub use_payment_sdk: bool,
    pub payment_collector: PaymentCollector,
    /// Time until which the booking can be completed.
    pub offer_expires_at: Timestamp,
    pub state: BookingState<K::BookedState>,
    /// All payments that were started, oldest first.
    pub payments: Vec<Payment>,
    /// The reason why the booking failed or a cancellation was refused.
    pub failure: Option<Failure>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub confirmed_at: Option<Timestamp>,
    /// Time at which the whole booking was cancelled.
    pub canceled_at: Option<Timestamp>,
    pub details: K,
}

/// An event that changes a booking. `next_at` is the time of the next reconciliation, and `absence`
/// the evidence that the call had no effect, if the response is one.
#[derive(Debug, Clone, PartialEq)]
pub enum BookingEvent<K: BookingKind> {
    /// The prebook is about to be sent to the supplier.
    PrebookStarted,
    /// The supplier prebooked the offer.
    PrebookConfirmed {
        prebook: Box<K::PrebookResponse>,
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
    BookStarted { payment: Option<Payment> },
    /// The booking is about to be sent to the supplier.
    BookSent { next_at: Timestamp },
    /// The booking could not be sent, so nothing was booked.
    BookNotSent,
    /// The supplier accepted the booking and has not decided yet.
    BookAccepted {
        supplier_reference: Option<String>,
        next_at: Timestamp,
    },
    /// A reconciliation of the booking gave no result.
    BookUnresolved {
        next_at: Timestamp,
        absence: Option<AbsenceEvidence>,
    },
    /// A reconciliation did not find the booking, which is to be resent as the same call.
    BookResendScheduled { at: Timestamp },
    /// The supplier confirmed the booking.
    BookConfirmed {
        supplier_booking: Box<K::SupplierBooking>,
        /// The id of the payment to record if the supplier collected the payment.
        payment: PaymentId,
    },
    /// The supplier refused the booking, or an operator found that nothing was booked.
    BookRefused(Failure),
    /// Lookups proved that nothing was booked. The booking is looked up again at `recheck_at`.
    BookNotExecuted {
        failure: Failure,
        recheck_at: Option<Timestamp>,
    },
    /// A later lookup of a booking that was not executed found nothing, or gave no result. There is
    /// no further lookup without `next_at`.
    AbsenceRechecked { next_at: Option<Timestamp> },
    /// A later lookup found a booking at the supplier that failed at the gateway.
    OrphanFound(Orphan),
    /// An operator has dealt with the booking that was found.
    OrphanResolved,
    /// The payment at the supplier's checkout is not completed.
    CheckoutNotCompleted,
    /// The cancellation is about to be sent to the supplier.
    CancelSent { next_at: Timestamp },
    /// The cancellation could not be sent and is to be retried.
    CancelNotSent { retry_at: Timestamp },
    /// The supplier accepted the cancellation and has not decided yet.
    CancelAccepted { next_at: Timestamp },
    /// A reconciliation of the cancellation gave no result.
    CancelUnresolved {
        next_at: Timestamp,
        absence: Option<AbsenceEvidence>,
    },
    /// The supplier refused the cancellation.
    CancelRefused(Failure),
    /// A reconciliation showed that the cancellation was never executed.
    CancelNotExecuted(Failure),
    /// The supplier or the processor reported a change, which must be read there.
    ChangeReported(ChangeSource),
    /// A refresh after a reported change gave no response.
    RefreshFailed { next_at: Timestamp },
    /// An event that only this kind of booking has.
    Kind(K::Event),
    /// An event of one of the payments.
    Payment { id: PaymentId, event: PaymentEvent },
}

impl<K: BookingKind> Named for BookingEvent<K> {
    fn name(&self) -> &'static str {
        match self {
            Self::PrebookStarted => "prebook_started",
            Self::PrebookConfirmed { .. } => "prebook_confirmed",
            Self::PrebookRefused(_) => "prebook_refused",
            Self::PrebookTimedOut => "prebook_timed_out",
            Self::OfferExpired => "offer_expired",
            Self::BookStarted { .. } => "book_started",
            Self::BookSent { .. } => "book_sent",
            Self::BookNotSent => "book_not_sent",
            Self::BookAccepted { .. } => "book_accepted",
            Self::BookUnresolved { .. } => "book_unresolved",
            Self::BookResendScheduled { .. } => "book_resend_scheduled",
            Self::BookConfirmed { .. } => "book_confirmed",
            Self::BookRefused(_) => "book_refused",
            Self::BookNotExecuted { .. } => "book_not_executed",
            Self::AbsenceRechecked { .. } => "absence_rechecked",
            Self::OrphanFound(_) => "orphan_found",
            Self::OrphanResolved => "orphan_resolved",
            Self::CheckoutNotCompleted => "checkout_not_completed",
            Self::CancelSent { .. } => "cancel_sent",
            Self::CancelNotSent { .. } => "cancel_not_sent",
            Self::CancelAccepted { .. } => "cancel_accepted",
            Self::CancelUnresolved { .. } => "cancel_unresolved",
            Self::CancelRefused(_) => "cancel_refused",
            Self::CancelNotExecuted(_) => "cancel_not_executed",
            Self::ChangeReported(_) => "change_reported",
            Self::RefreshFailed { .. } => "refresh_failed",
            Self::Kind(event) => event.name(),
            Self::Payment { event, .. } => event.name(),
        }
    }
}

impl<K: BookingKind> Booking<K> {
    /// Returns the id of the next payment. It contains the booking's, so that a person finds the
    /// booking by its payment.
    pub fn next_payment_id(&self) -> PaymentId {
        let ordinal = u32::try_from(self.payments.len()).unwrap_or(u32::MAX);
        PaymentId::of(self.id.as_str(), ordinal.saturating_add(1))
    }

    pub fn status(&self) -> BookingStatus {
        match &self.state {
            BookingState::Created => BookingStatus::Created,
            BookingState::PrebookInProgress { .. } => BookingStatus::PrebookInProgress,
            BookingState::ReadyForComplete => BookingStatus::ReadyForComplete,
            BookingState::CompleteInProgress { .. } => BookingStatus::CompleteInProgress,
            BookingState::Booked(state) => K::booked_status(state),
            BookingState::Failed { .. } => BookingStatus::Failed,
            BookingState::Expired => BookingStatus::Expired,
        }
    }

    pub fn phase(&self) -> BookingPhase<'_> {
        match &self.state {
            BookingState::Created | BookingState::PrebookInProgress { .. } => {
                BookingPhase::Prebooking
            }
            BookingState::ReadyForComplete => BookingPhase::ReadyToComplete,
            BookingState::CompleteInProgress { book } => BookingPhase::Completing(book),
            BookingState::Booked(state) => match K::booked_status(state) {
                BookingStatus::Confirmed => BookingPhase::Confirmed,
                _ => BookingPhase::Canceling,
            },
            BookingState::Failed { .. } => BookingPhase::Failed {
                was_prebooked: self.supplier_prebook.is_some(),
            },
            BookingState::Expired => BookingPhase::Expired,
        }
    }

    /// Returns the payment that the current or next completion uses.
    pub fn current_payment(&self) -> Option<&Payment> {
        let mut newest_first = self.payments.iter().rev();
        newest_first
            .find(|payment| payment.has_funds() && !self.details.pays_for_services(&payment.id))
    }

    pub fn payment(&self, id: &PaymentId) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.id == *id)
    }

    /// Returns the currency that a lookup must find. An orphan may be any booking under the gateway's
    /// reference.
    pub fn lookup_currency(&self) -> Option<Currency> {
        match self.state {
            BookingState::CompleteInProgress { .. } | BookingState::Booked(_) => {
                Some(self.details.booked_price().currency)
            }
            BookingState::Created
            | BookingState::PrebookInProgress { .. }
            | BookingState::ReadyForComplete
            | BookingState::Failed { .. }
            | BookingState::Expired => None,
        }
    }

    /// Returns the lookups that follow the failure of a booking that its supplier did not have.
    pub const fn absence_recheck(&self) -> Option<&AbsenceRecheck> {
        let BookingState::Failed { absence } = &self.state else {
            return None;
        };
        absence.as_ref()
    }

    /// Returns the booking that the supplier has although it failed here, if there is one.
    pub fn orphan(&self) -> Option<&Orphan> {
        self.absence_recheck()?.orphan.as_ref()
    }

    /// Returns the call to the supplier that is in progress, or the refresh that is due. Excludes the
    /// call of a service purchase.
    pub fn active_call(&self) -> Option<&RemoteCall> {
        match &self.state {
            BookingState::CompleteInProgress { book } => Some(book),
            BookingState::Booked(state) => K::booked_call(state).map(BookedCall::call),
            _ => None,
        }
    }
}
