//! The steps that move money, at the processor.

use crate::app::App;
use crate::flow::judge::{self, Judgement};
use crate::flow::step::{Attempt, FlowError, Walker, request_digest};
use host_domain::hotel::booking::{Booking, Event};
use host_domain::id::{PaymentId, RefundId};
use host_domain::payment::{
    Method, Payment, PaymentError, PaymentEvent, PaymentState, ProcessorState,
};
use host_domain::supplier::ReadError;
use host_runtime::{
    AuthorizeRequest, CallContext, CaptureRequest, FoundPayment, FoundRefund, RefundRequest,
    Supplier, VoidRequest,
};

/// What the payer reads on the statement.
pub(crate) const STATEMENT: &str = "Travel booking";

impl App {
    pub(crate) async fn authorize(
        &self,
        booking: Booking,
        id: &PaymentId,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        let owner = booking.owner.clone();
        let act = async |supplier: Supplier,
                         context: CallContext,
                         payment: Payment,
                         client_reference: String| {
            let not_sent = |why: String| PaymentError::NotSent(why);
            let Method::Instrument { id } = &payment.method else {
                return Err(not_sent("the payer's browser pays".to_owned()));
            };
            let instrument = self
                .open_instrument(&owner, id)
                .await
                .map_err(|error| not_sent(error.to_string()))?;
            let token = instrument
                .ok_or_else(|| not_sent("the instrument was deleted".to_owned()))?
                .token;
            let request = AuthorizeRequest {
                client_reference,
                amount: payment.amount,
                instrument: token,
                description: STATEMENT.to_owned(),
                off_session: false,
            };
            supplier.authorize(&context, request).await
        };
        self.pay(booking, id, "authorize", walker, act, judge::authorized)
            .await
    }

    pub(crate) async fn capture(
        &self,
        booking: Booking,
        id: &PaymentId,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        let act = async |supplier: Supplier,
                         context: CallContext,
                         payment: Payment,
                         client_reference: String| {
            let processor_reference = payment.processor_reference.unwrap_or_default();
            supplier
                .capture(
                    &context,
                    CaptureRequest {
                        client_reference,
                        processor_reference,
                        amount: payment.amount,
                    },
                )
                .await
        };
        self.pay(booking, id, "capture", walker, act, judge::captured)
            .await
    }

    pub(crate) async fn void(
        &self,
        booking: Booking,
        id: &PaymentId,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        let act = async |supplier: Supplier,
                         context: CallContext,
                         payment: Payment,
                         client_reference: String| {
            let processor_reference = payment.processor_reference.unwrap_or_default();
            supplier
                .void(
                    &context,
                    VoidRequest {
                        client_reference,
                        processor_reference,
                    },
                )
                .await
        };
        self.pay(booking, id, "void", walker, act, judge::voided)
            .await
    }

    /// The shape of every step that holds, takes or releases: mark, act, judge, record.
    async fn pay(
        &self,
        booking: Booking,
        id: &PaymentId,
        step: &'static str,
        walker: &Walker,
        act: impl AsyncFnOnce(
            Supplier,
            CallContext,
            Payment,
            String,
        ) -> Result<ProcessorState, PaymentError>,
        judge: impl FnOnce(
            &Payment,
            Result<ProcessorState, PaymentError>,
            judge::Times<'_>,
        ) -> Judgement,
    ) -> Result<Booking, FlowError> {
        let payment = payment_of(&booking, id)?;
        let target = payment.processor.clone();
        let client_reference = booking.payment_reference(id, step, payment.tries());
        let attempt = Attempt {
            step,
            target: &target,
            client_reference: client_reference.clone(),
            request_digest: request_digest(&(step, &client_reference, payment.amount)),
        };
        let mark = Event::Payment {
            id: id.clone(),
            event: PaymentEvent::Sent {
                next_at: self.first_check(),
            },
        };
        let (booking, attempt) = self.mark(booking, mark, attempt, walker).await?;
        let payment = payment_of(&booking, id)?;
        let answer = match self.runtime.supplier(&target) {
            Some(supplier) => {
                act(
                    supplier,
                    self.call_context(&booking, walker),
                    payment.clone(),
                    client_reference,
                )
                .await
            }
            None => Err(PaymentError::NotSent(
                "the processor is not configured".to_owned(),
            )),
        };
        let judgement = judge(&payment, answer, self.times());
        self.record(booking, step, Some(attempt), judgement, walker)
            .await
    }

    pub(crate) async fn find_payment(
        &self,
        booking: Booking,
        id: &PaymentId,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        let payment = payment_of(&booking, id)?;
        let attempt = match &payment.state {
            PaymentState::Capturing(_) => self.open_attempt(&booking, "capture").await?,
            PaymentState::Voiding(_) => self.open_attempt(&booking, "void").await?,
            PaymentState::RequiresAction
            | PaymentState::Authorizing(_)
            | PaymentState::Authorized
            | PaymentState::Captured
            | PaymentState::Voided
            | PaymentState::Failed => self.open_attempt(&booking, "authorize").await?,
        };
        let made_by = if payment.is_by_browser() {
            "intent"
        } else {
            "authorize"
        };
        let client_reference = booking.payment_reference(id, made_by, 0);
        let answer = match self.runtime.supplier(&payment.processor) {
            Some(supplier) => {
                let context = self.call_context(&booking, walker);
                supplier
                    .find_payment(
                        &context,
                        client_reference,
                        payment.processor_reference.clone(),
                    )
                    .await
            }
            None => Err(ReadError::Misconfigured(
                "the processor is not configured".to_owned(),
            )),
        };
        let answer = answer.map(|found| match found {
            FoundPayment::Payment(state) => Some(*state),
            FoundPayment::Nothing => None,
        });
        let judgement = judge::found_payment(
            &payment,
            answer,
            self.reads_consistent_after_ms(&payment.processor),
            self.times(),
        );
        self.record(booking, "find_payment", attempt, judgement, walker)
            .await
    }

    pub(crate) async fn refund(
        &self,
        booking: Booking,
        id: &PaymentId,
        refund: &RefundId,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        let payment = payment_of(&booking, id)?;
        let known = payment
            .refunds
            .iter()
            .find(|known| known.id == *refund)
            .ok_or_else(|| FlowError::Gone(booking.id.clone()))?;
        let request = RefundRequest {
            client_reference: booking.refund_reference(&payment, refund),
            processor_reference: payment.processor_reference.clone().unwrap_or_default(),
            amount: known.amount,
        };
        let target = payment.processor.clone();
        let attempt = Attempt {
            step: "refund",
            target: &target,
            client_reference: request.client_reference.clone(),
            request_digest: request_digest(&request),
        };
        let sent = PaymentEvent::RefundSent {
            refund: refund.clone(),
            next_at: self.first_check(),
        };
        let (booking, attempt) = self
            .mark(
                booking,
                Event::Payment {
                    id: id.clone(),
                    event: sent,
                },
                attempt,
                walker,
            )
            .await?;
        let answer = match self.runtime.supplier(&target) {
            Some(supplier) => {
                supplier
                    .refund(&self.call_context(&booking, walker), request)
                    .await
            }
            None => Err(PaymentError::NotSent(
                "the processor is not configured".to_owned(),
            )),
        };
        let payment = payment_of(&booking, id)?;
        let judgement = judge::refunded(
            &payment,
            refund,
            answer.map(|done| done.processor_reference),
            self.times(),
        );
        self.record(booking, "refund", Some(attempt), judgement, walker)
            .await
    }

    pub(crate) async fn find_refund(
        &self,
        booking: Booking,
        id: &PaymentId,
        refund: &RefundId,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        let payment = payment_of(&booking, id)?;
        let attempt = self.open_attempt(&booking, "refund").await?;
        let answer = match self.runtime.supplier(&payment.processor) {
            Some(supplier) => {
                let at_processor = payment.processor_reference.clone().unwrap_or_default();
                let reference = booking.refund_reference(&payment, refund);
                supplier
                    .find_refund(
                        &self.call_context(&booking, walker),
                        at_processor,
                        reference,
                    )
                    .await
            }
            None => Err(ReadError::Misconfigured(
                "the processor is not configured".to_owned(),
            )),
        };
        let answer = answer.map(|found| matches!(found, FoundRefund::Refund(_)));
        let judgement = judge::found_refund(
            &payment,
            refund,
            answer,
            self.reads_consistent_after_ms(&payment.processor),
            self.times(),
        );
        self.record(booking, "find_refund", attempt, judgement, walker)
            .await
    }
}

fn payment_of(booking: &Booking, id: &PaymentId) -> Result<Payment, FlowError> {
    booking
        .payment(id)
        .cloned()
        .ok_or_else(|| FlowError::Gone(booking.id.clone()))
}
