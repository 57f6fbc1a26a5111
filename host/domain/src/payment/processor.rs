//! What a processor answers.

use crate::money::Money;
use crate::payment::{Card, DeclineReason};
use crate::time::Timestamp;

/// What the processor says of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessorPayment {
    /// Where it stands there.
    pub status: ProcessorPaymentStatus,
    /// The processor's id.
    pub processor_reference: String,
    /// Held in total.
    pub authorized: Money,
    /// Taken in total.
    pub captured: Money,
    /// Given back in total.
    pub refunded: Money,
    /// What may be shown.
    pub card: Option<Card>,
    /// When the hold lapses.
    pub expires_at: Option<Timestamp>,
}

/// Where a payment stands at the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ProcessorPaymentStatus {
    RequiresAction,
    Authorized,
    Captured,
    Voided,
    Declined,
}

/// How a call about money ends when it is not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PaymentError {
    /// A definite no of the issuer or the processor.
    #[error("the payment was declined")]
    Declined(DeclineReason),
    /// Not possible in this state or with these values.
    #[error("the processor refused: {0}")]
    Refused(String),
    /// Nothing left the gateway.
    #[error("nothing was sent: {0}")]
    NotSent(String),
    /// It may have happened.
    #[error("the outcome is unknown: {0}")]
    Unknown(String),
}
