//! What a hotel supplier's answers mean for a booking.

#[cfg(test)]
mod tests;

use crate::flow::judge::{
    Absence, Interpretation, NOT_FOUND, CallOutcome, SupplierGuarantees, REPEATED, ScheduleContext, absence, absence_of_booking,
    book_failed, hinted_at, judged, may_have_happened,
};
use host_domain::booking::Failure;
use host_domain::hotel::booking::{Booking, CancellationStatus, Event, State};
use host_domain::hotel::supply::{SupplierBooking, BookingLookup};
use host_domain::id::{CancellationId, RefundId};
use host_domain::leg::RemoteCall;
use host_domain::supplier::{SupplierBookingStatus, ChangeError, ReadError, RefusalReason};
use host_domain::time::Timestamp;

const SOLD_OUT: &str = "The supplier has no room left.";

/// Of what is going on with the supplier.
fn leg(booking: &Booking) -> Option<&RemoteCall> {
    match &booking.state {
        State::CompleteInProgress { book } => Some(book),
        State::CancelInProgress { cancel, .. } => Some(cancel),
        State::Confirmed { refresh: reread } | State::PartiallyCanceled { refresh: reread } => reread.as_ref(),
        State::Created
        | State::PrebookInProgress { .. }
        | State::ReadyForComplete
        | State::Canceled
        | State::Failed
        | State::Expired => None,
    }
}

/// The answer to booking.
pub(crate) fn book_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    match answer {
        Ok(state) => booked_state(state, next_at),
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::PaymentRequired => {
            judged(
                Event::CheckoutNotCompleted,
                CallOutcome::Rejected,
                refusal.message,
            )
        }
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // Our own reference, known there already: only reading back tells whose it is.
            judged(
                Event::BookUnresolved { next_at: times.now },
                CallOutcome::Unknown,
                refusal.message,
            )
        }
        Err(ChangeError::Refused(refusal)) => judged(
            Event::BookRefused(book_failed(&refusal, SOLD_OUT)),
            CallOutcome::Rejected,
            refusal.message,
        ),
        Err(ChangeError::Unknown(why)) => {
            judged(Event::BookUnresolved { next_at }, CallOutcome::Unknown, why)
        }
        Err(error) if may_have_happened(leg) => {
            let event = Event::BookUnresolved { next_at };
            judged(event, CallOutcome::Unknown, error.to_string())
        }
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded
            | ChangeError::Unsupported),
        ) => judged(Event::BookNotSent, CallOutcome::NotSent, error.to_string()),
    }
}

fn booked_state(state: SupplierBooking, next_at: Timestamp) -> Interpretation<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match &state.status {
        SupplierBookingStatus::Confirmed | SupplierBookingStatus::PartiallyCanceled => judged(
            Event::BookConfirmed(Box::new(state)),
            CallOutcome::Succeeded,
            "confirmed",
        ),
        SupplierBookingStatus::Pending | SupplierBookingStatus::CancelPending => judged(
            Event::BookAccepted {
                supplier_reference: Some(reference.clone()),
                next_at,
            },
            CallOutcome::Succeeded,
            "accepted",
        ),
        SupplierBookingStatus::Canceled => {
            let failure = Failure::new("book_failed", "The supplier canceled the booking.");
            judged(
                Event::BookRefused(failure),
                CallOutcome::Rejected,
                "canceled at the supplier",
            )
        }
        SupplierBookingStatus::Failed(refusal) => judged(
            Event::BookRefused(book_failed(refusal, SOLD_OUT)),
            CallOutcome::Rejected,
            refusal.message.clone(),
        ),
    };
    judgement.with_reference(&reference)
}

/// What reading back a booking found.
pub(crate) fn book_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    match answer {
        Ok(BookingLookup::Found(state)) => booked_state(*state, next_at),
        Ok(BookingLookup::NotFound) => match absence_of_booking(booking.payment_collector, leg, promises, times) {
            Absence::Proof => {
                let failure = Failure::new("book_failed", "The supplier has no such booking.");
                let why = "read back: not found, and reads are consistent";
                judged(Event::BookRefused(failure), CallOutcome::Rejected, why)
            }
            Absence::Repeat => judged(
                Event::BookResendScheduled { at: next_at },
                CallOutcome::NotSent,
                REPEATED,
            ),
            Absence::Nothing => judged(Event::BookUnresolved { next_at }, CallOutcome::Unknown, NOT_FOUND),
        },
        Err(error) => judged(
            Event::BookUnresolved { next_at },
            CallOutcome::Unknown,
            error.to_string(),
        ),
    }
}

/// The answer to a cancellation.
pub(crate) fn cancel_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    refund: RefundId,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    match answer {
        Ok(state) => canceled_state(booking, state, refund, next_at),
        Err(ChangeError::Refused(refusal)) => {
            let failure = Failure::new("cancel_refused", "The supplier refused the cancellation.");
            judged(
                Event::CancelRefused(failure),
                CallOutcome::Rejected,
                refusal.message,
            )
        }
        Err(ChangeError::Unsupported) => {
            let failure = Failure::new("cancel_refused", "The supplier does not cancel bookings.");
            judged(
                Event::CancelRefused(failure),
                CallOutcome::Rejected,
                "not supported",
            )
        }
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded),
        ) => judged(
            Event::CancelNotSent {
                retry_at: times.retry(leg),
            },
            CallOutcome::NotSent,
            error.to_string(),
        ),
        Err(ChangeError::Unknown(why)) => {
            judged(Event::CancelUnresolved { next_at }, CallOutcome::Unknown, why)
        }
    }
}

fn canceled_state(
    booking: &Booking,
    state: SupplierBooking,
    refund: RefundId,
    next_at: Timestamp,
) -> Interpretation<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match state.status {
        SupplierBookingStatus::Canceled => judged(
            Event::CancelSucceeded {
                supplier_booking: Box::new(state),
                refund,
            },
            CallOutcome::Succeeded,
            "canceled",
        ),
        SupplierBookingStatus::PartiallyCanceled if rooms_are_released(booking, &state) => judged(
            Event::CancelSucceeded {
                supplier_booking: Box::new(state),
                refund,
            },
            CallOutcome::Succeeded,
            "rooms released",
        ),
        SupplierBookingStatus::CancelPending | SupplierBookingStatus::Pending => {
            judged(Event::CancelAccepted { next_at }, CallOutcome::Succeeded, "accepted")
        }
        SupplierBookingStatus::Confirmed | SupplierBookingStatus::PartiallyCanceled | SupplierBookingStatus::Failed(_) => {
            judged(
                Event::CancelUnresolved { next_at },
                CallOutcome::Unknown,
                "the supplier still shows the booking",
            )
        }
    };
    judgement.with_reference(&reference)
}

/// Whether every room that is being released is released at the supplier.
fn rooms_are_released(booking: &Booking, state: &SupplierBooking) -> bool {
    let running = booking
        .cancellations
        .iter()
        .find(|c| c.status == CancellationStatus::InProgress);
    running.is_some_and(|cancellation| {
        let wanted = booking
            .rooms
            .iter()
            .enumerate()
            .filter(|(_, room)| cancellation.room_ids.contains(&room.id));
        wanted.map(|(position, _)| position).all(|position| {
            state
                .rooms
                .iter()
                .any(|room| usize::from(room.position) == position && room.canceled)
        })
    })
}

/// What reading back a booking that is being cancelled found.
pub(crate) fn cancel_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    refund: RefundId,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    let state = match answer {
        Ok(BookingLookup::Found(state)) => *state,
        Ok(BookingLookup::NotFound) => {
            return judged(
                Event::CancelUnresolved { next_at },
                CallOutcome::Unknown,
                "read back: booking not found",
            );
        }
        Err(error) => {
            return judged(
                Event::CancelUnresolved { next_at },
                CallOutcome::Unknown,
                error.to_string(),
            );
        }
    };
    let stands = match state.status {
        SupplierBookingStatus::Confirmed => true,
        SupplierBookingStatus::PartiallyCanceled => !rooms_are_released(booking, &state),
        SupplierBookingStatus::Pending
        | SupplierBookingStatus::CancelPending
        | SupplierBookingStatus::Canceled
        | SupplierBookingStatus::Failed(_) => false,
    };
    if !stands {
        return canceled_state(booking, state, refund, next_at);
    }
    match leg {
        Some(RemoteCall::Accepted { .. }) => {
            let failure = Failure::new("cancel_refused", "The supplier refused the cancellation.");
            judged(
                Event::CancelRefused(failure),
                CallOutcome::Rejected,
                "read back: the booking stands",
            )
        }
        _ if absence(leg, promises, times) == Absence::Proof => {
            let failure = Failure::new(
                "cancel_failed",
                "The cancellation did not reach the supplier.",
            );
            judged(
                Event::CancelNotExecuted(failure),
                CallOutcome::Rejected,
                "read back: the booking stands, and reads are consistent",
            )
        }
        _ => judged(
            Event::CancelUnresolved { next_at },
            CallOutcome::Unknown,
            "read back: the booking stands, which proves nothing yet",
        ),
    }
}

/// What reading a booking anew found. `cancellation` and `refund` will be the ids of what
/// the supplier released meanwhile.
pub(crate) fn refresh_response(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    cancellation: CancellationId,
    refund: RefundId,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    let again = |why: String| judged(Event::RefreshFailed { next_at }, CallOutcome::Unknown, why);
    match answer {
        Ok(BookingLookup::Found(state)) => {
            let event = Event::Refreshed {
                state,
                change_reported_at: hinted_at(leg, times),
                cancellation,
                refund,
            };
            judged(event, CallOutcome::Succeeded, "read anew")
        }
        Ok(BookingLookup::NotFound) => again("read anew: booking not found".to_owned()),
        Err(error) => again(error.to_string()),
    }
}
