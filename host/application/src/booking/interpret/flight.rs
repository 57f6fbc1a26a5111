//! Interprets a flight supplier's responses.

#[cfg(test)]
mod tests;

use crate::booking::interpret::{
    AbsenceMeaning, CallOutcome, Interpretation, NOT_FOUND_EVIDENCE, RETRIED_EVIDENCE,
    ScheduleContext, SupplierGuarantees, booking_failure, change_reported_at, classify_absence,
    classify_booking_absence, interpretation, may_have_been_executed,
};
use host_domain::booking::Failure;
use host_domain::flight::booking::{Booking, Event, State};
use host_domain::flight::supplier_api::{BookingLookup, SupplierBooking};
use host_domain::id::PaymentId;
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::{ChangeError, ReadError, RefusalReason, SupplierBookingStatus};
use host_domain::time::Timestamp;

const SOLD_OUT: &str = "The airline has no seat left at this fare.";

fn active_call(booking: &Booking) -> Option<&RemoteCall> {
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

/// Interprets the response to a booking call. `payment` becomes the id of the payment that the
/// supplier collected.
pub fn book_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    payment: PaymentId,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = active_call(booking);
    let next_at = times.next_reconcile_at(leg);
    match answer {
        Ok(state) => booking_state(state, payment, next_at),
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::PaymentRequired => {
            let why = refusal.message;
            interpretation(Event::CheckoutNotCompleted, CallOutcome::Rejected, why)
        }
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // The duplicate may be this booking; reconciling shows whether it is.
            let event = Event::BookUnresolved { next_at: times.now };
            interpretation(event, CallOutcome::Unknown, refusal.message)
        }
        Err(ChangeError::Refused(refusal)) => {
            let event = Event::BookRefused(booking_failure(&refusal, SOLD_OUT));
            interpretation(event, CallOutcome::Rejected, refusal.message)
        }
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

fn booking_state(
    state: SupplierBooking,
    payment: PaymentId,
    next_at: Timestamp,
) -> Interpretation<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match &state.status {
        SupplierBookingStatus::Confirmed => {
            let state = Box::new(state);
            let event = Event::BookConfirmed { state, payment };
            interpretation(event, CallOutcome::Succeeded, "confirmed")
        }
        // A ticket has no parts, so every status that is not final counts as accepted.
        SupplierBookingStatus::Pending
        | SupplierBookingStatus::CancelPending
        | SupplierBookingStatus::PartiallyCanceled => {
            let event = Event::BookAccepted {
                supplier_reference: Some(reference.clone()).filter(|known| !known.is_empty()),
                next_at,
            };
            interpretation(event, CallOutcome::Succeeded, "accepted")
        }
        SupplierBookingStatus::Canceled => {
            let failure = Failure::new("book_failed", "The supplier canceled the booking.");
            let event = Event::BookRefused(failure);
            interpretation(event, CallOutcome::Rejected, "canceled at the supplier")
        }
        SupplierBookingStatus::Failed(refusal) => {
            let event = Event::BookRefused(booking_failure(refusal, SOLD_OUT));
            interpretation(event, CallOutcome::Rejected, refusal.message.clone())
        }
    };
    judgement.with_reference(&reference)
}

/// Interprets what reconciling a booking call found.
pub fn book_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    payment: PaymentId,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = active_call(booking);
    let next_at = times.next_reconcile_at(leg);
    let unknown =
        |why: String| interpretation(Event::BookUnresolved { next_at }, CallOutcome::Unknown, why);
    match answer {
        Ok(BookingLookup::Found(state)) => booking_state(*state, payment, next_at),
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
                AbsenceMeaning::Inconclusive => unknown(NOT_FOUND_EVIDENCE.to_owned()),
            }
        }
        Err(error) => unknown(error.to_string()),
    }
}

fn cancel_refused(description: &str, why: impl Into<String>) -> Interpretation<Event> {
    let failure = Failure::new("cancel_refused", description);
    interpretation(Event::CancelRefused(failure), CallOutcome::Rejected, why)
}

const REFUSED: &str = "The supplier refused the cancellation.";

/// Interprets the response to a cancellation.
pub fn cancel_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = active_call(booking);
    let next_at = times.next_reconcile_at(leg);
    match answer {
        Ok(state) => cancellation_state(state, next_at),
        Err(ChangeError::Refused(refusal)) => cancel_refused(REFUSED, refusal.message),
        Err(ChangeError::Unsupported) => {
            cancel_refused("The supplier does not cancel bookings.", "not supported")
        }
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded),
        ) => {
            let retry_at = times.next_retry_at(leg);
            let event = Event::CancelNotSent { retry_at };
            interpretation(event, CallOutcome::NotSent, error.to_string())
        }
        Err(ChangeError::Unknown(why)) => interpretation(
            Event::CancelUnresolved { next_at },
            CallOutcome::Unknown,
            why,
        ),
    }
}

fn cancellation_state(state: SupplierBooking, next_at: Timestamp) -> Interpretation<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match state.status {
        SupplierBookingStatus::Canceled => {
            let why = match &state.cancellation {
                Some(_) => "canceled",
                None => "canceled, without readable amounts",
            };
            interpretation(
                Event::CancelSucceeded(Box::new(state)),
                CallOutcome::Succeeded,
                why,
            )
        }
        SupplierBookingStatus::CancelPending | SupplierBookingStatus::Pending => interpretation(
            Event::CancelAccepted { next_at },
            CallOutcome::Succeeded,
            "accepted",
        ),
        SupplierBookingStatus::Confirmed
        | SupplierBookingStatus::PartiallyCanceled
        | SupplierBookingStatus::Failed(_) => {
            let why = "the supplier still shows the booking";
            interpretation(
                Event::CancelUnresolved { next_at },
                CallOutcome::Unknown,
                why,
            )
        }
    };
    judgement.with_reference(&reference)
}

/// Interprets what reconciling a cancellation found.
pub fn cancel_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = active_call(booking);
    let next_at = times.next_reconcile_at(leg);
    let unknown = |why: String| {
        interpretation(
            Event::CancelUnresolved { next_at },
            CallOutcome::Unknown,
            why,
        )
    };
    let state = match answer {
        Ok(BookingLookup::Found(state)) => *state,
        Ok(BookingLookup::NotFound) => return unknown("reconciled: booking not found".to_owned()),
        Err(error) => return unknown(error.to_string()),
    };
    if state.status != SupplierBookingStatus::Confirmed {
        return cancellation_state(state, next_at);
    }
    match leg {
        Some(RemoteCall::Accepted { .. }) => cancel_refused(REFUSED, "reconciled: the booking is still confirmed"),
        _ if classify_absence(leg, promises, times) == AbsenceMeaning::NeverExecuted => {
            let failure = Failure::new(
                "cancel_failed",
                "The cancellation did not reach the supplier.",
            );
            let why = "reconciled: the booking is still confirmed, and reads are consistent";
            interpretation(Event::CancelNotExecuted(failure), CallOutcome::Rejected, why)
        }
        _ => unknown("reconciled: the booking is still confirmed, but the supplier may show the change later".to_owned()),
    }
}

fn purchase_failed(description: &str) -> Event {
    Event::PurchaseRefused(Failure::new("purchase_failed", description))
}

fn purchase_call(booking: &Booking) -> Option<&RemoteCall> {
    booking.open_purchase().and_then(|purchase| purchase.call())
}

/// Interprets the response to a purchase of extras.
pub fn purchase_response(
    booking: &Booking,
    answer: Result<SupplierBooking, ChangeError>,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = purchase_call(booking);
    let next_at = times.next_reconcile_at(leg);
    let unknown = |why: String| {
        interpretation(
            Event::PurchaseUnresolved { next_at },
            CallOutcome::Unknown,
            why,
        )
    };
    match answer {
        Ok(state) => match is_purchase_on_ticket(booking, &state) {
            true => interpretation(
                Event::PurchaseSucceeded(Box::new(state)),
                CallOutcome::Succeeded,
                "bought",
            ),
            false => unknown("the response does not show what was bought".to_owned()),
        },
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // The supplier already knows the gateway's own reference; reconciling shows the
            // outcome.
            let event = Event::PurchaseUnresolved { next_at: times.now };
            interpretation(event, CallOutcome::Unknown, refusal.message)
        }
        Err(ChangeError::Refused(refusal)) => {
            let event = purchase_failed("The supplier refused to sell the extras.");
            interpretation(event, CallOutcome::Rejected, refusal.message)
        }
        Err(ChangeError::Unknown(why)) => unknown(why),
        Err(error) if may_have_been_executed(leg) => unknown(error.to_string()),
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded
            | ChangeError::Unsupported),
        ) => interpretation(
            Event::PurchaseNotSent,
            CallOutcome::NotSent,
            error.to_string(),
        ),
    }
}

/// Interprets what reconciling a purchase of extras found.
pub fn purchase_lookup(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let leg = purchase_call(booking);
    let next_at = times.next_reconcile_at(leg);
    let unknown = |why: String| {
        interpretation(
            Event::PurchaseUnresolved { next_at },
            CallOutcome::Unknown,
            why,
        )
    };
    match answer {
        Ok(BookingLookup::Found(state)) if is_purchase_on_ticket(booking, &state) => {
            let event = Event::PurchaseSucceeded(state);
            interpretation(event, CallOutcome::Succeeded, "reconciled: bought")
        }
        Ok(BookingLookup::Found(_)) => match classify_absence(leg, promises, times) {
            AbsenceMeaning::NeverExecuted => {
                let event = purchase_failed("The supplier did not sell the extras.");
                let why = "reconciled: not on the ticket, and reads are consistent";
                interpretation(event, CallOutcome::Rejected, why)
            }
            AbsenceMeaning::SafeToRetry => {
                let event = Event::PurchaseResendScheduled { at: next_at };
                interpretation(event, CallOutcome::NotSent, RETRIED_EVIDENCE)
            }
            AbsenceMeaning::Inconclusive => unknown(NOT_FOUND_EVIDENCE.to_owned()),
        },
        Ok(BookingLookup::NotFound) => unknown("reconciled: booking not found".to_owned()),
        Err(error) => unknown(error.to_string()),
    }
}

fn is_purchase_on_ticket(booking: &Booking, state: &SupplierBooking) -> bool {
    let purchase = booking.open_purchase();
    purchase.is_some_and(|purchase| booking.is_on_ticket(purchase, state))
}

/// Interprets the response to refreshing a ticket.
pub fn refresh_response(
    booking: &Booking,
    answer: Result<BookingLookup, ReadError>,
    times: ScheduleContext<'_>,
) -> Interpretation<Event> {
    let next_at = times.next_reconcile_at(active_call(booking));
    let again =
        |why: String| interpretation(Event::RefreshFailed { next_at }, CallOutcome::Unknown, why);
    match answer {
        Ok(BookingLookup::Found(state)) => {
            let hinted_at = change_reported_at(active_call(booking), times);
            let event = Event::Refreshed {
                state,
                change_reported_at: hinted_at,
            };
            interpretation(event, CallOutcome::Succeeded, "refreshed")
        }
        Ok(BookingLookup::NotFound) => again("refreshed: booking not found".to_owned()),
        Err(error) => again(error.to_string()),
    }
}
