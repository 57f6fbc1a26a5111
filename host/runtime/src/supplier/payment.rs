//! Payment calls.

use crate::bindings::exports::stopover::payment::processor as wire;
use crate::convert::payment::{self as convert, PaymentExpectation};
use crate::processor_api::{
    AuthorizeRequest, CaptureRequest, InstrumentDescription, Intent, IntentRequest, PaymentLookup,
    ProcessorRefund, RefundLookup, RefundRequest, VoidRequest,
};
use crate::supplier::{CallContext, Supplier};
use host_domain::money::Money;
use host_domain::payment::{PaymentError, ProcessorPayment};
use host_domain::supplier::ReadError;

impl Supplier {
    /// Creates a payment that a browser can complete. Nothing is authorized yet.
    pub async fn create_intent(
        &self,
        context: &CallContext,
        request: IntentRequest,
    ) -> Result<Intent, PaymentError> {
        let function = &self.plugin.exports.processor.create_intent;
        let arguments = wire::IntentRequest {
            client_reference: request.client_reference,
            amount: convert::money_to_wire(request.amount),
            description: request.description,
        };
        self.call(context, function, (arguments,), convert::intent)
            .await
    }

    /// Authorizes an amount.
    pub async fn authorize(
        &self,
        context: &CallContext,
        request: AuthorizeRequest,
    ) -> Result<ProcessorPayment, PaymentError> {
        let function = &self.plugin.exports.processor.authorize;
        let expected = PaymentExpectation::new(None, request.amount);
        let arguments = wire::AuthorizeRequest {
            client_reference: request.client_reference,
            amount: convert::money_to_wire(request.amount),
            instrument: request.instrument,
            description: request.description,
            off_session: request.off_session,
        };
        let read = |state, dropped: &mut _| convert::authorization(state, &expected, dropped);
        self.call_dropping(context, function, (arguments,), read)
            .await
    }

    /// Captures an authorized amount.
    pub async fn capture(
        &self,
        context: &CallContext,
        request: CaptureRequest,
    ) -> Result<ProcessorPayment, PaymentError> {
        let function = &self.plugin.exports.processor.capture;
        let expected = PaymentExpectation::new(Some(&request.processor_reference), request.amount);
        let arguments = wire::CaptureRequest {
            client_reference: request.client_reference,
            processor_reference: request.processor_reference,
            amount: convert::money_to_wire(request.amount),
        };
        let read = |state, dropped: &mut _| convert::processor_payment(state, &expected, dropped);
        self.call_dropping(context, function, (arguments,), read)
            .await
    }

    /// Voids an authorization.
    pub async fn void(
        &self,
        context: &CallContext,
        request: VoidRequest,
    ) -> Result<ProcessorPayment, PaymentError> {
        let function = &self.plugin.exports.processor.void;
        let expected = PaymentExpectation::new(Some(&request.processor_reference), request.amount);
        let arguments = wire::VoidRequest {
            client_reference: request.client_reference,
            processor_reference: request.processor_reference,
        };
        let read = |state, dropped: &mut _| convert::processor_payment(state, &expected, dropped);
        self.call_dropping(context, function, (arguments,), read)
            .await
    }

    /// Refunds a captured amount.
    pub async fn refund(
        &self,
        context: &CallContext,
        request: RefundRequest,
    ) -> Result<ProcessorRefund, PaymentError> {
        let function = &self.plugin.exports.processor.refund;
        let expected = request.amount;
        let arguments = wire::RefundRequest {
            client_reference: request.client_reference,
            processor_reference: request.processor_reference,
            amount: convert::money_to_wire(request.amount),
        };
        let read = |state| convert::refund(state, expected);
        self.call(context, function, (arguments,), read).await
    }

    /// Reads a payment of this amount back by the reference of its intent or authorization.
    pub async fn find_payment(
        &self,
        context: &CallContext,
        client_reference: String,
        processor_reference: Option<String>,
        amount: Money,
    ) -> Result<PaymentLookup, ReadError> {
        let function = &self.plugin.exports.processor.find;
        let expected = PaymentExpectation::new(processor_reference.as_deref(), amount);
        let arguments = wire::FindRequest {
            client_reference,
            processor_reference,
        };
        let read = |response, dropped: &mut _| match response {
            wire::PaymentLookup::Found(state) => {
                let payment = convert::processor_payment(state, &expected, dropped)?;
                Ok(PaymentLookup::Found(Box::new(payment)))
            }
            wire::PaymentLookup::NotFound => Ok(PaymentLookup::NotFound),
        };
        self.call_lookup(context, function, (arguments,), read)
            .await
    }

    /// Reads a refund of this amount back by its own reference.
    pub async fn find_refund(
        &self,
        context: &CallContext,
        processor_reference: String,
        client_reference: String,
        amount: Money,
    ) -> Result<RefundLookup, ReadError> {
        let function = &self.plugin.exports.processor.find_refund;
        let read = |response, _: &mut _| match response {
            wire::RefundLookup::Found(state) => {
                convert::refund(state, amount).map(RefundLookup::Found)
            }
            wire::RefundLookup::NotFound => Ok(RefundLookup::NotFound),
        };
        let arguments = (processor_reference, client_reference);
        self.call_lookup(context, function, arguments, read).await
    }

    /// Returns the payment instrument that a browser's token represents, and the token to store.
    pub async fn describe_instrument(
        &self,
        context: &CallContext,
        token: String,
    ) -> Result<InstrumentDescription, ReadError> {
        let function = &self.plugin.exports.processor.describe_instrument;
        let read = |instrument, dropped: &mut _| convert::instrument(instrument, dropped);
        self.call_dropping(context, function, (token,), read).await
    }
}
