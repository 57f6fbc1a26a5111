//! The next step of a flight booking, as a pure function of the booking and the time.

use crate::booking::{Expiry, PREBOOK_TIMEOUT_MS};
use crate::flight::booking::{Booking, State};
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
    /// Refreshes a ticket after a reported change.
    Refresh,
    /// Cancels at the supplier.
    Cancel,
    /// Reconciles a cancellation whose outcome is unknown.
    ReconcileCancellation,
    /// Buys services at the supplier.
    BuyServices,
    /// Reconciles a purchase whose outcome is unknown.
    ReconcilePurchase,
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
            Self::BuyServices => "buy",
            Self::ReconcilePurchase => "find_purchase",
            Self::Payment(step) => step.name(),
        }
    }
}

impl Booking {
    /// Returns the next step, which is the earliest one. If several are due at the same time, the
    /// booking's own step precedes those of its payments.
    #[must_use]
    pub fn next_step(&self, now: Timestamp) -> NextStep<Step> {
        let own = self.booking_step().into_iter().chain(self.purchase_step());
        let payments = self.payments.iter().flat_map(Payment::steps);
        let payments = payments.map(|(at, step)| (at, Step::Payment(step)));
        earliest_step(self.expiry(), own.chain(payments), now)
    }

    fn expiry(&self) -> Option<(Timestamp, Expiry)> {
        match self.state {
            State::Created => Some((self.created_at.plus_ms(PREBOOK_TIMEOUT_MS), Expiry::Prebook)),
            State::PrebookInProgress { since } => {
                Some((since.plus_ms(PREBOOK_TIMEOUT_MS), Expiry::Prebook))
            }
            State::ReadyForComplete => Some((self.offer_expires_at, Expiry::Offer)),
            State::CompleteInProgress { .. }
            | State::Confirmed { .. }
            | State::CancelInProgress { .. }
            | State::Canceled
            | State::Failed
            | State::Expired => None,
        }
    }

    fn booking_step(&self) -> Option<(Timestamp, Step)> {
        match &self.state {
            State::CompleteInProgress { book } => match book {
                RemoteCall::Pending { due_at, .. } => {
                    self.is_ready_to_book().then_some((*due_at, Step::Book))
                }
                call @ (RemoteCall::Sent { .. } | RemoteCall::Accepted { .. }) => {
                    Some((call.due_at(), Step::ReconcileBooking))
                }
            },
            State::Confirmed { refresh } => {
                refresh.as_ref().map(|call| (call.due_at(), Step::Refresh))
            }
            State::CancelInProgress { cancel } => Some(match cancel {
                RemoteCall::Pending { due_at, .. } => (*due_at, Step::Cancel),
                call @ (RemoteCall::Sent { .. } | RemoteCall::Accepted { .. }) => {
                    (call.due_at(), Step::ReconcileCancellation)
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

    /// Returns whether the booking can be sent: its payment is authorized, or there is none.
    fn is_ready_to_book(&self) -> bool {
        self.current_payment()
            .is_none_or(|payment| payment.state == PaymentState::Authorized)
    }

    fn purchase_step(&self) -> Option<(Timestamp, Step)> {
        let purchase = self.open_purchase()?;
        let payment = self.payments.iter().find(|p| p.id == purchase.payment)?;
        match purchase.call()? {
            RemoteCall::Pending { due_at, .. } => {
                (payment.state == PaymentState::Authorized).then_some((*due_at, Step::BuyServices))
            }
            call @ (RemoteCall::Sent { .. } | RemoteCall::Accepted { .. }) => {
                Some((call.due_at(), Step::ReconcilePurchase))
            }
        }
    }
}
