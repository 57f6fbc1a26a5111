//! Requests to payment processors and their responses.

use host_domain::money::Money;
use host_domain::payment::{Card, ProcessorPayment};

/// A request for a payment that the payer completes in a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    pub amount: Money,
    /// Text on the payer's statement, if the processor supports it.
    pub description: String,
}

/// A payment that a browser can complete. Nothing is authorized yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The processor's id of the payment.
    pub processor_reference: String,
    /// Token that the browser needs.
    pub token: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizeRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    pub amount: Money,
    /// The processor's token of the instrument.
    pub instrument: String,
    /// Text on the payer's statement, if the processor supports it.
    pub description: String,
    /// Whether the payer is absent.
    pub off_session: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    /// The processor's id of the payment.
    pub processor_reference: String,
    pub amount: Money,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoidRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    /// The processor's id of the payment.
    pub processor_reference: String,
    /// Amount of the payment, with which the response is compared. It is not sent.
    pub amount: Money,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    /// The processor's id of the payment.
    pub processor_reference: String,
    pub amount: Money,
}

/// A completed refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessorRefund {
    /// The processor's id of the refund.
    pub processor_reference: String,
    pub amount: Money,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentLookup {
    Found(Box<ProcessorPayment>),
    NotFound,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundLookup {
    Found(ProcessorRefund),
    NotFound,
}

/// The payment instrument that a browser's token represents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstrumentDescription {
    pub token: String,
    pub card: Option<Card>,
}
