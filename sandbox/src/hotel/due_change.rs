//! Pending decisions at Lodge whose time has come.

use crate::{
    hotel::{booking::confirm, cancellation::release, scenario::Scenario, tables::BookingState},
    state::SandboxRecords,
};

pub(crate) fn apply_due_change(records: &mut SandboxRecords, id: &str) {
    let Some(mut booking) = records.hotel.bookings.get(id).cloned() else {
        return;
    };
    if booking.due.is_none_or(|due| due > records.now()) {
        return;
    }
    booking.due = None;
    match booking.state {
        BookingState::Pending if booking.scenario() == Scenario::BookPendingRefused => {
            booking.state = BookingState::Rejected;
            records.save(booking);
        }
        BookingState::Pending => {
            confirm(records, booking);
        }
        BookingState::Cancelling => {
            let client_ref = booking.cancelling.take().unwrap_or_default();
            let all = (0..booking.released.len()).collect::<Vec<_>>();
            release(records, booking, &all, &client_ref);
        }
        BookingState::Confirmed
        | BookingState::PartCancelled
        | BookingState::Cancelled
        | BookingState::Rejected => {}
    }
}
