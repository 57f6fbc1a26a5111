//! Payment calls.

use crate::bindings::exports::stopover::payment::processor as wire;
use crate::convert::payment as convert;
use crate::exports::ProcessorExports;
use crate::supplier::call::ExportName;
use crate::supplier::{CallContext, Supplier};
use host_domain::money::Money;
use host_domain::payment::{Card, PaymentError, ProcessorPayment};
use host_domain::supplier::{Capability, ReadError};

/// A request for a payment that the payer completes in a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    /// Amount of the payment.
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

/// A request to authorize an amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizeRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    /// Amount to authorize.
    pub amount: Money,
    /// The processor's token of the instrument.
    pub instrument: String,
    /// Text on the payer's statement, if the processor supports it.
    pub description: String,
    /// Whether the payer is absent.
    pub off_session: bool,
}

/// A request to capture an authorized amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    /// The processor's id of the payment.
    pub processor_reference: String,
    /// Amount to capture.
    pub amount: Money,
}

/// A request to void an authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoidRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    /// The processor's id of the payment.
    pub processor_reference: String,
}

/// A request to refund a captured amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    /// Idempotency key that begins with the booking's id.
    pub client_reference: String,
    /// The processor's id of the payment.
    pub processor_reference: String,
    /// Amount to refund.
    pub amount: Money,
}

/// A completed refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessorRefund {
    /// The processor's id of the refund.
    pub processor_reference: String,
    /// Refunded amount.
    pub amount: Money,
}

/// The result of reading a payment back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentLookup {
    /// The processor has the payment.
    Found(Box<ProcessorPayment>),
    /// The processor responded that it has no such payment.
    NotFound,
}

/// The result of reading a refund back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundLookup {
    /// The processor has the refund.
    Found(ProcessorRefund),
    /// The processor responded that it has no such refund.
    NotFound,
}

/// The payment instrument that a browser's token represents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstrumentDescription {
    /// Token to store.
    pub token: String,
    /// Displayable details of the card.
    pub card: Option<Card>,
}

const fn name(function: &'static str) -> ExportName {
    ExportName {
        capability: Capability::PaymentProcessor,
        function,
    }
}

impl Supplier {
    fn processor(&self) -> Option<&ProcessorExports> {
        self.plugin.exports.processor.as_ref()
    }

    /// Creates a payment that a browser can complete. Nothing is authorized yet.
    pub async fn create_intent(
        &self,
        context: &CallContext,
        request: IntentRequest,
    ) -> Result<Intent, PaymentError> {
        let function = self.processor().map(|processor| &processor.create_intent);
        let arguments = wire::IntentRequest {
            client_reference: request.client_reference,
            amount: convert::money_to_wire(request.amount),
            description: request.description,
        };
        let read = |intent| {
            convert::intent(intent).map(|(processor_reference, token)| Intent {
                processor_reference,
                token,
            })
        };
        self.call(context, name("create-intent"), function, (arguments,), read)
            .await
    }

    /// Authorizes an amount.
    pub async fn authorize(
        &self,
        context: &CallContext,
        request: AuthorizeRequest,
    ) -> Result<ProcessorPayment, PaymentError> {
        let function = self.processor().map(|processor| &processor.authorize);
        let currency = request.amount.currency;
        let arguments = wire::AuthorizeRequest {
            client_reference: request.client_reference,
            amount: convert::money_to_wire(request.amount),
            instrument: request.instrument,
            description: request.description,
            off_session: request.off_session,
        };
        self.call(
            context,
            name("authorize"),
            function,
            (arguments,),
            |state| convert::processor_payment(state, Some(currency)),
        )
        .await
    }

    /// Captures an authorized amount.
    pub async fn capture(
        &self,
        context: &CallContext,
        request: CaptureRequest,
    ) -> Result<ProcessorPayment, PaymentError> {
        let function = self.processor().map(|processor| &processor.capture);
        let currency = request.amount.currency;
        let arguments = wire::CaptureRequest {
            client_reference: request.client_reference,
            processor_reference: request.processor_reference,
            amount: convert::money_to_wire(request.amount),
        };
        self.call(context, name("capture"), function, (arguments,), |state| {
            convert::processor_payment(state, Some(currency))
        })
        .await
    }

    /// Voids an authorization.
    pub async fn void(
        &self,
        context: &CallContext,
        request: VoidRequest,
    ) -> Result<ProcessorPayment, PaymentError> {
        let function = self.processor().map(|processor| &processor.void);
        let arguments = wire::VoidRequest {
            client_reference: request.client_reference,
            processor_reference: request.processor_reference,
        };
        self.call(context, name("void"), function, (arguments,), |state| {
            convert::processor_payment(state, None)
        })
        .await
    }

    /// Refunds a captured amount.
    pub async fn refund(
        &self,
        context: &CallContext,
        request: RefundRequest,
    ) -> Result<ProcessorRefund, PaymentError> {
        let function = self.processor().map(|processor| &processor.refund);
        let expected = request.amount;
        let arguments = wire::RefundRequest {
            client_reference: request.client_reference,
            processor_reference: request.processor_reference,
            amount: convert::money_to_wire(request.amount),
        };
        self.call(context, name("refund"), function, (arguments,), |state| {
            refund_done(state, Some(expected))
        })
        .await
    }

    /// Reads a payment back by the reference of its intent or authorization.
    pub async fn find_payment(
        &self,
        context: &CallContext,
        client_reference: String,
        processor_reference: Option<String>,
    ) -> Result<PaymentLookup, ReadError> {
        let function = self.processor().map(|processor| &processor.find);
        let arguments = wire::FindRequest {
            client_reference,
            processor_reference,
        };
        let read = |response| match response {
            wire::PaymentLookup::Found(state) => convert::processor_payment(state, None)
                .map(|state| PaymentLookup::Found(Box::new(state))),
            wire::PaymentLookup::NotFound => Ok(PaymentLookup::NotFound),
        };
        self.call(context, name("find"), function, (arguments,), read)
            .await
    }

    /// Reads a refund back by its own reference.
    pub async fn find_refund(
        &self,
        context: &CallContext,
        processor_reference: String,
        client_reference: String,
    ) -> Result<RefundLookup, ReadError> {
        let function = self.processor().map(|processor| &processor.find_refund);
        let read = |response| match response {
            wire::RefundLookup::Found(state) => refund_done(state, None).map(RefundLookup::Found),
            wire::RefundLookup::NotFound => Ok(RefundLookup::NotFound),
        };
        self.call(
            context,
            name("find-refund"),
            function,
            (processor_reference, client_reference),
            read,
        )
        .await
    }

    /// Returns the payment instrument that a browser's token represents, and the token to store.
    pub async fn describe_instrument(
        &self,
        context: &CallContext,
        token: String,
    ) -> Result<InstrumentDescription, ReadError> {
        let function = self
            .processor()
            .map(|processor| &processor.describe_instrument);
        let read = |instrument| {
            convert::instrument(instrument)
                .map(|(token, card)| InstrumentDescription { token, card })
        };
        self.call(
            context,
            name("describe-instrument"),
            function,
            (token,),
            read,
        )
        .await
    }
}

fn refund_done(
    state: wire::ProcessorRefund,
    expected: Option<Money>,
) -> Result<ProcessorRefund, crate::convert::InvalidResponse> {
    convert::refund(state, expected).map(|(processor_reference, amount)| ProcessorRefund {
        processor_reference,
        amount,
    })
}
