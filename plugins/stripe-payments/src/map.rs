//! Conversion of Stripe's payments, refunds and cards, in pure functions.

use std::fmt;

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Essential, Part};
use stopover_sdk::payment_processor::{
    Card, CardBrand, Funding, PaymentStatus, ProcessorPayment, ProcessorRefund, Wallet,
};
use stopover_sdk::types::{Money, TimestampMs};

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
pub(crate) const PENDING_REFUND: &str =
    "Stripe has accepted the refund and not returned the money yet.";

/// Latest time of expiry that the gateway accepts, in Unix seconds: 9999-12-31T23:59:59Z.
const EXPIRY_S_MAX: i64 = 253_402_300_799;

/// Returns whether the metadata has this client reference.
///
/// # Errors
/// The metadata or the client reference in it cannot be read.
pub(crate) fn has_client_reference(
    metadata: &Essential<wire::Metadata>,
    client_reference: &str,
) -> Result<bool, DecodeError> {
    let metadata = metadata.optional("metadata")?;
    let known = metadata.map(wire::Metadata::client_reference).transpose()?;
    Ok(known.flatten() == Some(client_reference))
}

/// Converts a payment. `known_origin` is the party that completes it, if the caller knows it; otherwise
/// the metadata states it. Returns `None` if Stripe or the card network has not decided yet. A card or a
/// time of expiry that cannot be used is left out, because it decides nothing.
///
/// # Errors
/// What the payment means cannot be read.
pub(crate) fn payment(
    intent: wire::PaymentIntent,
    known_origin: Option<&str>,
    dropped: &mut DroppedItems,
) -> Result<Option<ProcessorPayment>, DecodeError> {
    let Some(status) = status(&intent, known_origin)? else {
        return Ok(None);
    };
    let currency = intent
        .currency
        .required("currency")?
        .as_str()
        .to_ascii_uppercase();
    let received = *intent.amount_received.required("amount_received")?;
    let charge = intent.latest_charge.optional("latest_charge")?;
    let authorized = charge.map(authorized_charge).transpose()?.flatten();
    let is_paid = matches!(status, PaymentStatus::Authorized | PaymentStatus::Captured);
    ensure(
        authorized.is_some() || !is_paid,
        "the payment has no successful charge",
    )?;
    let (authorized, refunded) = authorized.unwrap_or_default();
    // Stripe counts the part of an authorization that was not captured as refunded.
    let released = authorized.saturating_sub(received);
    let refunded = refunded.saturating_sub(released).max(0);
    let minor = |amount| amount::from_stripe(amount, &currency);
    let (authorized, captured, refunded) = (minor(authorized)?, minor(received)?, minor(refunded)?);
    let charged = charge.map(|charge| charge.payment_method_details.clone());
    let charged = (
        "/latest_charge/payment_method_details",
        charged.unwrap_or_default(),
    );
    let failure = dropped.readable_part(
        format_args!("/last_payment_error"),
        intent.last_payment_error.to_part(),
    );
    let failure = failure.unwrap_or_default();
    let declined_for = failure.decline_code.value().or(failure.code.value());
    let declined_for = declined_for.map(|code| ("decline_code".to_owned(), code.clone()));
    let failed = ("/last_payment_error/payment_method", failure.payment_method);
    let (card, expires_at) = first_card([charged, failed], dropped);
    Ok(Some(ProcessorPayment {
        status,
        processor_reference: intent.id.required("id")?.as_str().to_owned(),
        authorized,
        captured,
        refunded,
        expires_at: expires_at.filter(|_| status == PaymentStatus::Authorized),
        card,
        extensions: declined_for.into_iter().collect(),
        currency,
    }))
}

/// Converts the first card of payment methods, each with its JSON pointer. Also returns the time at which
/// an authorization of this card expires.
fn first_card(
    methods: [(&str, Part<wire::PaymentMethod>); 2],
    dropped: &mut DroppedItems,
) -> (Option<Card>, Option<TimestampMs>) {
    let found = methods.into_iter().find_map(|(pointer, method)| {
        let method = dropped.readable_part(format_args!("{pointer}"), method)?;
        let card = dropped.readable_part(format_args!("{pointer}/card"), method.card)?;
        Some((pointer, card))
    });
    let Some((pointer, card)) = found else {
        return (None, None);
    };
    let capture_before = dropped.readable_part(
        format_args!("{pointer}/card/capture_before"),
        card.capture_before.clone(),
    );
    let expires_at = capture_before.and_then(|seconds| {
        dropped.keep(
            format_args!("{pointer}/card/capture_before"),
            expiry(seconds),
        )
    });
    let card = self::card(card, format_args!("{pointer}/card"), dropped);
    (card, expires_at)
}

/// Converts the Unix time, in seconds, at which an authorization expires.
fn expiry(seconds: i64) -> Result<TimestampMs, DecodeError> {
    let seconds = Some(seconds).filter(|seconds| (1..=EXPIRY_S_MAX).contains(seconds));
    let ms = seconds.and_then(|seconds| seconds.checked_mul(1_000));
    ms.ok_or_else(|| DecodeError::new("an instant is out of range"))
}

/// Returns the authorized and the refunded amount of a charge if it succeeded.
fn authorized_charge(charge: &wire::Charge) -> Result<Option<(i64, i64)>, DecodeError> {
    match charge.status.required("status")? {
        wire::ChargeStatus::Succeeded => {
            let amount = *charge.amount.required("amount")?;
            Ok(Some((
                amount,
                *charge.amount_refunded.required("amount_refunded")?,
            )))
        }
        wire::ChargeStatus::Pending | wire::ChargeStatus::Failed => Ok(None),
    }
}

/// Returns the payment's status, or `None` if it is undecided. A payment with a stored card is
/// created and confirmed in one request. If it waits for a card or a confirmation, that request is
/// still running or the card was declined. In the browser, the payer can try again. If it is not known who
/// completes the payment, neither follows.
fn status(
    intent: &wire::PaymentIntent,
    known_origin: Option<&str>,
) -> Result<Option<PaymentStatus>, DecodeError> {
    use wire::Status;
    let metadata = intent.metadata.optional("metadata")?;
    let origin = known_origin.or_else(|| metadata.and_then(wire::Metadata::payment_origin));
    let failure = intent.last_payment_error.value();
    let has_failed = failure.is_some_and(|failure| {
        let codes = [&failure.code, &failure.decline_code];
        codes.iter().any(|code| code.value().is_some())
    });
    Ok(match intent.status.required("status")? {
        Status::RequiresPaymentMethod | Status::RequiresConfirmation if origin == Some(BROWSER) => {
            Some(PaymentStatus::RequiresAction)
        }
        Status::RequiresPaymentMethod if origin == Some(INSTRUMENT) && has_failed => {
            Some(PaymentStatus::Declined)
        }
        Status::RequiresPaymentMethod | Status::RequiresConfirmation | Status::Processing => None,
        Status::RequiresAction => Some(PaymentStatus::RequiresAction),
        Status::RequiresCapture => Some(PaymentStatus::Authorized),
        Status::Succeeded => Some(PaymentStatus::Captured),
        Status::Canceled => Some(PaymentStatus::Voided),
    })
}

/// Converts the card at `pointer`. Returns `None` if Stripe gives no last digits, or none that are four
/// digits.
pub(crate) fn card(
    card: wire::Card,
    pointer: fmt::Arguments<'_>,
    dropped: &mut DroppedItems,
) -> Option<Card> {
    let last4 = dropped.readable_part(format_args!("{pointer}/last4"), card.last4)?;
    let last4 = dropped.keep(format_args!("{pointer}/last4"), last_digits(last4))?;
    let expires = card.exp_year.decoded().zip(card.exp_month.decoded());
    Some(Card {
        brand: match card.brand.decoded() {
            Some(wire::Brand::Amex) => CardBrand::Amex,
            Some(wire::Brand::Diners) => CardBrand::Diners,
            Some(wire::Brand::Discover) => CardBrand::Discover,
            Some(wire::Brand::Jcb) => CardBrand::Jcb,
            Some(wire::Brand::Mastercard) => CardBrand::Mastercard,
            Some(wire::Brand::Unionpay) => CardBrand::Unionpay,
            Some(wire::Brand::Visa) => CardBrand::Visa,
            Some(wire::Brand::Other) | None => CardBrand::Unknown,
        },
        last4,
        funding: match card.funding.decoded() {
            Some(wire::Funding::Credit) => Funding::Credit,
            Some(wire::Funding::Debit) => Funding::Debit,
            Some(wire::Funding::Prepaid) => Funding::Prepaid,
            Some(wire::Funding::Other) | None => Funding::Unknown,
        },
        wallet: match card
            .wallet
            .decoded()
            .and_then(|wallet| wallet.kind.decoded())
        {
            Some(wire::WalletKind::ApplePay) => Some(Wallet::ApplePay),
            Some(wire::WalletKind::GooglePay) => Some(Wallet::GooglePay),
            Some(wire::WalletKind::Other) | None => None,
        },
        expires: expires.map(|(year, month)| format!("{year:04}-{month:02}")),
    })
}

fn last_digits(text: String) -> Result<String, DecodeError> {
    let are_digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    ensure(are_digits, "the last digits of a card are not four digits")?;
    Ok(text)
}

/// Converts a refund.
///
/// # Errors
/// Its id or its amount cannot be read.
pub(crate) fn refund(refund: &wire::Refund) -> Result<ProcessorRefund, DecodeError> {
    let currency = refund
        .currency
        .required("currency")?
        .as_str()
        .to_ascii_uppercase();
    let amount = *refund.amount.required("amount")?;
    Ok(ProcessorRefund {
        processor_reference: refund.id.required("id")?.as_str().to_owned(),
        amount: Money {
            amount: amount::from_stripe(amount, &currency)?,
            currency,
        },
    })
}
