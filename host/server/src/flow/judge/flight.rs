//! What a flight supplier's answers mean for a booking.

#[cfg(test)]
mod tests;

use crate::flow::judge::{
    Absence, Interpretation, NOT_FOUND, CallOutcome, SupplierGuarantees, REPEATED, ScheduleContext, absence, absence_of_booking,
    book_failed, hinted_at, judged, may_have_happened,
};
use host_domain::booking::Failure;
use host_domain::flight::booking::{Booking, Event, State};
use host_domain::flight::supply::{SupplierBooking, BookingLookup};
use host_domain::id::PaymentId;
use host_domain::leg::RemoteCall;
use host_domain::supplier::{SupplierBookingStatus, ChangeError, ReadError, RefusalReason};
use host_domain::time::Timestamp;

const SOLD_OUT: &str = "The airline has no seat left at this fare.";

fn leg(booking: &Booking) -> Option<&RemoteCall> {
    match &booking.state {
        State::CompleteInProgress { book } => Some(book),
        State::CancelInProgress { cancel } => Some(cancel),
        State::Confirmed { refresh: reread } => reread.as_ref(),
        State::Created
        | State::PrebookInProgress { .. }
        | State::ReadyForComplete
        | State::Canceled
        | State::Failed
        | State::Expired => None,
    }
}

/// The answer to booking. `payment` will be the id of what the supplier collected.
pub(crate) fn book_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    payment: PaymentId,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    match answer {
        Ok(state) => booked_state(state, payment, next_at),
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::PaymentRequired => {
            let why = refusal.message;
            judged(Event::CheckoutNotCompleted, CallOutcome::Rejected, why)
        }
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // Perhaps it is ours: only reading back tells.
            let event = Event::BookUnresolved { next_at: times.now };
            judged(event, CallOutcome::Unknown, refusal.message)
        }
        Err(ChangeError::Refused(refusal)) => {
            let event = Event::BookRefused(book_failed(&refusal, SOLD_OUT));
            judged(event, CallOutcome::Rejected, refusal.message)
        }
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

fn booked_state(state: SupplierBooking, payment: PaymentId, next_at: Timestamp) -> Interpretation<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match &state.status {
        SupplierBookingStatus::Confirmed => {
            let state = Box::new(state);
            let event = Event::BookConfirmed { state, payment };
            judged(event, CallOutcome::Succeeded, "confirmed")
        }
        // Of a ticket there are no parts: whatever is not final is pending.
        SupplierBookingStatus::Pending
        | SupplierBookingStatus::CancelPending
        | SupplierBookingStatus::PartiallyCanceled => {
            let event = Event::BookAccepted {
                supplier_reference: Some(reference.clone()).filter(|known| !known.is_empty()),
                next_at,
            };
            judged(event, CallOutcome::Succeeded, "accepted")
        }
        SupplierBookingStatus::Canceled => {
            let failure = Failure::new("book_failed", "The supplier canceled the booking.");
            let event = Event::BookRefused(failure);
            judged(event, CallOutcome::Rejected, "canceled at the supplier")
        }
        SupplierBookingStatus::Failed(refusal) => {
            let event = Event::BookRefused(book_failed(refusal, SOLD_OUT));
            judged(event, CallOutcome::Rejected, refusal.message.clone())
        }
    };
    judgement.with_reference(&reference)
}

/// What reading back a booking found.
pub(crate) fn book_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    payment: PaymentId,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    let unknown = |why: String| judged(Event::BookUnresolved { next_at }, CallOutcome::Unknown, why);
    match answer {
        Ok(BookingLookup::Found(state)) => booked_state(*state, payment, next_at),
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
            Absence::Nothing => unknown(NOT_FOUND.to_owned()),
        },
        Err(error) => unknown(error.to_string()),
    }
}

fn cancel_refused(description: &str, why: impl Into<String>) -> Interpretation<Event> {
    let failure = Failure::new("cancel_refused", description);
    judged(Event::CancelRefused(failure), CallOutcome::Rejected, why)
}

const REFUSED: &str = "The supplier refused the cancellation.";

/// The answer to a cancellation.
pub(crate) fn cancel_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    match answer {
        Ok(state) => canceled_state(state, next_at),
        Err(ChangeError::Refused(refusal)) => cancel_refused(REFUSED, refusal.message),
        Err(ChangeError::Unsupported) => {
            cancel_refused("The supplier does not cancel bookings.", "not supported")
        }
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded),
        ) => {
            let retry_at = times.retry(leg);
            let event = Event::CancelNotSent { retry_at };
            judged(event, CallOutcome::NotSent, error.to_string())
        }
        Err(ChangeError::Unknown(why)) => {
            judged(Event::CancelUnresolved { next_at }, CallOutcome::Unknown, why)
        }
    }
}

fn canceled_state(state: SupplierBooking, next_at: Timestamp) -> Interpretation<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match state.status {
        SupplierBookingStatus::Canceled => {
            let why = match &state.cancellation {
                Some(_) => "canceled",
                None => "canceled, without readable amounts",
            };
            judged(Event::CancelSucceeded(Box::new(state)), CallOutcome::Succeeded, why)
        }
        SupplierBookingStatus::CancelPending | SupplierBookingStatus::Pending => {
            judged(Event::CancelAccepted { next_at }, CallOutcome::Succeeded, "accepted")
        }
        SupplierBookingStatus::Confirmed | SupplierBookingStatus::PartiallyCanceled | SupplierBookingStatus::Failed(_) => {
            let why = "the supplier still shows the booking";
            judged(Event::CancelUnresolved { next_at }, CallOutcome::Unknown, why)
        }
    };
    judgement.with_reference(&reference)
}

/// What reading back a booking that is being cancelled found.
pub(crate) fn cancel_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    let unknown = |why: String| judged(Event::CancelUnresolved { next_at }, CallOutcome::Unknown, why);
    let state = match answer {
        Ok(BookingLookup::Found(state)) => *state,
        Ok(BookingLookup::NotFound) => return unknown("read back: booking not found".to_owned()),
        Err(error) => return unknown(error.to_string()),
    };
    if state.status != SupplierBookingStatus::Confirmed {
        return canceled_state(state, next_at);
    }
    match leg {
        Some(RemoteCall::Accepted { .. }) => cancel_refused(REFUSED, "read back: the booking stands"),
        _ if absence(leg, promises, times) == Absence::Proof => {
            let failure = Failure::new(
                "cancel_failed",
                "The cancellation did not reach the supplier.",
            );
            let why = "read back: the booking stands, and reads are consistent";
            judged(Event::CancelNotExecuted(failure), CallOutcome::Rejected, why)
        }
        _ => unknown("read back: the booking stands, which proves nothing yet".to_owned()),
    }
}

fn purchase_failed(description: &str) -> Event {
    Event::PurchaseRefused(Failure::new("purchase_failed", description))
}

fn purchase_leg(booking: &Booking) -> Option<&RemoteCall> {
    booking.open_purchase().and_then(|purchase| purchase.call())
}

/// The answer to buying extras.
pub(crate) fn purchase_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = purchase_leg(booking);
    let next_at = times.recheck(leg);
    let unknown = |why: String| judged(Event::PurchaseUnresolved { next_at }, CallOutcome::Unknown, why);
    match answer {
        Ok(state) => match carries(booking, &state) {
            true => judged(
                Event::PurchaseSucceeded(Box::new(state)),
                CallOutcome::Succeeded,
                "bought",
            ),
            false => unknown("the answer does not show what was bought".to_owned()),
        },
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // Our own reference, known there already: only reading back tells.
            let event = Event::PurchaseUnresolved { next_at: times.now };
            judged(event, CallOutcome::Unknown, refusal.message)
        }
        Err(ChangeError::Refused(refusal)) => {
            let event = purchase_failed("The supplier refused to sell the extras.");
            judged(event, CallOutcome::Rejected, refusal.message)
        }
        Err(ChangeError::Unknown(why)) => unknown(why),
        Err(error) if may_have_happened(leg) => unknown(error.to_string()),
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded
            | ChangeError::Unsupported),
        ) => judged(Event::PurchaseNotSent, CallOutcome::NotSent, error.to_string()),
    }
}

/// What reading back a booking found whose extras are being bought.
pub(crate) fn purchase_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = purchase_leg(booking);
    let next_at = times.recheck(leg);
    let unknown = |why: String| judged(Event::PurchaseUnresolved { next_at }, CallOutcome::Unknown, why);
    match answer {
        Ok(BookingLookup::Found(state)) if carries(booking, &state) => {
            let event = Event::PurchaseSucceeded(state);
            judged(event, CallOutcome::Succeeded, "read back: bought")
        }
        Ok(BookingLookup::Found(_)) => match absence(leg, promises, times) {
            Absence::Proof => {
                let event = purchase_failed("The supplier did not sell the extras.");
                let why = "read back: not on the ticket, and reads are consistent";
                judged(event, CallOutcome::Rejected, why)
            }
            Absence::Repeat => {
                let event = Event::PurchaseResendScheduled { at: next_at };
                judged(event, CallOutcome::NotSent, REPEATED)
            }
            Absence::Nothing => unknown(NOT_FOUND.to_owned()),
        },
        Ok(BookingLookup::NotFound) => unknown("read back: booking not found".to_owned()),
        Err(error) => unknown(error.to_string()),
    }
}

fn carries(booking: &Booking, state: &SupplierBooking) -> bool {
    let purchase = booking.open_purchase();
    purchase.is_some_and(|purchase| booking.is_on_ticket(purchase, state))
}

/// What reading a ticket anew found.
pub(crate) fn refresh_response(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let next_at = times.recheck(leg(booking));
    let again = |why: String| judged(Event::RefreshFailed { next_at }, CallOutcome::Unknown, why);
    match answer {
        Ok(BookingLookup::Found(state)) => {
            let hinted_at = hinted_at(leg(booking), times);
            let event = Event::Refreshed { state, change_reported_at: hinted_at };
            judged(event, CallOutcome::Succeeded, "read anew")
        }
        Ok(BookingLookup::NotFound) => again("read anew: booking not found".to_owned()),
        Err(error) => again(error.to_string()),
    }
}
