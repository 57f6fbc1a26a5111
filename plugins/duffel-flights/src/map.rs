//! What Duffel's JSON means. Pure: no gateway, no clock, no settings.

pub(crate) mod cancellation;
pub(crate) mod change;
pub(crate) mod event;
pub(crate) mod itinerary;
pub(crate) mod offer;
pub(crate) mod order;
pub(crate) mod passenger;
pub(crate) mod reference;
pub(crate) mod service;

use stopover_sdk::json::Unreadable;
use stopover_sdk::money::Decimal;
use stopover_sdk::types::MinorUnits;

use crate::wire::Amount;

/// Minor units of an amount that has to be there, and not negative.
///
/// # Errors
/// It is missing, negative, or no amount of that currency.
pub(crate) fn minor(amount: Amount, currency: &str) -> Result<MinorUnits, Unreadable> {
    let amount = amount
        .0
        .ok_or_else(|| Unreadable::new("an amount is missing or no number"))?;
    match amount.to_minor(currency) {
        Ok(minor) if minor >= 0 => Ok(minor),
        Ok(_) => Err(Unreadable::new("an amount is negative")),
        Err(error) => Err(Unreadable::new(format!("an amount: {error}"))),
    }
}

/// The same of an amount that is good to know, when it is in the currency of the
/// whole.
pub(crate) fn part(amount: Amount, of: &str, currency: &str) -> Option<MinorUnits> {
    if of == currency {
        minor(amount, currency).ok()
    } else {
        None
    }
}

/// Major units as Duffel writes them, e.g. `90.80`.
///
/// # Errors
/// The currency is none.
pub(crate) fn major(
    amount: MinorUnits,
    currency: &str,
) -> Result<String, stopover_sdk::money::MoneyError> {
    Decimal::from_minor(amount, currency).map(|decimal| decimal.to_string())
}

/// Text that says something.
pub(crate) fn filled(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
