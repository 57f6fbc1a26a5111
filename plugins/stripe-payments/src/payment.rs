//! The calls that move money.

use serde::de::DeserializeOwned;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Essential, NonEmptyText};
use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, DeclineReason, FindRequest, Instrument, Intent,
    IntentRequest, PaymentError, PaymentLookup, ProcessorPayment, ProcessorRefund, RefundLookup,
    RefundRequest, VoidRequest,
};
use stopover_sdk::types::Money;
use stopover_sdk::{PaymentProcessor, ReadError};

use crate::fault::{self, Change};
use crate::form::{CLIENT_REFERENCE, Form, PAYMENT_ORIGIN};
use crate::instrument::StoredCard;
use crate::upstream::{EXPANDED_FIELD, payment_path, post};
use crate::{StripePayments, amount, find, instrument, map, wire};

impl PaymentProcessor for StripePayments {
    fn create_intent(request: IntentRequest) -> Result<Intent, PaymentError> {
        let client_reference = &request.client_reference;
        let form = authorization_form(&request.amount, client_reference, &request.description)?
            .metadata(PAYMENT_ORIGIN, map::BROWSER);
        let intent =
            create_payment_intent(form, client_reference, &request.amount, Change::Intent)?;
        let token = intent.client_secret.required("client_secret")?;
        Ok(Intent {
            processor_reference: intent.id.required("id")?.as_str().to_owned(),
            token: token.as_str().to_owned(),
        })
    }

    fn authorize(request: AuthorizeRequest) -> Result<ProcessorPayment, PaymentError> {
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
        // In both cases nobody can complete an action, and Stripe returns an error if one is
        // required.
        let form = if request.off_session {
            form.field("off_session", true)
        } else {
            form.field("error_on_requires_action", true)
        };
        let intent =
            create_payment_intent(form, client_reference, &request.amount, Change::Authorize)?;
        changed_payment(intent, Some(map::INSTRUMENT))
    }

    fn capture(request: CaptureRequest) -> Result<ProcessorPayment, PaymentError> {
        let form = Form::default()
            .field("amount_to_capture", to_stripe_amount(&request.amount)?)
            .field("expand[]", EXPANDED_FIELD);
        let path = format!("{}/capture", payment_path(&request.processor_reference));
        let intent: wire::PaymentIntent =
            send_change(&path, &request.client_reference, form, Change::Capture)?;
        check_payment(&intent.id, &request.processor_reference)?;
        ensure(is_in(&intent.currency, &request.amount)?, map::OTHER_AMOUNT)?;
        changed_payment(intent, None)
    }

    fn void(request: VoidRequest) -> Result<ProcessorPayment, PaymentError> {
        let form = Form::default().field("expand[]", EXPANDED_FIELD);
        let path = format!("{}/cancel", payment_path(&request.processor_reference));
        let intent: wire::PaymentIntent =
            send_change(&path, &request.client_reference, form, Change::Void)?;
        check_payment(&intent.id, &request.processor_reference)?;
        changed_payment(intent, None)
    }

    fn refund(request: RefundRequest) -> Result<ProcessorRefund, PaymentError> {
        let client_reference = &request.client_reference;
        let form = Form::default()
            .field("payment_intent", &request.processor_reference)
            .field("amount", to_stripe_amount(&request.amount)?)
            .metadata(CLIENT_REFERENCE, client_reference);
        let refund: wire::Refund = send_change("/refunds", client_reference, form, Change::Refund)?;
        check_reference(&refund.metadata, client_reference)?;
        check_payment(&refund.payment_intent, &request.processor_reference)?;
        ensure(is_in(&refund.currency, &request.amount)?, map::OTHER_AMOUNT)?;
        match refund.status.required("status")? {
            wire::RefundStatus::Succeeded => Ok(map::refund(&refund)?),
            // It waits for the account's balance, the bank or the payer, and may still fail.
            wire::RefundStatus::Pending | wire::RefundStatus::RequiresAction => {
                Err(PaymentError::Unknown(map::PENDING_REFUND.to_owned()))
            }
            wire::RefundStatus::Failed | wire::RefundStatus::Canceled => Err(
                PaymentError::Declined(DeclineReason::Other("refund_failed".to_owned())),
            ),
        }
    }

    fn find(request: FindRequest) -> Result<PaymentLookup, ReadError> {
        find::payment(&request)
    }

    fn find_refund(
        processor_reference: String,
        client_reference: String,
    ) -> Result<RefundLookup, ReadError> {
        find::refund(&processor_reference, &client_reference)
    }

    fn describe_instrument(token: String) -> Result<Instrument, ReadError> {
        instrument::describe(&token)
    }
}

/// Converts the payment that a change returned. The outcome of an undecided one is unknown.
/// `known_origin` is the party that completes the payment, if the change determines it.
fn changed_payment(
    intent: wire::PaymentIntent,
    known_origin: Option<&str>,
) -> Result<ProcessorPayment, PaymentError> {
    let payment = map::payment(intent, known_origin, &mut DroppedItems::default())?;
    payment.ok_or_else(|| PaymentError::Unknown(map::UNDECIDED.to_owned()))
}

/// Checks the client reference of a response.
fn check_reference(
    metadata: &Essential<wire::Metadata>,
    client_reference: &str,
) -> Result<(), DecodeError> {
    let is_same = map::has_client_reference(metadata, client_reference)?;
    ensure(is_same, map::OTHER_CLIENT_REFERENCE)
}

/// Checks that a response is about this payment.
fn check_payment(id: &Essential<NonEmptyText>, expected: &str) -> Result<(), DecodeError> {
    let id = id.required("the payment's id")?;
    ensure(id.as_str() == expected, map::OTHER_PAYMENT)
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
    let intent: wire::PaymentIntent =
        send_change("/payment_intents", client_reference, form, change)?;
    check_reference(&intent.metadata, client_reference)?;
    let is_same = Some(*intent.amount.required("amount")?) == amount::to_stripe(amount);
    let has_requested_amount = is_same && is_in(&intent.currency, amount)?;
    ensure(has_requested_amount, map::OTHER_AMOUNT)?;
    Ok(intent)
}

/// Sends a request that may move money. The error states whether the request was not sent or may
/// have been sent.
fn send_change<T: DeserializeOwned>(
    path: &str,
    key: &str,
    form: Form,
    change: Change,
) -> Result<T, PaymentError> {
    fault::decode_change(&post(path, key, form)?.send()?, change)
}

fn is_in(currency: &Essential<NonEmptyText>, amount: &Money) -> Result<bool, DecodeError> {
    let currency = currency.required("currency")?.as_str();
    Ok(currency.eq_ignore_ascii_case(&amount.currency))
}

fn to_stripe_amount(amount: &Money) -> Result<i64, PaymentError> {
    let text = "Stripe cannot represent this fraction of the currency.";
    amount::to_stripe(amount).ok_or_else(|| PaymentError::Refused(text.to_owned()))
}
