//! What happens to a payment.

use crate::id::RefundId;
use crate::payment::{Card, DeclineReason};
use crate::time::Timestamp;

/// What happens to a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentEvent {
    /// The mark before an authorization, capture, void leaves.
    Sent {
        /// When to read back without an answer.
        reconcile_at: Timestamp,
    },
    /// The amount is held.
    Authorized {
        /// The processor's id.
        processor_reference: String,
        /// What may be shown.
        card: Option<Card>,
    },
    /// A definite no; nothing is held.
    Declined(DeclineReason),
    /// The hold was never asked for, or it is known that nothing came of it.
    NotAuthorized,
    /// Taken.
    Captured,
    /// Released.
    Voided,
    /// Capture or void did not happen; try again.
    StepFailed {
        /// When.
        retry_at: Timestamp,
    },
    /// Read back without result.
    Unresolved {
        /// When to read back next.
        next_at: Timestamp,
    },
    /// A hold that was not there when read back; to be asked for again as the same call.
    ResendScheduled {
        /// When.
        at: Timestamp,
    },
    /// The mark before a refund leaves.
    RefundSent {
        /// Which.
        refund: RefundId,
        /// When to read back without an answer.
        next_at: Timestamp,
    },
    /// Given back.
    Refunded(RefundId),
    /// The refund did not happen; try again.
    RefundFailed {
        /// Which.
        refund: RefundId,
        /// When.
        retry_at: Timestamp,
    },
    /// The refund was not there when read back; to be sent again as the same call.
    RefundResendScheduled {
        /// Which.
        refund: RefundId,
        /// When.
        at: Timestamp,
    },
    /// The refund was read back without result.
    RefundUnresolved {
        /// Which.
        refund: RefundId,
        /// When to read back next.
        next_at: Timestamp,
    },
}

impl PaymentEvent {
    /// Its name in logs and tables.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sent { .. } => "payment_sent",
            Self::Authorized { .. } => "payment_authorized",
            Self::Declined(_) => "payment_declined",
            Self::NotAuthorized => "payment_nothing_held",
            Self::Captured => "payment_captured",
            Self::Voided => "payment_voided",
            Self::StepFailed { .. } => "payment_step_failed",
            Self::Unresolved { .. } => "payment_checked",
            Self::ResendScheduled { .. } => "payment_repeated",
            Self::RefundSent { .. } => "refund_sent",
            Self::Refunded(_) => "refund_done",
            Self::RefundFailed { .. } => "refund_failed",
            Self::RefundResendScheduled { .. } => "refund_repeated",
            Self::RefundUnresolved { .. } => "refund_checked",
        }
    }
}
