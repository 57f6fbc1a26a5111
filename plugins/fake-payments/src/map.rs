//! Conversion of Tillway's payments, refunds and cards, in pure functions.

use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::payment_processor::{Card, ProcessorPayment, ProcessorRefund};
use stopover_sdk::types::Money;

use crate::wire;

/// Checks the client reference of a response.
pub(crate) fn check_reference(actual: &str, expected: &str) -> Result<(), DecodeError> {
    ensure(
        actual == expected,
        "the response has another client reference",
    )
}

/// Checks that a response is about this payment.
pub(crate) fn check_payment(actual: &str, expected: &str) -> Result<(), DecodeError> {
    ensure(actual == expected, "the response is about another payment")
}

/// Checks the currency of a response. Tillway writes currencies in lower case.
pub(crate) fn check_currency(actual: &str, expected: &str) -> Result<(), DecodeError> {
    let is_same = actual.eq_ignore_ascii_case(expected);
    ensure(is_same, "the response is in another currency")
}

/// Converts a payment whose currency is known from the request.
pub(crate) fn payment_in(
    payment: wire::Payment,
    currency: &str,
) -> Result<ProcessorPayment, DecodeError> {
    check_currency(&payment.currency, currency)?;
    self::payment(payment)
}

pub(crate) fn payment(payment: wire::Payment) -> Result<ProcessorPayment, DecodeError> {
    let expires_at = payment.authorization_expires.map(|seconds| {
        seconds
            .checked_mul(1_000)
            .ok_or_else(|| DecodeError::new("an instant is out of range"))
    });
    let decline_code = payment.decline_code.into_iter();
    Ok(ProcessorPayment {
        status: payment.status,
        processor_reference: payment.id,
        currency: payment.currency.to_ascii_uppercase(),
        authorized: payment.amount_authorized,
        captured: payment.amount_captured,
        refunded: payment.amount_refunded,
        card: payment.card.map(card),
        expires_at: expires_at.transpose()?,
        extensions: decline_code
            .map(|code| ("decline_code".to_owned(), code))
            .collect(),
    })
}

pub(crate) fn card(card: wire::Card) -> Card {
    Card {
        brand: card.brand,
        last4: card.last4,
        funding: card.funding,
        wallet: None,
        expires: Some(format!("{:04}-{:02}", card.exp_year, card.exp_month)),
    }
}

pub(crate) fn refund(refund: wire::Refund) -> ProcessorRefund {
    ProcessorRefund {
        processor_reference: refund.id,
        amount: Money::new(refund.amount, refund.currency.to_ascii_uppercase()),
    }
}
