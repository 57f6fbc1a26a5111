//! Conversion of rates to offers.

use std::collections::HashMap;

use stopover_sdk::hotel_pricing::{HotelOffers, Offer, PriceResponse};
use stopover_sdk::html;
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::LenientCount;
use stopover_sdk::types::hotel::{CancellationPolicy, HotelSummary, Loyalty, Promotion, RoomRate};
use stopover_sdk::types::{MinorUnits, Money};

use crate::map::{self, add, board, minor, policy};
use crate::wire;
use crate::wire::rate::{HotelRates, Rate, RetailRate, RoomType};
use crate::wire::room_position;

/// Maximum size of an offer reference that the gateway stores, in bytes.
const OFFER_ID_BYTES: usize = 4096;

/// Maximum number of promotions of an offer that the gateway shows.
const PROMOTIONS: usize = 30;

/// The parts of a request that are needed to read its response.
pub(crate) struct PricingContext<'a> {
    pub(crate) rooms: usize,
    pub(crate) currency: &'a str,
    pub(crate) loyalty_program: Option<&'a str>,
    pub(crate) loyalty_membership: Option<&'a str>,
}

/// Returns the hotels of `hotel_ids` that have offers, in this order, each with at most
/// `offers_per_hotel`. Unreadable offers are left out and reported to `left_out`.
///
/// # Errors
/// An amount is in a currency other than the requested one.
pub(crate) fn price_response(
    context: &PricingContext<'_>,
    hotel_ids: &[String],
    offers_per_hotel: usize,
    rates: Vec<HotelRates>,
    hotels: &[wire::rate::Hotel],
    mut left_out: impl FnMut(&'static str),
) -> Result<PriceResponse, DecodeError> {
    let mut by_hotel: HashMap<String, Vec<RoomType>> = HashMap::new();
    for hotel in rates {
        by_hotel
            .entry(hotel.hotel_id)
            .or_default()
            .extend(hotel.room_types.0);
    }
    let mut response = PriceResponse {
        currency: context.currency.to_owned(),
        hotels: Vec::new(),
    };
    for id in hotel_ids {
        let Some(room_types) = by_hotel.remove(id) else {
            continue;
        };
        let mut offers = Vec::new();
        for room_type in room_types {
            match offer(context, room_type)? {
                Ok(_) if offers.len() >= offers_per_hotel => {}
                Ok(offer) => offers.push(offer),
                Err(reason) => left_out(reason),
            }
        }
        if !offers.is_empty() {
            let known = hotels.iter().find(|hotel| hotel.id == *id);
            let hotel = known.map_or_else(|| HotelSummary::new(id, id), map::summary);
            response.hotels.push(HotelOffers { hotel, offers });
        }
    }
    Ok(response)
}

/// Converts an offer, or returns the reason why it is left out.
///
/// # Errors
/// An amount is in a currency other than the requested one.
pub(crate) fn offer(
    context: &PricingContext<'_>,
    room_type: RoomType,
) -> Result<Result<Offer, &'static str>, DecodeError> {
    if room_type.offer_id.is_empty() || room_type.offer_id.len() > OFFER_ID_BYTES {
        return Ok(Err("the offer's id is missing or too long"));
    }
    let needs_membership = room_type.loyalty_membership_id_required.is_set();
    if needs_membership && context.loyalty_membership.is_none() {
        return Ok(Err("the offer is for members of a loyalty programme"));
    }
    let promotions = promotions(&room_type.rates.0, context.currency);
    let rooms = match rooms(room_type.rates.0, context.rooms, context.currency)? {
        Ok(rooms) => rooms,
        Err(reason) => return Ok(Err(reason)),
    };
    let sum = total_of(&rooms)?;
    let total = map::sum(&room_type.offer_retail_rate.0, context.currency)?.unwrap_or(sum);
    if total <= 0 || rooms.iter().any(|room| room.total < 0) {
        return Ok(Err("the offer's price is not positive"));
    }
    // Each amount is rounded separately, so each room may differ by one minor unit.
    if usize::try_from(total.abs_diff(sum)).unwrap_or(usize::MAX) > rooms.len() {
        return Ok(Err("the offer's rooms do not add up to its price"));
    }
    Ok(Ok(Offer {
        policy: merged_policy(&rooms, context.currency),
        promotions,
        loyalty: context
            .loyalty_program
            .filter(|_| needs_membership)
            .map(|program| Loyalty {
                program: program.to_owned(),
                membership_number: context.loyalty_membership.map(str::to_owned),
                points_estimate: None,
            }),
        total,
        ..Offer::new(room_type.offer_id, rooms)
    }))
}

/// Returns one room per requested occupancy, in the requested order, or the reason why the rates do
/// not match the occupancies.
///
/// # Errors
/// A price is in a currency other than the requested one.
pub(crate) fn rooms(
    rates: Vec<Rate>,
    wanted: usize,
    currency: &str,
) -> Result<Result<Vec<RoomRate>, &'static str>, DecodeError> {
    const NOT_ONE_A_ROOM: &str = "the offer does not have exactly one rate per room";
    let mut places: Vec<Option<RoomRate>> = Vec::new();
    places.resize_with(wanted, || None);
    for (index, rate) in rates.into_iter().enumerate() {
        let position = match rate.occupancy_number {
            LenientCount(None) => Some(index),
            numbered => room_position(numbered),
        };
        let place = position.and_then(|position| places.get_mut(position));
        let Some(place) = place.filter(|place| place.is_none()) else {
            return Ok(Err(NOT_ONE_A_ROOM));
        };
        match room(rate, currency)? {
            Ok(room) => *place = Some(room),
            Err(reason) => return Ok(Err(reason)),
        }
    }
    let rooms: Option<Vec<RoomRate>> = places.into_iter().collect();
    Ok(rooms.ok_or(NOT_ONE_A_ROOM))
}

fn room(rate: Rate, currency: &str) -> Result<Result<RoomRate, &'static str>, DecodeError> {
    let Some(total) = map::sum(&rate.retail_rate.total.0, currency)? else {
        return Ok(Err("a room has no price"));
    };
    let Some(due_at_property) = due_at_property(&rate.retail_rate, currency) else {
        return Ok(Err("the amount due at the property cannot be read"));
    };
    let name = html::plain(&rate.name);
    let board_name = html::plain(&rate.board_name);
    // An unreadable policy must not be offered as free cancellation.
    let policy = rate
        .cancellation_policies
        .as_ref()
        .and_then(|policies| policy::cancellation_policy(policies, total, currency))
        .unwrap_or_else(CancellationPolicy::non_refundable);
    let mut room = RoomRate::new(name, board(&rate.board_type), total);
    if !board_name.is_empty() {
        room.board_name = board_name;
    }
    room.due_at_property = due_at_property;
    room.policy = policy;
    Ok(Ok(room))
}

pub(crate) fn merged_policy(rooms: &[RoomRate], currency: &str) -> CancellationPolicy {
    let policies: Vec<_> = rooms
        .iter()
        .map(|room| (&room.policy, room.total))
        .collect();
    policy::merge(&policies, currency)
}

pub(crate) fn total_of(rooms: &[RoomRate]) -> Result<MinorUnits, DecodeError> {
    rooms.iter().try_fold(0, |sum, room| add(sum, room.total))
}

/// Returns the amount to be paid at the hotel, if any. It may be in another currency than the
/// offer, but only in one. Returns `None` if it cannot be read.
fn due_at_property(rate: &RetailRate, currency: &str) -> Option<Option<Money>> {
    let mut due: Option<Money> = None;
    for fee in rate
        .taxes_and_fees
        .0
        .iter()
        .filter(|fee| !fee.included.is_set())
    {
        let fee_currency = match fee.currency.as_str() {
            "" => currency,
            named => named,
        };
        let amount = minor(fee.amount, fee_currency).ok()?;
        let sum = due.get_or_insert_with(|| Money::new(0, fee_currency));
        if sum.currency != fee_currency {
            return None;
        }
        sum.amount = sum.amount.checked_add(amount)?;
    }
    match due {
        Some(due) if due.amount < 0 => None,
        due => Some(due.filter(|due| due.amount > 0)),
    }
}

/// Returns each promotion once, with the rooms that it applies to.
pub(crate) fn promotions(rates: &[Rate], currency: &str) -> Vec<Promotion> {
    let mut found: Vec<Promotion> = Vec::new();
    for (index, rate) in rates.iter().enumerate() {
        let position = room_position(rate.occupancy_number).unwrap_or(index);
        let Ok(position) = u8::try_from(position) else {
            continue;
        };
        for promotion in &rate.retail_rate.promotions.0 {
            let promotion = read_promotion(promotion, currency);
            let same = found.iter_mut().find(|known| {
                known.name == promotion.name
                    && known.description == promotion.description
                    && known.amount == promotion.amount
            });
            match same {
                Some(known) if known.room_positions.contains(&position) => {}
                Some(known) => known.room_positions.push(position),
                None => found.push(Promotion {
                    room_positions: vec![position],
                    ..promotion
                }),
            }
        }
    }
    for promotion in &mut found {
        promotion.room_positions.sort_unstable();
    }
    found.retain(|promotion| !promotion.name.is_empty());
    found.truncate(PROMOTIONS);
    found
}

/// Converts a promotion. A percentage becomes its description, because Nuitee does not state the
/// amount that it applies to.
fn read_promotion(promotion: &wire::rate::Promotion, currency: &str) -> Promotion {
    let kind = promotion.discount_type.to_ascii_lowercase();
    let in_currency = promotion
        .currency
        .as_deref()
        .is_none_or(|code| code == currency);
    let discount = promotion.discount.filter(|discount| !discount.is_zero());
    Promotion {
        name: html::plain(&promotion.name),
        description: discount
            .filter(|_| kind == "percentage")
            .map(|discount| format!("{discount} %")),
        amount: discount
            .filter(|_| kind == "amount" && in_currency)
            .and_then(|discount| minor(discount, currency).ok()),
        room_positions: Vec::new(),
    }
}
