//! The parts of a cancellation that only hotels have.

use crate::booking::cancel_error::{CancelError, CancellationQuoteError};
use crate::idempotency::IdempotentRequest;
use host_domain::booking::BookingState;
use host_domain::hotel::booking::{HotelBookedState, HotelBooking, Room};
use host_domain::id::{BookingId, RoomId};
use host_domain::owner::Owner;
use host_domain::supplier::Capability;
use host_domain::time::Timestamp;
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
        | BookingState::Failed { .. }
        | BookingState::Expired => Err(CancelError::InvalidState(booking.status().as_str())),
    }
}

/// Checks that no stored restriction forbids to cancel the rooms that are booked.
///
/// # Errors
/// [`CancellationQuoteError::CancellationRestricted`].
pub fn check_restrictions(
    booking: &HotelBooking,
    now: Timestamp,
) -> Result<(), CancellationQuoteError> {
    let rooms = &booking.details.rooms;
    let rooms = rooms.iter().filter(|room| room.canceled_at.is_none());
    let policies = rooms.filter_map(|room| room.policy.as_ref());
    let policies = policies.chain(&booking.details.policy);
    let mut restrictions = policies.flat_map(|policy| &policy.restrictions);
    match restrictions.any(|restriction| restriction.forbids_cancellation(now)) {
        true => Err(CancellationQuoteError::CancellationRestricted),
        false => Ok(()),
    }
}

/// Returns the rooms to name to the supplier. An empty list means all rooms that are booked.
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
    let can_separate = supplier.info().description.supports_partial_cancellation;
    named_rooms(booking, requested, can_separate).ok_or(CancelError::Unsupported)
}

/// Returns the rooms to name, or `None` if they cannot be cancelled alone. The last rooms of a
/// partly cancelled booking are named like any others, because a supplier may charge the fee of the
/// whole booking for the cancellation of "all".
fn named_rooms(
    booking: &HotelBooking,
    requested: &[RoomId],
    can_separate: bool,
) -> Option<Vec<RoomId>> {
    let rooms = &booking.details.rooms;
    let active = || rooms.iter().filter(|room| room.canceled_at.is_none());
    let is_requested = |room: &&Room| requested.contains(&room.id);
    if requested.is_empty() || rooms.iter().all(|room| requested.contains(&room.id)) {
        return Some(Vec::new());
    }
    let mut named = active().filter(is_requested);
    let is_separable = can_separate && named.all(|room| room.supplier_reference.is_some());
    if is_separable {
        let named = active().filter(is_requested);
        return Some(named.map(|room| room.id.clone()).collect());
    }
    let are_all_requested = active().all(|room| requested.contains(&room.id));
    are_all_requested.then(Vec::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a booking of three rooms, of which the first ones are cancelled.
    fn booking(canceled: u128, are_rooms_referenced: bool) -> HotelBooking {
        let room = |number: u128| {
            json!({
                "id": RoomId::from_bits(number),
                "name": "Double",
                "board": "room_only",
                "board_name": "Room only",
                "adults": 1,
                "children": [],
                "total": { "minor": 10_000, "currency": "EUR" },
                "supplier_reference": are_rooms_referenced.then(|| format!("room-{number}")),
                "canceled_at": (number <= canceled).then_some(0),
                "guests": [],
            })
        };
        let stored = json!({
            "id": "bkg_1",
            "owner": { "tenant": { "organization": "demo", "mode": "test" }, "user": "org" },
            "version": 1,
            "supplier": "SANDBOX",
            "supplier_offer": "o",
            "use_payment_sdk": false,
            "payment_collector": "gateway",
            "offer_expires_at": 0,
            "state": { "state": "created" },
            "payments": [],
            "created_at": 0,
            "updated_at": 0,
            "details": {
                "hotel_id": "htl_1",
                "hotel": { "supplier_hotel_id": "OK", "name": "H", "address": "A" },
                "stay": {
                    "check_in": "2027-01-01",
                    "check_out": "2027-01-02",
                    "occupancies": [],
                    "guest_nationality": "DE",
                    "currency": "EUR",
                },
                "contact": {
                    "first_name": "A",
                    "last_name": "L",
                    "email": "a@example.org",
                    "phone": "+491",
                },
                "rooms": [room(1), room(2), room(3)],
                "total": { "minor": 30_000, "currency": "EUR" },
                "promotions": [],
                "cancellations": [],
            },
        });
        serde_json::from_value(stored).unwrap()
    }

    #[test]
    fn requested_rooms_are_named_unless_they_are_the_whole_booking() {
        let all = Some(vec![]);
        let named = |numbers: &[u128]| {
            let ids = numbers.iter().map(|number| RoomId::from_bits(*number));
            Some(ids.collect::<Vec<_>>())
        };
        for (canceled, requested, can_separate, expected) in [
            (0, vec![], true, all.clone()),
            (0, vec![1, 2, 3], true, all.clone()),
            (0, vec![1], true, named(&[1])),
            (0, vec![1, 2], true, named(&[1, 2])),
            (1, vec![1, 2], true, named(&[2])),
            (2, vec![3], true, named(&[3])),
            (2, vec![], true, all.clone()),
            (0, vec![1], false, None),
            (2, vec![3], false, all),
        ] {
            let requested: Vec<_> = requested.into_iter().map(RoomId::from_bits).collect();
            let found = named_rooms(&booking(canceled, true), &requested, can_separate);
            assert_eq!(found, expected, "{canceled} {requested:?} {can_separate}");
            // Rooms without a reference at the supplier cannot be named.
            let unnamed = named_rooms(&booking(canceled, false), &requested, true);
            let expected = named_rooms(&booking(canceled, true), &requested, false);
            assert_eq!(unnamed, expected, "{canceled} {requested:?}");
        }
    }
}
