//! From what a supplier or processor answered to what that means for a
//! booking. Pure: the whole mapping can be read and tested here.

mod payment;
#[cfg(test)]
mod tests;

pub(crate) use payment::{authorized, captured, found_payment, found_refund, refunded, voided};

use host_domain::hotel::booking::{Booking, CancellationStatus, Event, Failure, State};
use host_domain::hotel::supply::{BookingState, Found};
use host_domain::id::RefundId;
use host_domain::leg::{Leg, Schedule};
use host_domain::supplier::{BookingStatus, ChangeError, ReadError, Refusal, RefusalReason};
use host_domain::time::Timestamp;

/// How an attempt is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The answer is final, or accepted.
    Done,
    /// A definite no.
    Refused,
    /// Nothing left.
    NotSent,
    /// Nobody knows.
    Unknown,
}

impl Outcome {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::NotSent => "not_sent",
            Self::Unknown => "unknown",
        }
    }
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judgement {
    /// What happens to the booking.
    pub(crate) event: Event,
    /// How the attempt ends.
    pub(crate) outcome: Outcome,
    /// One sentence for operators, without personal data.
    pub(crate) evidence: String,
    /// The other side's id, where it gave one.
    pub(crate) reference: Option<String>,
}

/// When things are looked at again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times<'a> {
    pub(crate) now: Timestamp,
    pub(crate) reconcile: &'a Schedule,
    pub(crate) capture_retry: &'a Schedule,
}

impl Times<'_> {
    fn recheck(&self, leg: Option<&Leg>) -> Timestamp {
        let since = match leg {
            Some(Leg::Sent { since, .. } | Leg::Pending { since, .. }) => *since,
            Some(Leg::Due { .. }) | None => self.now,
        };
        self.reconcile.next_after(since, self.now)
    }

    fn retry(&self, leg: Option<&Leg>) -> Timestamp {
        self.capture_retry
            .retry_at(leg.map_or(0, Leg::tries), self.now)
    }
}

fn judged(event: Event, outcome: Outcome, evidence: impl Into<String>) -> Judgement {
    Judgement {
        event,
        outcome,
        evidence: evidence.into(),
        reference: None,
    }
}

impl Judgement {
    fn with_reference(self, reference: &str) -> Self {
        Self {
            reference: Some(reference.to_owned()),
            ..self
        }
    }
}

fn book_leg(booking: &Booking) -> Option<&Leg> {
    match &booking.state {
        State::CompleteInProgress { book } => Some(book),
        State::CancelInProgress { cancel, .. } => Some(cancel),
        State::Created
        | State::PrebookInProgress { .. }
        | State::ReadyForComplete
        | State::Confirmed
        | State::PartiallyCanceled
        | State::Canceled
        | State::Failed
        | State::Expired => None,
    }
}

fn book_failed(refusal: &Refusal) -> Failure {
    let description = match &refusal.reason {
        RefusalReason::Unavailable => "The supplier has no room left.",
        RefusalReason::Expired => "The supplier no longer accepts the offer.",
        RefusalReason::PriceChanged(_) => "The supplier asks another price.",
        RefusalReason::TermsChanged => "The supplier's terms changed.",
        RefusalReason::PaymentRequired | RefusalReason::PaymentDeclined => {
            "The supplier could not take the payment."
        }
        RefusalReason::Invalid => "The supplier does not accept the data.",
        RefusalReason::Duplicate => "The supplier already has this booking.",
        RefusalReason::NotCancellable | RefusalReason::Account | RefusalReason::Other(_) => {
            "The supplier refused the booking."
        }
    };
    Failure {
        code: "book_failed".to_owned(),
        description: description.to_owned(),
    }
}

fn cancel_failure(code: &str, description: &str) -> Failure {
    Failure {
        code: code.to_owned(),
        description: description.to_owned(),
    }
}

/// The answer to booking.
pub(crate) fn booked(
    booking: &Booking,
    answer: Result<BookingState, ChangeError>,
    times: Times<'_>,
) -> Judgement {
    let next_at = times.recheck(book_leg(booking));
    match answer {
        Ok(state) => booked_state(state, next_at),
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::PaymentRequired => {
            judged(
                Event::CheckoutNotCompleted,
                Outcome::Refused,
                refusal.message,
            )
        }
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // Our own reference, known there already: only reading back tells whose it is.
            judged(
                Event::BookChecked { next_at: times.now },
                Outcome::Unknown,
                refusal.message,
            )
        }
        Err(ChangeError::Refused(refusal)) => judged(
            Event::BookRefused(book_failed(&refusal)),
            Outcome::Refused,
            refusal.message,
        ),
        Err(
            error @ (ChangeError::NotSent(_) | ChangeError::Overloaded | ChangeError::Unsupported),
        ) => judged(Event::BookNotSent, Outcome::NotSent, error.to_string()),
        Err(ChangeError::Unknown(why)) => {
            judged(Event::BookChecked { next_at }, Outcome::Unknown, why)
        }
    }
}

fn booked_state(state: BookingState, next_at: Timestamp) -> Judgement {
    let reference = state.supplier_reference.clone();
    let judgement = match &state.status {
        BookingStatus::Confirmed | BookingStatus::PartiallyCanceled => judged(
            Event::BookConfirmed(Box::new(state)),
            Outcome::Done,
            "confirmed",
        ),
        BookingStatus::Pending | BookingStatus::CancelPending => judged(
            Event::BookPending {
                supplier_reference: Some(reference.clone()),
                next_at,
            },
            Outcome::Done,
            "accepted",
        ),
        BookingStatus::Canceled => {
            let failure = cancel_failure("book_failed", "The supplier canceled the booking.");
            judged(
                Event::BookRefused(failure),
                Outcome::Refused,
                "canceled at the supplier",
            )
        }
        BookingStatus::Failed(refusal) => judged(
            Event::BookRefused(book_failed(refusal)),
            Outcome::Refused,
            refusal.message.clone(),
        ),
    };
    judgement.with_reference(&reference)
}

/// What reading back a booking found.
pub(crate) fn found(
    booking: &Booking,
    answer: Result<Found, ReadError>,
    consistent_after_ms: Option<u32>,
    times: Times<'_>,
) -> Judgement {
    let leg = book_leg(booking);
    let next_at = times.recheck(leg);
    match answer {
        Ok(Found::Booking(state)) => booked_state(*state, next_at),
        Ok(Found::Nothing) if is_proof(leg, consistent_after_ms, times.now) => {
            let failure = cancel_failure("book_failed", "The supplier has no such booking.");
            judged(
                Event::BookRefused(failure),
                Outcome::Refused,
                "read back: not found, and reads are consistent",
            )
        }
        Ok(Found::Nothing) => judged(
            Event::BookChecked { next_at },
            Outcome::Unknown,
            "read back: not found, which proves nothing yet",
        ),
        Err(error) => judged(
            Event::BookChecked { next_at },
            Outcome::Unknown,
            error.to_string(),
        ),
    }
}

/// Not finding something proves that it was never done only where the adapter
/// says that its supplier's reads are consistent, and only after its delay.
fn is_proof(leg: Option<&Leg>, consistent_after_ms: Option<u32>, now: Timestamp) -> bool {
    let since = leg.and_then(Leg::unknown_since);
    consistent_after_ms
        .zip(since)
        .is_some_and(|(delay, since)| now.since(since) >= i64::from(delay))
}

/// The answer to a cancellation.
pub(crate) fn canceled(
    booking: &Booking,
    answer: Result<BookingState, ChangeError>,
    refund: RefundId,
    times: Times<'_>,
) -> Judgement {
    let leg = book_leg(booking);
    let next_at = times.recheck(leg);
    match answer {
        Ok(state) => canceled_state(booking, state, refund, next_at),
        Err(ChangeError::Refused(refusal)) => {
            let failure =
                cancel_failure("cancel_refused", "The supplier refused the cancellation.");
            judged(
                Event::CancelRefused(failure),
                Outcome::Refused,
                refusal.message,
            )
        }
        Err(ChangeError::Unsupported) => {
            let failure =
                cancel_failure("cancel_refused", "The supplier does not cancel bookings.");
            judged(
                Event::CancelRefused(failure),
                Outcome::Refused,
                "not supported",
            )
        }
        Err(error @ (ChangeError::NotSent(_) | ChangeError::Overloaded)) => judged(
            Event::CancelNotSent {
                retry_at: times.retry(leg),
            },
            Outcome::NotSent,
            error.to_string(),
        ),
        Err(ChangeError::Unknown(why)) => {
            judged(Event::CancelChecked { next_at }, Outcome::Unknown, why)
        }
    }
}

fn canceled_state(
    booking: &Booking,
    state: BookingState,
    refund: RefundId,
    next_at: Timestamp,
) -> Judgement {
    let reference = state.supplier_reference.clone();
    let judgement = match state.status {
        BookingStatus::Canceled => judged(
            Event::CancelDone {
                state: Box::new(state),
                refund,
            },
            Outcome::Done,
            "canceled",
        ),
        BookingStatus::PartiallyCanceled if rooms_are_released(booking, &state) => judged(
            Event::CancelDone {
                state: Box::new(state),
                refund,
            },
            Outcome::Done,
            "rooms released",
        ),
        BookingStatus::CancelPending | BookingStatus::Pending => {
            judged(Event::CancelPending { next_at }, Outcome::Done, "accepted")
        }
        BookingStatus::Confirmed | BookingStatus::PartiallyCanceled | BookingStatus::Failed(_) => {
            judged(
                Event::CancelChecked { next_at },
                Outcome::Unknown,
                "the supplier still shows the booking",
            )
        }
    };
    judgement.with_reference(&reference)
}

/// Whether every room that is being released is released at the supplier.
fn rooms_are_released(booking: &Booking, state: &BookingState) -> bool {
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
pub(crate) fn found_canceling(
    booking: &Booking,
    answer: Result<Found, ReadError>,
    refund: RefundId,
    consistent_after_ms: Option<u32>,
    times: Times<'_>,
) -> Judgement {
    let leg = book_leg(booking);
    let next_at = times.recheck(leg);
    let state = match answer {
        Ok(Found::Booking(state)) => *state,
        Ok(Found::Nothing) => {
            return judged(
                Event::CancelChecked { next_at },
                Outcome::Unknown,
                "read back: booking not found",
            );
        }
        Err(error) => {
            return judged(
                Event::CancelChecked { next_at },
                Outcome::Unknown,
                error.to_string(),
            );
        }
    };
    let stands = match state.status {
        BookingStatus::Confirmed => true,
        BookingStatus::PartiallyCanceled => !rooms_are_released(booking, &state),
        BookingStatus::Pending
        | BookingStatus::CancelPending
        | BookingStatus::Canceled
        | BookingStatus::Failed(_) => false,
    };
    if !stands {
        return canceled_state(booking, state, refund, next_at);
    }
    match leg {
        Some(Leg::Pending { .. }) => {
            let failure =
                cancel_failure("cancel_refused", "The supplier refused the cancellation.");
            judged(
                Event::CancelRefused(failure),
                Outcome::Refused,
                "read back: the booking stands",
            )
        }
        _ if is_proof(leg, consistent_after_ms, times.now) => {
            let failure = cancel_failure(
                "cancel_failed",
                "The cancellation did not reach the supplier.",
            );
            judged(
                Event::CancelLost(failure),
                Outcome::Refused,
                "read back: the booking stands, and reads are consistent",
            )
        }
        _ => judged(
            Event::CancelChecked { next_at },
            Outcome::Unknown,
            "read back: the booking stands, which proves nothing yet",
        ),
    }
}
