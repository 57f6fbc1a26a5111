//! Conditions for changing or refunding a fare.

use stopover_sdk::lenient::{LenientFlag, LenientText, Single};
use stopover_sdk::types::Money;
use stopover_sdk::types::flight::{FareCondition, FareConditions};

use crate::map;
use crate::wire::{Fee, Price, Terms};

/// Returns the conditions of a fare with this price.
pub(crate) fn conditions(terms: &Terms<'_>, price: Option<&Price<'_>>) -> FareConditions {
    FareConditions {
        refund: condition(terms.refundable, terms.refund_fee.as_ref(), price),
        change: condition(terms.changeable, terms.change_fee.as_ref(), price),
    }
}

/// Returns the conditions in which `earlier` ones take the place of what a later response does not state.
pub(crate) fn completed(stated: &FareConditions, earlier: &FareConditions) -> FareConditions {
    let complete = |stated: &FareCondition, earlier: &FareCondition| {
        let flags = stated.allowed.zip(earlier.allowed);
        if flags.is_some_and(|(stated, earlier)| stated != earlier) {
            // The earlier penalty belongs to another condition.
            return stated.clone();
        }
        let penalty = stated.penalty.as_ref().or(earlier.penalty.as_ref());
        FareCondition {
            allowed: stated.allowed.or(earlier.allowed),
            penalty: penalty.cloned(),
        }
    };
    FareConditions {
        refund: complete(&stated.refund, &earlier.refund),
        change: complete(&stated.change, &earlier.change),
    }
}

/// Converts a condition. Fees for no-shows or after departure are not the penalty. If Nuitee publishes
/// no fee, the penalty is unknown, because a fee may still apply. A repeated value is unknown, too.
fn condition(
    allowed: Single<LenientFlag>,
    fee: Single<&Fee<'_>>,
    price: Option<&Price<'_>>,
) -> FareCondition {
    FareCondition {
        allowed: allowed.value().and_then(|allowed| allowed.0),
        penalty: fee.value().and_then(|fee| penalty(fee, price)),
    }
}

/// Returns the amount of a fee or, if Nuitee states no amount, its percentage of the base fare.
fn penalty(fee: &Fee<'_>, price: Option<&Price<'_>>) -> Option<Money> {
    let when = fee.applicability.as_ref().optional("applicability").ok()?;
    let when = when.map_or("", LenientText::as_str);
    if !matches!(when, "" | "anytime" | "beforeDeparture") {
        return None;
    }
    let pricing = fee.pricing.as_ref().optional("pricing").ok()?;
    let amount = pricing.map_or(Single::Missing, |pricing| pricing.display.as_ref());
    match amount.optional("display").ok()? {
        Some(amount) => map::money(amount),
        None => percentage(fee, price?),
    }
}

fn percentage(fee: &Fee<'_>, price: &Price<'_>) -> Option<Money> {
    const WHOLE: i64 = 10_000;
    let currency = price.currency.as_str();
    let base = map::minor(price.base, currency)?;
    let basis_points = fee.percent.value()?.0?.to_basis_points().ok()?;
    // Nuitee states null for "no percentage", which 0 may stand for as well.
    if basis_points == 0 {
        return None;
    }
    let share = base.checked_mul(basis_points.into())?;
    let rounded = share.checked_add(WHOLE / 2)? / WHOLE;
    Some(Money::new(rounded, currency))
}
