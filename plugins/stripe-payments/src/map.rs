//! Conversion of Stripe's payments, refunds and cards, in pure functions.

use stopover_sdk::json::DecodeError;
use stopover_sdk::payment_processor::{
    Card, CardBrand, Funding, PaymentStatus, ProcessorPayment, ProcessorRefund, Wallet,
};
use stopover_sdk::types::Money;

use crate::amount;
use crate::wire;

pub(crate) const OTHER_CLIENT_REFERENCE: &str = "the response has another client reference";
pub(crate) const OTHER_PAYMENT: &str = "the response is about another payment";
pub(crate) const OTHER_AMOUNT: &str = "the response is about another amount";

/// Metadata value of a payment that the payer's browser completes.
pub(crate) const BROWSER: &str = "browser";
/// Metadata value of a payment with a stored card, which succeeds at once or not at all.
pub(crate) const INSTRUMENT: &str = "instrument";

pub(crate) const UNDECIDED: &str = "Stripe has not decided on the payment yet.";

/// Returns whether the metadata has this client reference.
pub(crate) fn has_client_reference(
    metadata: Option<&wire::Metadata>,
    client_reference: &str,
) -> bool {
    metadata.and_then(wire::Metadata::client_reference) == Some(client_reference)
}

/// Converts a payment. Returns `None` if Stripe or the card network has not decided yet.
pub(crate) fn payment(
    intent: wire::PaymentIntent,
) -> Result<Option<ProcessorPayment>, DecodeError> {
    let Some(status) = status(&intent) else {
        return Ok(None);
    };
    let currency = intent.currency.to_ascii_uppercase();
    let authorized = intent
        .latest_charge
        .as_ref()
        .filter(|charge| charge.status == wire::ChargeStatus::Succeeded);
    let refunded = authorized.map_or(0, |charge| {
        // Stripe counts the part of an authorization that was not captured as refunded.
        let released = charge.amount.saturating_sub(intent.amount_received);
        charge.amount_refunded.saturating_sub(released).max(0)
    });
    let minor = |amount| amount::from_stripe(amount, &currency);
    let (authorized, captured, refunded) = (
        minor(authorized.map_or(0, |charge| charge.amount))?,
        minor(intent.amount_received)?,
        minor(refunded)?,
    );
    let charged = intent
        .latest_charge
        .and_then(|charge| charge.payment_method_details);
    let (failed, declined_for) = match intent.last_payment_error {
        Some(error) => (error.payment_method, error.decline_code.or(error.code)),
        None => (None, None),
    };
    let card = charged.or(failed).and_then(|method| method.card);
    let capture_before = card.as_ref().and_then(|card| card.capture_before);
    let expires_at = capture_before
        .filter(|_| status == PaymentStatus::Authorized)
        .map(|seconds| {
            seconds
                .checked_mul(1_000)
                .ok_or_else(|| DecodeError::new("an instant is out of range"))
        });
    Ok(Some(ProcessorPayment {
        status,
        processor_reference: intent.id,
        authorized,
        captured,
        refunded,
        card: card.and_then(self::card),
        expires_at: expires_at.transpose()?,
        extensions: declined_for
            .map(|code| ("decline_code".to_owned(), code))
            .into_iter()
            .collect(),
        currency,
    }))
}

/// Returns the payment's status, or `None` if it is undecided. A payment with a stored card is
/// created and confirmed in one request. If it waits for a card or a confirmation, that request is
/// still running or the card was declined. In the browser, the payer can try again.
fn status(intent: &wire::PaymentIntent) -> Option<PaymentStatus> {
    use wire::Status;
    let metadata = intent.metadata.as_ref();
    let by_instrument = metadata.is_some_and(|metadata| metadata.has_payment_origin(INSTRUMENT));
    match intent.status {
        Status::RequiresPaymentMethod | Status::RequiresConfirmation if !by_instrument => {
            Some(PaymentStatus::RequiresAction)
        }
        Status::RequiresPaymentMethod if intent.last_payment_error.is_some() => {
            Some(PaymentStatus::Declined)
        }
        Status::RequiresPaymentMethod | Status::RequiresConfirmation | Status::Processing => None,
        Status::RequiresAction => Some(PaymentStatus::RequiresAction),
        Status::RequiresCapture => Some(PaymentStatus::Authorized),
        Status::Succeeded => Some(PaymentStatus::Captured),
        Status::Canceled => Some(PaymentStatus::Voided),
    }
}

/// Converts a card. Returns `None` if Stripe gives no last digits.
pub(crate) fn card(card: wire::Card) -> Option<Card> {
    Some(Card {
        brand: match card.brand {
            Some(wire::Brand::Amex) => CardBrand::Amex,
            Some(wire::Brand::Diners) => CardBrand::Diners,
            Some(wire::Brand::Discover) => CardBrand::Discover,
            Some(wire::Brand::Jcb) => CardBrand::Jcb,
            Some(wire::Brand::Mastercard) => CardBrand::Mastercard,
            Some(wire::Brand::Unionpay) => CardBrand::Unionpay,
            Some(wire::Brand::Visa) => CardBrand::Visa,
            Some(wire::Brand::Other) | None => CardBrand::Unknown,
        },
        last4: card.last4?,
        funding: match card.funding {
            Some(wire::Funding::Credit) => Funding::Credit,
            Some(wire::Funding::Debit) => Funding::Debit,
            Some(wire::Funding::Prepaid) => Funding::Prepaid,
            Some(wire::Funding::Other) | None => Funding::Unknown,
        },
        wallet: match card.wallet.map(|wallet| wallet.kind) {
            Some(wire::WalletKind::ApplePay) => Some(Wallet::ApplePay),
            Some(wire::WalletKind::GooglePay) => Some(Wallet::GooglePay),
            Some(wire::WalletKind::Other) | None => None,
        },
        expires: Some(format!("{:04}-{:02}", card.exp_year, card.exp_month)),
    })
}

pub(crate) fn refund(refund: wire::Refund) -> Result<ProcessorRefund, DecodeError> {
    let currency = refund.currency.to_ascii_uppercase();
    Ok(ProcessorRefund {
        processor_reference: refund.id,
        amount: Money {
            amount: amount::from_stripe(refund.amount, &currency)?,
            currency,
        },
    })
}
