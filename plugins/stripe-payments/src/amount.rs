//! Stripe's amounts: integers in minor units, with exceptions that are Stripe's own.

use stopover_sdk::json::Unreadable;
use stopover_sdk::types::{MinorUnits, Money};

/// How an amount at Stripe differs from minor units by ISO 4217.
#[derive(Clone, Copy)]
enum Oddity {
    /// Written with two decimals that the currency does not have (any more).
    Hundredfold,
    /// Written without the decimals that the currency has.
    Whole,
    /// Written with three decimals of which the last has to be 0.
    Tens,
}

/// By <https://docs.stripe.com/currencies>, "Zero-decimal currencies" (MGA; all
/// others there have no decimals by ISO 4217 either), "Special cases" (ISK, and
/// UGX, which is among the zero-decimal ones, too: the special case says what to
/// send) and "Three-decimal currencies". HUF and TWD are special in payouts only.
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

/// The amount as Stripe takes it; none: Stripe cannot be told this amount.
pub(crate) fn to_stripe(money: &Money) -> Option<i64> {
    match oddity(&money.currency) {
        None => Some(money.amount),
        Some(Oddity::Hundredfold) => money.amount.checked_mul(100),
        Some(Oddity::Whole) => divided(money.amount, 100),
        Some(Oddity::Tens) => divided(money.amount, 10).map(|_| money.amount),
    }
}

/// An amount of Stripe's in minor units of a currency in capitals.
///
/// # Errors
/// It has a fraction that the currency does not have, or is out of range.
pub(crate) fn from_stripe(amount: i64, currency: &str) -> Result<MinorUnits, Unreadable> {
    let minor = match oddity(currency) {
        None | Some(Oddity::Tens) => Some(amount),
        Some(Oddity::Hundredfold) => divided(amount, 100),
        Some(Oddity::Whole) => amount.checked_mul(100),
    };
    minor.ok_or_else(|| Unreadable::new("an amount does not fit its currency"))
}
