//! Pieces of baggage that a fare includes per passenger.

use stopover_sdk::lenient::LenientFlag;
use stopover_sdk::types::flight::PassengerType;

use crate::map;
use crate::wire::{Baggage, IncludedBag};

/// Checked and carry-on pieces; `None` if unknown.
pub(crate) type Pieces = (Option<u8>, Option<u8>);

/// Returns the pieces that each passenger may take on each segment.
pub(crate) fn pieces(baggage: &Baggage<'_>, passengers: &[PassengerType]) -> Vec<Pieces> {
    let of_passenger = |passenger: &PassengerType| {
        let count = |bag_type, has_any| count(baggage, bag_type, has_any, *passenger);
        (
            count("checked", baggage.has_checked_bag),
            count("cabin", baggage.has_carry_on_bag),
        )
    };
    passengers.iter().map(of_passenger).collect()
}

fn count(
    baggage: &Baggage<'_>,
    bag_type: &str,
    has_any: LenientFlag,
    passenger: PassengerType,
) -> Option<u8> {
    if has_any.0 == Some(false) {
        return Some(0);
    }
    let code = match passenger {
        PassengerType::Adult => "ADT",
        PassengerType::Child => "CHD",
        PassengerType::Infant => "INF",
    };
    let mut pieces: Option<u32> = None;
    for bag in &baggage.included.0 {
        let is_theirs = matches!(bag.passenger_type.as_str(), "" | "ALL")
            || bag.passenger_type.as_str() == code;
        if bag.bag_type.as_str() == bag_type && is_theirs && is_included(bag) {
            pieces = Some(pieces.unwrap_or(0).saturating_add(bag.pieces.0?));
        }
    }
    u8::try_from(pieces?).ok()
}

/// Returns whether a bag is included. A bag with a price is for sale.
fn is_included(bag: &IncludedBag<'_>) -> bool {
    let price = bag.pricing.display.as_ref();
    price.is_none_or(|price| map::money(price).is_none_or(|price| price.amount == 0))
}
