//! The parts of a price.

use stopover_sdk::types::MinorUnits;
use stopover_sdk::types::flight_details::PriceBreakdown;

use crate::map::minor;
use crate::wire::Price;

/// Splits the price of a ticket into fare, taxes and fees. If the fees and the fare do not add up to
/// the price without taxes, they count as fare. If the taxes are not known, fare and fees are as stated.
/// Nothing is known if the parts belong to another price.
pub(crate) fn breakdown(
    price: Option<&Price<'_>>,
    currency: &str,
    ticket: MinorUnits,
) -> PriceBreakdown {
    price
        .and_then(|price| split(price, currency, ticket))
        .unwrap_or_default()
}

fn split(price: &Price<'_>, currency: &str, ticket: MinorUnits) -> Option<PriceBreakdown> {
    if price.currency.as_str() != currency || minor(price.total, currency)? != ticket {
        return None;
    }
    let stated = minor(price.base, currency).zip(minor(price.fees, currency));
    let Some(tax) = minor(price.taxes, currency) else {
        let (fare, fee) = stated?;
        let is_part = fare.checked_add(fee).is_some_and(|sum| sum <= ticket);
        return is_part.then_some(PriceBreakdown {
            fare: Some(fare),
            fare_tax: None,
            fee: Some(fee),
        });
    };
    let untaxed = ticket.checked_sub(tax).filter(|untaxed| *untaxed >= 0)?;
    let (fare, fee) = match stated {
        Some((fare, fee)) if fare.checked_add(fee) == Some(untaxed) => (fare, Some(fee)),
        Some(_) | None => (untaxed, None),
    };
    Some(PriceBreakdown {
        fare: Some(fare),
        fare_tax: Some(tax),
        fee,
    })
}
