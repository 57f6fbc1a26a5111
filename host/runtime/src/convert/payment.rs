//! Conversion of payments.

use super::dropped::DroppedItems;
use super::text::operator_message;
use super::{
    ConvertResult, currency, invalid, money, optional, optional_instant, same_currency,
    same_variant, text,
};
use crate::bindings::exports::stopover::payment::processor as wire;
use crate::bindings::stopover::supplier::types;
use crate::processor_api::{InstrumentDescription, Intent, ProcessorRefund};
use host_domain::money::Money;
use host_domain::payment::{
    Card, CardBrand, DeclineReason, Funding, PaymentError, ProcessorPayment,
    ProcessorPaymentStatus, Wallet,
};

pub(crate) fn money_to_wire(money: Money) -> types::Money {
    types::Money {
        amount: money.minor,
        currency: money.currency.code().to_owned(),
    }
}

pub(crate) fn payment_error(error: wire::PaymentError) -> PaymentError {
    match error {
        wire::PaymentError::Declined(reason) => PaymentError::Declined(decline(&reason)),
        wire::PaymentError::Refused(reason) => PaymentError::Refused(operator_message(reason)),
        wire::PaymentError::NotSent(reason) => {
            PaymentError::NotSent(operator_message(reason).into())
        }
        wire::PaymentError::Unknown(reason) => {
            PaymentError::Unknown(operator_message(reason).into())
        }
    }
}

const fn decline(reason: &wire::DeclineReason) -> DeclineReason {
    match reason {
        wire::DeclineReason::InsufficientFunds => DeclineReason::InsufficientFunds,
        wire::DeclineReason::ExpiredCard => DeclineReason::ExpiredCard,
        wire::DeclineReason::IncorrectDetails => DeclineReason::IncorrectDetails,
        wire::DeclineReason::SuspectedFraud => DeclineReason::SuspectedFraud,
        wire::DeclineReason::RequiresAction => DeclineReason::RequiresAction,
        wire::DeclineReason::Other(_) => DeclineReason::Other,
    }
}

pub(crate) fn intent(intent: wire::Intent) -> ConvertResult<Intent> {
    Ok(Intent {
        processor_reference: text::reference("processor-reference", intent.processor_reference)?,
        token: text::opaque("token", intent.token)?,
    })
}

/// The payment that a response must be about. A plugin that returns another payment cannot make it
/// pass for the requested one. Processors' responses do not repeat the client reference.
#[derive(Debug, Clone)]
pub(crate) struct PaymentExpectation {
    /// The processor's id of the payment. `None` if the processor is yet to assign it.
    processor_reference: Option<String>,
    /// Amount that was to be authorized, and that is captured as a whole or not at all.
    amount: Money,
}

impl PaymentExpectation {
    /// Creates the expectation. An empty `processor_reference` means that the gateway knows none.
    pub(crate) fn new(processor_reference: Option<&str>, amount: Money) -> Self {
        let known = processor_reference.filter(|reference| !reference.is_empty());
        Self {
            processor_reference: known.map(str::to_owned),
            amount,
        }
    }

    fn check(&self, payment: &ProcessorPayment) -> ConvertResult<()> {
        let expected = self.processor_reference.as_ref();
        if expected.is_some_and(|expected| *expected != payment.processor_reference) {
            return invalid("processor-reference", "another payment than asked for");
        }
        let is_captured = payment.status == ProcessorPaymentStatus::Captured;
        if is_captured && payment.captured != self.amount {
            return invalid("captured", ANOTHER_AMOUNT);
        }
        Ok(())
    }
}

const ANOTHER_AMOUNT: &str = "another amount than asked for";

/// Converts the response to an authorization. The authorized amount must be the requested one.
pub(crate) fn authorization(
    state: wire::ProcessorPayment,
    expected: &PaymentExpectation,
    dropped: &mut DroppedItems,
) -> ConvertResult<ProcessorPayment> {
    let payment = processor_payment(state, expected, dropped)?;
    let is_authorized = payment.status == ProcessorPaymentStatus::Authorized;
    if is_authorized && payment.authorized != expected.amount {
        return invalid("authorized", ANOTHER_AMOUNT);
    }
    Ok(payment)
}

/// Converts the state of a payment. Amounts are totals: the captured amount must not exceed the
/// authorized one, and the refunded amount must not exceed the captured one. An invalid card or time of
/// expiry is left out and recorded, because it does not change what was paid.
pub(crate) fn processor_payment(
    state: wire::ProcessorPayment,
    expected: &PaymentExpectation,
    dropped: &mut DroppedItems,
) -> ConvertResult<ProcessorPayment> {
    let currency = same_currency("currency", &state.currency, expected.amount.currency)?;
    let authorized = money("authorized", state.authorized, currency)?;
    let captured = money("captured", state.captured, currency)?;
    let refunded = money("refunded", state.refunded, currency)?;
    if captured.minor > authorized.minor {
        return invalid("captured", "more than was authorized");
    }
    if refunded.minor > captured.minor {
        return invalid("refunded", "more than was captured");
    }
    let expires_at = optional_instant("expires-at", state.expires_at);
    let payment = ProcessorPayment {
        status: status(state.status),
        processor_reference: text::reference("processor-reference", state.processor_reference)?,
        authorized,
        captured,
        refunded,
        card: dropped.keep(optional(state.card, card)).flatten(),
        expires_at: dropped.keep(expires_at).flatten(),
    };
    expected.check(&payment)?;
    Ok(payment)
}

const fn status(status: wire::PaymentStatus) -> ProcessorPaymentStatus {
    same_variant!(status, wire::PaymentStatus => ProcessorPaymentStatus, [
        RequiresAction, Authorized, Captured, Voided, Declined,
    ])
}

pub(crate) fn card(card: wire::Card) -> ConvertResult<Card> {
    if card.last4.len() != 4 || !card.last4.bytes().all(|b| b.is_ascii_digit()) {
        return invalid("card.last4", "not four digits");
    }
    Ok(Card {
        brand: same_variant!(card.brand, wire::CardBrand => CardBrand, [
            Visa, Mastercard, Amex, Discover, Diners, Jcb, Unionpay, Unknown,
        ]),
        last4: card.last4,
        funding: same_variant!(card.funding, wire::Funding => Funding, [
            Credit, Debit, Prepaid, Unknown,
        ]),
        wallet: card.wallet.map(|wallet| match wallet {
            wire::Wallet::ApplePay => Wallet::ApplePay,
            wire::Wallet::GooglePay => Wallet::GooglePay,
        }),
        expires: card.expires.filter(|text| is_month(text)),
    })
}

/// Returns whether the text has the form `YYYY-MM`.
fn is_month(text: &str) -> bool {
    let digits = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_digit())
    };
    text.split_once('-').is_some_and(|(year, month)| {
        digits(year, 4) && digits(month, 2) && (1..=12).contains(&month.parse().unwrap_or(0))
    })
}

/// Converts a refund, whose amount must be the expected one.
pub(crate) fn refund(
    state: wire::ProcessorRefund,
    expected: Money,
) -> ConvertResult<ProcessorRefund> {
    let currency = currency("currency", &state.amount.currency)?;
    let amount = money("amount", state.amount.amount, currency)?;
    if amount != expected {
        return invalid("amount", ANOTHER_AMOUNT);
    }
    Ok(ProcessorRefund {
        processor_reference: text::reference("processor-reference", state.processor_reference)?,
        amount,
    })
}

/// Converts a payment instrument. An invalid card is left out and recorded: the token pays without it.
pub(crate) fn instrument(
    instrument: wire::Instrument,
    dropped: &mut DroppedItems,
) -> ConvertResult<InstrumentDescription> {
    Ok(InstrumentDescription {
        token: text::opaque("token", instrument.token)?,
        card: dropped.keep(optional(instrument.card, card)).flatten(),
    })
}

#[cfg(test)]
pub(crate) mod tests;
