//! Payments, refunds and instruments that are read back.

use fake_payments::FakePayments;
use serde_json::{Value, json};
use stopover_sdk::PaymentProcessor;
use stopover_sdk::payment_processor::{
    CardBrand, Funding, PaymentLookup, PaymentStatus, RefundLookup,
};
use stopover_sdk::testing::Outcome::{InvalidResponse, NotFound};
use stopover_sdk::testing::outcome;

use crate::tillway::{
    PAYMENT_ID, REFUND_REF, asked, edited, error, euros, find_request, fixture, gateway,
};

fn list(items: &[Value]) -> String {
    json!({"data": items}).to_string()
}

#[test]
fn payment_is_read_by_id_then_searched_by_client_reference() {
    let payment = fixture("payment");
    let missing = (404, error("no_such_payment"));
    let by_id = "GET /tillway/v1/payments/pay%201%2F2";
    let search = "GET /tillway/v1/payments?reference=bkg_tok_visa";
    let id = Some("pay 1/2");
    for (id, responses, requests, expected) in [
        (id, vec![(200, payment.to_string())], vec![by_id], true),
        (
            id,
            vec![missing, (200, list(&[]))],
            vec![by_id, search],
            false,
        ),
        (None, vec![(200, list(&[payment]))], vec![search], true),
        (None, vec![(200, list(&[]))], vec![search], false),
    ] {
        let gateway = gateway().respond_with_each(responses);
        let found = gateway
            .run(|| FakePayments::find(find_request(id)))
            .unwrap();
        assert_eq!(asked(&gateway), requests);
        let status = match found {
            PaymentLookup::Found(state) => Some(state.status),
            PaymentLookup::NotFound => None,
        };
        let expected = expected.then_some(PaymentStatus::Authorized);
        assert_eq!(status, expected, "{requests:?}");
    }
}

#[test]
fn declined_payment_has_decline_code() {
    let declined = fixture("declined")["payment"].clone();
    let gateway = gateway().respond_with(200, declined.to_string());
    let found = gateway.run(|| FakePayments::find(find_request(Some("pay-100066"))));
    let Ok(PaymentLookup::Found(state)) = found else {
        panic!("{found:?}");
    };
    assert_eq!(state.status, PaymentStatus::Declined);
    assert_eq!(state.authorized, 0);
    let kept = [("decline_code".to_owned(), "generic_decline".to_owned())];
    assert_eq!(state.extensions, kept);
}

#[test]
fn payment_is_not_found_only_by_empty_list() {
    let payment = fixture("payment");
    let mut other = payment.clone();
    other["reference"] = json!("bkg_other");
    for (status, body) in [
        (404, error("no_such_payment")),
        (404, String::new()),
        (200, "{}".to_owned()),
        (200, list(&[payment.clone(), payment])),
        (200, list(&[other])),
        (500, String::new()),
        (401, error("invalid_key")),
    ] {
        let gateway = gateway().respond_with(status, &body);
        let response = gateway.run(|| FakePayments::find(find_request(None)));
        assert!(response.is_err(), "{status} {body}: {response:?}");
    }
}

#[test]
fn refund_is_found_by_client_reference() {
    let find = || FakePayments::find_refund(PAYMENT_ID.to_owned(), REFUND_REF.to_owned());
    let found = gateway().respond_with(200, list(&[fixture("refund")]));
    let response = found.run(find);
    let Ok(RefundLookup::Found(refund)) = response else {
        panic!("{response:?}");
    };
    let expected = "GET /tillway/v1/payments/pay-100062/refunds?reference=bkg_tok_visa-refund";
    assert_eq!(asked(&found), [expected]);
    assert_eq!(refund.processor_reference, "ref-100063");
    assert_eq!(refund.amount, euros(400));

    let nothing = gateway().respond_with(200, list(&[]));
    assert_eq!(nothing.run(find), Ok(RefundLookup::NotFound));
    // An unknown payment does not prove that there is no refund.
    let unknown = gateway().respond_with(404, error("no_such_payment"));
    let response = unknown.run(find);
    assert_eq!(outcome(&response), NotFound, "{response:?}");
    let other = edited("refund", &[("/reference", json!("bkg_other"))]);
    let other = gateway().respond_with(200, format!(r#"{{"data": [{other}]}}"#));
    let response = other.run(find);
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}

#[test]
fn token_describes_card() {
    let describe = || FakePayments::describe_instrument("tok/mastercard".to_owned());
    let gateway = gateway().respond_with(200, fixture("token").to_string());
    let instrument = gateway.run(describe).unwrap();
    assert_eq!(asked(&gateway), ["GET /tillway/v1/tokens/tok%2Fmastercard"]);
    assert_eq!(instrument.token, "tok_mastercard");
    let card = instrument.card.unwrap();
    assert_eq!(card.brand, CardBrand::Mastercard);
    assert_eq!(card.funding, Funding::Debit);
}
