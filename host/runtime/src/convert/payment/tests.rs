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
    assert!(
        payment::processor_payment(paid(100, 100, 40), &expected, &mut DroppedItems::default())
            .is_ok()
    );
    for (state, field) in [
        (paid(100, 101, 0), "captured"),
        (paid(100, 50, 51), "refunded"),
        (paid(-1, 0, 0), "authorized"),
    ] {
        let read = payment::processor_payment(state, &expected, &mut DroppedItems::default());
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
        let read = payment::processor_payment(state, expected, &mut DroppedItems::default()).err();
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
        let read = payment::authorization(state, &unassigned(), &mut DroppedItems::default()).err();
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

fn card(last4: &str, expires: &str) -> processor::Card {
    processor::Card {
        brand: processor::CardBrand::Visa,
        last4: last4.to_owned(),
        funding: processor::Funding::Credit,
        wallet: None,
        expires: Some(expires.to_owned()),
    }
}

#[test]
fn invalid_card_or_expiry_is_left_out_and_the_payment_stands() {
    let expected = expected_payment(euros());
    let states = [
        (processor::PaymentStatus::Authorized, paid(100, 0, 0)),
        (processor::PaymentStatus::Captured, paid(100, 100, 0)),
        (processor::PaymentStatus::Declined, paid(0, 0, 0)),
    ];
    let odd = [
        ("", 5_000, "card.last4"),
        ("424", 5_000, "card.last4"),
        ("x-odd", 5_000, "card.last4"),
        ("4242", -1, "expires-at"),
        ("4242", 99_999_999_999_999_000, "expires-at"),
        ("4242", i64::MAX, "expires-at"),
    ];
    for (status, state) in states {
        for (last4, expires_at, field) in odd {
            let state = processor::ProcessorPayment {
                status,
                card: Some(card(last4, "2030-12")),
                expires_at: Some(expires_at),
                ..state.clone()
            };
            let mut dropped = DroppedItems::default();
            let read = payment::processor_payment(state.clone(), &expected, &mut dropped);
            let read = read.unwrap();
            assert_eq!(dropped.count_by_field(), [(field, 1)], "{state:?}");
            assert_eq!(read.authorized.minor, state.authorized);
            assert_eq!(read.captured.minor, state.captured);
            assert_eq!(read.card.is_some(), field == "expires-at", "{state:?}");
            assert_eq!(read.expires_at.is_some(), field == "card.last4");
            let authorized = payment::authorization(state, &expected, &mut dropped);
            assert_eq!(authorized, Ok(read));
        }
    }
}

#[test]
fn instrument_with_invalid_card_keeps_its_token() {
    let instrument = processor::Instrument {
        token: "token".to_owned(),
        card: Some(card("424", "2030-12")),
    };
    let mut dropped = DroppedItems::default();
    let read = payment::instrument(instrument, &mut dropped).unwrap();
    assert_eq!((read.token.as_str(), read.card), ("token", None));
    assert_eq!(dropped.count_by_field(), [("card.last4", 1)]);
}

#[test]
fn card_requires_four_digits_and_valid_month() {
    for (month, expires) in [("2030-12", Some("2030-12")), ("2030-13", None)] {
        let card = payment::card(card("4242", month)).unwrap();
        assert_eq!(card.expires.as_deref(), expires);
    }
    for last4 in ["", "424", "42424", "424a", "４２４２"] {
        assert!(payment::card(card(last4, "")).is_err(), "{last4}");
    }
}
