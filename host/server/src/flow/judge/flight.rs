//! What a flight supplier's answers mean for a booking.

#[cfg(test)]
mod tests;

use crate::flow::judge::{
    Absence, Judgement, NOT_FOUND, Outcome, Promises, REPEATED, Times, absence, absence_of_booking,
    book_failed, hinted_at, judged, may_have_happened,
};
use host_domain::booking::Failure;
use host_domain::flight::booking::{Booking, Event, State};
use host_domain::flight::supply::{BookingState, Found};
use host_domain::id::PaymentId;
use host_domain::leg::Leg;
use host_domain::supplier::{BookingStatus, ChangeError, ReadError, RefusalReason};
use host_domain::time::Timestamp;

const SOLD_OUT: &str = "The airline has no seat left at this fare.";

fn leg(booking: &Booking) -> Option<&Leg> {
    match &booking.state {
        State::CompleteInProgress { book } => Some(book),
        State::CancelInProgress { cancel } => Some(cancel),
        State::Confirmed { reread } => reread.as_ref(),
        State::Created
        | State::PrebookInProgress { .. }
        | State::ReadyForComplete
        | State::Canceled
        | State::Failed
        | State::Expired => None,
    }
}

/// The answer to booking. `payment` will be the id of what the supplier collected.
pub(crate) fn booked(
    booking: &Booking,
    answer: Result<BookingState, ChangeError>,
    payment: PaymentId,
    times: Times<'_>,
) -> Judgement<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    match answer {
        Ok(state) => booked_state(state, payment, next_at),
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::PaymentRequired => {
            let why = refusal.message;
            judged(Event::CheckoutNotCompleted, Outcome::Refused, why)
        }
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // Perhaps it is ours: only reading back tells.
            let event = Event::BookChecked { next_at: times.now };
            judged(event, Outcome::Unknown, refusal.message)
        }
        Err(ChangeError::Refused(refusal)) => {
            let event = Event::BookRefused(book_failed(&refusal, SOLD_OUT));
            judged(event, Outcome::Refused, refusal.message)
        }
        Err(ChangeError::Unknown(why)) => {
            judged(Event::BookChecked { next_at }, Outcome::Unknown, why)
        }
        Err(error) if may_have_happened(leg) => {
            let event = Event::BookChecked { next_at };
            judged(event, Outcome::Unknown, error.to_string())
        }
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded
            | ChangeError::Unsupported),
        ) => judged(Event::BookNotSent, Outcome::NotSent, error.to_string()),
    }
}

fn booked_state(state: BookingState, payment: PaymentId, next_at: Timestamp) -> Judgement<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match &state.status {
        BookingStatus::Confirmed => {
            let state = Box::new(state);
            let event = Event::BookConfirmed { state, payment };
            judged(event, Outcome::Done, "confirmed")
        }
        // Of a ticket there are no parts: whatever is not final is pending.
        BookingStatus::Pending
        | BookingStatus::CancelPending
        | BookingStatus::PartiallyCanceled => {
            let event = Event::BookPending {
                supplier_reference: Some(reference.clone()).filter(|known| !known.is_empty()),
                next_at,
            };
            judged(event, Outcome::Done, "accepted")
        }
        BookingStatus::Canceled => {
            let failure = Failure::new("book_failed", "The supplier canceled the booking.");
            let event = Event::BookRefused(failure);
            judged(event, Outcome::Refused, "canceled at the supplier")
        }
        BookingStatus::Failed(refusal) => {
            let event = Event::BookRefused(book_failed(refusal, SOLD_OUT));
            judged(event, Outcome::Refused, refusal.message.clone())
        }
    };
    judgement.with_reference(&reference)
}

/// What reading back a booking found.
pub(crate) fn found(
    booking: &Booking,
    answer: Result<Found, ReadError>,
    payment: PaymentId,
    promises: Promises,
    times: Times<'_>,
) -> Judgement<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    let unknown = |why: String| judged(Event::BookChecked { next_at }, Outcome::Unknown, why);
    match answer {
        Ok(Found::Booking(state)) => booked_state(*state, payment, next_at),
        Ok(Found::Nothing) => match absence_of_booking(booking.settlement, leg, promises, times) {
            Absence::Proof => {
                let failure = Failure::new("book_failed", "The supplier has no such booking.");
                let why = "read back: not found, and reads are consistent";
                judged(Event::BookRefused(failure), Outcome::Refused, why)
            }
            Absence::Repeat => judged(
                Event::BookRepeated { at: next_at },
                Outcome::NotSent,
                REPEATED,
            ),
            Absence::Nothing => unknown(NOT_FOUND.to_owned()),
        },
        Err(error) => unknown(error.to_string()),
    }
}

fn cancel_refused(description: &str, why: impl Into<String>) -> Judgement<Event> {
    let failure = Failure::new("cancel_refused", description);
    judged(Event::CancelRefused(failure), Outcome::Refused, why)
}

const REFUSED: &str = "The supplier refused the cancellation.";

/// The answer to a cancellation.
pub(crate) fn canceled(
    booking: &Booking,
    answer: Result<BookingState, ChangeError>,
    times: Times<'_>,
) -> Judgement<Event> {
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
            judged(event, Outcome::NotSent, error.to_string())
        }
        Err(ChangeError::Unknown(why)) => {
            judged(Event::CancelChecked { next_at }, Outcome::Unknown, why)
        }
    }
}

fn canceled_state(state: BookingState, next_at: Timestamp) -> Judgement<Event> {
    let reference = state.supplier_reference.clone();
    let judgement = match state.status {
        BookingStatus::Canceled => {
            let why = match &state.cancellation {
                Some(_) => "canceled",
                None => "canceled, without readable amounts",
            };
            judged(Event::CancelDone(Box::new(state)), Outcome::Done, why)
        }
        BookingStatus::CancelPending | BookingStatus::Pending => {
            judged(Event::CancelPending { next_at }, Outcome::Done, "accepted")
        }
        BookingStatus::Confirmed | BookingStatus::PartiallyCanceled | BookingStatus::Failed(_) => {
            let why = "the supplier still shows the booking";
            judged(Event::CancelChecked { next_at }, Outcome::Unknown, why)
        }
    };
    judgement.with_reference(&reference)
}

/// What reading back a booking that is being cancelled found.
pub(crate) fn found_canceling(
    booking: &Booking,
    answer: Result<Found, ReadError>,
    promises: Promises,
    times: Times<'_>,
) -> Judgement<Event> {
    let leg = leg(booking);
    let next_at = times.recheck(leg);
    let unknown = |why: String| judged(Event::CancelChecked { next_at }, Outcome::Unknown, why);
    let state = match answer {
        Ok(Found::Booking(state)) => *state,
        Ok(Found::Nothing) => return unknown("read back: booking not found".to_owned()),
        Err(error) => return unknown(error.to_string()),
    };
    if state.status != BookingStatus::Confirmed {
        return canceled_state(state, next_at);
    }
    match leg {
        Some(Leg::Pending { .. }) => cancel_refused(REFUSED, "read back: the booking stands"),
        _ if absence(leg, promises, times) == Absence::Proof => {
            let failure = Failure::new(
                "cancel_failed",
                "The cancellation did not reach the supplier.",
            );
            let why = "read back: the booking stands, and reads are consistent";
            judged(Event::CancelLost(failure), Outcome::Refused, why)
        }
        _ => unknown("read back: the booking stands, which proves nothing yet".to_owned()),
    }
}

fn purchase_failed(description: &str) -> Event {
    Event::PurchaseRefused(Failure::new("purchase_failed", description))
}

fn purchase_leg(booking: &Booking) -> Option<&Leg> {
    booking.open_purchase().and_then(|purchase| purchase.leg())
}

/// The answer to buying extras.
pub(crate) fn bought(
    booking: &Booking,
    answer: Result<BookingState, ChangeError>,
    times: Times<'_>,
) -> Judgement<Event> {
    let leg = purchase_leg(booking);
    let next_at = times.recheck(leg);
    let unknown = |why: String| judged(Event::PurchaseChecked { next_at }, Outcome::Unknown, why);
    match answer {
        Ok(state) => match carries(booking, &state) {
            true => judged(
                Event::PurchaseDone(Box::new(state)),
                Outcome::Done,
                "bought",
            ),
            false => unknown("the answer does not show what was bought".to_owned()),
        },
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // Our own reference, known there already: only reading back tells.
            let event = Event::PurchaseChecked { next_at: times.now };
            judged(event, Outcome::Unknown, refusal.message)
        }
        Err(ChangeError::Refused(refusal)) => {
            let event = purchase_failed("The supplier refused to sell the extras.");
            judged(event, Outcome::Refused, refusal.message)
        }
        Err(ChangeError::Unknown(why)) => unknown(why),
        Err(error) if may_have_happened(leg) => unknown(error.to_string()),
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded
            | ChangeError::Unsupported),
        ) => judged(Event::PurchaseNotSent, Outcome::NotSent, error.to_string()),
    }
}

/// What reading back a booking found whose extras are being bought.
pub(crate) fn found_purchase(
    booking: &Booking,
    answer: Result<Found, ReadError>,
    promises: Promises,
    times: Times<'_>,
) -> Judgement<Event> {
    let leg = purchase_leg(booking);
    let next_at = times.recheck(leg);
    let unknown = |why: String| judged(Event::PurchaseChecked { next_at }, Outcome::Unknown, why);
    match answer {
        Ok(Found::Booking(state)) if carries(booking, &state) => {
            let event = Event::PurchaseDone(state);
            judged(event, Outcome::Done, "read back: bought")
        }
        Ok(Found::Booking(_)) => match absence(leg, promises, times) {
            Absence::Proof => {
                let event = purchase_failed("The supplier did not sell the extras.");
                let why = "read back: not on the ticket, and reads are consistent";
                judged(event, Outcome::Refused, why)
            }
            Absence::Repeat => {
                let event = Event::PurchaseRepeated { at: next_at };
                judged(event, Outcome::NotSent, REPEATED)
            }
            Absence::Nothing => unknown(NOT_FOUND.to_owned()),
        },
        Ok(Found::Nothing) => unknown("read back: booking not found".to_owned()),
        Err(error) => unknown(error.to_string()),
    }
}

fn carries(booking: &Booking, state: &BookingState) -> bool {
    let purchase = booking.open_purchase();
    purchase.is_some_and(|purchase| booking.is_on_ticket(purchase, state))
}

/// What reading a ticket anew found.
pub(crate) fn reread(
    booking: &Booking,
    answer: Result<Found, ReadError>,
    times: Times<'_>,
) -> Judgement<Event> {
    let next_at = times.recheck(leg(booking));
    let again = |why: String| judged(Event::RereadFailed { next_at }, Outcome::Unknown, why);
    match answer {
        Ok(Found::Booking(state)) => {
            let hinted_at = hinted_at(leg(booking), times);
            let event = Event::Reread { state, hinted_at };
            judged(event, Outcome::Done, "read anew")
        }
        Ok(Found::Nothing) => again("read anew: booking not found".to_owned()),
        Err(error) => again(error.to_string()),
    }
}
