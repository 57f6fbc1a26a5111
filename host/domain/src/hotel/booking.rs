//! A hotel booking: its data and its states. The transitions are in `transition`, the next steps in
//! `step`.

mod cancellation;
#[cfg(test)]
mod tests;
mod transition;

use crate::booking::{ChangeSource, Failure, PaymentCollector};
use crate::hotel::supplier_api::{PrebookResponse, SupplierBooking};
use crate::hotel::types::{
    Board, CancellationPolicy, Contact, Guest, HotelSummary, Loyalty, Promotion, Stay,
};
use crate::id::{BookingId, CancellationId, GuestId, HotelId, PaymentId, RefundId, RoomId};
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
    PartiallyCanceled,
    Canceled,
    Failed,
    Expired,
}

impl Status {
    /// All statuses, in the order of the API.
    pub const ALL: [Self; 10] = [
        Self::Created,
        Self::PrebookInProgress,
        Self::ReadyForComplete,
        Self::CompleteInProgress,
        Self::Confirmed,
        Self::CancelInProgress,
        Self::PartiallyCanceled,
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
            Self::PartiallyCanceled => "PARTIALLY_CANCELED",
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
}

/// The states from which a cancellation can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BookedState {
    /// All rooms are booked.
    Confirmed,
    /// Some rooms are cancelled and the others are booked.
    PartiallyCanceled,
}

impl BookedState {
    /// Returns the booking state, with the refresh that a reported change requires.
    #[must_use]
    pub const fn into_state(self, reread: Option<RemoteCall>) -> State {
        match self {
            Self::Confirmed => State::Confirmed { refresh: reread },
            Self::PartiallyCanceled => State::PartiallyCanceled { refresh: reread },
        }
    }
}

/// The state of a booking, with the data that only this state has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum State {
    /// The gateway accepted the booking.
    Created,
    /// A prebook of the offer was sent to the supplier.
    PrebookInProgress {
        /// Time at which the prebook started.
        started_at: Timestamp,
    },
    /// The offer is prebooked. The client can complete the booking.
    ReadyForComplete,
    /// The booking is being paid and booked.
    CompleteInProgress {
        /// The call to the supplier. It stays pending until the payment is authorized.
        book: RemoteCall,
    },
    /// The supplier confirmed the booking.
    Confirmed {
        /// The refresh that a reported change requires.
        #[serde(default)]
        refresh: Option<RemoteCall>,
    },
    /// A cancellation is in progress.
    CancelInProgress {
        /// The previous state, which is restored if the supplier refuses.
        previous: BookedState,
        /// The id of the cancellation in progress.
        cancellation: CancellationId,
        /// The call to the supplier.
        cancel: RemoteCall,
    },
    /// Some rooms are cancelled.
    PartiallyCanceled {
        /// The refresh that a reported change requires.
        #[serde(default)]
        refresh: Option<RemoteCall>,
    },
    /// All rooms are cancelled.
    Canceled,
    /// The booking failed.
    Failed,
    /// The booking was not completed in time.
    Expired,
}

/// A room of a booking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// The room's id. Its position is its index in the list.
    pub id: RoomId,
    /// Display name.
    pub name: String,
    /// The meals included.
    pub board: Board,
    /// Display name of the board.
    pub board_name: String,
    /// Number of adults.
    pub adults: u8,
    /// Ages of the children.
    pub children: Vec<u8>,
    /// The room's share of the total.
    pub total: Money,
    /// Amount paid at the hotel, in addition to the total.
    pub due_at_property: Option<Money>,
    /// The cancellation policy of this room.
    pub policy: Option<CancellationPolicy>,
    /// The supplier's id of the room.
    pub supplier_reference: Option<String>,
    /// The hotel's own confirmation number.
    pub hotel_confirmation_code: Option<String>,
    /// Time at which the room was cancelled.
    pub canceled_at: Option<Timestamp>,
    /// The guests of the room.
    pub guests: Vec<(GuestId, Guest)>,
}

/// The status of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the variants are the statuses of the API")]
pub enum CancellationStatus {
    InProgress,
    Succeeded,
    Refused,
    Failed,
}

/// A cancellation of a booking or of some of its rooms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    /// The cancellation's id.
    pub id: CancellationId,
    /// The status of the cancellation.
    pub status: CancellationStatus,
    /// The rooms to cancel. If the client named none, these are all rooms that were booked.
    pub room_ids: Vec<RoomId>,
    /// Whether the client named rooms.
    pub is_partial: bool,
    /// Whether the supplier cancelled the rooms without a request.
    #[serde(default)]
    pub is_supplier_initiated: bool,
    /// Fee kept by the supplier.
    pub fee: Option<Money>,
    /// Amount refunded to the payer.
    pub refund_amount: Option<Money>,
    /// The supplier's id of the cancellation.
    pub supplier_reference: Option<String>,
    /// Time at which the cancellation started.
    pub created_at: Timestamp,
    /// Time at which the outcome became known.
    pub completed_at: Option<Timestamp>,
    /// The reason why the cancellation failed.
    pub failure: Option<Failure>,
}

/// A hotel booking.
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
    /// The gateway's id of the hotel.
    pub hotel_id: HotelId,
    /// The hotel as the supplier described it in the offer, later in the prebook.
    pub hotel: HotelSummary,
    /// The client's reference.
    pub reference_id: Option<String>,
    /// The adapter's opaque offer data.
    pub supplier_offer: String,
    /// The adapter's opaque prebook data, once prebooked.
    pub supplier_prebook: Option<String>,
    /// The supplier's id of the booking, once booked.
    pub supplier_reference: Option<String>,
    /// The dates, guests and currency of the stay.
    pub stay: Stay,
    /// The contact for the booking.
    pub contact: Contact,
    /// The rooms, in the order of the offer.
    pub rooms: Vec<Room>,
    /// The offered price, later the prebooked price.
    pub total: Money,
    /// The cancellation policy of the whole booking.
    pub policy: Option<CancellationPolicy>,
    /// The promotions, each listed once.
    pub promotions: Vec<Promotion>,
    /// The loyalty programme, if one applies.
    pub loyalty: Option<Loyalty>,
    /// Whether the payer pays in a browser.
    pub use_payment_sdk: bool,
    /// The party that collects the payment.
    pub payment_collector: PaymentCollector,
    /// The hotel's own confirmation number.
    pub hotel_confirmation_code: Option<String>,
    /// Remarks of the hotel, as plain text.
    pub hotel_remarks: Option<String>,
    /// Time until which the booking can be completed.
    pub offer_expires_at: Timestamp,
    /// The state of the booking.
    pub state: State,
    /// All payments that were started, oldest first.
    pub payments: Vec<Payment>,
    /// All cancellations that were started, oldest first.
    pub cancellations: Vec<Cancellation>,
    /// The reason why the booking failed or a cancellation was refused.
    pub failure: Option<Failure>,
    /// Time at which the gateway accepted the booking.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which the supplier confirmed the booking.
    pub confirmed_at: Option<Timestamp>,
    /// Time at which the last room was cancelled.
    pub canceled_at: Option<Timestamp>,
}

/// An event that changes a hotel booking.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The prebook is about to be sent to the supplier.
    PrebookStarted,
    /// The supplier prebooked the offer.
    PrebookConfirmed {
        /// The prebooked offer.
        prebook: Box<PrebookResponse>,
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
        reconcile_at: Timestamp,
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
    /// The supplier confirmed the booking.
    BookConfirmed(Box<SupplierBooking>),
    /// The supplier refused the booking, or a reconciliation proved that nothing was booked.
    BookRefused(Failure),
    /// The payment at the supplier's checkout is not completed.
    CheckoutNotCompleted,
    /// The client cancels the booking or rooms of it.
    CancelStarted {
        /// The id of the new cancellation.
        id: CancellationId,
        /// The rooms to cancel. An empty list means all rooms that are booked.
        room_ids: Vec<RoomId>,
    },
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
    /// The rooms are cancelled.
    CancelSucceeded {
        /// The booking as the supplier now reports it.
        supplier_booking: Box<SupplierBooking>,
        /// The id of the refund, if money was collected.
        refund: RefundId,
    },
    /// The supplier refused the cancellation.
    CancelRefused(Failure),
    /// A reconciliation showed that the cancellation was never executed.
    CancelNotExecuted(Failure),
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
        /// The id of the cancellation, if the supplier cancelled rooms.
        cancellation: CancellationId,
        /// The id of the refund, if money was collected for those rooms.
        refund: RefundId,
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
            State::PartiallyCanceled { .. } => Status::PartiallyCanceled,
            State::Canceled => Status::Canceled,
            State::Failed => Status::Failed,
            State::Expired => Status::Expired,
        }
    }

    /// Returns the amount that is paid at the hotel for all rooms. Returns `None` if no room has
    /// such an amount.
    #[must_use]
    pub fn due_at_property(&self) -> Option<Money> {
        let mut due = self.rooms.iter().filter_map(|room| room.due_at_property);
        let first = due.next()?;
        due.try_fold(first, Money::plus).ok()
    }

    /// Returns the payment that the current or next completion uses.
    #[must_use]
    pub fn current_payment(&self) -> Option<&Payment> {
        self.payments
            .iter()
            .rev()
            .find(|payment| payment.has_funds())
    }

    /// Returns a payment by its id.
    #[must_use]
    pub fn payment(&self, id: &PaymentId) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.id == *id)
    }

    /// Returns whether the given rooms are cancelled or being cancelled. An empty list means all
    /// rooms.
    #[must_use]
    pub fn is_canceled_or_canceling(&self, rooms: &[RoomId]) -> bool {
        let running = match &self.state {
            State::CancelInProgress { cancellation, .. } => {
                self.cancellations.iter().find(|c| c.id == *cancellation)
            }
            _ => None,
        };
        let is_running = |room: &Room| running.is_some_and(|c| c.room_ids.contains(&room.id));
        self.rooms
            .iter()
            .filter(|room| rooms.is_empty() || rooms.contains(&room.id))
            .all(|room| room.canceled_at.is_some() || is_running(room))
    }

    /// Returns the price of the rooms that are still booked, which is what a cancellation would
    /// cancel. Rounding of shares falls on the last room.
    #[must_use]
    pub fn active_total(&self) -> Money {
        let released: i64 = self
            .rooms
            .iter()
            .filter(|r| r.canceled_at.is_some())
            .map(|r| r.total.minor)
            .sum();
        self.total.less(Money::new(released, self.total.currency))
    }

    /// Returns the gateway's reference at the supplier for a cancellation.
    #[must_use]
    pub fn cancellation_client_reference(&self, cancellation: &CancellationId) -> String {
        let ordinal = self
            .cancellations
            .iter()
            .position(|c| c.id == *cancellation)
            .unwrap_or(self.cancellations.len());
        format!("{}-cancel-{}", self.id, ordinal.saturating_add(1))
    }
}
