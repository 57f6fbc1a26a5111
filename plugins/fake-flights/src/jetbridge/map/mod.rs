//! Conversion between Jetbridge's JSON and the interface, in pure functions.

pub(crate) mod booking;
pub(crate) mod fare;
pub(crate) mod itinerary;
pub(crate) mod prebook;
pub(crate) mod reference;

use stopover_sdk::json::DecodeError;
use stopover_sdk::money::Decimal;
use stopover_sdk::types::{MinorUnits, Money};

use crate::common;
use crate::jetbridge::wire;

/// Converts an amount. Jetbridge states the number of decimals of its units, which must match the
/// currency's.
pub(crate) fn money(money: wire::Money) -> Result<Money, DecodeError> {
    let wire::Money { units, scale, ccy } = money;
    let written: Decimal = format!("{units}e-{scale}")
        .parse()
        .map_err(|_| DecodeError::new("an amount in the data is out of range"))?;
    common::money(written, ccy)
}

pub(crate) fn amount(amount: wire::Money, currency: &str) -> Result<MinorUnits, DecodeError> {
    common::amount(money(amount)?, currency)
}
