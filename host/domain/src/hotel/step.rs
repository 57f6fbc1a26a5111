//! What is to be done next about a booking: a pure function of the booking and
//! the time. The call that books and the worker that resumes after a crash walk
//! the same steps.

use crate::hotel::booking::{Booking, PREBOOK_UNKNOWN_MS, State};
use crate::id::{PaymentId, RefundId};
use crate::leg::Leg;
use crate::payment::{Payment, PaymentState};
use crate::time::Timestamp;

/// One thing to do, named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Stop waiting for an unanswered prebook.
    GiveUpPrebook,
    /// End a booking that was not completed in time.
    Expire,
    /// Hold the amount.
    Authorize(PaymentId),
    /// Book at the supplier.
    Book,
    /// Read back a booking whose outcome is not known.
    FindBooking,
    /// Cancel at the supplier.
    Cancel,
    /// Read back a cancellation whose outcome is not known.
    FindCancellation,
    /// Take the held amount.
    Capture(PaymentId),
    /// Release the held amount.
    Void(PaymentId),
    /// Read back a payment whose outcome is not known.
    FindPayment(PaymentId),
    /// Give money back.
    Refund(PaymentId, RefundId),
    /// Read back a refund whose outcome is not known.
    FindRefund(PaymentId, RefundId),
}

impl Step {
    /// Its name: in logs, metrics, failpoints and tests.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::GiveUpPrebook => "give_up_prebook",
            Self::Expire => "expire",
            Self::Authorize(_) => "authorize",
            Self::Book => "book",
            Self::FindBooking => "find_booking",
            Self::Cancel => "cancel",
            Self::FindCancellation => "find_cancellation",
            Self::Capture(_) => "capture",
            Self::Void(_) => "void",
            Self::FindPayment(_) => "find_payment",
            Self::Refund(..) => "refund",
            Self::FindRefund(..) => "find_refund",
        }
    }
}

/// When to do what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// At once.
    Now(Step),
    /// Nothing until then.
    At(Timestamp),
    /// Nothing, unless somebody asks for something.
    Nothing,
}

impl Booking {
    /// What is to be done next. Of several things the earliest; the booking's
    /// own step before its payments' when both are due.
    #[must_use]
    pub fn next(&self, now: Timestamp) -> Next {
        let own = self.own_step();
        let payments = self.payments.iter().flat_map(payment_steps);
        match own.into_iter().chain(payments).min_by_key(|(at, _)| *at) {
            Some((at, step)) if at <= now => Next::Now(step),
            Some((at, _)) => Next::At(at),
            None => Next::Nothing,
        }
    }

    fn own_step(&self) -> Option<(Timestamp, Step)> {
        match &self.state {
            State::Created => Some((
                self.created_at.plus_ms(PREBOOK_UNKNOWN_MS),
                Step::GiveUpPrebook,
            )),
            State::PrebookInProgress { since } => {
                Some((since.plus_ms(PREBOOK_UNKNOWN_MS), Step::GiveUpPrebook))
            }
            State::ReadyForComplete => Some((self.offer_expires_at, Step::Expire)),
            State::CompleteInProgress { book } => self.completion_step(book),
            State::CancelInProgress { cancel, .. } => Some(match cancel {
                Leg::Due { at, .. } => (*at, Step::Cancel),
                Leg::Sent { next_at, .. } | Leg::Pending { next_at, .. } => {
                    (*next_at, Step::FindCancellation)
                }
            }),
            State::Confirmed
            | State::PartiallyCanceled
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

fn payment_steps(payment: &Payment) -> Vec<(Timestamp, Step)> {
    let id = || payment.id.clone();
    match &payment.state {
        PaymentState::Authorizing(Leg::Due { at, .. }) => vec![(*at, Step::Authorize(id()))],
        PaymentState::Capturing(Leg::Due { at, .. }) => vec![(*at, Step::Capture(id()))],
        PaymentState::Voiding(Leg::Due { at, .. }) => vec![(*at, Step::Void(id()))],
        PaymentState::Authorizing(leg)
        | PaymentState::Capturing(leg)
        | PaymentState::Voiding(leg) => {
            vec![(leg.at(), Step::FindPayment(id()))]
        }
        PaymentState::Captured => payment
            .refunds
            .iter()
            .filter_map(|refund| {
                let step = match refund.leg.as_ref()? {
                    Leg::Due { at, .. } => (*at, Step::Refund(id(), refund.id.clone())),
                    leg @ (Leg::Sent { .. } | Leg::Pending { .. }) => {
                        (leg.at(), Step::FindRefund(id(), refund.id.clone()))
                    }
                };
                Some(step)
            })
            .collect(),
        PaymentState::RequiresAction
        | PaymentState::Authorized
        | PaymentState::Voided
        | PaymentState::Failed => Vec::new(),
    }
}
