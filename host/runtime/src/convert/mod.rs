//! Conversions between WIT and domain types, field by field. Data from a guest is validated:
//!
//! - Values that are only displayed are truncated or left out.
//! - An item of a list, such as an offer, is left out if a value that affects money or identity is
//!   invalid. It is recorded in [`DroppedItems`]. If no item is left, the response is rejected.
//! - A response about one thing, such as a prebook, is rejected if such a value is invalid.
//! - An optional reference, the penalty of a fare, the card of a payment and the time at which its
//!   authorization expires are left out and recorded.
//! - A booking is rejected only if its references, status, currency, total or rooms are invalid. Other
//!   parts of it, and the details of version 1.1, are left out and recorded.
//! - The display texts of a prebook or a booking together are limited, because a booking stores them.

pub(crate) mod content;
mod display_texts;
pub(crate) mod dropped;
pub(crate) mod error;
pub(crate) mod flight;
pub(crate) mod hotel;
pub(crate) mod payment;
pub(crate) mod supplier_event;
mod text;

use crate::bindings::stopover::supplier::types;
use crate::convert::dropped::DroppedItems;
use host_domain::hotel::Location;
use host_domain::money::{Currency, MINOR_UNITS_MAX, Money};
use host_domain::supplier::FindRequest;
use host_domain::time::{Date, Timestamp};

/// An invalid value in a response and the field that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub(crate) struct InvalidResponse {
    pub(crate) field: &'static str,
    pub(crate) reason: &'static str,
}

type ConvertResult<T> = Result<T, InvalidResponse>;

const fn invalid<T>(field: &'static str, reason: &'static str) -> ConvertResult<T> {
    Err(InvalidResponse { field, reason })
}

fn valid_if<T>(
    is_valid: bool,
    value: T,
    field: &'static str,
    reason: &'static str,
) -> ConvertResult<T> {
    is_valid
        .then_some(value)
        .ok_or(InvalidResponse { field, reason })
}

/// Converts a variant without fields into the variant of the same name in another enum.
macro_rules! same_variant {
    ($value:expr, $from:ty => $to:ty, [$($variant:ident),+ $(,)?]) => {
        match $value {
            $(<$from>::$variant => <$to>::$variant,)+
        }
    };
}
use same_variant;

/// The references of the booking that a response must be about. A plugin that returns another
/// booking cannot make it pass for the requested one.
struct ExpectedReferences {
    client_reference: String,
    supplier_reference: Option<String>,
}

impl ExpectedReferences {
    /// `supplier_reference` is `None` if the supplier is yet to assign it.
    fn new(client_reference: &str, supplier_reference: Option<&str>) -> Self {
        Self {
            client_reference: client_reference.to_owned(),
            supplier_reference: supplier_reference.map(str::to_owned),
        }
    }

    /// Checks the references of a response. Not every supplier repeats the client reference.
    fn check(&self, supplier_reference: &str, client_reference: Option<&str>) -> ConvertResult<()> {
        let reason = "another booking than asked for";
        let expected = self.supplier_reference.as_deref();
        if expected.is_some_and(|expected| expected != supplier_reference) {
            return invalid("supplier-reference", reason);
        }
        if client_reference.is_some_and(|reference| reference != self.client_reference) {
            return invalid("client-reference", reason);
        }
        Ok(())
    }
}

impl From<&FindRequest> for ExpectedReferences {
    fn from(request: &FindRequest) -> Self {
        Self::new(
            &request.client_reference,
            request.supplier_reference.as_deref(),
        )
    }
}

/// Requirements on the response to a prebook.
#[derive(Clone, Copy)]
pub(crate) struct PrebookExpectation {
    pub(crate) now: Timestamp,
    /// The currency of the offer.
    pub(crate) currency: Currency,
    /// Whether the supplier collects the payment at its own checkout.
    pub(crate) collects_payment: bool,
}

/// Latest accepted instant: 9999-12-31T23:59:59.999Z, which suppliers state for "never".
const INSTANT_MS_MAX: i64 = 253_402_300_799_999;

fn currency(field: &'static str, code: &str) -> ConvertResult<Currency> {
    Currency::parse(code).or(invalid(field, "not an ISO 4217 currency"))
}

fn same_currency(field: &'static str, code: &str, expected: Currency) -> ConvertResult<Currency> {
    let is_same = code == expected.code();
    valid_if(is_same, expected, field, "another currency than asked for")
}

/// Reads the currency of a booking or payment. `expected` is the required one, if it is known.
fn expected_currency(code: &str, expected: Option<Currency>) -> ConvertResult<Currency> {
    match expected {
        Some(expected) => same_currency("currency", code, expected),
        None => currency("currency", code),
    }
}

fn money(field: &'static str, minor: i64, currency: Currency) -> ConvertResult<Money> {
    if minor < 0 {
        return invalid(field, "a negative amount");
    }
    if minor > MINOR_UNITS_MAX {
        return invalid(field, "an amount out of range");
    }
    Ok(Money::new(minor, currency))
}

fn optional_money(
    field: &'static str,
    minor: Option<i64>,
    currency: Currency,
) -> ConvertResult<Option<Money>> {
    optional(minor, |minor| money(field, minor, currency))
}

fn money_with_currency(field: &'static str, amount: &types::Money) -> ConvertResult<Money> {
    money(field, amount.amount, currency(field, &amount.currency)?)
}

fn positive_money(field: &'static str, minor: i64, currency: Currency) -> ConvertResult<Money> {
    if minor == 0 {
        invalid(field, "a price of zero")
    } else {
        money(field, minor, currency)
    }
}

/// Reads an instant. Those after the latest one that can be printed become this one.
fn instant(field: &'static str, ms: i64) -> ConvertResult<Timestamp> {
    let is_in_range = (0..=INSTANT_MS_MAX).contains(&ms);
    let instant = Timestamp(ms).min(Timestamp::MAX);
    valid_if(is_in_range, instant, field, "an instant out of range")
}

fn optional_instant(field: &'static str, ms: Option<i64>) -> ConvertResult<Option<Timestamp>> {
    optional(ms, |ms| instant(field, ms))
}

/// Reads the time at which an offer expires. Seconds that are given as milliseconds lie in the past.
fn expiry(
    field: &'static str,
    ms: Option<i64>,
    now: Timestamp,
) -> ConvertResult<Option<Timestamp>> {
    let expires_at = optional_instant(field, ms)?;
    let is_valid = expires_at.is_none_or(|at| at > now);
    valid_if(is_valid, expires_at, field, "not in the future")
}

fn optional<T, U>(
    value: Option<T>,
    read: impl FnOnce(T) -> ConvertResult<U>,
) -> ConvertResult<Option<U>> {
    value.map(read).transpose()
}

fn list<T, U>(
    field: &'static str,
    items: Vec<T>,
    items_max: usize,
    read: impl FnMut(T) -> ConvertResult<U>,
) -> ConvertResult<Vec<U>> {
    if items.len() > items_max {
        return invalid(field, "more items than requested or plausible");
    }
    items.into_iter().map(read).collect()
}

/// Converts the valid items of a list and records the others. Rejects a list without a valid item.
fn valid_items<T, U>(
    field: &'static str,
    items: Vec<T>,
    items_max: usize,
    dropped: &mut DroppedItems,
    mut read: impl FnMut(T) -> ConvertResult<U>,
) -> ConvertResult<Vec<U>> {
    let mut valid = Vec::with_capacity(items.len().min(items_max));
    list(field, items, items_max, |item| {
        valid.extend(dropped.keep(read(item)));
        Ok(())
    })?;
    dropped.check_remaining(!valid.is_empty())?;
    Ok(valid)
}

/// Converts the first items of a list that is only displayed.
fn display_list<T, U>(items: Vec<T>, items_max: usize, convert: impl FnMut(T) -> U) -> Vec<U> {
    items.into_iter().take(items_max).map(convert).collect()
}

fn ensure_unique<K: Ord>(field: &'static str, keys: impl Iterator<Item = K>) -> ConvertResult<()> {
    let mut keys: Vec<K> = keys.collect();
    keys.sort_unstable();
    let is_unique = keys.windows(2).all(|pair| pair.first() != pair.last());
    valid_if(is_unique, (), field, "twice")
}

/// Parses a date of the form `YYYY-MM-DD` and rejects all other forms.
fn date(field: &'static str, text: &str) -> ConvertResult<Date> {
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(at, b)| {
            if at == 4 || at == 7 {
                b == b'-'
            } else {
                b.is_ascii_digit()
            }
        });
    match text.parse() {
        Ok(date) if shaped => Ok(date),
        _ => invalid(field, "not a date of the form YYYY-MM-DD"),
    }
}

/// Validates a time of the form `YYYY-MM-DDTHH:MM` on an existing day.
fn local_time(field: &'static str, text: String) -> ConvertResult<String> {
    let fits = text
        .split_once('T')
        .is_some_and(|(day, time)| date(field, day).is_ok() && text::is_clock_time(time));
    valid_if(fits, text, field, "not a time of the form YYYY-MM-DDTHH:MM")
}

fn location(field: &'static str, location: types::Location) -> ConvertResult<Location> {
    let (latitude, longitude) = (location.latitude, location.longitude);
    let is_on_map = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
    let location = Location {
        latitude,
        longitude,
    };
    valid_if(is_on_map, location, field, "not a place on the map")
}

/// Returns a number that is only displayed, or `None` if it is not a number or out of range.
fn display_number(value: Option<f64>, min: f64, max: f64) -> Option<f64> {
    value.filter(|value| (min..=max).contains(value))
}

#[cfg(test)]
mod fuzzed;
#[cfg(test)]
pub(crate) mod tests;
