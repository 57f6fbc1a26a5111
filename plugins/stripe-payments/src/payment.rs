//! The calls that move money.

use stopover_sdk::http::percent_encode;
use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, DeclineReason, Intent, IntentRequest, PaymentError,
    ProcessorPayment, ProcessorRefund, RefundRequest, VoidRequest,
};
use stopover_sdk::types::Money;

use crate::form::{CLIENT_REFERENCE, Form, MADE_FOR};
use crate::instrument::Kept;
use crate::refusal::{self, Change};
use crate::{amount, map, stripe, wire};

/// Field that Stripe expands in responses, so that they contain the authorized amount and the card.
pub(crate) const WRITTEN_OUT: &str = "latest_charge";

pub(crate) fn create_intent(request: &IntentRequest) -> Result<Intent, PaymentError> {
    let client_reference = &request.client_reference;
    let form = held(&request.amount, client_reference, &request.description)?
        .metadata(MADE_FOR, map::BROWSER);
    let intent = make(form, client_reference, &request.amount, Change::Intent)?;
    let token = intent.client_secret;
    Ok(Intent {
        processor_reference: intent.id,
        token: token.ok_or_else(|| PaymentError::Unknown("Stripe returned no token".to_owned()))?,
    })
}

pub(crate) fn authorize(request: &AuthorizeRequest) -> Result<ProcessorPayment, PaymentError> {
    let Some(kept) = Kept::read(&request.instrument) else {
        let text = "The instrument is not a card that this adapter stored.";
        return Err(PaymentError::Refused(text.to_owned()));
    };
    let client_reference = &request.client_reference;
    let form = held(&request.amount, client_reference, &request.description)?
        .metadata(MADE_FOR, map::INSTRUMENT)
        .field("customer", kept.customer)
        .field("payment_method", kept.payment_method)
        .field("confirm", true);
    // In both cases nobody can complete an action, and Stripe returns an error if one is required.
    let form = if request.off_session {
        form.field("off_session", true)
    } else {
        form.field("error_on_requires_action", true)
    };
    let intent = make(form, client_reference, &request.amount, Change::Authorize)?;
    Ok(map::payment(intent)?)
}

pub(crate) fn capture(request: &CaptureRequest) -> Result<ProcessorPayment, PaymentError> {
    let form = Form::default()
        .field("amount_to_capture", stripes(&request.amount)?)
        .field("expand[]", WRITTEN_OUT);
    let path = format!("{}/capture", path(&request.processor_reference));
    let response = stripe::change(&path, &request.client_reference, form)?;
    let intent: wire::PaymentIntent = refusal::done(&response, Change::Capture)?;
    let is_asked = is_in(&intent.currency, &request.amount);
    map::check(intent.id == request.processor_reference, map::WHICH)
        .and_then(|()| map::check(is_asked, map::HOW_MUCH))
        .map_err(refusal::unreadable)?;
    Ok(map::payment(intent)?)
}

pub(crate) fn void(request: &VoidRequest) -> Result<ProcessorPayment, PaymentError> {
    let form = Form::default().field("expand[]", WRITTEN_OUT);
    let path = format!("{}/cancel", path(&request.processor_reference));
    let response = stripe::change(&path, &request.client_reference, form)?;
    let intent: wire::PaymentIntent = refusal::done(&response, Change::Void)?;
    map::check(intent.id == request.processor_reference, map::WHICH)
        .map_err(refusal::unreadable)?;
    Ok(map::payment(intent)?)
}

pub(crate) fn refund(request: &RefundRequest) -> Result<ProcessorRefund, PaymentError> {
    let client_reference = &request.client_reference;
    let form = Form::default()
        .field("payment_intent", &request.processor_reference)
        .field("amount", stripes(&request.amount)?)
        .metadata(CLIENT_REFERENCE, client_reference);
    let response = stripe::change("/refunds", client_reference, form)?;
    let refund: wire::Refund = refusal::done(&response, Change::Refund)?;
    let payment = refund.payment_intent.as_deref();
    let is_ours = map::is_ours(refund.metadata.as_ref(), client_reference);
    let is_asked = is_in(&refund.currency, &request.amount);
    map::check(is_ours, map::WHOSE)
        .and_then(|()| map::check(payment == Some(&request.processor_reference), map::WHICH))
        .and_then(|()| map::check(is_asked, map::HOW_MUCH))
        .map_err(refusal::unreadable)?;
    match refund.status {
        // The refund is accepted. A pending one waits for the account's balance or for the bank.
        wire::RefundStatus::Succeeded
        | wire::RefundStatus::Pending
        | wire::RefundStatus::RequiresAction => map::refund(refund).map_err(refusal::unreadable),
        wire::RefundStatus::Failed | wire::RefundStatus::Canceled => Err(PaymentError::Declined(
            DeclineReason::Other("refund_failed".to_owned()),
        )),
    }
}

/// Returns the path of a payment by Stripe's id.
pub(crate) fn path(id: &str) -> String {
    format!("/payment_intents/{}", percent_encode(id))
}

/// Creates the form of a card payment that is captured later.
fn held(amount: &Money, client_reference: &str, description: &str) -> Result<Form, PaymentError> {
    Ok(Form::default()
        .field("amount", stripes(amount)?)
        .field("currency", amount.currency.to_ascii_lowercase())
        .field("payment_method_types[0]", "card")
        .field("capture_method", "manual")
        .field("description", description)
        .field("expand[]", WRITTEN_OUT)
        .metadata(CLIENT_REFERENCE, client_reference))
}

fn make(
    form: Form,
    client_reference: &str,
    amount: &Money,
    change: Change,
) -> Result<wire::PaymentIntent, PaymentError> {
    let response = stripe::change("/payment_intents", client_reference, form)?;
    let intent: wire::PaymentIntent = refusal::done(&response, change)?;
    let is_ours = map::is_ours(intent.metadata.as_ref(), client_reference);
    let is_asked =
        is_in(&intent.currency, amount) && Some(intent.amount) == amount::to_stripe(amount);
    map::check(is_ours, map::WHOSE)
        .and_then(|()| map::check(is_asked, map::HOW_MUCH))
        .map_err(refusal::unreadable)?;
    Ok(intent)
}

fn is_in(currency: &str, amount: &Money) -> bool {
    currency.eq_ignore_ascii_case(&amount.currency)
}

fn stripes(amount: &Money) -> Result<i64, PaymentError> {
    let text = "Stripe cannot represent this fraction of the currency.";
    amount::to_stripe(amount).ok_or_else(|| PaymentError::Refused(text.to_owned()))
}
