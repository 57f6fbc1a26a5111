//! Meaning of Duffel's JSON, in pure functions without gateway, clock or settings.

pub(crate) mod cancellation;
pub(crate) mod change;
pub(crate) mod details;
pub(crate) mod event;
pub(crate) mod itinerary;
pub(crate) mod offer;
pub(crate) mod order;
pub(crate) mod passenger;
pub(crate) mod reference;
pub(crate) mod service;

use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::Essential;
use stopover_sdk::time;
use stopover_sdk::types::{MinorUnits, TimestampMs};

use crate::wire::LenientAmount;

/// Converts a required amount, which must not be negative, to minor units.
///
/// # Errors
/// The amount is missing, negative, or not a valid amount of that currency.
pub(crate) fn minor(amount: LenientAmount, currency: &str) -> Result<MinorUnits, DecodeError> {
    let amount = amount
        .0
        .ok_or_else(|| DecodeError::new("an amount is missing or not a number"))?;
    match amount.to_minor(currency) {
        Ok(minor) if minor >= 0 => Ok(minor),
        Ok(_) => Err(DecodeError::new("an amount is negative")),
        Err(error) => Err(DecodeError::new(format!("an amount is invalid: {error}"))),
    }
}

/// Converts the total of an offer or an order, and returns it with its currency.
///
/// # Errors
/// The amount or the currency is missing, ambiguous or invalid.
pub(crate) fn total<'a>(
    amount: &Essential<LenientAmount>,
    currency: &'a Essential<String>,
) -> Result<(MinorUnits, &'a str), DecodeError> {
    let currency = currency.required("total_currency")?;
    let total = minor(*amount.required("total_amount")?, currency)?;
    Ok((total, currency))
}

/// Converts an optional part of a total to minor units. Returns `None` if it is invalid or not in
/// the total's currency.
pub(crate) fn optional_minor(
    amount: LenientAmount,
    of: &str,
    currency: &str,
) -> Option<MinorUnits> {
    minor(amount, currency).ok().filter(|_| of == currency)
}

/// Parses a time that may be missing or empty.
///
/// # Errors
/// The text is not a time.
pub(crate) fn optional_timestamp(text: Option<&str>) -> Result<Option<TimestampMs>, DecodeError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let time = time::parse_timestamp(text);
    let time = time.ok_or_else(|| DecodeError::new("a time is not a time"))?;
    Ok(Some(time))
}
