//! Baggage that a fare includes per passenger.

use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{LenientCount, LenientFlag, LenientNumber, Single};
use stopover_sdk::types::flight::{BaggageType, PassengerType};
use stopover_sdk::types::flight_details::Bag;

use crate::map;
use crate::wire::{Baggage, IncludedBag};

/// Maximum number of allowances of a fare. Nuitee lists one per kind of bag and type of passenger.
const INCLUDED_MAX: usize = 64;

/// Checked and carry-on pieces; `None` if unknown.
pub(crate) type Pieces = (Option<u8>, Option<u8>);

/// Checks that a fare does not have too many allowances, each of which counts for every passenger and
/// segment.
pub(crate) fn check(baggage: &Baggage<'_>) -> Result<(), DecodeError> {
    let is_plausible = baggage.included.0.len() <= INCLUDED_MAX;
    ensure(is_plausible, "the baggage has too many allowances")
}

/// Returns the pieces that each passenger may take on each segment.
pub(crate) fn pieces(baggage: &Baggage<'_>, passengers: &[PassengerType]) -> Vec<Pieces> {
    let of_passenger = |passenger: &PassengerType| {
        let count = |baggage_type| count(baggage, baggage_type, *passenger);
        (count(BaggageType::Checked), count(BaggageType::CarryOn))
    };
    passengers.iter().map(of_passenger).collect()
}

/// Returns whether the fare includes this type of bag. If Nuitee does not state it, every passenger with a
/// seat must have a piece.
pub(crate) fn is_for_everyone(
    baggage: &Baggage<'_>,
    baggage_type: BaggageType,
    passengers: &[PassengerType],
) -> bool {
    let has_any = has_any(baggage, baggage_type).0;
    has_any.unwrap_or_else(|| {
        let mut seated = passengers
            .iter()
            .filter(|passenger| **passenger != PassengerType::Infant);
        seated.all(|passenger| {
            let pieces = count(baggage, baggage_type, *passenger);
            pieces.is_some_and(|pieces| pieces > 0)
        })
    })
}

/// Returns the bags that a passenger may take on each segment, with their limits.
pub(crate) fn included_bags(baggage: &Baggage<'_>, passenger: PassengerType) -> Vec<Bag> {
    let types = [BaggageType::Checked, BaggageType::CarryOn].into_iter();
    types
        .filter(|baggage_type| has_any(baggage, *baggage_type).0 != Some(false))
        .flat_map(|baggage_type| {
            let bags = included(baggage, baggage_type, passenger);
            let bags = bags.filter(|bag| bag.pieces.0 != Some(0));
            bags.map(move |bag| Bag {
                pieces: piece_count(bag.pieces),
                max_weight_kg: whole_kilograms(bag.weight_kg),
                ..Bag::new(baggage_type)
            })
        })
        .collect()
}

/// Returns Nuitee's code of a passenger's type.
pub(crate) const fn type_code(passenger: PassengerType) -> &'static str {
    match passenger {
        PassengerType::Adult => "ADT",
        PassengerType::Child => "CHD",
        PassengerType::Infant => "INF",
    }
}

/// Returns a number of pieces, which is at least one.
pub(crate) fn piece_count(pieces: LenientCount) -> Option<u8> {
    let pieces = u8::try_from(pieces.0?).ok()?;
    (pieces > 0).then_some(pieces)
}

/// Rounds a limit down. Returns `None` if it is negative or out of range.
pub(crate) fn whole_kilograms(weight: LenientNumber) -> Option<u32> {
    format!("{:.0}", weight.0?.floor()).parse().ok()
}

fn has_any(baggage: &Baggage<'_>, baggage_type: BaggageType) -> LenientFlag {
    match baggage_type {
        BaggageType::Checked => baggage.has_checked_bag,
        BaggageType::CarryOn => baggage.has_carry_on_bag,
    }
}

/// Returns the allowances of a passenger for this type of bag.
fn included<'b, 'a>(
    baggage: &'b Baggage<'a>,
    baggage_type: BaggageType,
    passenger: PassengerType,
) -> impl Iterator<Item = &'b IncludedBag<'a>> + use<'a, 'b> {
    let name = match baggage_type {
        BaggageType::Checked => "checked",
        BaggageType::CarryOn => "cabin",
    };
    baggage.included.0.iter().filter(move |bag| {
        let is_theirs = ["", "ALL", type_code(passenger)].contains(&bag.passenger_type.as_str());
        is_theirs && bag.bag_type.as_str() == name && is_included(bag)
    })
}

fn count(baggage: &Baggage<'_>, baggage_type: BaggageType, passenger: PassengerType) -> Option<u8> {
    if has_any(baggage, baggage_type).0 == Some(false) {
        return Some(0);
    }
    let mut pieces: Option<u32> = None;
    for bag in included(baggage, baggage_type, passenger) {
        pieces = Some(pieces.unwrap_or(0).saturating_add(bag.pieces.0?));
    }
    u8::try_from(pieces?).ok()
}

/// Returns whether a bag is included. A bag with a price is for sale.
fn is_included(bag: &IncludedBag<'_>) -> bool {
    match &bag.pricing.display {
        Single::Missing => true,
        Single::Value(price) => map::money(price).is_none_or(|price| price.amount == 0),
        Single::Repeated => false,
    }
}
