//! Meaning of Nuitee's JSON, in pure functions without gateway, clock or settings.

pub(crate) mod baggage;
pub(crate) mod booking;
pub(crate) mod cancellation;
pub(crate) mod country;
pub(crate) mod journey;
pub(crate) mod logo;
pub(crate) mod offer;
pub(crate) mod passenger;
pub(crate) mod phone;
pub(crate) mod prebook;
pub(crate) mod reference;
pub(crate) mod search;
pub(crate) mod terms;
pub(crate) mod verify;

use stopover_sdk::lenient::LenientAmount;
use stopover_sdk::types::MinorUnits;

use crate::wire;

/// Converts an amount to minor units, rounded, because Nuitee's amounts are JSON numbers without a
/// guaranteed number of decimals. Returns `None` for a negative or missing amount.
pub(crate) fn minor(amount: LenientAmount, currency: &str) -> Option<MinorUnits> {
    let minor = amount.0?.to_minor_rounded(currency).ok()?;
    (minor >= 0).then_some(minor)
}

/// Converts an amount with its currency.
pub(crate) fn money(money: &wire::Money<'_>) -> Option<stopover_sdk::types::Money> {
    let currency = money.currency.as_str();
    Some(stopover_sdk::types::Money {
        amount: minor(money.amount, currency)?,
        currency: currency.to_owned(),
    })
}
