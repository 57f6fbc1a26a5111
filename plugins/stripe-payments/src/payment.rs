//! The calls that move money.

use stopover_sdk::http::percent_encode;
use stopover_sdk::json::ensure;
use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, DeclineReason, Intent, IntentRequest, PaymentError,
    ProcessorPayment, ProcessorRefund, RefundRequest, VoidRequest,
};
use stopover_sdk::types::Money;

use crate::fault::{self, Change};
use crate::form::{CLIENT_REFERENCE, Form, PAYMENT_ORIGIN};
use crate::instrument::StoredCard;
use crate::{amount, map, upstream, wire};

/// Field that Stripe expands in responses, so that they contain the authorized amount and the card.
pub(crate) const EXPANDED_FIELD: &str = "latest_charge";

pub(crate) fn create_intent(request: &IntentRequest) -> Result<Intent, PaymentError> {
    let client_reference = &request.client_reference;
    let form = authorization_form(&request.amount, client_reference, &request.description)?
        .metadata(PAYMENT_ORIGIN, map::BROWSER);
    let intent = create_payment_intent(form, client_reference, &request.amount, Change::Intent)?;
    let token = intent.client_secret;
    Ok(Intent {
        processor_reference: intent.id,
        token: token.ok_or_else(|| PaymentError::Unknown("Stripe returned no token".to_owned()))?,
    })
}

pub(crate) fn authorize(request: &AuthorizeRequest) -> Result<ProcessorPayment, PaymentError> {
    let Some(stored_card) = StoredCard::parse(&request.instrument) else {
        let text = "The instrument is not a card that this adapter stored.";
        return Err(PaymentError::Refused(text.to_owned()));
    };
    let client_reference = &request.client_reference;
    let form = authorization_form(&request.amount, client_reference, &request.description)?
        .metadata(PAYMENT_ORIGIN, map::INSTRUMENT)
        .field("customer", stored_card.customer)
        .field("payment_method", stored_card.payment_method)
        .field("confirm", true);
    // In both cases nobody can complete an action, and Stripe returns an error if one is required.
    let form = if request.off_session {
        form.field("off_session", true)
    } else {
        form.field("error_on_requires_action", true)
    };
    let intent = create_payment_intent(form, client_reference, &request.amount, Change::Authorize)?;
    Ok(map::payment(intent)?)
}

pub(crate) fn capture(request: &CaptureRequest) -> Result<ProcessorPayment, PaymentError> {
    let form = Form::default()
        .field("amount_to_capture", to_stripe_amount(&request.amount)?)
        .field("expand[]", EXPANDED_FIELD);
    let path = format!("{}/capture", path(&request.processor_reference));
    let response = upstream::send_change(&path, &request.client_reference, form)?;
    let intent: wire::PaymentIntent = fault::decode_change(&response, Change::Capture)?;
    let has_requested_amount = is_in(&intent.currency, &request.amount);
    ensure(intent.id == request.processor_reference, map::OTHER_PAYMENT)?;
    ensure(has_requested_amount, map::OTHER_AMOUNT)?;
    Ok(map::payment(intent)?)
}

pub(crate) fn void(request: &VoidRequest) -> Result<ProcessorPayment, PaymentError> {
    let form = Form::default().field("expand[]", EXPANDED_FIELD);
    let path = format!("{}/cancel", path(&request.processor_reference));
    let response = upstream::send_change(&path, &request.client_reference, form)?;
    let intent: wire::PaymentIntent = fault::decode_change(&response, Change::Void)?;
    ensure(intent.id == request.processor_reference, map::OTHER_PAYMENT)?;
    Ok(map::payment(intent)?)
}

pub(crate) fn refund(request: &RefundRequest) -> Result<ProcessorRefund, PaymentError> {
    let client_reference = &request.client_reference;
    let form = Form::default()
        .field("payment_intent", &request.processor_reference)
        .field("amount", to_stripe_amount(&request.amount)?)
        .metadata(CLIENT_REFERENCE, client_reference);
    let response = upstream::send_change("/refunds", client_reference, form)?;
    let refund: wire::Refund = fault::decode_change(&response, Change::Refund)?;
    let payment = refund.payment_intent.as_deref();
    let has_client_reference =
        map::has_client_reference(refund.metadata.as_ref(), client_reference);
    let has_requested_amount = is_in(&refund.currency, &request.amount);
    let has_payment = payment == Some(&request.processor_reference);
    ensure(has_client_reference, map::OTHER_CLIENT_REFERENCE)?;
    ensure(has_payment, map::OTHER_PAYMENT)?;
    ensure(has_requested_amount, map::OTHER_AMOUNT)?;
    match refund.status {
        // The refund is accepted. A pending one waits for the account's balance or for the bank.
        wire::RefundStatus::Succeeded
        | wire::RefundStatus::Pending
        | wire::RefundStatus::RequiresAction => Ok(map::refund(refund)?),
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
fn authorization_form(
    amount: &Money,
    client_reference: &str,
    description: &str,
) -> Result<Form, PaymentError> {
    Ok(Form::default()
        .field("amount", to_stripe_amount(amount)?)
        .field("currency", amount.currency.to_ascii_lowercase())
        .field("payment_method_types[0]", "card")
        .field("capture_method", "manual")
        .field("description", description)
        .field("expand[]", EXPANDED_FIELD)
        .metadata(CLIENT_REFERENCE, client_reference))
}

fn create_payment_intent(
    form: Form,
    client_reference: &str,
    amount: &Money,
    change: Change,
) -> Result<wire::PaymentIntent, PaymentError> {
    let response = upstream::send_change("/payment_intents", client_reference, form)?;
    let intent: wire::PaymentIntent = fault::decode_change(&response, change)?;
    let has_client_reference =
        map::has_client_reference(intent.metadata.as_ref(), client_reference);
    let has_requested_amount =
        is_in(&intent.currency, amount) && Some(intent.amount) == amount::to_stripe(amount);
    ensure(has_client_reference, map::OTHER_CLIENT_REFERENCE)?;
    ensure(has_requested_amount, map::OTHER_AMOUNT)?;
    Ok(intent)
}

fn is_in(currency: &str, amount: &Money) -> bool {
    currency.eq_ignore_ascii_case(&amount.currency)
}

fn to_stripe_amount(amount: &Money) -> Result<i64, PaymentError> {
    let text = "Stripe cannot represent this fraction of the currency.";
    amount::to_stripe(amount).ok_or_else(|| PaymentError::Refused(text.to_owned()))
}
