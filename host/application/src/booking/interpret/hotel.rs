//! Interprets a hotel supplier's responses.

#[cfg(test)]
mod tests;

use crate::booking::interpret::{
    AbsenceMeaning, CallOutcome, Interpretation, NOT_FOUND_EVIDENCE, RETRIED_EVIDENCE,
    ScheduleContext, SupplierGuarantees, booking_failure, change_reported_at, classify_absence,
    classify_booking_absence, interpretation, may_have_been_executed,
};
use host_domain::booking::Failure;
use host_domain::hotel::booking::{Booking, CancellationStatus, Event, State};
use host_domain::hotel::supplier_api::{BookingLookup, SupplierBooking};
use host_domain::id::{CancellationId, RefundId};
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::{ChangeError, ReadError, RefusalReason, SupplierBookingStatus};
use host_domain::time::Timestamp;

const SOLD_OUT: &str = "The supplier has no room left.";

/// Returns the call to the supplier that is in progress, or the pending refresh.
fn active_call(booking: &Booking) -> Option<&RemoteCall> {
    match &booking.state {
        State::CompleteInProgress { book } => Some(book),
        State::CancelInProgress { cancel, .. } => Some(cancel),
        State::Confirmed { refresh: reread } | State::PartiallyCanceled { refresh: reread } => {
            reread.as_ref()
        }
        State::Created
        | State::PrebookInProgress { .. }
        | State::ReadyForComplete
        | State::Canceled
        | State::Failed
        | State::Expired => None,
    }
}

/// Interprets the response to a booking call.
pub fn book_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = active_call(booking);
    let next_at = times.next_reconcile_at(leg);
    match answer {
        Ok(state) => booking_state(state, next_at),
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::PaymentRequired => {
            interpretation(
                Event::CheckoutNotCompleted,
                CallOutcome::Rejected,
                refusal.message,
            )
        }
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // The supplier already knows the gateway's own reference; reconciling shows whose
            // booking it is.
            interpretation(
                Event::BookUnresolved { next_at: times.now },
                CallOutcome::Unknown,
                refusal.message,
            )
        }
        Err(ChangeError::Refused(refusal)) => interpretation(
            Event::BookRefused(booking_failure(&refusal, SOLD_OUT)),
            CallOutcome::Rejected,
            refusal.message,
        ),
        Err(ChangeError::Unknown(why)) => {
            interpretation(Event::BookUnresolved { next_at }, CallOutcome::Unknown, why)
        }
        Err(error) if may_have_been_executed(leg) => {
            let event = Event::BookUnresolved { next_at };
            interpretation(event, CallOutcome::Unknown, error.to_string())
        }
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded
            | ChangeError::Unsupported),
        ) => interpretation(Event::BookNotSent, CallOutcome::NotSent, error.to_string()),
    }
}

fn booking_state(state: SupplierBooking, next_at: Timestamp) -> Interpretation<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match &state.status {
        SupplierBookingStatus::Confirmed | SupplierBookingStatus::PartiallyCanceled => {
            interpretation(
                Event::BookConfirmed(Box::new(state)),
                CallOutcome::Succeeded,
                "confirmed",
            )
        }
        SupplierBookingStatus::Pending | SupplierBookingStatus::CancelPending => interpretation(
            Event::BookAccepted {
                supplier_reference: Some(reference.clone()),
                next_at,
            },
            CallOutcome::Succeeded,
            "accepted",
        ),
        SupplierBookingStatus::Canceled => {
            let failure = Failure::new("book_failed", "The supplier canceled the booking.");
            interpretation(
                Event::BookRefused(failure),
                CallOutcome::Rejected,
                "canceled at the supplier",
            )
        }
        SupplierBookingStatus::Failed(refusal) => interpretation(
            Event::BookRefused(booking_failure(refusal, SOLD_OUT)),
            CallOutcome::Rejected,
            refusal.message.clone(),
        ),
    };
    judgement.with_reference(&reference)
}

/// Interprets what reconciling a booking call found.
pub fn book_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = active_call(booking);
    let next_at = times.next_reconcile_at(leg);
    match answer {
        Ok(BookingLookup::Found(state)) => booking_state(*state, next_at),
        Ok(BookingLookup::NotFound) => {
            match classify_booking_absence(booking.payment_collector, leg, promises, times) {
                AbsenceMeaning::NeverExecuted => {
                    let failure = Failure::new("book_failed", "The supplier has no such booking.");
                    let why = "reconciled: not found, and reads are consistent";
                    interpretation(Event::BookRefused(failure), CallOutcome::Rejected, why)
                }
                AbsenceMeaning::SafeToRetry => interpretation(
                    Event::BookResendScheduled { at: next_at },
                    CallOutcome::NotSent,
                    RETRIED_EVIDENCE,
                ),
                AbsenceMeaning::Inconclusive => interpretation(
                    Event::BookUnresolved { next_at },
                    CallOutcome::Unknown,
                    NOT_FOUND_EVIDENCE,
                ),
            }
        }
        Err(error) => interpretation(
            Event::BookUnresolved { next_at },
            CallOutcome::Unknown,
            error.to_string(),
        ),
    }
}

/// Interprets the response to a cancellation.
pub fn cancel_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    refund: RefundId,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = active_call(booking);
    let next_at = times.next_reconcile_at(leg);
    match answer {
        Ok(state) => cancellation_state(booking, state, refund, next_at),
        Err(ChangeError::Refused(refusal)) => {
            let failure = Failure::new("cancel_refused", "The supplier refused the cancellation.");
            interpretation(
                Event::CancelRefused(failure),
                CallOutcome::Rejected,
                refusal.message,
            )
        }
        Err(ChangeError::Unsupported) => {
            let failure = Failure::new("cancel_refused", "The supplier does not cancel bookings.");
            interpretation(
                Event::CancelRefused(failure),
                CallOutcome::Rejected,
                "not supported",
            )
        }
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded),
        ) => interpretation(
            Event::CancelNotSent {
                retry_at: times.next_retry_at(leg),
            },
            CallOutcome::NotSent,
            error.to_string(),
        ),
        Err(ChangeError::Unknown(why)) => interpretation(
            Event::CancelUnresolved { next_at },
            CallOutcome::Unknown,
            why,
        ),
    }
}

fn cancellation_state(
    booking: &Booking,
    state: SupplierBooking,
    refund: RefundId,
    next_at: Timestamp,
) -> Interpretation<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match state.status {
        SupplierBookingStatus::Canceled => interpretation(
            Event::CancelSucceeded {
                supplier_booking: Box::new(state),
                refund,
            },
            CallOutcome::Succeeded,
            "canceled",
        ),
        SupplierBookingStatus::PartiallyCanceled if are_rooms_released(booking, &state) => {
            interpretation(
                Event::CancelSucceeded {
                    supplier_booking: Box::new(state),
                    refund,
                },
                CallOutcome::Succeeded,
                "rooms released",
            )
        }
        SupplierBookingStatus::CancelPending | SupplierBookingStatus::Pending => interpretation(
            Event::CancelAccepted { next_at },
            CallOutcome::Succeeded,
            "accepted",
        ),
        SupplierBookingStatus::Confirmed
        | SupplierBookingStatus::PartiallyCanceled
        | SupplierBookingStatus::Failed(_) => interpretation(
            Event::CancelUnresolved { next_at },
            CallOutcome::Unknown,
            "the supplier still shows the booking",
        ),
    };
    judgement.with_reference(&reference)
}

/// Returns whether every room that is being cancelled is cancelled at the supplier.
fn are_rooms_released(booking: &Booking, state: &SupplierBooking) -> bool {
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

/// Interprets what reconciling a cancellation found.
pub fn cancel_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    refund: RefundId,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = active_call(booking);
    let next_at = times.next_reconcile_at(leg);
    let state = match answer {
        Ok(BookingLookup::Found(state)) => *state,
        Ok(BookingLookup::NotFound) => {
            return interpretation(
                Event::CancelUnresolved { next_at },
                CallOutcome::Unknown,
                "reconciled: booking not found",
            );
        }
        Err(error) => {
            return interpretation(
                Event::CancelUnresolved { next_at },
                CallOutcome::Unknown,
                error.to_string(),
            );
        }
    };
    let stands = match state.status {
        SupplierBookingStatus::Confirmed => true,
        SupplierBookingStatus::PartiallyCanceled => !are_rooms_released(booking, &state),
        SupplierBookingStatus::Pending
        | SupplierBookingStatus::CancelPending
        | SupplierBookingStatus::Canceled
        | SupplierBookingStatus::Failed(_) => false,
    };
    if !stands {
        return cancellation_state(booking, state, refund, next_at);
    }
    match leg {
        Some(RemoteCall::Accepted { .. }) => {
            let failure = Failure::new("cancel_refused", "The supplier refused the cancellation.");
            interpretation(
                Event::CancelRefused(failure),
                CallOutcome::Rejected,
                "reconciled: the booking is still confirmed",
            )
        }
        _ if classify_absence(leg, promises, times) == AbsenceMeaning::NeverExecuted => {
            let failure = Failure::new(
                "cancel_failed",
                "The cancellation did not reach the supplier.",
            );
            interpretation(
                Event::CancelNotExecuted(failure),
                CallOutcome::Rejected,
                "reconciled: the booking is still confirmed, and reads are consistent",
            )
        }
        _ => interpretation(
            Event::CancelUnresolved { next_at },
            CallOutcome::Unknown,
            "reconciled: the booking is still confirmed, but the supplier may show the change later",
        ),
    }
}

/// Interprets the response to refreshing a booking. `cancellation` and `refund` become the ids of a
/// cancellation that the supplier made meanwhile.
pub fn refresh_response(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    cancellation: CancellationId,
    refund: RefundId,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = active_call(booking);
    let next_at = times.next_reconcile_at(leg);
    let again =
        |why: String| interpretation(Event::RefreshFailed { next_at }, CallOutcome::Unknown, why);
    match answer {
        Ok(BookingLookup::Found(state)) => {
            let event = Event::Refreshed {
                state,
                change_reported_at: change_reported_at(leg, times),
                cancellation,
                refund,
            };
            interpretation(event, CallOutcome::Succeeded, "refreshed")
        }
        Ok(BookingLookup::NotFound) => again("refreshed: booking not found".to_owned()),
        Err(error) => again(error.to_string()),
    }
}
