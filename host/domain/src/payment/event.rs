//! What happens to a payment.

use crate::id::RefundId;
use crate::payment::{Card, Decline};
use crate::time::Timestamp;

/// What happens to a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentEvent {
    /// The mark before an authorization, capture, void leaves.
    Sent {
        /// When to read back without an answer.
        next_at: Timestamp,
    },
    /// The amount is held.
    Authorized {
        /// The processor's id.
        processor_reference: String,
        /// What may be shown.
        card: Option<Card>,
    },
    /// A definite no; nothing is held.
    Declined(Decline),
    /// The hold was never asked for, or it is known that nothing came of it.
    NothingHeld,
    /// Taken.
    Captured,
    /// Released.
    Voided,
    /// Capture or void did not happen; try again.
    Failed {
        /// When.
        retry_at: Timestamp,
    },
    /// Read back without result.
    Checked {
        /// When to read back next.
        next_at: Timestamp,
    },
    /// A hold that was not there when read back; to be asked for again as the same call.
    Repeated {
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
    RefundRepeated {
        /// Which.
        refund: RefundId,
        /// When.
        at: Timestamp,
    },
    /// The refund was read back without result.
    RefundChecked {
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
            Self::NothingHeld => "payment_nothing_held",
            Self::Captured => "payment_captured",
            Self::Voided => "payment_voided",
            Self::Failed { .. } => "payment_step_failed",
            Self::Checked { .. } => "payment_checked",
            Self::Repeated { .. } => "payment_repeated",
            Self::RefundSent { .. } => "refund_sent",
            Self::Refunded(_) => "refund_done",
            Self::RefundFailed { .. } => "refund_failed",
            Self::RefundRepeated { .. } => "refund_repeated",
            Self::RefundChecked { .. } => "refund_checked",
        }
    }
}
