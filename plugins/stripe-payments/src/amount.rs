//! Stripe's amounts: integers in minor units, with exceptions for some currencies.

use stopover_sdk::json::DecodeError;
use stopover_sdk::types::{MinorUnits, Money};

/// A difference between Stripe's amounts and minor units by ISO 4217.
#[derive(Clone, Copy)]
enum AmountException {
    /// Stripe's amount has two decimals that the currency does not have, or no longer has.
    TwoExtraDecimals,
    /// Stripe's amount lacks the currency's decimals.
    NoDecimals,
    /// Stripe's amount has three decimals, of which the last must be 0.
    LastDecimalZero,
}

/// Currencies with differing amounts, by <https://docs.stripe.com/currencies>:
///
/// - "Zero-decimal currencies": MGA. All others there have no decimals by ISO 4217 either.
/// - "Special cases": ISK and UGX. UGX is also listed among the zero-decimal currencies; the
///   special case defines the amount to send. HUF and TWD are special in payouts only.
/// - "Three-decimal currencies".
const AMOUNT_EXCEPTIONS: [(&str, AmountException); 8] = [
    ("BHD", AmountException::LastDecimalZero),
    ("ISK", AmountException::TwoExtraDecimals),
    ("JOD", AmountException::LastDecimalZero),
    ("KWD", AmountException::LastDecimalZero),
    ("MGA", AmountException::NoDecimals),
    ("OMR", AmountException::LastDecimalZero),
    ("TND", AmountException::LastDecimalZero),
    ("UGX", AmountException::TwoExtraDecimals),
];

fn amount_exception(currency: &str) -> Option<AmountException> {
    let listed =
        |(code, exception): &(&str, AmountException)| (*code == currency).then_some(*exception);
    AMOUNT_EXCEPTIONS.iter().find_map(listed)
}

fn divide_exactly(amount: i64, divisor: i64) -> Option<i64> {
    (amount % divisor == 0).then_some(amount / divisor)
}

/// Returns Stripe's amount, or `None` if Stripe cannot represent this amount.
pub(crate) fn to_stripe(money: &Money) -> Option<i64> {
    match amount_exception(&money.currency) {
        None => Some(money.amount),
        Some(AmountException::TwoExtraDecimals) => money.amount.checked_mul(100),
        Some(AmountException::NoDecimals) => divide_exactly(money.amount, 100),
        Some(AmountException::LastDecimalZero) => {
            divide_exactly(money.amount, 10).map(|_| money.amount)
        }
    }
}

/// Converts Stripe's amount to minor units. The currency code is in upper case.
///
/// # Errors
/// The amount has a fraction that the currency does not have, or is out of range.
pub(crate) fn from_stripe(amount: i64, currency: &str) -> Result<MinorUnits, DecodeError> {
    let minor = match amount_exception(currency) {
        None | Some(AmountException::LastDecimalZero) => Some(amount),
        Some(AmountException::TwoExtraDecimals) => divide_exactly(amount, 100),
        Some(AmountException::NoDecimals) => amount.checked_mul(100),
    };
    minor.ok_or_else(|| DecodeError::new("an amount does not fit its currency"))
}
