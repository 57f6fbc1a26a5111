//! What the answers of both suppliers are made of and checked for. Pure.

use stopover_sdk::json::Unreadable;
use stopover_sdk::money::Decimal;
use stopover_sdk::time;
use stopover_sdk::types::flight::{ChangeType, Direction, Journey, Segment};
use stopover_sdk::types::{LocalTime, MinorUnits, Money};

/// The longest id of an offer that the gateway carries.
const OFFER_BYTES_MAX: usize = 4 << 10;

/// A journey as far as its supplier tells.
pub(crate) struct Flown {
    /// Empty where the supplier has none.
    pub(crate) id: String,
    pub(crate) origin: String,
    pub(crate) destination: String,
    pub(crate) brand: String,
    pub(crate) minutes: u32,
    pub(crate) segments: Vec<Segment>,
}

/// The journeys of a trip in their order.
pub(crate) fn journeys(flown: Vec<Flown>) -> Result<Vec<Journey>, Unreadable> {
    let airports: Vec<_> = (flown.iter())
        .map(|journey| (journey.origin.as_str(), journey.destination.as_str()))
        .collect();
    let directions = Direction::of_trip(&airports);
    (flown.into_iter().zip(directions))
        .map(|(flown, direction)| journey(flown, direction))
        .collect()
}

fn journey(flown: Flown, direction: Direction) -> Result<Journey, Unreadable> {
    let (Some(first), Some(last)) = (flown.segments.first(), flown.segments.last()) else {
        return Err(Unreadable::new("a journey without a flight"));
    };
    let stops = u8::try_from(flown.segments.len() - 1)
        .map_err(|_| Unreadable::new("a journey of too many flights"))?;
    Ok(Journey {
        departure_time: first.departure_time.clone(),
        arrival_time: last.arrival_time.clone(),
        supplier_journey_id: flown.id,
        origin: flown.origin,
        destination: flown.destination,
        direction,
        fare_brand: some(flown.brand),
        duration_minutes: Some(flown.minutes),
        stops,
        segments: flown.segments,
    })
}

/// What an airline's change of a kind that is not known is: told by what it leaves
/// to fly.
pub(crate) fn unknown_change(added: &[Segment]) -> ChangeType {
    if added.is_empty() {
        ChangeType::Cancellation
    } else {
        ChangeType::Reroute
    }
}

/// Both suppliers write exactly the decimals that the currency has.
pub(crate) fn money(amount: Decimal, currency: String) -> Result<Money, Unreadable> {
    let amount = amount
        .to_minor(&currency)
        .map_err(|error| Unreadable::new(format!("an amount in the answer: {error}")))?;
    Ok(Money { amount, currency })
}

/// An amount that has to be in this currency.
pub(crate) fn amount(money: Money, currency: &str) -> Result<MinorUnits, Unreadable> {
    if money.currency == currency {
        Ok(money.amount)
    } else {
        Err(Unreadable::new(
            "the amounts are in another currency than asked",
        ))
    }
}

pub(crate) fn local_time(text: &str) -> Result<LocalTime, Unreadable> {
    time::parse_local_time(text).ok_or_else(|| Unreadable::new("a local time cannot be read"))
}

pub(crate) fn check_whose(found: &str, client_reference: &str) -> Result<(), Unreadable> {
    if found == client_reference {
        Ok(())
    } else {
        Err(Unreadable::new(
            "the booking has another reference than ours",
        ))
    }
}

/// The booking that was found, where there is one.
pub(crate) fn the_only<T>(found: Vec<T>) -> Result<Option<T>, Unreadable> {
    let mut found = found.into_iter();
    let first = found.next();
    match found.next() {
        Some(_) => Err(Unreadable::new("several bookings have the same reference")),
        None => Ok(first),
    }
}

pub(crate) fn can_be_carried(offer_id: &str) -> bool {
    let fits = offer_id.len() <= OFFER_BYTES_MAX;
    if !fits {
        stopover_sdk::warn!("left out an offer with an id of {} bytes", offer_id.len());
    }
    fits
}

/// Nothing for an empty text.
pub(crate) fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
