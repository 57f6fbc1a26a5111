//! Conditions for changing or refunding a fare.

use stopover_sdk::lenient::LenientFlag;
use stopover_sdk::types::flight::{FareCondition, FareConditions};

use crate::map;
use crate::wire::{Fee, Terms};

pub(crate) fn conditions(terms: &Terms<'_>) -> FareConditions {
    FareConditions {
        refund: condition(terms.refundable, terms.refund_fee.as_ref()),
        change: condition(terms.changeable, terms.change_fee.as_ref()),
    }
}

/// Converts a condition. Percentages and fees for no-shows or after departure are not the penalty.
/// If Nuitee publishes no fee, the penalty is unknown, because a fee may still apply.
fn condition(allowed: LenientFlag, fee: Option<&Fee<'_>>) -> FareCondition {
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
