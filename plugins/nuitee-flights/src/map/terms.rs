//! What changing and giving back a fare costs.

use stopover_sdk::loose::Flag;
use stopover_sdk::types::flight::{FareCondition, FareConditions};

use crate::map;
use crate::wire::{Fee, Terms};

pub(crate) fn conditions(terms: &Terms<'_>) -> FareConditions {
    FareConditions {
        refund: condition(terms.refundable, terms.refund_fee.as_ref()),
        change: condition(terms.changeable, terms.change_fee.as_ref()),
    }
}

/// A fee that is a percentage, or that is for those who do not show up or ask
/// after departure, is not the penalty. Where Nuitee publishes none, none is made
/// up: a fee may apply all the same.
fn condition(allowed: Flag, fee: Option<&Fee<'_>>) -> FareCondition {
    let fee = fee.filter(|fee| {
        let when = fee.applicability.as_str();
        matches!(when, "" | "anytime" | "beforeDeparture")
    });
    FareCondition {
        allowed: allowed.0,
        penalty: fee
            .and_then(|fee| fee.pricing.display.as_ref())
            .and_then(map::money),
    }
}
