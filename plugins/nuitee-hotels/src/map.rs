//! Meaning of Nuitee's JSON, in pure functions without gateway, clock or settings.

pub(crate) mod booking;
pub(crate) mod calendar;
pub(crate) mod content;
pub(crate) mod details;
pub(crate) mod offer;
pub(crate) mod place;
pub(crate) mod policy;
pub(crate) mod prebook;
pub(crate) mod search;
pub(crate) mod weather;

use std::collections::HashSet;

use stopover_sdk::html;
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::LenientNumber;
use stopover_sdk::money::{Decimal, MINOR_UNITS_MAX, MoneyError};
use stopover_sdk::types::hotel::HotelSummary;
use stopover_sdk::types::{Board, Location, MinorUnits};

use crate::wire;
use crate::wire::rate::TaxOrFee;
use crate::wire::{Amount, Coordinates};

/// Converts an amount to minor units, rounded, because Nuitee's amounts are JSON numbers without a
/// guaranteed number of decimals.
pub(crate) fn minor(amount: Decimal, currency: &str) -> Result<MinorUnits, MoneyError> {
    amount.to_minor_rounded(currency)
}

/// Returns the sum of amounts, which must all be in `currency`. Returns `None` if there are no
/// amounts.
pub(crate) fn sum(
    amounts: &[Amount<'_>],
    currency: &str,
) -> Result<Option<MinorUnits>, DecodeError> {
    let mut total = None;
    for amount in amounts {
        if amount.currency.as_ref().required("currency")?.as_str() != currency {
            return Err(other_currency());
        }
        let amount = amount.amount.required("amount")?;
        let minor = minor(amount, currency).map_err(|error| DecodeError::new(error.to_string()))?;
        total = Some(add(total.unwrap_or(0), minor)?);
    }
    Ok(total)
}

/// Returns the amount of a tax or fee with its currency, which is that of the offer if the field is empty.
/// Returns `None` if they cannot be read.
pub(crate) fn fee_amount<'a>(
    fee: &'a TaxOrFee<'_>,
    currency: &'a str,
) -> Option<(MinorUnits, &'a str)> {
    let currency = match fee.currency.as_ref().value()?.as_str() {
        "" => currency,
        named => named,
    };
    let amount = minor(fee.amount.value()?, currency).ok()?;
    Some((amount, currency))
}

/// Returns the sum of two amounts.
///
/// # Errors
/// The gateway does not take an amount of this size.
pub(crate) fn add(left: MinorUnits, right: MinorUnits) -> Result<MinorUnits, DecodeError> {
    let sum = left.checked_add(right);
    sum.filter(|sum| (-MINOR_UNITS_MAX..=MINOR_UNITS_MAX).contains(sum))
        .ok_or_else(|| DecodeError::new("the amounts of the response are out of range"))
}

/// Number of texts up to which they are compared one by one. That needs no memory, and ordinary lists
/// have fewer.
pub(crate) const FEW_TEXTS: usize = 16;

/// Returns each text that is not empty once, in the order of the texts.
pub(crate) fn unique_texts(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut texts = texts.into_iter().filter(|text| !text.is_empty());
    let mut unique: Vec<String> = Vec::new();
    while unique.len() < FEW_TEXTS {
        let Some(text) = texts.next() else {
            return unique;
        };
        if !unique.contains(&text) {
            unique.push(text);
        }
    }
    let mut seen: HashSet<String> = unique.iter().cloned().collect();
    for text in texts {
        if !seen.contains(&text) {
            seen.insert(text.clone());
            unique.push(text);
        }
    }
    unique
}

pub(crate) fn other_currency() -> DecodeError {
    DecodeError::new("the response is in a currency other than the requested one")
}

/// Converts a board code, such as `RO` or `BB`, or a numbered variant of one.
pub(crate) fn board(code: &str) -> Board {
    match code.trim_end_matches(|character: char| character.is_ascii_digit()) {
        "RO" => Board::RoomOnly,
        "BB" | "BI" => Board::BedAndBreakfast,
        "HB" => Board::HalfBoard,
        "FB" => Board::FullBoard,
        "AI" => Board::AllInclusive,
        _ => Board::Other,
    }
}

/// Returns a location. Returns `None` if a coordinate is missing or invalid, or if both are zero,
/// which Nuitee uses for unknown locations.
pub(crate) fn location(latitude: LenientNumber, longitude: LenientNumber) -> Option<Location> {
    let (latitude, longitude) = (latitude.0?, longitude.0?);
    let valid = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
    (valid && (latitude, longitude) != (0.0, 0.0)).then_some(Location {
        latitude,
        longitude,
    })
}

/// Returns a place on earth.
///
/// # Errors
/// A coordinate is missing or repeated, or it is not on earth.
pub(crate) fn place(point: &Coordinates) -> Result<Location, DecodeError> {
    let latitude = LenientNumber(Some(point.latitude.required("latitude")?));
    let longitude = LenientNumber(Some(point.longitude.required("longitude")?));
    location(latitude, longitude).ok_or_else(|| DecodeError::new("the place is not on earth"))
}

/// Returns the hotel's summary. Nuitee has no time zones.
pub(crate) fn summary(id: &str, hotel: &wire::rate::Hotel) -> HotelSummary {
    HotelSummary {
        address: html::optional(hotel.address.as_deref()).unwrap_or_default(),
        location: location(hotel.latitude, hotel.longitude),
        ..HotelSummary::new(id, html::plain(&hotel.name))
    }
}
