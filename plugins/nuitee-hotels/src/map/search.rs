//! Conversion of the cheapest rates of the hotels in an area to found hotels.

use std::collections::{BTreeMap, HashMap};

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_pricing::Offer;
use stopover_sdk::hotel_search::{AppliedFilters, Filters, SearchResponse, Sort, SupplierHotel};
use stopover_sdk::html;
use stopover_sdk::json::DecodeError;
use stopover_sdk::types::{Board, Location, MinorUnits};

use crate::map::details::report_unread_policies;
use crate::map::offer::{OfferPointer, UnusableOffer};
use crate::map::place::distance_m;
use crate::map::{self, offer};
use crate::wire::rate::{Hotel, HotelRates, RoomType};

/// The parts of a request that are needed to read its response.
pub(crate) struct SearchContext<'a> {
    pub(crate) center: &'a Location,
    pub(crate) pricing: offer::PricingContext<'a>,
    pub(crate) filters: &'a Filters,
    pub(crate) sort: Sort,
    pub(crate) limit: usize,
    /// Maximum number of hotels that was requested from Nuitee.
    pub(crate) supplier_limit: usize,
}

/// Returns the board codes to request, or `None` if a board has no code.
pub(crate) fn board_codes(boards: &[Board]) -> Option<String> {
    let codes: Option<Vec<&str>> = boards
        .iter()
        .map(|board| match board {
            Board::RoomOnly => Some("RO"),
            Board::BedAndBreakfast => Some("BB,BB1,BB2,BI"),
            Board::HalfBoard => Some("HB"),
            Board::FullBoard => Some("FB"),
            Board::AllInclusive => Some("AI"),
            Board::Other => None,
        })
        .collect();
    codes
        .filter(|codes| !codes.is_empty())
        .map(|codes| codes.join(","))
}

/// Returns every star rating of at least `minimum`. Nuitee takes a list of ratings in steps of a
/// half.
pub(crate) fn star_ratings(minimum: f64) -> Vec<f64> {
    (2..=10)
        .map(|halves| f64::from(halves) / 2.0)
        .filter(|stars| *stars >= minimum)
        .collect()
}

/// Returns the filters that are applied by this adapter or by Nuitee. The boards are an exception
/// if they include "other", which Nuitee cannot filter by.
pub(crate) fn applied(filters: &Filters) -> AppliedFilters {
    let mut applied = AppliedFilters::all();
    if filters.boards.contains(&Board::Other) {
        applied.remove(AppliedFilters::BOARDS);
    }
    // Nuitee can filter for refundable rates, but not for non-refundable ones.
    if filters.refundable == Some(false) {
        applied.remove(AppliedFilters::REFUNDABLE);
    }
    applied
}

/// Returns the hotels with rates that pass the filters, sorted and truncated. `rates` are hotels with
/// their positions in the response. A hotel without a location is looked up in `places`, and left
/// out if it is not there.
///
/// # Errors
/// No offer in the response can be sold.
pub(crate) fn search_response(
    context: &SearchContext<'_>,
    rates: Vec<(usize, HotelRates<'_>)>,
    hotels: &BTreeMap<String, Hotel>,
    places: &HashMap<String, Location>,
    dropped: &mut DroppedItems,
) -> Result<SearchResponse, DecodeError> {
    let is_all = rates.len() < context.supplier_limit;
    let mut found = Vec::new();
    let mut is_any_usable = false;
    for (position, rate) in rates {
        let hotel = rate.hotel_id.required("hotelId").and_then(|id| {
            let hotel = hotels.get(&id);
            let hotel = hotel.ok_or_else(|| DecodeError::missing("a hotel has no summary"))?;
            Ok((id, hotel))
        });
        let Some((id, hotel)) = dropped.keep(format_args!("/data/{position}"), hotel) else {
            continue;
        };
        let room_types =
            offer::readable_room_types(&context.pricing, position, rate.room_types, dropped);
        let offers = usable_offers(context, room_types, dropped);
        is_any_usable |= !offers.is_empty();
        let Some(lowest_total) = lowest(context, &offers) else {
            continue;
        };
        let location = map::location(hotel.latitude, hotel.longitude);
        let location = location.or_else(|| places.get(&id).copied());
        let location = location.ok_or_else(|| DecodeError::missing("a hotel has no location"));
        let Some(location) = dropped.keep(format_args!("/data/{position}"), location) else {
            continue;
        };
        if matches_filters(context.filters, hotel, lowest_total) {
            found.push(supplier_hotel(id, hotel, location, lowest_total));
        }
    }
    dropped.check_remaining(is_any_usable)?;
    sort(&mut found, context);
    let truncated = found.len() > context.limit || !is_all;
    found.truncate(context.limit);
    Ok(SearchResponse {
        currency: context.pricing.currency.to_owned(),
        hotels: found,
        applied: applied(context.filters),
        truncated,
    })
}

/// Returns the offers that pricing would return too, without those that cannot be sold.
fn usable_offers<'a>(
    context: &SearchContext<'_>,
    room_types: impl Iterator<Item = (OfferPointer, RoomType<'a>)>,
    dropped: &mut DroppedItems,
) -> Vec<Offer> {
    let mut offers = Vec::new();
    for (pointer, room_type) in room_types {
        match offer::offer(&context.pricing, &room_type) {
            Ok(offer) => {
                if context.filters.refundable == Some(true) {
                    // A policy that cannot be used keeps the offer from passing the filter.
                    let rates = room_type.rates().unwrap_or_default();
                    report_unread_policies(&pointer, rates, &offer.rooms, dropped);
                }
                offers.push(offer);
            }
            Err(UnusableOffer { reason, error }) => {
                dropped.add(format_args!("{pointer}"), reason, error);
            }
        }
    }
    offers
}

/// Returns the lowest total of the offers with the requested boards and terms.
fn lowest(context: &SearchContext<'_>, offers: &[Offer]) -> Option<MinorUnits> {
    let boards = &context.filters.boards;
    let any_board = boards.is_empty() || boards.contains(&Board::Other);
    let fits = |offer: &&Offer| {
        let board_fits = any_board || offer.rooms.iter().all(|room| boards.contains(&room.board));
        board_fits && (context.filters.refundable != Some(true) || offer.policy.refundable)
    };
    let fitting = offers.iter().filter(fits);
    fitting.map(|offer| offer.total).min()
}

fn matches_filters(filters: &Filters, hotel: &Hotel, total: MinorUnits) -> bool {
    let at_least = |value: Option<f64>, minimum: Option<f64>| {
        minimum.is_none_or(|minimum| value.is_some_and(|value| value >= minimum))
    };
    // Nuitee filters by stars itself, and omits them for some hotels.
    let stars_fit = hotel.stars.0.is_none() || at_least(hotel.stars.0, filters.min_star_rating);
    stars_fit
        && at_least(hotel.rating.0, filters.min_guest_rating)
        && filters.max_total.is_none_or(|maximum| total <= maximum)
}

fn supplier_hotel(
    id: String,
    hotel: &Hotel,
    location: Location,
    lowest_total: MinorUnits,
) -> SupplierHotel {
    SupplierHotel {
        supplier_hotel_id: id,
        name: html::plain(&hotel.name),
        address: html::optional(hotel.address.as_deref()).unwrap_or_default(),
        location,
        star_rating: hotel.stars.0.filter(|stars| *stars > 0.0),
        guest_rating: hotel.rating.0.filter(|rating| *rating > 0.0),
        lowest_total: Some(lowest_total),
        main_image: hotel.main_photo.clone().filter(|url| !url.is_empty()),
    }
}

/// Sorts by the requested key, then by id, so that equal hotels keep their order.
fn sort(found: &mut [SupplierHotel], context: &SearchContext<'_>) {
    let distance = |hotel: &SupplierHotel| distance_m(context.center, &hotel.location);
    let best = |rating: Option<f64>| rating.unwrap_or(-1.0);
    found.sort_by(|left, right| {
        let order = match context.sort {
            Sort::Distance => distance(left).total_cmp(&distance(right)),
            Sort::Total => left.lowest_total.cmp(&right.lowest_total),
            Sort::GuestRating => best(right.guest_rating).total_cmp(&best(left.guest_rating)),
            Sort::StarRating => best(right.star_rating).total_cmp(&best(left.star_rating)),
        };
        order.then_with(|| left.supplier_hotel_id.cmp(&right.supplier_hotel_id))
    });
}
