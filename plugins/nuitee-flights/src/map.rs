//! Meaning of Nuitee's JSON, in pure functions without gateway, clock or settings.

pub(crate) mod baggage;
pub(crate) mod booking;
pub(crate) mod cancellation;
pub(crate) mod country;
pub(crate) mod details;
pub(crate) mod journey;
pub(crate) mod locator;
pub(crate) mod logo;
pub(crate) mod offer;
pub(crate) mod passenger;
pub(crate) mod phone;
pub(crate) mod prebook;
pub(crate) mod price;
pub(crate) mod reference;
pub(crate) mod search;
pub(crate) mod service;
pub(crate) mod terms;
pub(crate) mod trip;
pub(crate) mod verify;

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::lenient::{LenientAmount, Part, Single};
use stopover_sdk::types::MinorUnits;

use crate::wire;

/// A reader of the optional parts of one object. Parts that cannot be read are left out.
pub(crate) struct PartReader<'p> {
    /// JSON pointer of the object.
    pub(crate) pointer: &'p str,
    pub(crate) dropped: &'p mut DroppedItems,
}

impl PartReader<'_> {
    pub(crate) fn read<T>(&mut self, name: &str, part: Part<T>) -> Option<T> {
        let pointer = self.pointer;
        self.dropped
            .readable_part(format_args!("{pointer}/{name}"), part)
    }
}

/// Converts an amount to minor units, rounded, because Nuitee's amounts are JSON numbers without a
/// guaranteed number of decimals. Returns `None` for a negative, missing or repeated amount.
pub(crate) fn minor(amount: Single<LenientAmount>, currency: &str) -> Option<MinorUnits> {
    let minor = amount.value()?.0?.to_minor_rounded(currency).ok()?;
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
