//! What is to be done next about a flight booking: a pure function of the
//! booking and the time.

use crate::booking::{Lapse, PREBOOK_UNKNOWN_MS};
use crate::flight::booking::{Booking, State};
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
    /// Read a ticket anew.
    Reread,
    /// Cancel at the supplier.
    Cancel,
    /// Read back a cancellation whose outcome is not known.
    FindCancellation,
    /// Buy extras at the supplier.
    Buy,
    /// Read back a purchase whose outcome is not known.
    FindPurchase,
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
            Self::Buy => "buy",
            Self::FindPurchase => "find_purchase",
            Self::Payment(step) => step.name(),
        }
    }
}

impl Booking {
    /// What is to be done next. Of several things the earliest; the booking's
    /// own step before its payments' when both are due.
    #[must_use]
    pub fn next(&self, now: Timestamp) -> Next<Step> {
        let own = self.own_step().into_iter().chain(self.purchase_step());
        let payments = self.payments.iter().flat_map(Payment::steps);
        let payments = payments.map(|(at, step)| (at, Step::Payment(step)));
        due(self.lapse(), own.chain(payments), now)
    }

    fn lapse(&self) -> Option<(Timestamp, Lapse)> {
        match self.state {
            State::Created => Some((self.created_at.plus_ms(PREBOOK_UNKNOWN_MS), Lapse::Prebook)),
            State::PrebookInProgress { since } => {
                Some((since.plus_ms(PREBOOK_UNKNOWN_MS), Lapse::Prebook))
            }
            State::ReadyForComplete => Some((self.expires_at, Lapse::Offer)),
            State::CompleteInProgress { .. }
            | State::Confirmed { .. }
            | State::CancelInProgress { .. }
            | State::Canceled
            | State::Failed
            | State::Expired => None,
        }
    }

    fn own_step(&self) -> Option<(Timestamp, Step)> {
        match &self.state {
            State::CompleteInProgress { book } => match book {
                Leg::Due { at, .. } => self.is_payable().then_some((*at, Step::Book)),
                leg @ (Leg::Sent { .. } | Leg::Pending { .. }) => {
                    Some((leg.at(), Step::FindBooking))
                }
            },
            State::Confirmed { reread } => reread.as_ref().map(|leg| (leg.at(), Step::Reread)),
            State::CancelInProgress { cancel } => Some(match cancel {
                Leg::Due { at, .. } => (*at, Step::Cancel),
                leg @ (Leg::Sent { .. } | Leg::Pending { .. }) => {
                    (leg.at(), Step::FindCancellation)
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
    fn is_payable(&self) -> bool {
        self.current_payment()
            .is_none_or(|payment| payment.state == PaymentState::Authorized)
    }

    fn purchase_step(&self) -> Option<(Timestamp, Step)> {
        let purchase = self.open_purchase()?;
        let payment = self.payments.iter().find(|p| p.id == purchase.payment)?;
        match purchase.leg()? {
            Leg::Due { at, .. } => {
                (payment.state == PaymentState::Authorized).then_some((*at, Step::Buy))
            }
            leg @ (Leg::Sent { .. } | Leg::Pending { .. }) => Some((leg.at(), Step::FindPurchase)),
        }
    }
}
