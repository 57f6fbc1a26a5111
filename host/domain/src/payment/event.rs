//! Events that change a payment.

use crate::id::RefundId;
use crate::payment::{Card, DeclineReason};
use crate::remote_call::AbsenceEvidence;
use crate::time::Timestamp;

/// An event that changes a payment. `next_at` is the time of the next reconciliation, and `absence`
/// the evidence that the call had no effect, if the response is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentEvent {
    /// An authorization, capture or void is about to be sent.
    Sent { reconcile_at: Timestamp },
    /// The amount is authorized.
    Authorized {
        processor_reference: String,
        card: Option<Card>,
    },
    /// The processor definitely declined. Nothing is authorized.
    Declined(DeclineReason),
    /// The authorization was never sent, or is known to have had no effect.
    NotAuthorized,
    /// The amount is captured.
    Captured,
    /// The authorization is voided.
    Voided,
    /// The amount was to be voided, but it is captured. It is refunded.
    CapturedDespiteVoid,
    /// The capture or void had no effect and is to be retried.
    StepFailed { retry_at: Timestamp },
    /// A reconciliation gave no result.
    Unresolved {
        next_at: Timestamp,
        absence: Option<AbsenceEvidence>,
    },
    /// A reconciliation did not find the authorization, which is to be resent as the same call.
    ResendScheduled { at: Timestamp },
    /// A refund is about to be sent.
    RefundSent {
        refund: RefundId,
        next_at: Timestamp,
    },
    /// The refund succeeded.
    Refunded(RefundId),
    /// The refund had no effect and is to be retried.
    RefundFailed {
        refund: RefundId,
        retry_at: Timestamp,
    },
    /// A reconciliation did not find the refund, which is to be resent as the same call.
    RefundResendScheduled { refund: RefundId, at: Timestamp },
    /// A reconciliation of the refund gave no result.
    RefundUnresolved {
        refund: RefundId,
        next_at: Timestamp,
        absence: Option<AbsenceEvidence>,
    },
}

impl PaymentEvent {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sent { .. } => "payment_sent",
            Self::Authorized { .. } => "payment_authorized",
            Self::Declined(_) => "payment_declined",
            Self::NotAuthorized => "payment_not_authorized",
            Self::Captured => "payment_captured",
            Self::Voided => "payment_voided",
            Self::CapturedDespiteVoid => "payment_captured_despite_void",
            Self::StepFailed { .. } => "payment_step_failed",
            Self::Unresolved { .. } => "payment_unresolved",
            Self::ResendScheduled { .. } => "payment_resend_scheduled",
            Self::RefundSent { .. } => "refund_sent",
            Self::Refunded(_) => "refunded",
            Self::RefundFailed { .. } => "refund_failed",
            Self::RefundResendScheduled { .. } => "refund_resend_scheduled",
            Self::RefundUnresolved { .. } => "refund_unresolved",
        }
    }
}
