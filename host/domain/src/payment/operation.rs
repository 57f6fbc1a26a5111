//! Operations that move money, and the events to apply when the processor could not be asked and an
//! operator supplies the outcome.

use crate::id::{PaymentId, RefundId};
use crate::payment::{Payment, PaymentEvent, PaymentState, PaymentStep};
use crate::remote_call::RemoteCall;
use crate::time::Timestamp;

/// An operation at a processor about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentOperation {
    Authorize,
    Capture,
    Void,
    Refund(RefundId),
}

impl PaymentOperation {
    /// Returns the step that makes the call of this operation.
    pub fn step(&self, payment: PaymentId) -> PaymentStep {
        match self {
            Self::Authorize => PaymentStep::Authorize(payment),
            Self::Capture => PaymentStep::Capture(payment),
            Self::Void => PaymentStep::Void(payment),
            Self::Refund(refund) => PaymentStep::Refund(payment, refund.clone()),
        }
    }

    /// Returns the event for a successful operation. Returns `None` for an authorization without
    /// the processor's id of the payment.
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

    /// Returns the event for an operation of the payment that had no effect and will have none. A
    /// capture, void or refund is retried at `now`.
    pub fn failure_event(&self, payment: &Payment, now: Timestamp) -> PaymentEvent {
        match self {
            Self::Authorize => payment.not_authorized_event(),
            Self::Capture | Self::Void => PaymentEvent::StepFailed { retry_at: now },
            Self::Refund(refund) => PaymentEvent::RefundFailed {
                refund: refund.clone(),
                retry_at: now,
            },
        }
    }
}

impl Payment {
    /// Returns the event for an authorization that had no effect: a decline, if its resend was
    /// declined.
    pub fn not_authorized_event(&self) -> PaymentEvent {
        let decline = self.state.call().and_then(RemoteCall::processor_decline);
        decline.map_or(PaymentEvent::NotAuthorized, PaymentEvent::Declined)
    }

    /// Returns the operations whose outcome is unknown. There may be several refunds.
    pub fn unresolved_operations(&self) -> Vec<PaymentOperation> {
        let own = match &self.state {
            PaymentState::Authorizing(call) => Some((call, PaymentOperation::Authorize)),
            PaymentState::Capturing(call) => Some((call, PaymentOperation::Capture)),
            PaymentState::Voiding(call) => Some((call, PaymentOperation::Void)),
            _ => None,
        };
        // A refund is sent only once the payment is captured.
        let refunds = self.refunds.iter().filter_map(|refund| {
            let operation = PaymentOperation::Refund(refund.id.clone());
            Some((refund.call.as_ref()?, operation))
        });
        let open = own.into_iter().chain(refunds);
        let sent = open.filter(|(call, _)| !matches!(call, RemoteCall::Pending { .. }));
        sent.map(|(_, operation)| operation).collect()
    }
}
