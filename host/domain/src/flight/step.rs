//! What is to be done next about a flight booking: a pure function of the
//! booking and the time.

use crate::booking::{Expiry, PREBOOK_TIMEOUT_MS};
use crate::flight::booking::{Booking, State};
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
    /// Read a ticket anew.
    Refresh,
    /// Cancel at the supplier.
    Cancel,
    /// Read back a cancellation whose outcome is not known.
    ReconcileCancellation,
    /// Buy extras at the supplier.
    BuyServices,
    /// Read back a purchase whose outcome is not known.
    ReconcilePurchase,
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
            Self::BuyServices => "buy",
            Self::ReconcilePurchase => "find_purchase",
            Self::Payment(step) => step.name(),
        }
    }
}

impl Booking {
    /// What is to be done next. Of several things the earliest; the booking's
    /// own step before its payments' when both are due.
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
                RemoteCall::Pending { due_at: at, .. } => self.is_ready_to_book().then_some((*at, Step::Book)),
                leg @ (RemoteCall::Sent { .. } | RemoteCall::Accepted { .. }) => {
                    Some((leg.due_at(), Step::ReconcileBooking))
                }
            },
            State::Confirmed { refresh: reread } => reread.as_ref().map(|leg| (leg.due_at(), Step::Refresh)),
            State::CancelInProgress { cancel } => Some(match cancel {
                RemoteCall::Pending { due_at: at, .. } => (*at, Step::Cancel),
                leg @ (RemoteCall::Sent { .. } | RemoteCall::Accepted { .. }) => {
                    (leg.due_at(), Step::ReconcileCancellation)
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

    /// Whether nothing of the payment stands before booking.
    fn is_ready_to_book(&self) -> bool {
        self.current_payment()
            .is_none_or(|payment| payment.state == PaymentState::Authorized)
    }

    fn purchase_step(&self) -> Option<(Timestamp, Step)> {
        let purchase = self.open_purchase()?;
        let payment = self.payments.iter().find(|p| p.id == purchase.payment)?;
        match purchase.call()? {
            RemoteCall::Pending { due_at: at, .. } => {
                (payment.state == PaymentState::Authorized).then_some((*at, Step::BuyServices))
            }
            leg @ (RemoteCall::Sent { .. } | RemoteCall::Accepted { .. }) => Some((leg.due_at(), Step::ReconcilePurchase)),
        }
    }
}
