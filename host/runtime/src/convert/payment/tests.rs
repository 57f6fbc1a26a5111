use super::*;
use crate::bindings::exports::stopover::payment::processor;
use crate::convert::payment;
use crate::convert::tests::{euros, rejected};
use host_domain::money::Currency;

pub(crate) fn paid(authorized: i64, captured: i64, refunded: i64) -> processor::ProcessorPayment {
    processor::ProcessorPayment {
        status: processor::PaymentStatus::Captured,
        processor_reference: "p1".to_owned(),
        currency: "EUR".to_owned(),
        authorized,
        captured,
        refunded,
        card: None,
        expires_at: None,
        extensions: Vec::new(),
    }
}

/// Builds the expectation of payment `p1` of 1.00.
pub(crate) fn expected_payment(currency: Currency) -> payment::PaymentExpectation {
    payment::PaymentExpectation::new(Some("p1"), Money::new(100, currency))
}

#[test]
fn captured_and_refunded_amounts_never_exceed_previous_step() {
    let expected = expected_payment(euros());
    assert!(payment::processor_payment(paid(100, 100, 40), &expected).is_ok());
    for (state, field) in [
        (paid(100, 101, 0), "captured"),
        (paid(100, 50, 51), "refunded"),
        (paid(-1, 0, 0), "authorized"),
    ] {
        let read = payment::processor_payment(state, &expected);
        assert_eq!(rejected(read), field);
    }
}

#[test]
fn payment_other_than_the_requested_one_is_rejected() {
    let with = |status, state| processor::ProcessorPayment { status, ..state };
    let captured = |state| with(processor::PaymentStatus::Captured, state);
    let authorized = |state| with(processor::PaymentStatus::Authorized, state);
    let other = |state| processor::ProcessorPayment {
        processor_reference: "p2".to_owned(),
        ..state
    };
    let asked = expected_payment(euros());
    let unassigned = || payment::PaymentExpectation::new(Some(""), Money::new(100, euros()));
    let dollars = expected_payment(Currency::USD);
    for (state, expected, field) in [
        (captured(paid(100, 100, 0)), &asked, None),
        (
            other(captured(paid(100, 100, 0))),
            &asked,
            Some("processor-reference"),
        ),
        (other(captured(paid(100, 100, 0))), &unassigned(), None),
        (captured(paid(100, 99, 0)), &asked, Some("captured")),
        (captured(paid(200, 200, 0)), &asked, Some("captured")),
        (captured(paid(100, 100, 0)), &dollars, Some("currency")),
        (
            with(processor::PaymentStatus::Voided, paid(0, 0, 0)),
            &asked,
            None,
        ),
    ] {
        let text = format!("{state:?}");
        let read = payment::processor_payment(state, expected).err();
        assert_eq!(read.map(|invalid| invalid.field), field, "{text}");
    }
    for (state, field) in [
        (authorized(paid(100, 0, 0)), None),
        (authorized(paid(101, 0, 0)), Some("authorized")),
        (authorized(paid(99, 0, 0)), Some("authorized")),
        (
            with(processor::PaymentStatus::Declined, paid(0, 0, 0)),
            None,
        ),
    ] {
        let text = format!("{state:?}");
        let read = payment::authorization(state, &unassigned()).err();
        assert_eq!(read.map(|invalid| invalid.field), field, "{text}");
    }
}

#[test]
fn refund_of_different_amount_is_rejected() {
    let refund = |amount| processor::ProcessorRefund {
        processor_reference: "r1".to_owned(),
        amount: types::Money {
            amount,
            currency: "EUR".to_owned(),
        },
    };
    let expected = Money::new(40, euros());
    assert!(payment::refund(refund(40), expected).is_ok());
    assert_eq!(rejected(payment::refund(refund(41), expected)), "amount");
}

#[test]
fn card_requires_four_digits_and_valid_month() {
    let card = |last4: &str, expires: &str| processor::Card {
        brand: processor::CardBrand::Visa,
        last4: last4.to_owned(),
        funding: processor::Funding::Credit,
        wallet: None,
        expires: Some(expires.to_owned()),
    };
    for (month, expires) in [("2030-12", Some("2030-12")), ("2030-13", None)] {
        let card = payment::card(card("4242", month)).unwrap();
        assert_eq!(card.expires.as_deref(), expires);
    }
    for last4 in ["", "424", "42424", "424a", "４２４２"] {
        assert!(payment::card(card(last4, "")).is_err(), "{last4}");
    }
}
