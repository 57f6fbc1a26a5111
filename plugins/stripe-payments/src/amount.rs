//! Stripe's amounts: integers in minor units, with exceptions for some currencies.

use stopover_sdk::json::DecodeError;
use stopover_sdk::types::{MinorUnits, Money};

/// A difference between Stripe's amounts and minor units by ISO 4217.
#[derive(Clone, Copy)]
enum Oddity {
    /// Stripe's amount has two decimals that the currency does not have, or no longer has.
    Hundredfold,
    /// Stripe's amount lacks the currency's decimals.
    Whole,
    /// Stripe's amount has three decimals, of which the last must be 0.
    Tens,
}

/// Currencies with differing amounts, by <https://docs.stripe.com/currencies>:
///
/// - "Zero-decimal currencies": MGA. All others there have no decimals by ISO 4217 either.
/// - "Special cases": ISK and UGX. UGX is also listed among the zero-decimal currencies; the
///   special case defines the amount to send. HUF and TWD are special in payouts only.
/// - "Three-decimal currencies".
const ODDITIES: [(&str, Oddity); 8] = [
    ("BHD", Oddity::Tens),
    ("ISK", Oddity::Hundredfold),
    ("JOD", Oddity::Tens),
    ("KWD", Oddity::Tens),
    ("MGA", Oddity::Whole),
    ("OMR", Oddity::Tens),
    ("TND", Oddity::Tens),
    ("UGX", Oddity::Hundredfold),
];

fn oddity(currency: &str) -> Option<Oddity> {
    let listed = |(code, oddity): &(&str, Oddity)| (*code == currency).then_some(*oddity);
    ODDITIES.iter().find_map(listed)
}

fn divided(amount: i64, divisor: i64) -> Option<i64> {
    (amount % divisor == 0).then_some(amount / divisor)
}

/// Returns Stripe's amount, or `None` if Stripe cannot represent this amount.
pub(crate) fn to_stripe(money: &Money) -> Option<i64> {
    match oddity(&money.currency) {
        None => Some(money.amount),
        Some(Oddity::Hundredfold) => money.amount.checked_mul(100),
        Some(Oddity::Whole) => divided(money.amount, 100),
        Some(Oddity::Tens) => divided(money.amount, 10).map(|_| money.amount),
    }
}

/// Converts Stripe's amount to minor units. The currency code is in upper case.
///
/// # Errors
/// The amount has a fraction that the currency does not have, or is out of range.
pub(crate) fn from_stripe(amount: i64, currency: &str) -> Result<MinorUnits, DecodeError> {
    let minor = match oddity(currency) {
        None | Some(Oddity::Tens) => Some(amount),
        Some(Oddity::Hundredfold) => divided(amount, 100),
        Some(Oddity::Whole) => amount.checked_mul(100),
    };
    minor.ok_or_else(|| DecodeError::new("an amount does not fit its currency"))
}
