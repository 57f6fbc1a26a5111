//! A hotel booking: what it holds and the states that it can be in. How it
//! moves is in `transition`, what is to be done next in `step`.

mod cancellation;
#[cfg(test)]
mod tests;
mod transition;

use crate::booking::{Failure, PaymentCollector, ChangeSource};
use crate::hotel::offer::{
    Board, CancellationPolicy, Contact, Guest, HotelSummary, Loyalty, Promotion, Stay,
};
use crate::hotel::supply::{SupplierBooking, PrebookResponse};
use crate::id::{BookingId, CancellationId, GuestId, HotelId, PaymentId, RefundId, RoomId};
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
    PartiallyCanceled,
    Canceled,
    Failed,
    Expired,
}

impl Status {
    /// Every status, in the order of the interface.
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
            Self::PartiallyCanceled => "PARTIALLY_CANCELED",
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
}

/// The states that a cancellation can begin from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BookedState {
    /// All rooms stand.
    Confirmed,
    /// Some rooms stand.
    PartiallyCanceled,
}

impl BookedState {
    /// The state of a booking that stands so, with the read that a hint asked for.
    #[must_use]
    pub const fn into_state(self, reread: Option<RemoteCall>) -> State {
        match self {
            Self::Confirmed => State::Confirmed { refresh: reread },
            Self::PartiallyCanceled => State::PartiallyCanceled { refresh: reread },
        }
    }
}

/// Where a booking is, with what only holds there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum State {
    /// Accepted by the gateway.
    Created,
    /// The supplier is asked to bind the offer.
    PrebookInProgress {
        /// Since when.
        started_at: Timestamp,
    },
    /// Bound; waits for the caller.
    ReadyForComplete,
    /// Being paid and booked.
    CompleteInProgress {
        /// The supplier's part; due while the payment is not held.
        book: RemoteCall,
    },
    /// Booked.
    Confirmed {
        /// The read that a hint asked for.
        #[serde(default)]
        refresh: Option<RemoteCall>,
    },
    /// Being cancelled.
    CancelInProgress {
        /// Where it came from, and goes back to when the supplier refuses.
        previous: BookedState,
        /// Which of the cancellations.
        cancellation: CancellationId,
        /// The supplier's part.
        cancel: RemoteCall,
    },
    /// Some rooms are released.
    PartiallyCanceled {
        /// The read that a hint asked for.
        #[serde(default)]
        refresh: Option<RemoteCall>,
    },
    /// All rooms are released.
    Canceled,
    /// Came to nothing.
    Failed,
    /// Was not completed in time.
    Expired,
}

/// A room of a booking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// Its id; its position is its place in the list.
    pub id: RoomId,
    /// Display text.
    pub name: String,
    /// What is included to eat.
    pub board: Board,
    /// Display text of the board.
    pub board_name: String,
    /// Adults.
    pub adults: u8,
    /// Ages of children.
    pub children: Vec<u8>,
    /// Share of the total.
    pub total: Money,
    /// Paid at the hotel, on top.
    pub due_at_property: Option<Money>,
    /// Of this room.
    pub policy: Option<CancellationPolicy>,
    /// The supplier's id of the room.
    pub supplier_reference: Option<String>,
    /// The hotel's own number.
    pub hotel_confirmation_code: Option<String>,
    /// Released at.
    pub canceled_at: Option<Timestamp>,
    /// Who sleeps there.
    pub guests: Vec<(GuestId, Guest)>,
}

/// How a cancellation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names of the contract")]
pub enum CancellationStatus {
    InProgress,
    Succeeded,
    Refused,
    Failed,
}

/// A cancellation of a booking or of some of its rooms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    /// Its id.
    pub id: CancellationId,
    /// How it stands.
    pub status: CancellationStatus,
    /// The rooms to release; all that stood, when the caller named none.
    pub room_ids: Vec<RoomId>,
    /// Whether the caller named rooms.
    pub is_partial: bool,
    /// Whether the supplier released them on its own account.
    #[serde(default)]
    pub is_supplier_initiated: bool,
    /// Kept by the supplier.
    pub fee: Option<Money>,
    /// Given back to the payer.
    pub refund_amount: Option<Money>,
    /// The supplier's id of it.
    pub supplier_reference: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was decided.
    pub completed_at: Option<Timestamp>,
    /// Why not.
    pub failure: Option<Failure>,
}

/// A hotel booking.
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
    /// The gateway's id of the hotel.
    pub hotel_id: HotelId,
    /// As the supplier named it at the offer, then at the prebook.
    pub hotel: HotelSummary,
    /// The caller's reference.
    pub reference_id: Option<String>,
    /// Opaque, the adapter's.
    pub supplier_offer: String,
    /// Opaque, the adapter's; once bound.
    pub supplier_prebook: Option<String>,
    /// Once booked.
    pub supplier_reference: Option<String>,
    /// When and who.
    pub stay: Stay,
    /// Whom to write to.
    pub contact: Contact,
    /// In the order of the offer.
    pub rooms: Vec<Room>,
    /// What was offered, then what is bound.
    pub total: Money,
    /// Of the whole booking.
    pub policy: Option<CancellationPolicy>,
    /// Once each.
    pub promotions: Vec<Promotion>,
    /// Where a programme applies.
    pub loyalty: Option<Loyalty>,
    /// Whether the payer pays in a browser.
    pub use_payment_sdk: bool,
    /// Who takes the money.
    pub payment_collector: PaymentCollector,
    /// The hotel's own number.
    pub hotel_confirmation_code: Option<String>,
    /// Plain text.
    pub hotel_remarks: Option<String>,
    /// Until when it can be completed.
    pub offer_expires_at: Timestamp,
    /// Where it is.
    pub state: State,
    /// Every payment that was begun, oldest first.
    pub payments: Vec<Payment>,
    /// Every cancellation that was begun, oldest first.
    pub cancellations: Vec<Cancellation>,
    /// Why it failed, or why a cancellation was refused.
    pub failure: Option<Failure>,
    /// When the gateway accepted it.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When the supplier confirmed.
    pub confirmed_at: Option<Timestamp>,
    /// When the last room was released.
    pub canceled_at: Option<Timestamp>,
}

/// What happens to a booking.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The supplier is about to be asked.
    PrebookStarted,
    /// The supplier bound the offer.
    PrebookConfirmed {
        /// The bound offer.
        prebook: Box<PrebookResponse>,
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
        reconcile_at: Timestamp,
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
    /// The supplier says yes.
    BookConfirmed(Box<SupplierBooking>),
    /// The supplier says no, or reading back proved that nothing was booked.
    BookRefused(Failure),
    /// The supplier's checkout is not completed.
    CheckoutNotCompleted,
    /// The caller cancels.
    CancelStarted {
        /// The new cancellation's id.
        id: CancellationId,
        /// Rooms to release; empty: all that stand.
        room_ids: Vec<RoomId>,
    },
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
    /// The rooms are released.
    CancelSucceeded {
        /// As the supplier has the booking now.
        supplier_booking: Box<SupplierBooking>,
        /// A refund to ask for, where money was taken.
        refund: RefundId,
    },
    /// The supplier says no.
    CancelRefused(Failure),
    /// Reading back shows that the cancellation never took place.
    CancelNotExecuted(Failure),
    /// The supplier or the processor says that something changed: read it anew there.
    ChangeReported(ChangeSource),
    /// A read after a hint gave no answer.
    RefreshFailed {
        /// When to try again.
        next_at: Timestamp,
    },
    /// As the supplier has a booking after a hint.
    Refreshed {
        /// What the supplier has.
        state: Box<SupplierBooking>,
        /// The hint that was the reason to read.
        change_reported_at: Timestamp,
        /// A cancellation, where the supplier released something.
        cancellation: CancellationId,
        /// A refund to ask for, where money was taken for that.
        refund: RefundId,
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
            State::PartiallyCanceled { .. } => Status::PartiallyCanceled,
            State::Canceled => Status::Canceled,
            State::Failed => Status::Failed,
            State::Expired => Status::Expired,
        }
    }

    /// What is paid at the hotel, all rooms; none where nothing is.
    #[must_use]
    pub fn due_at_property(&self) -> Option<Money> {
        let mut due = self.rooms.iter().filter_map(|room| room.due_at_property);
        let first = due.next()?;
        due.try_fold(first, Money::plus).ok()
    }

    /// The payment that the present or next completion uses.
    #[must_use]
    pub fn current_payment(&self) -> Option<&Payment> {
        self.payments
            .iter()
            .rev()
            .find(|payment| payment.has_funds())
    }

    /// A payment by its id.
    #[must_use]
    pub fn payment(&self, id: &PaymentId) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.id == *id)
    }

    /// Whether these rooms, or without any all of them, are released or being released.
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

    /// The price of the rooms that stand: what a cancellation would release.
    /// Rounding of shares falls on the last room.
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

    /// Our reference at the supplier for a cancellation.
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
