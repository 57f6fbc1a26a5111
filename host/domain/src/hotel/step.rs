//! The next step of a hotel booking, as a pure function of the booking and the time. The request
//! that books and the worker that resumes after a crash run the same steps.

use crate::booking::{Expiry, PREBOOK_TIMEOUT_MS};
use crate::hotel::booking::{Booking, State};
use crate::payment::{NextStep, Payment, PaymentState, PaymentStep, earliest_step};
use crate::remote_call::RemoteCall;
use crate::time::Timestamp;

/// A call to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Books at the supplier.
    Book,
    /// Reconciles a booking whose outcome is unknown.
    ReconcileBooking,
    /// Refreshes a booking after a reported change.
    Refresh,
    /// Cancels at the supplier.
    Cancel,
    /// Reconciles a cancellation whose outcome is unknown.
    ReconcileCancellation,
    /// Runs a step of a payment at its processor.
    Payment(PaymentStep),
}

impl Step {
    /// Returns the name used in logs, metrics, failpoints and tests.
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
    /// Returns the next step, which is the earliest one. If several are due at the same time, the
    /// booking's own step precedes those of its payments.
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
            State::PrebookInProgress { started_at } => {
                Some((started_at.plus_ms(PREBOOK_TIMEOUT_MS), Expiry::Prebook))
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
            State::Confirmed { refresh } | State::PartiallyCanceled { refresh } => {
                refresh.as_ref().map(|call| (call.due_at(), Step::Refresh))
            }
            State::CancelInProgress { cancel, .. } => Some(match cancel {
                RemoteCall::Pending { due_at, .. } => (*due_at, Step::Cancel),
                RemoteCall::Sent { reconcile_at, .. }
                | RemoteCall::Accepted { reconcile_at, .. } => {
                    (*reconcile_at, Step::ReconcileCancellation)
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
            RemoteCall::Pending { due_at, .. } => match self.current_payment() {
                Some(payment) if payment.state != PaymentState::Authorized => None,
                Some(_) | None => Some((*due_at, Step::Book)),
            },
            RemoteCall::Sent { reconcile_at, .. } | RemoteCall::Accepted { reconcile_at, .. } => {
                Some((*reconcile_at, Step::ReconcileBooking))
            }
        }
    }
}
