//! Stored cards.

use serde_json::{Value, json};
use stopover_sdk::payment_processor::{CardBrand, Funding, Instrument};
use stopover_sdk::testing::Outcome::{
    InvalidResponse, NotFound, RateLimited, Rejected, Unavailable,
};
use stopover_sdk::testing::{MockGateway, outcome, refusal};
use stopover_sdk::{PaymentProcessor, ReadError};
use stripe_payments::StripePayments;

use crate::script::{INSTRUMENT, asked, edited, error, fixture, header, list, returning, sent};

const CARDS: &str = "GET /payment_methods?customer=cus_Gateway0001&type=card";

fn describe(gateway: &MockGateway, token: &str) -> Result<Instrument, ReadError> {
    gateway.run(|| StripePayments::describe_instrument(token.to_owned()))
}

/// Adds the responses for storing a card and then listing the stored cards.
fn keeping(gateway: MockGateway, kept: &[Value]) -> MockGateway {
    gateway
        .respond_with(200, fixture("customer").to_string())
        .respond_with(200, list(kept))
}

#[test]
fn payment_method_is_attached_to_its_own_customer() {
    let gateway = keeping(MockGateway::new(), &[fixture("payment_method")]);
    let instrument = describe(&gateway, "pm_1RkGateway0001").unwrap();
    assert_eq!(asked(&gateway), ["POST /customers", CARDS]);
    let form = ["payment_method=pm_1RkGateway0001", "description=Kept card"];
    assert_eq!(sent(&gateway, 0), form);
    let key = header(&gateway, 0, "idempotency-key");
    assert_eq!(key.as_deref(), Some("customer-pm_1RkGateway0001"));
    assert_eq!(instrument.token, INSTRUMENT);
    let card = instrument.card.unwrap();
    let kind = (card.brand, card.funding, card.wallet);
    assert_eq!(kind, (CardBrand::Mastercard, Funding::Debit, None));
    assert_eq!(card.last4, "4444");
    assert_eq!(card.expires.as_deref(), Some("2033-08"));
}

#[test]
fn older_token_is_converted_to_payment_method() {
    let gateway = keeping(
        returning("payment_method", &[]),
        &[fixture("payment_method")],
    );
    let instrument = describe(&gateway, "tok_visa").unwrap();
    let requests = ["POST /payment_methods", "POST /customers", CARDS];
    assert_eq!(asked(&gateway), requests);
    assert_eq!(sent(&gateway, 0), ["type=card", "card[token]=tok_visa"]);
    let keys = [0, 1].map(|number| header(&gateway, number, "idempotency-key").unwrap());
    assert_eq!(keys, ["card-tok_visa", "customer-tok_visa"]);
    assert_eq!(sent(&gateway, 1)[0], "payment_method=pm_1RkGateway0001");
    assert_eq!(instrument.token, INSTRUMENT);
}

#[test]
fn stored_token_uses_id_of_stripe_instead_of_alias() {
    let kept = edited("payment_method", &[("/id", json!("pm_1Another"))]);
    let gateway = keeping(MockGateway::new(), &[kept]);
    let instrument = describe(&gateway, "pm_card_mastercard").unwrap();
    assert_eq!(instrument.token, "cus_Gateway0001/pm_1Another");
}

#[test]
fn odd_last_digits_leave_the_stored_card_usable() {
    for last4 in [json!(""), json!("424"), json!("x-odd"), json!(4444)] {
        let kept = edited("payment_method", &[("/card/last4", last4.clone())]);
        let gateway = keeping(MockGateway::new(), &[kept]);
        let instrument = describe(&gateway, "pm_1RkGateway0001").unwrap();
        assert_eq!(instrument.token, INSTRUMENT, "{last4}");
        assert!(instrument.card.is_none(), "{last4}");
        let [(_, 1)] = gateway.dropped_items()[..] else {
            panic!("{last4}: {:?}", gateway.dropped_items());
        };
    }
}

#[test]
fn text_that_is_no_token_is_not_sent() {
    for token in [
        "",
        "4242424242424242",
        "4242 4242 4242 4242",
        "pm_",
        "pm_1/../customers",
        "pm_1\r\nx",
        "tok_1&card[number]=4242",
        "src_1",
        "seti_1",
        "cus_1/pm_1",
        &format!("pm_{}", "x".repeat(200)),
    ] {
        let gateway = MockGateway::new();
        let response = describe(&gateway, token);
        assert_eq!(outcome(&response), NotFound, "{token}: {response:?}");
        assert!(gateway.requests().is_empty(), "{token}");
    }
}

#[test]
fn token_that_cannot_be_stored_returns_reason() {
    let invalid = Rejected("invalid");
    let declined = Rejected("payment declined");
    for (status, body, expected) in [
        (400, error("resource_missing"), NotFound),
        // The card belongs to another Customer, or the token was used.
        (400, error("payment_method_unexpected_state"), invalid),
        (400, error("token_already_used"), invalid),
        (402, fixture("declined").to_string(), declined),
        (409, error("idempotency_key_in_use"), Unavailable),
        (429, error("lock_timeout"), RateLimited),
    ] {
        for token in ["pm_1", "tok_1"] {
            let gateway = MockGateway::new().respond_with(status, &body);
            let response = describe(&gateway, token);
            assert_eq!(outcome(&response), expected, "{token}: {response:?}");
            assert_eq!(gateway.requests().len(), 1, "{status} {token}");
            if expected == declined {
                let code = refusal(response).supplier_code;
                assert_eq!(code.as_deref(), Some("card_declined"), "{token}");
            }
        }
    }
}

#[test]
fn payment_method_without_card_is_rejected() {
    let response = describe(&keeping(MockGateway::new(), &[]), "pm_1");
    assert_eq!(outcome(&response), Rejected("invalid"), "{response:?}");
    // The list is one of cards.
    let account = edited("payment_method", &[("/card", json!(null))]);
    let response = describe(&keeping(MockGateway::new(), &[account]), "pm_1");
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
    let two = [fixture("payment_method"), fixture("payment_method")];
    let response = describe(&keeping(MockGateway::new(), &two), "pm_1");
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}
