//! Payment operations.

use crate::bindings::exports::stopover::payment::processor as wire;
use crate::convert::payment as convert;
use crate::exports::ProcessorExports;
use crate::supplier::call::ExportName;
use crate::supplier::{CallContext, Supplier};
use host_domain::money::Money;
use host_domain::payment::{Card, PaymentError, ProcessorPayment};
use host_domain::supplier::{Capability, ReadError};

/// A payment to be completed in a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentRequest {
    /// Begins with the booking's id; the idempotency key.
    pub client_reference: String,
    /// How much.
    pub amount: Money,
    /// On the payer's statement, where possible.
    pub description: String,
}

/// A payment for the browser; nothing is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The processor's id.
    pub processor_reference: String,
    /// What the browser needs.
    pub token: String,
}

/// Hold an amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizeRequest {
    /// Begins with the booking's id; the idempotency key.
    pub client_reference: String,
    /// How much.
    pub amount: Money,
    /// The instrument's token at the processor.
    pub instrument: String,
    /// On the payer's statement, where possible.
    pub description: String,
    /// The payer is not there.
    pub off_session: bool,
}

/// Take what is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureRequest {
    /// Begins with the booking's id; the idempotency key.
    pub client_reference: String,
    /// The processor's id of the payment.
    pub processor_reference: String,
    /// How much.
    pub amount: Money,
}

/// Release what is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoidRequest {
    /// Begins with the booking's id; the idempotency key.
    pub client_reference: String,
    /// The processor's id of the payment.
    pub processor_reference: String,
}

/// Give back what was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    /// Begins with the booking's id; the idempotency key.
    pub client_reference: String,
    /// The processor's id of the payment.
    pub processor_reference: String,
    /// How much.
    pub amount: Money,
}

/// A refund that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessorRefund {
    /// The processor's id of it.
    pub processor_reference: String,
    /// How much.
    pub amount: Money,
}

/// What reading a payment back found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentLookup {
    /// This.
    Found(Box<ProcessorPayment>),
    /// The processor answered, and knows nothing of it.
    NotFound,
}

/// What reading a refund back found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundLookup {
    /// This.
    Found(ProcessorRefund),
    /// The processor answered, and knows nothing of it.
    NotFound,
}

/// What a browser's token stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstrumentDescription {
    /// The token to keep.
    pub token: String,
    /// What may be shown.
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

    /// Makes a payment for the browser; nothing is held yet.
    ///
    /// # Errors
    /// [`PaymentError`].
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

    /// Holds an amount.
    ///
    /// # Errors
    /// [`PaymentError`].
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

    /// Takes what is held.
    ///
    /// # Errors
    /// [`PaymentError`].
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

    /// Releases what is held.
    ///
    /// # Errors
    /// [`PaymentError`].
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

    /// Gives back what was taken.
    ///
    /// # Errors
    /// [`PaymentError`].
    pub async fn refund(
        &self,
        context: &CallContext,
        request: RefundRequest,
    ) -> Result<ProcessorRefund, PaymentError> {
        let function = self.processor().map(|processor| &processor.refund);
        let asked = request.amount;
        let arguments = wire::RefundRequest {
            client_reference: request.client_reference,
            processor_reference: request.processor_reference,
            amount: convert::money_to_wire(request.amount),
        };
        self.call(context, name("refund"), function, (arguments,), |state| {
            refund_done(state, Some(asked))
        })
        .await
    }

    /// Reads a payment back by the reference of its intent or authorization.
    ///
    /// # Errors
    /// [`ReadError`].
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
        let read = |answer| match answer {
            wire::FindAnswer::Found(state) => {
                convert::processor_payment(state, None).map(|state| PaymentLookup::Found(Box::new(state)))
            }
            wire::FindAnswer::NotFound => Ok(PaymentLookup::NotFound),
        };
        self.call(context, name("find"), function, (arguments,), read)
            .await
    }

    /// Reads a refund back by its own reference.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn find_refund(
        &self,
        context: &CallContext,
        processor_reference: String,
        client_reference: String,
    ) -> Result<RefundLookup, ReadError> {
        let function = self.processor().map(|processor| &processor.find_refund);
        let read = |answer| match answer {
            wire::FindRefundAnswer::Found(state) => {
                refund_done(state, None).map(RefundLookup::Found)
            }
            wire::FindRefundAnswer::NotFound => Ok(RefundLookup::NotFound),
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

    /// What a browser's token stands for, and the token to keep.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn describe_instrument(
        &self,
        context: &CallContext,
        token: String,
    ) -> Result<InstrumentDescription, ReadError> {
        let function = self
            .processor()
            .map(|processor| &processor.describe_instrument);
        let read = |instrument| {
            convert::instrument(instrument).map(|(token, card)| InstrumentDescription { token, card })
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
    state: wire::RefundState,
    asked: Option<Money>,
) -> Result<ProcessorRefund, crate::convert::InvalidResponse> {
    convert::refund(state, asked).map(|(processor_reference, amount)| ProcessorRefund {
        processor_reference,
        amount,
    })
}
