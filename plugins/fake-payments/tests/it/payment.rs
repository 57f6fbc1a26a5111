//! Successful intents, authorizations, captures, voids and refunds.

use fake_payments::FakePayments;
use serde_json::{Value, json};
use stopover_sdk::PaymentProcessor;
use stopover_sdk::payment_processor::{CardBrand, Funding, PaymentStatus, ProcessorPayment};
use stopover_sdk::types::Money;

use crate::tillway::{
    PAYMENT_ID, REFUND_REF, asked, authorize_request, capture_request, edited, euros, gateway,
    intent_request, refund_request, void_request,
};

/// Authorizes at Tillway, which returns the fixture after some values were replaced.
fn authorized(edits: &[(&str, Value)]) -> ProcessorPayment {
    let gateway = gateway().respond_with(201, edited("payment", edits));
    let payment = gateway.run(|| FakePayments::authorize(authorize_request()));
    payment.unwrap()
}

#[test]
fn intent_is_created_for_browser() {
    let gateway = gateway().respond_with(201, edited("intent", &[]));
    let intent = gateway.run(|| FakePayments::create_intent(intent_request()));
    let intent = intent.unwrap();
    assert_eq!(asked(&gateway), ["POST /tillway/v1/intents"]);
    assert_eq!(
        gateway.request_json(0),
        json!({"reference": "bkg_i", "amount": 500, "currency": "eur", "description": "Travel booking"})
    );
    assert_eq!(intent.processor_reference, "pay-100073");
    assert!(intent.token.starts_with("pay-100073-secret-"));
}

#[test]
fn authorization_sends_minor_units() {
    let gateway = gateway().respond_with(201, edited("payment", &[]));
    let state = gateway.run(|| FakePayments::authorize(authorize_request()));
    let state = state.unwrap();
    assert_eq!(asked(&gateway), ["POST /tillway/v1/payments"]);
    assert_eq!(
        gateway.request_json(0),
        json!({
            "reference": "bkg_tok_visa", "amount": 1000, "currency": "eur", "source": "tok_visa",
            "description": "Travel booking", "off_session": true,
        })
    );
    let headers = &gateway.requests()[0].headers;
    let names: Vec<_> = headers.iter().map(|header| header.name.as_str()).collect();
    assert_eq!(names, ["content-type"], "the gateway adds the key");

    assert_eq!(state.status, PaymentStatus::Authorized);
    assert_eq!(state.processor_reference, PAYMENT_ID);
    assert_eq!(state.currency, "EUR");
    let totals = (state.authorized, state.captured, state.refunded);
    assert_eq!(totals, (1_000, 0, 0));
    assert_eq!(state.expires_at, Some(1_795_862_781_000));
    assert!(state.extensions.is_empty());
    let card = state.card.unwrap();
    let kind = (card.brand, card.funding, card.wallet);
    assert_eq!(kind, (CardBrand::Visa, Funding::Credit, None));
    assert_eq!(card.last4, "4242");
    assert_eq!(card.expires.as_deref(), Some("2034-12"));
}

#[test]
fn every_status_is_converted() {
    for (status, expected) in [
        ("requires_action", PaymentStatus::RequiresAction),
        ("authorized", PaymentStatus::Authorized),
        ("captured", PaymentStatus::Captured),
        ("canceled", PaymentStatus::Voided),
        ("declined", PaymentStatus::Declined),
    ] {
        let state = authorized(&[("/status", json!(status))]);
        assert_eq!(state.status, expected);
    }
}

#[test]
fn card_of_new_kind_is_unknown_and_payment_is_readable() {
    let state = authorized(&[
        ("/card/brand", json!("amex")),
        ("/card/funding", json!("prepaid")),
        ("/card/exp_month", json!(3)),
    ]);
    let card = state.card.unwrap();
    assert_eq!(card.brand, CardBrand::Unknown);
    assert_eq!(card.funding, Funding::Unknown);
    assert_eq!(card.expires.as_deref(), Some("2034-03"));
}

#[test]
fn capture_takes_authorized_amount() {
    let edits = [
        ("/status", json!("captured")),
        ("/amount_captured", json!(1_000)),
        ("/authorization_expires", json!(null)),
    ];
    let gateway = gateway().respond_with(200, edited("payment", &edits));
    let state = gateway.run(|| FakePayments::capture(capture_request()));
    let state = state.unwrap();
    let request = "POST /tillway/v1/payments/pay-100062/capture";
    assert_eq!(asked(&gateway), [request]);
    let expected = json!({"reference": "bkg_tok_visa-capture", "amount": 1000});
    assert_eq!(gateway.request_json(0), expected);
    assert_eq!(state.status, PaymentStatus::Captured);
    assert_eq!(state.captured, 1_000);
    assert_eq!(state.expires_at, None);
}

#[test]
fn void_releases_authorization() {
    let gateway = gateway().respond_with(200, edited("payment", &[("/status", json!("canceled"))]));
    let state = gateway.run(|| FakePayments::void(void_request())).unwrap();
    let request = "POST /tillway/v1/payments/pay-100062/void";
    assert_eq!(asked(&gateway), [request]);
    let expected = json!({"reference": "bkg_tok_visa-void"});
    assert_eq!(gateway.request_json(0), expected);
    assert_eq!(state.status, PaymentStatus::Voided);
}

#[test]
fn refund_returns_captured_amount() {
    let gateway = gateway().respond_with(201, edited("refund", &[]));
    let state = gateway.run(|| FakePayments::refund(refund_request()));
    let state = state.unwrap();
    let request = "POST /tillway/v1/payments/pay-100062/refunds";
    assert_eq!(asked(&gateway), [request]);
    let expected = json!({"reference": REFUND_REF, "amount": 400});
    assert_eq!(gateway.request_json(0), expected);
    assert_eq!(state.processor_reference, "ref-100063");
    assert_eq!(state.amount, euros(400));
}

#[test]
fn minor_units_are_sent_unchanged_in_every_currency() {
    let mut request = authorize_request();
    request.amount = Money::new(500, "JPY");
    let gateway = gateway().respond_with(201, edited("payment", &[("/currency", json!("jpy"))]));
    let state = gateway.run(|| FakePayments::authorize(request)).unwrap();
    assert_eq!(gateway.request_json(0)["amount"], 500);
    assert_eq!(gateway.request_json(0)["currency"], "jpy");
    assert_eq!(state.currency, "JPY");
}
