//! A hotel booking: its data, and the states and events that only hotel bookings have.

mod cancellation;
mod kind;
mod refresh;
mod room_shares;
#[cfg(test)]
mod tests;

pub use kind::HotelStep;

use crate::booking::{Booking, BookingEvent, BookingState, Failure, Named};
use crate::hotel::supplier_api::HotelSupplierBooking;
use crate::hotel::types::{
    Board, CancellationPolicy, Contact, Guest, HotelSummary, Loyalty, Promotion, RoomDetails, Stay,
};
use crate::id::{CancellationId, GuestId, HotelId, RefundId, RoomId};
use crate::money::Money;
use crate::remote_call::RemoteCall;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

pub type HotelBooking = Booking<HotelBookingDetails>;

/// The states from which a cancellation can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelableState {
    /// All rooms are booked.
    Confirmed,
    /// Some rooms are cancelled and the others are booked.
    PartiallyCanceled,
}

impl CancelableState {
    #[must_use]
    pub const fn into_state(self, refresh: Option<RemoteCall>) -> HotelBookedState {
        match self {
            Self::Confirmed => HotelBookedState::Confirmed { refresh },
            Self::PartiallyCanceled => HotelBookedState::PartiallyCanceled { refresh },
        }
    }
}

/// The state of a hotel booking that the supplier confirmed. `refresh` follows a reported change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "booked")]
pub enum HotelBookedState {
    /// All rooms are booked.
    Confirmed { refresh: Option<RemoteCall> },
    /// A cancellation is in progress.
    CancelInProgress {
        /// The previous state, which is restored if the supplier refuses.
        previous: CancelableState,
        cancellation: CancellationId,
        cancel: RemoteCall,
    },
    /// Some rooms are cancelled.
    PartiallyCanceled { refresh: Option<RemoteCall> },
    /// All rooms are cancelled.
    Canceled,
}

impl HotelBookedState {
    /// Returns the state of the rooms that are still booked, or `Canceled` if there are none.
    fn new(active: Option<CancelableState>, refresh: Option<RemoteCall>) -> Self {
        active.map_or(Self::Canceled, |active| active.into_state(refresh))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// The room's id. Its position is its index in the list.
    pub id: RoomId,
    pub name: String,
    pub board: Board,
    pub board_name: String,
    pub adults: u8,
    /// Ages of the children.
    pub children: Vec<u8>,
    /// The room's share of the total.
    pub total: Money,
    /// Amount paid at the hotel, in addition to the total.
    pub due_at_property: Option<Money>,
    pub policy: Option<CancellationPolicy>,
    /// Empty until the prebook is confirmed.
    #[serde(default, skip_serializing_if = "RoomDetails::is_empty")]
    pub details: RoomDetails,
    /// The supplier's id of the room.
    pub supplier_reference: Option<String>,
    pub hotel_confirmation_code: Option<String>,
    pub canceled_at: Option<Timestamp>,
    pub guests: Vec<(GuestId, Guest)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CancellationStatus {
    InProgress,
    Succeeded,
    Refused,
    Failed,
}

/// A cancellation of a booking or of some of its rooms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotelCancellation {
    pub id: CancellationId,
    pub status: CancellationStatus,
    /// The rooms to cancel. If the client named none, these are all rooms that were booked. Once
    /// completed, also those that the supplier cancelled beyond the request.
    pub room_ids: Vec<RoomId>,
    /// Whether the supplier is to cancel these rooms alone, not all that are booked.
    pub is_partial: bool,
    /// Whether the supplier cancelled the rooms without a request.
    #[serde(default)]
    pub is_supplier_initiated: bool,
    /// Fee kept by the supplier for these rooms. `None` until it is decided.
    pub fee: Option<Money>,
    /// Amount given back for these rooms. `None` until it is decided.
    pub refund_amount: Option<Money>,
    /// The supplier's id of the cancellation.
    pub supplier_reference: Option<String>,
    /// Time at which the client requested it. The policy's fee is that of this time.
    pub created_at: Timestamp,
    /// Time at which the outcome became known.
    pub completed_at: Option<Timestamp>,
    pub failure: Option<Failure>,
}

impl HotelCancellation {
    /// Returns whether the rooms are cancelled and the refund is not decided yet.
    pub fn is_refund_undecided(&self) -> bool {
        self.status == CancellationStatus::Succeeded && self.refund_amount.is_none()
    }
}

/// The fields that only hotel bookings have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HotelBookingDetails {
    pub hotel_id: HotelId,
    /// The hotel as the supplier described it in the offer, later in the prebook.
    pub hotel: HotelSummary,
    pub stay: Stay,
    pub contact: Contact,
    /// The rooms, in the order of the offer.
    pub rooms: Vec<Room>,
    /// The offered price, later the prebooked price.
    pub total: Money,
    /// The cancellation policy of the whole booking.
    pub policy: Option<CancellationPolicy>,
    pub promotions: Vec<Promotion>,
    pub loyalty: Option<Loyalty>,
    pub hotel_confirmation_code: Option<String>,
    /// Remarks of the hotel, as plain text.
    pub hotel_remarks: Option<String>,
    /// All cancellations that were started, oldest first.
    pub cancellations: Vec<HotelCancellation>,
}

/// An event that only hotel bookings have.
#[derive(Debug, Clone, PartialEq)]
pub enum HotelEvent {
    /// The client cancels the booking or rooms of it.
    CancelStarted {
        id: CancellationId,
        /// The rooms to cancel. An empty list means all rooms that are booked.
        room_ids: Vec<RoomId>,
    },
    /// The rooms are cancelled.
    CancelSucceeded {
        supplier_booking: Box<HotelSupplierBooking>,
        /// The id of the refund, if money was collected.
        refund: RefundId,
    },
    /// The result of a refresh after a reported change.
    Refreshed {
        supplier_booking: Box<HotelSupplierBooking>,
        /// Time of the reported change that caused the refresh.
        change_reported_at: Timestamp,
        /// The id of the cancellation, if the supplier cancelled rooms.
        cancellation: CancellationId,
        /// The id of the refund, if money was collected for those rooms.
        refund: RefundId,
    },
    /// A quote read another policy than the stored one. Cancellations cost the fee of this policy.
    PolicyRead(CancellationPolicy),
    /// An operator sets the refund of a cancellation whose refund is undecided.
    RefundDecided {
        cancellation: CancellationId,
        amount: Money,
        /// The id of the refund, if money was collected.
        refund: RefundId,
    },
}

impl Named for HotelEvent {
    fn name(&self) -> &'static str {
        match self {
            Self::CancelStarted { .. } => "cancel_started",
            Self::CancelSucceeded { .. } => "cancel_succeeded",
            Self::Refreshed { .. } => "refreshed",
            Self::PolicyRead(_) => "policy_read",
            Self::RefundDecided { .. } => "refund_decided",
        }
    }
}

impl From<HotelEvent> for BookingEvent<HotelBookingDetails> {
    fn from(event: HotelEvent) -> Self {
        Self::Kind(event)
    }
}

impl HotelBookingDetails {
    pub fn cancellation(&self, id: &CancellationId) -> Option<&HotelCancellation> {
        self.cancellations.iter().find(|c| c.id == *id)
    }

    /// Returns the cancellation in progress, if there is one.
    pub fn open_cancellation(&self) -> Option<&HotelCancellation> {
        let mut cancellations = self.cancellations.iter();
        cancellations.find(|c| c.status == CancellationStatus::InProgress)
    }

    /// Returns the cancellations whose refund is undecided, oldest first.
    pub fn undecided_cancellations(&self) -> impl Iterator<Item = &HotelCancellation> {
        let cancellations = self.cancellations.iter();
        cancellations.filter(|cancellation| cancellation.is_refund_undecided())
    }
}

impl HotelBooking {
    /// Returns the amount that is paid at the hotel for all rooms. Returns `None` if no room has
    /// such an amount.
    pub fn due_at_property(&self) -> Option<Money> {
        let rooms = self.details.rooms.iter();
        let mut due = rooms.filter_map(|room| room.due_at_property);
        let first = due.next()?;
        due.try_fold(first, Money::plus).ok()
    }

    /// Returns whether the given rooms are cancelled or being cancelled. An empty list means all
    /// rooms.
    pub fn is_canceled_or_canceling(&self, rooms: &[RoomId]) -> bool {
        let running = match &self.state {
            BookingState::Booked(HotelBookedState::CancelInProgress { cancellation, .. }) => {
                self.details.cancellation(cancellation)
            }
            _ => None,
        };
        let is_running = |room: &Room| running.is_some_and(|c| c.room_ids.contains(&room.id));
        let all = self.details.rooms.iter();
        all.filter(|room| rooms.is_empty() || rooms.contains(&room.id))
            .all(|room| room.canceled_at.is_some() || is_running(room))
    }

    pub fn cancellation_client_reference(&self, cancellation: &CancellationId) -> String {
        let cancellations = &self.details.cancellations;
        let at = cancellations.iter().position(|c| c.id == *cancellation);
        let ordinal = at.unwrap_or(cancellations.len()).saturating_add(1);
        format!("{}-cancel-{ordinal}", self.id)
    }
}
