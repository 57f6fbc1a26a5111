//! Conversion of rates to offers.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use stopover_sdk::detailed_hotel_pricing::{
    DetailedHotelOffers, DetailedOffer, DetailedPriceResponse,
};
use stopover_sdk::dropped::{DropReason, DroppedItems, reason_of};
use stopover_sdk::hotel_pricing::Offer;
use stopover_sdk::html;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{LenientCount, LenientList, LenientText, Single};
use stopover_sdk::types::hotel::{CancellationPolicy, HotelSummary, Loyalty, Promotion, RoomRate};
use stopover_sdk::types::{MinorUnits, Money, TimestampMs};

use crate::map::details::{RatedOffer, offer_details};
use crate::map::{self, add, board, fee_amount, minor, policy};
use crate::wire;
use crate::wire::rate::{HotelRates, Rate, RetailRate, RoomType, items};
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
    /// Whether offers may be sold only together with another travel service.
    pub(crate) includes_package_rates: bool,
    /// Time of the call.
    pub(crate) now_ms: TimestampMs,
}

/// JSON pointer of an offer in a response with rates.
#[derive(Clone, Copy)]
pub(crate) struct OfferPointer {
    hotel: usize,
    offer: usize,
}

impl fmt::Display for OfferPointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hotel, offer } = self;
        write!(formatter, "/data/{hotel}/roomTypes/{offer}")
    }
}

/// An offer that cannot be sold.
pub(crate) struct UnusableOffer {
    pub(crate) reason: DropReason,
    pub(crate) error: DecodeError,
}

impl From<DecodeError> for UnusableOffer {
    fn from(error: DecodeError) -> Self {
        let reason = reason_of(&error);
        Self { reason, error }
    }
}

/// Returns the hotels of `hotel_ids` that have offers, in this order, each with at most
/// `offers_per_hotel`. Offers that cannot be sold are left out. `rates` are hotels with their
/// positions in the response.
pub(crate) fn price_response(
    context: &PricingContext<'_>,
    hotel_ids: &[String],
    offers_per_hotel: usize,
    rates: Vec<(usize, HotelRates<'_>)>,
    hotels: &BTreeMap<String, wire::rate::Hotel>,
    dropped: &mut DroppedItems,
) -> DetailedPriceResponse {
    let mut by_hotel: HashMap<String, Vec<(OfferPointer, RoomType<'_>)>> = HashMap::new();
    for (position, hotel) in rates {
        let id = hotel.hotel_id.required("hotelId");
        let Some(id) = dropped.keep(format_args!("/data/{position}"), id) else {
            continue;
        };
        let room_types = readable_room_types(context, position, hotel.room_types, dropped);
        by_hotel.entry(id).or_default().extend(room_types);
    }
    let mut response = DetailedPriceResponse {
        currency: context.currency.to_owned(),
        hotels: Vec::new(),
    };
    for id in hotel_ids {
        let Some(room_types) = by_hotel.remove(id) else {
            continue;
        };
        let mut offers = Vec::new();
        for (pointer, room_type) in room_types {
            let usable = offer(context, &room_type)
                .and_then(|offer| Ok((offer, room_type.is_package_only()?)));
            match usable {
                Ok(_) if offers.len() >= offers_per_hotel => {}
                Ok((offer, is_package_only)) => {
                    let rated = RatedOffer {
                        pointer: &pointer,
                        currency: context.currency,
                        rooms: &offer.rooms,
                        policy: &offer.policy,
                        total: offer.total,
                        package_only: is_package_only,
                        now_ms: context.now_ms,
                    };
                    let rates = room_type.rates.value().unwrap_or_default();
                    let details = offer_details(&rated, rates.0, dropped);
                    offers.push(DetailedOffer { offer, details });
                }
                Err(UnusableOffer { reason, error }) => {
                    dropped.add(format_args!("{pointer}"), reason, error);
                }
            }
        }
        if !offers.is_empty() {
            let known = hotels.get(id).map(|hotel| map::summary(id, hotel));
            let hotel = known.unwrap_or_else(|| HotelSummary::new(id, id));
            let found = DetailedHotelOffers { hotel, offers };
            response.hotels.push(found);
        }
    }
    if response.hotels.is_empty() && !by_hotel.is_empty() {
        let error = DecodeError::new("the response is about other hotels");
        dropped.leave_out(format_args!("/data"), error);
    }
    response
}

/// Returns the readable offers of the hotel at this position of the response, each with its pointer.
/// Package rates are left out unless they are asked for. A hotel without a list of offers is left out.
pub(crate) fn readable_room_types<'a>(
    context: &PricingContext<'_>,
    hotel: usize,
    room_types: Single<LenientList<RoomType<'a>>>,
    dropped: &mut DroppedItems,
) -> impl Iterator<Item = (OfferPointer, RoomType<'a>)> + use<'a> {
    let includes_package_rates = context.includes_package_rates;
    let room_types = room_types.required("roomTypes");
    let room_types = dropped.keep(format_args!("/data/{hotel}"), room_types);
    let room_types = room_types.unwrap_or_default();
    let readable = dropped.readable(format_args!("/data/{hotel}/roomTypes"), room_types);
    // A repeated type is left out with its reason when the offer is converted.
    let is_package_only =
        |room_type: &RoomType<'_>| matches!(room_type.is_package_only(), Ok(true));
    readable
        .filter(move |(_, room_type)| includes_package_rates || !is_package_only(room_type))
        .map(move |(offer, room_type)| (OfferPointer { hotel, offer }, room_type))
}

/// Returns whether a room can be paid only at the hotel.
///
/// # Errors
/// The payment types of a room are repeated.
pub(crate) fn is_paid_at_hotel(rates: &[Rate<'_>]) -> Result<bool, DecodeError> {
    rates.iter().try_fold(false, |is_paid, rate| {
        Ok(rate.is_paid_at_hotel()? || is_paid)
    })
}

/// Converts an offer.
///
/// # Errors
/// The offer cannot be sold, for example because an amount is in a currency other than the requested
/// one.
pub(crate) fn offer(
    context: &PricingContext<'_>,
    room_type: &RoomType<'_>,
) -> Result<Offer, UnusableOffer> {
    let id = room_type.offer_id.as_ref().required("offerId")?.as_str();
    let has_id = (1..=OFFER_ID_BYTES).contains(&id.len());
    ensure(has_id, "the offer's id is missing or too long")?;
    let needs_membership = room_type.is_for_members()?;
    if needs_membership && context.loyalty_membership.is_none() {
        return Err(UnusableOffer {
            reason: DropReason::Unsupported,
            error: DecodeError::new("the offer is for members of a loyalty programme"),
        });
    }
    room_type.is_package_only()?;
    let rates = room_type.rates()?;
    if is_paid_at_hotel(rates)? {
        return Err(UnusableOffer {
            reason: DropReason::Unsupported,
            error: DecodeError::new("a room of the offer can be paid only at the hotel"),
        });
    }
    let mut rooms = rooms(rates, context.rooms, context.currency)?;
    name_rooms(&mut rooms, &room_type.name);
    let promotions = promotions(rates, context.currency);
    let sum = total_of(&rooms)?;
    let stated = room_type.offer_retail_rate.as_ref();
    let stated = items(stated.optional("offerRetailRate")?);
    let total = map::sum(stated, context.currency)?.unwrap_or(sum);
    let is_positive = total > 0 && rooms.iter().all(|room| room.total >= 0);
    ensure(is_positive, "the offer's price is not positive")?;
    // Each amount is rounded separately, so each room may differ by one minor unit.
    let difference = usize::try_from(total.abs_diff(sum)).unwrap_or(usize::MAX);
    let adds_up = difference <= rooms.len();
    ensure(adds_up, "the offer's rooms do not add up to its price")?;
    Ok(Offer {
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
        ..Offer::new(id, rooms)
    })
}

/// Returns one room per requested occupancy, in the requested order.
///
/// # Errors
/// The rates do not match the occupancies, or a price is missing or in a currency other than the
/// requested one.
pub(crate) fn rooms(
    rates: &[Rate<'_>],
    wanted: usize,
    currency: &str,
) -> Result<Vec<RoomRate>, DecodeError> {
    let not_one_a_room = || DecodeError::new("the offer does not have exactly one rate per room");
    let mut places: Vec<Option<RoomRate>> = Vec::new();
    places.resize_with(wanted, || None);
    for (index, rate) in rates.iter().enumerate() {
        let position = match rate.occupancy_number {
            LenientCount(None) => Some(index),
            numbered => room_position(numbered),
        };
        let place = position.and_then(|position| places.get_mut(position));
        let place = place.filter(|place| place.is_none());
        *place.ok_or_else(not_one_a_room)? = Some(room(rate, currency)?);
    }
    let rooms: Option<Vec<RoomRate>> = places.into_iter().collect();
    rooms.ok_or_else(not_one_a_room)
}

/// Gives the rooms whose rates have no name that of their room type.
pub(crate) fn name_rooms(rooms: &mut [RoomRate], room_type: &LenientText<'_>) {
    let Some(name) = html::optional(room_type.as_deref()) else {
        return;
    };
    let unnamed = rooms.iter_mut().filter(|room| room.name.is_empty());
    unnamed.for_each(|room| room.name.clone_from(&name));
}

fn room(rate: &Rate<'_>, currency: &str) -> Result<RoomRate, DecodeError> {
    let retail_rate = rate.retail_rate.as_ref().required("retailRate")?;
    let total = map::sum(retail_rate.total()?, currency)?
        .ok_or_else(|| DecodeError::missing("a room has no price"))?;
    let due_at_property = due_at_property(retail_rate, currency)
        .ok_or_else(|| DecodeError::new("the amount due at the property cannot be read"))?;
    let name = html::plain(rate.name.as_str());
    let board_name = html::plain(rate.board_name.as_str());
    // An unreadable policy must not be offered as free cancellation.
    let policy = rate
        .cancellation_policies
        .as_ref()
        .value()
        .and_then(|policies| policy::cancellation_policy(policies, total, currency))
        .unwrap_or_else(CancellationPolicy::non_refundable);
    let mut room = RoomRate::new(name, board(rate.board_type.as_str()), total);
    if !board_name.is_empty() {
        room.board_name = board_name;
    }
    room.due_at_property = due_at_property;
    room.policy = policy;
    Ok(room)
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
fn due_at_property(rate: &RetailRate<'_>, currency: &str) -> Option<Option<Money>> {
    let mut due: Option<Money> = None;
    let fees = rate.taxes_and_fees()?.iter();
    for fee in fees {
        if fee.is_included().ok()? == Some(true) {
            continue;
        }
        let (amount, fee_currency) = fee_amount(fee, currency)?;
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

/// Returns the first [`PROMOTIONS`] promotions, each once, with the rooms that it applies to.
pub(crate) fn promotions(rates: &[Rate<'_>], currency: &str) -> Vec<Promotion> {
    let mut found: Vec<Promotion> = Vec::new();
    for (index, rate) in rates.iter().enumerate() {
        let position = room_position(rate.occupancy_number).unwrap_or(index);
        let Ok(position) = u8::try_from(position) else {
            continue;
        };
        let retail_rate = rate.retail_rate.as_ref().value();
        let promotions = items(retail_rate.map(|rate| &rate.promotions));
        for promotion in promotions {
            let promotion = read_promotion(promotion, currency);
            if promotion.name.is_empty() {
                continue;
            }
            let is_full = found.len() == PROMOTIONS;
            let same = found.iter_mut().find(|known| {
                known.name == promotion.name
                    && known.description == promotion.description
                    && known.amount == promotion.amount
            });
            match same {
                Some(known) if known.room_positions.contains(&position) => {}
                Some(known) => known.room_positions.push(position),
                None if is_full => {}
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
    found
}

/// Converts a promotion. A percentage becomes its description, because Nuitee does not state the
/// amount that it applies to.
fn read_promotion(promotion: &wire::rate::Promotion<'_>, currency: &str) -> Promotion {
    let kind = promotion.discount_type.as_str().to_ascii_lowercase();
    let in_currency = promotion
        .currency
        .as_ref()
        .is_none_or(|code| code.as_str() == currency);
    let discount = promotion.discount.0.filter(|discount| !discount.is_zero());
    Promotion {
        name: html::plain(promotion.name.as_str()),
        description: discount
            .filter(|_| kind == "percentage")
            .map(|discount| format!("{discount} %")),
        amount: discount
            .filter(|_| kind == "amount" && in_currency)
            .and_then(|discount| minor(discount, currency).ok()),
        room_positions: Vec::new(),
    }
}
