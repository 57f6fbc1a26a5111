//! The next steps of a payment, independent of what it pays for.

use crate::id::{PaymentId, RefundId};
use crate::payment::{Payment, PaymentState};
use crate::remote_call::RemoteCall;
use crate::time::Timestamp;

/// A call to make at a processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentStep {
    Authorize(PaymentId),
    Capture(PaymentId),
    Void(PaymentId),
    /// Reconciles a payment whose outcome is unknown.
    FindPayment(PaymentId),
    Refund(PaymentId, RefundId),
    /// Reconciles a refund whose outcome is unknown.
    FindRefund(PaymentId, RefundId),
}

impl PaymentStep {
    /// Returns the name used in logs, metrics, failpoints and tests.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Authorize(_) => "authorize",
            Self::Capture(_) => "capture",
            Self::Void(_) => "void",
            Self::FindPayment(_) => "find_payment",
            Self::Refund(..) => "refund",
            Self::FindRefund(..) => "find_refund",
        }
    }

    pub const fn payment(&self) -> &PaymentId {
        match self {
            Self::Authorize(id)
            | Self::Capture(id)
            | Self::Void(id)
            | Self::FindPayment(id)
            | Self::Refund(id, _)
            | Self::FindRefund(id, _) => id,
        }
    }
}

impl Payment {
    /// Returns the steps of the payment and when each is due. There may be several refunds.
    pub fn scheduled_steps(&self) -> Vec<(Timestamp, PaymentStep)> {
        let id = || self.id.clone();
        match &self.state {
            PaymentState::Authorizing(RemoteCall::Pending { due_at, .. }) => {
                vec![(*due_at, PaymentStep::Authorize(id()))]
            }
            PaymentState::Capturing(RemoteCall::Pending { due_at, .. }) => {
                vec![(*due_at, PaymentStep::Capture(id()))]
            }
            PaymentState::Voiding(RemoteCall::Pending { due_at, .. }) => {
                vec![(*due_at, PaymentStep::Void(id()))]
            }
            PaymentState::Authorizing(call)
            | PaymentState::Capturing(call)
            | PaymentState::Voiding(call) => vec![(call.due_at(), PaymentStep::FindPayment(id()))],
            PaymentState::Captured => self
                .refunds
                .iter()
                .filter_map(|refund| {
                    let step = match refund.call.as_ref()? {
                        RemoteCall::Pending { due_at, .. } => {
                            (*due_at, PaymentStep::Refund(id(), refund.id.clone()))
                        }
                        call @ (RemoteCall::Sent { .. } | RemoteCall::Accepted { .. }) => (
                            call.due_at(),
                            PaymentStep::FindRefund(id(), refund.id.clone()),
                        ),
                    };
                    Some(step)
                })
                .collect(),
            _ => Vec::new(),
        }
    }
}
