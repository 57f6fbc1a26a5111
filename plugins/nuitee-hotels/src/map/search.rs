//! Conversion of the cheapest rates of the hotels in an area to found hotels.

use std::collections::HashMap;

use stopover_sdk::hotel_search::{AppliedFilters, Filters, SearchResponse, Sort, SupplierHotel};
use stopover_sdk::html;
use stopover_sdk::json::DecodeError;
use stopover_sdk::types::{Board, Location, MinorUnits};

use crate::map::place::distance_m;
use crate::map::{self, offer};
use crate::wire::Coordinates;
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

/// Returns the hotels with rates that pass the filters, sorted and truncated. A hotel without a
/// location is looked up in `places`, and left out if it is not there.
///
/// # Errors
/// An amount is in a currency other than the requested one.
pub(crate) fn search_response(
    context: &SearchContext<'_>,
    rates: Vec<HotelRates>,
    hotels: &[Hotel],
    places: &HashMap<String, Location>,
) -> Result<SearchResponse, DecodeError> {
    let known: HashMap<&str, &Hotel> = hotels
        .iter()
        .map(|hotel| (hotel.id.as_str(), hotel))
        .collect();
    let is_all = rates.len() < context.supplier_limit;
    let mut found = Vec::new();
    for rate in rates {
        let Some(hotel) = known.get(rate.hotel_id.as_str()) else {
            continue;
        };
        let Some(lowest_total) = lowest(context, rate.room_types.0)? else {
            continue;
        };
        let location = map::location(hotel.latitude, hotel.longitude);
        let Some(location) = location.or_else(|| places.get(&hotel.id).copied()) else {
            continue;
        };
        if matches_filters(context.filters, hotel, lowest_total) {
            found.push(supplier_hotel(hotel, location, lowest_total));
        }
    }
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

/// Returns the lowest total of the offers with the requested boards and terms. Offers that pricing
/// would leave out do not count, such as an offer for fewer rooms.
fn lowest(
    context: &SearchContext<'_>,
    room_types: Vec<RoomType>,
) -> Result<Option<MinorUnits>, DecodeError> {
    let boards = &context.filters.boards;
    let any_board = boards.is_empty() || boards.contains(&Board::Other);
    let mut lowest: Option<MinorUnits> = None;
    for room_type in room_types {
        let Ok(offer) = offer::offer(&context.pricing, room_type)? else {
            continue;
        };
        let board_fits = any_board || offer.rooms.iter().all(|room| boards.contains(&room.board));
        let terms_fit = context.filters.refundable != Some(true) || offer.policy.refundable;
        if board_fits && terms_fit {
            lowest = Some(lowest.map_or(offer.total, |lowest| lowest.min(offer.total)));
        }
    }
    Ok(lowest)
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

fn supplier_hotel(hotel: &Hotel, location: Location, lowest_total: MinorUnits) -> SupplierHotel {
    SupplierHotel {
        supplier_hotel_id: hotel.id.clone(),
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
    let center = Coordinates {
        latitude: context.center.latitude,
        longitude: context.center.longitude,
    };
    let distance = |hotel: &SupplierHotel| {
        let place = Coordinates {
            latitude: hotel.location.latitude,
            longitude: hotel.location.longitude,
        };
        distance_m(&center, &place)
    };
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
