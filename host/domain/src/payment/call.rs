//! A call that moves money, and how it can end when nobody at the processor could be
//! asked by the gateway.

use crate::id::{PaymentId, RefundId};
use crate::leg::Leg;
use crate::payment::{Payment, PaymentEvent, PaymentState, PaymentStep};
use crate::time::Timestamp;

/// A call to a processor about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentCall {
    /// Hold the amount.
    Authorize,
    /// Take the held amount.
    Capture,
    /// Release the held amount.
    Void,
    /// Give money back.
    Refund(RefundId),
}

impl PaymentCall {
    /// The step that makes it.
    #[must_use]
    pub fn step(&self, payment: PaymentId) -> PaymentStep {
        match self {
            Self::Authorize => PaymentStep::Authorize(payment),
            Self::Capture => PaymentStep::Capture(payment),
            Self::Void => PaymentStep::Void(payment),
            Self::Refund(refund) => PaymentStep::Refund(payment, refund.clone()),
        }
    }

    /// It was done. None when it made a payment whose id at the processor is not given.
    #[must_use]
    pub fn done(&self, processor_reference: Option<&str>) -> Option<PaymentEvent> {
        Some(match self {
            Self::Authorize => PaymentEvent::Authorized {
                processor_reference: processor_reference?.to_owned(),
                card: None,
            },
            Self::Capture => PaymentEvent::Captured,
            Self::Void => PaymentEvent::Voided,
            Self::Refund(refund) => PaymentEvent::Refunded(refund.clone()),
        })
    }

    /// It was not done, and will not be. What is still to be done is tried again at once.
    #[must_use]
    pub fn not_done(&self, now: Timestamp) -> PaymentEvent {
        match self {
            Self::Authorize => PaymentEvent::NothingHeld,
            Self::Capture | Self::Void => PaymentEvent::Failed { retry_at: now },
            Self::Refund(refund) => PaymentEvent::RefundFailed {
                refund: refund.clone(),
                retry_at: now,
            },
        }
    }
}

impl Payment {
    /// The calls whose outcome is not known; several refunds may be.
    #[must_use]
    pub fn open_calls(&self) -> Vec<PaymentCall> {
        let of = |leg: &Leg, call| match leg {
            Leg::Due { .. } => Vec::new(),
            Leg::Sent { .. } | Leg::Pending { .. } => vec![call],
        };
        match &self.state {
            PaymentState::Authorizing(leg) => of(leg, PaymentCall::Authorize),
            PaymentState::Capturing(leg) => of(leg, PaymentCall::Capture),
            PaymentState::Voiding(leg) => of(leg, PaymentCall::Void),
            PaymentState::Captured => {
                let legs = self.refunds.iter();
                let legs = legs.filter_map(|refund| Some((refund, refund.leg.as_ref()?)));
                legs.flat_map(|(refund, leg)| of(leg, PaymentCall::Refund(refund.id.clone())))
                    .collect()
            }
            PaymentState::RequiresAction
            | PaymentState::Authorized
            | PaymentState::Voided
            | PaymentState::Failed => Vec::new(),
        }
    }
}
