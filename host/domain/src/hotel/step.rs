//! What is to be done next about a booking: a pure function of the booking and
//! the time. The call that books and the worker that resumes after a crash walk
//! the same steps.

use crate::booking::{Expiry, PREBOOK_TIMEOUT_MS};
use crate::hotel::booking::{Booking, State};
use crate::leg::RemoteCall;
use crate::payment::{NextStep, Payment, PaymentState, PaymentStep, earliest_step};
use crate::time::Timestamp;

/// One call to make, named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Book at the supplier.
    Book,
    /// Read back a booking whose outcome is not known.
    ReconcileBooking,
    /// Read a booking anew, because of a hint.
    Refresh,
    /// Cancel at the supplier.
    Cancel,
    /// Read back a cancellation whose outcome is not known.
    ReconcileCancellation,
    /// Something about a payment, at its processor.
    Payment(PaymentStep),
}

impl Step {
    /// Its name: in logs, metrics, failpoints and tests.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Book => "book",
            Self::ReconcileBooking => "find_booking",
            Self::Refresh => "reread",
            Self::Cancel => "cancel",
            Self::ReconcileCancellation => "find_cancellation",
            Self::Payment(step) => step.name(),
        }
    }
}

impl Booking {
    /// What is to be done next. Of several things the earliest; the booking's
    /// own step before its payments' when both are due.
    #[must_use]
    pub fn next_step(&self, now: Timestamp) -> NextStep<Step> {
        let payments = self.payments.iter().flat_map(Payment::steps);
        let payments = payments.map(|(at, step)| (at, Step::Payment(step)));
        earliest_step(
            self.expiry(),
            self.booking_step().into_iter().chain(payments),
            now,
        )
    }

    fn expiry(&self) -> Option<(Timestamp, Expiry)> {
        match self.state {
            State::Created => Some((self.created_at.plus_ms(PREBOOK_TIMEOUT_MS), Expiry::Prebook)),
            State::PrebookInProgress { started_at: since } => {
                Some((since.plus_ms(PREBOOK_TIMEOUT_MS), Expiry::Prebook))
            }
            State::ReadyForComplete => Some((self.offer_expires_at, Expiry::Offer)),
            State::CompleteInProgress { .. }
            | State::Confirmed { .. }
            | State::CancelInProgress { .. }
            | State::PartiallyCanceled { .. }
            | State::Canceled
            | State::Failed
            | State::Expired => None,
        }
    }

    fn booking_step(&self) -> Option<(Timestamp, Step)> {
        match &self.state {
            State::CompleteInProgress { book } => self.completion_step(book),
            State::Confirmed { refresh: reread } | State::PartiallyCanceled { refresh: reread } => {
                reread.as_ref().map(|leg| (leg.due_at(), Step::Refresh))
            }
            State::CancelInProgress { cancel, .. } => Some(match cancel {
                RemoteCall::Pending { due_at: at, .. } => (*at, Step::Cancel),
                RemoteCall::Sent { reconcile_at: next_at, .. } | RemoteCall::Accepted { reconcile_at: next_at, .. } => {
                    (*next_at, Step::ReconcileCancellation)
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

    fn completion_step(&self, book: &RemoteCall) -> Option<(Timestamp, Step)> {
        match book {
            RemoteCall::Pending { due_at: at, .. } => match self.current_payment() {
                Some(payment) if payment.state != PaymentState::Authorized => None,
                Some(_) | None => Some((*at, Step::Book)),
            },
            RemoteCall::Sent { reconcile_at: next_at, .. } | RemoteCall::Accepted { reconcile_at: next_at, .. } => {
                Some((*next_at, Step::ReconcileBooking))
            }
        }
    }
}
