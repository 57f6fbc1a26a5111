//! Jetbridge's answers to the interface's, and its questions to Jetbridge's. Pure.

pub(crate) mod booking;
pub(crate) mod fare;
pub(crate) mod itinerary;
pub(crate) mod prebook;
pub(crate) mod reference;

use stopover_sdk::json::Unreadable;
use stopover_sdk::money::Decimal;
use stopover_sdk::types::{MinorUnits, Money};

use crate::jetbridge::wire;
use crate::trip;

/// Jetbridge names the decimals of its units, which are the currency's.
pub(crate) fn money(money: wire::Money) -> Result<Money, Unreadable> {
    let wire::Money { units, scale, ccy } = money;
    let written: Decimal = format!("{units}e-{scale}")
        .parse()
        .map_err(|_| Unreadable::new("an amount in the answer is out of range"))?;
    trip::money(written, ccy)
}

pub(crate) fn amount(amount: wire::Money, currency: &str) -> Result<MinorUnits, Unreadable> {
    trip::amount(money(amount)?, currency)
}
