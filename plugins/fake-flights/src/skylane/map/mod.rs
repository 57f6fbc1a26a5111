//! Conversion between Skylane's JSON and the interface, in pure functions.

pub(crate) mod bag;
pub(crate) mod itinerary;
pub(crate) mod offer;
pub(crate) mod order;
pub(crate) mod reference;
pub(crate) mod traveller;

use stopover_sdk::json::DecodeError;
use stopover_sdk::money::{Decimal, MoneyError};
use stopover_sdk::time;
use stopover_sdk::types::{MinorUnits, Money, TimestampMs};

use crate::common;
use crate::skylane::wire;

pub(crate) fn money(money: wire::Money) -> Result<Money, DecodeError> {
    common::money(money.value, money.currency)
}

pub(crate) fn amount(amount: wire::Money, currency: &str) -> Result<MinorUnits, DecodeError> {
    common::amount(money(amount)?, currency)
}

pub(crate) fn payment(total: MinorUnits, currency: &str) -> Result<wire::Payment<'_>, MoneyError> {
    Ok(wire::Payment {
        value: Decimal::from_minor(total, currency)?.to_string(),
        currency,
    })
}

pub(crate) fn instant(text: &str) -> Result<TimestampMs, DecodeError> {
    time::parse_timestamp(text).ok_or_else(|| DecodeError::new("an instant cannot be read"))
}
