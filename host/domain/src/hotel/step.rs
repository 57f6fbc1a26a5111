//! What is to be done next about a booking: a pure function of the booking and
//! the time. The call that books and the worker that resumes after a crash walk
//! the same steps.

use crate::booking::{Lapse, PREBOOK_UNKNOWN_MS};
use crate::hotel::booking::{Booking, State};
use crate::leg::Leg;
use crate::payment::{Next, Payment, PaymentState, PaymentStep, due};
use crate::time::Timestamp;

/// One call to make, named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Book at the supplier.
    Book,
    /// Read back a booking whose outcome is not known.
    FindBooking,
    /// Read a booking anew, because of a hint.
    Reread,
    /// Cancel at the supplier.
    Cancel,
    /// Read back a cancellation whose outcome is not known.
    FindCancellation,
    /// Something about a payment, at its processor.
    Payment(PaymentStep),
}

impl Step {
    /// Its name: in logs, metrics, failpoints and tests.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Book => "book",
            Self::FindBooking => "find_booking",
            Self::Reread => "reread",
            Self::Cancel => "cancel",
            Self::FindCancellation => "find_cancellation",
            Self::Payment(step) => step.name(),
        }
    }
}

impl Booking {
    /// What is to be done next. Of several things the earliest; the booking's
    /// own step before its payments' when both are due.
    #[must_use]
    pub fn next(&self, now: Timestamp) -> Next<Step> {
        let payments = self.payments.iter().flat_map(Payment::steps);
        let payments = payments.map(|(at, step)| (at, Step::Payment(step)));
        due(
            self.lapse(),
            self.own_step().into_iter().chain(payments),
            now,
        )
    }

    fn lapse(&self) -> Option<(Timestamp, Lapse)> {
        match self.state {
            State::Created => Some((self.created_at.plus_ms(PREBOOK_UNKNOWN_MS), Lapse::Prebook)),
            State::PrebookInProgress { since } => {
                Some((since.plus_ms(PREBOOK_UNKNOWN_MS), Lapse::Prebook))
            }
            State::ReadyForComplete => Some((self.offer_expires_at, Lapse::Offer)),
            State::CompleteInProgress { .. }
            | State::Confirmed { .. }
            | State::CancelInProgress { .. }
            | State::PartiallyCanceled { .. }
            | State::Canceled
            | State::Failed
            | State::Expired => None,
        }
    }

    fn own_step(&self) -> Option<(Timestamp, Step)> {
        match &self.state {
            State::CompleteInProgress { book } => self.completion_step(book),
            State::Confirmed { reread } | State::PartiallyCanceled { reread } => {
                reread.as_ref().map(|leg| (leg.at(), Step::Reread))
            }
            State::CancelInProgress { cancel, .. } => Some(match cancel {
                Leg::Due { at, .. } => (*at, Step::Cancel),
                Leg::Sent { next_at, .. } | Leg::Pending { next_at, .. } => {
                    (*next_at, Step::FindCancellation)
                }
            }),
            State::Created
            | State::PrebookInProgress { .. }
            | State::ReadyForComplete
            | State::Canceled
            | State::Failed
            | State::Expired => None,
        }
    }

    fn completion_step(&self, book: &Leg) -> Option<(Timestamp, Step)> {
        match book {
            Leg::Due { at, .. } => match self.current_payment() {
                Some(payment) if payment.state != PaymentState::Authorized => None,
                Some(_) | None => Some((*at, Step::Book)),
            },
            Leg::Sent { next_at, .. } | Leg::Pending { next_at, .. } => {
                Some((*next_at, Step::FindBooking))
            }
        }
    }
}
