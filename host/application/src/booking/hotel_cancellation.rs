//! The parts of a cancellation that only hotels have.

use crate::booking::cancel_error::CancelError;
use crate::idempotency::IdempotentRequest;
use host_domain::booking::BookingState;
use host_domain::hotel::booking::{HotelBookedState, HotelBooking};
use host_domain::id::{BookingId, RoomId};
use host_domain::owner::Owner;
use host_domain::supplier::Capability;
use host_runtime::Supplier;

#[derive(Debug, Clone)]
pub struct CancelHotelBookingCommand {
    pub owner: Owner,
    pub booking: BookingId,
    /// The rooms to cancel. Empty for the whole booking.
    pub rooms: Vec<RoomId>,
    pub key: Option<IdempotentRequest>,
    pub request_id: String,
}

/// Checks that a cancellation can start in the booking's state.
///
/// # Errors
/// [`CancelError::InvalidState`].
pub fn check_state(booking: &HotelBooking) -> Result<(), CancelError> {
    // In `CancelInProgress` other rooms are being cancelled; only one cancellation runs at a time.
    match booking.state {
        BookingState::Booked(
            HotelBookedState::Confirmed { .. } | HotelBookedState::PartiallyCanceled { .. },
        ) => Ok(()),
        BookingState::Booked(
            HotelBookedState::CancelInProgress { .. } | HotelBookedState::Canceled,
        )
        | BookingState::Created
        | BookingState::PrebookInProgress { .. }
        | BookingState::ReadyForComplete
        | BookingState::CompleteInProgress { .. }
        | BookingState::Failed
        | BookingState::Expired => Err(CancelError::InvalidState(booking.status().as_str())),
    }
}

/// Returns the rooms to name to the supplier. Returns none if all rooms that are not cancelled
/// are to be cancelled.
///
/// # Errors
/// [`CancelError::Unsupported`] if the supplier cannot cancel these rooms.
pub fn rooms_to_cancel(
    supplier: Option<&Supplier>,
    booking: &HotelBooking,
    requested: &[RoomId],
) -> Result<Vec<RoomId>, CancelError> {
    let supplier = supplier.filter(|supplier| supplier.supports(Capability::HotelCancellation));
    let supplier = supplier.ok_or(CancelError::Unsupported)?;
    let mut active_rooms = booking
        .details
        .rooms
        .iter()
        .filter(|room| room.canceled_at.is_none());
    if requested.is_empty()
        || active_rooms
            .clone()
            .all(|room| requested.contains(&room.id))
    {
        return Ok(Vec::new());
    }
    let named: Vec<RoomId> = active_rooms
        .clone()
        .filter(|room| requested.contains(&room.id))
        .map(|room| room.id.clone())
        .collect();
    let separable =
        active_rooms.all(|room| !named.contains(&room.id) || room.supplier_reference.is_some());
    if supplier.info().description.supports_partial_cancellation && separable {
        Ok(named)
    } else {
        Err(CancelError::Unsupported)
    }
}
