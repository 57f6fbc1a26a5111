//! Conditions for changing or refunding a fare.

use stopover_sdk::lenient::{LenientFlag, LenientText, Single};
use stopover_sdk::types::Money;
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
/// If Nuitee publishes no fee, the penalty is unknown, because a fee may still apply. A repeated value is
/// unknown, too.
fn condition(allowed: Single<LenientFlag>, fee: Single<&Fee<'_>>) -> FareCondition {
    FareCondition {
        allowed: allowed.value().and_then(|allowed| allowed.0),
        penalty: fee.value().and_then(penalty),
    }
}

fn penalty(fee: &Fee<'_>) -> Option<Money> {
    let when = fee.applicability.as_ref().optional("applicability").ok()?;
    let when = when.map_or("", LenientText::as_str);
    let pricing = fee.pricing.as_ref().value()?;
    matches!(when, "" | "anytime" | "beforeDeparture")
        .then(|| pricing.display.as_ref().value().and_then(map::money))
        .flatten()
}
