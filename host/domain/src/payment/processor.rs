//! Responses of a payment processor.

use crate::money::Money;
use crate::payment::{Card, DeclineReason};
use crate::supplier::FailureReason;
use crate::time::Timestamp;

/// A payment as the processor reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessorPayment {
    pub status: ProcessorPaymentStatus,
    /// The processor's id of the payment.
    pub processor_reference: String,
    pub authorized: Money,
    pub captured: Money,
    pub refunded: Money,
    pub card: Option<Card>,
    /// Time at which the authorization expires.
    pub expires_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessorPaymentStatus {
    RequiresAction,
    Authorized,
    Captured,
    Voided,
    Declined,
}

/// Errors of a call that moves money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PaymentError {
    /// The issuer or the processor definitely declined.
    #[error("the payment was declined")]
    Declined(DeclineReason),
    /// The operation is not possible in this state or with these values.
    #[error("the processor refused: {0}")]
    Refused(String),
    /// The adapter refused without asking the processor, for example values that it cannot represent.
    /// This says nothing about an earlier call.
    #[error("the payment adapter refused: {0}")]
    RefusedByAdapter(String),
    /// No data left the gateway, or the processor does not accept its credentials. The call may be
    /// sent again.
    #[error("nothing was sent: {0}")]
    NotSent(FailureReason),
    /// The operation may have taken effect.
    #[error("the outcome is unknown: {0}")]
    Unknown(FailureReason),
}
