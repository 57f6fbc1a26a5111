//! A call that moves money, and how it can end when nobody at the processor could be
//! asked by the gateway.

use crate::id::{PaymentId, RefundId};
use crate::leg::RemoteCall;
use crate::payment::{Payment, PaymentEvent, PaymentState, PaymentStep};
use crate::time::Timestamp;

/// A call to a processor about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentOperation {
    /// Hold the amount.
    Authorize,
    /// Take the held amount.
    Capture,
    /// Release the held amount.
    Void,
    /// Give money back.
    Refund(RefundId),
}

impl PaymentOperation {
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
    pub fn success_event(&self, processor_reference: Option<&str>) -> Option<PaymentEvent> {
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
    pub fn failure_event(&self, now: Timestamp) -> PaymentEvent {
        match self {
            Self::Authorize => PaymentEvent::NotAuthorized,
            Self::Capture | Self::Void => PaymentEvent::StepFailed { retry_at: now },
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
    pub fn unresolved_operations(&self) -> Vec<PaymentOperation> {
        let of = |leg: &RemoteCall, call| match leg {
            RemoteCall::Pending { .. } => Vec::new(),
            RemoteCall::Sent { .. } | RemoteCall::Accepted { .. } => vec![call],
        };
        match &self.state {
            PaymentState::Authorizing(leg) => of(leg, PaymentOperation::Authorize),
            PaymentState::Capturing(leg) => of(leg, PaymentOperation::Capture),
            PaymentState::Voiding(leg) => of(leg, PaymentOperation::Void),
            PaymentState::Captured => {
                let legs = self.refunds.iter();
                let legs = legs.filter_map(|refund| Some((refund, refund.call.as_ref()?)));
                legs.flat_map(|(refund, leg)| of(leg, PaymentOperation::Refund(refund.id.clone())))
                    .collect()
            }
            PaymentState::RequiresAction
            | PaymentState::Authorized
            | PaymentState::Voided
            | PaymentState::Failed => Vec::new(),
        }
    }
}
