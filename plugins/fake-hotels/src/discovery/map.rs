//! Conversion of Lodge's places, searches, content, weather and prices, in pure functions.

use serde_json::{Value, json};
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_content::{HotelDetails, HouseRule, Image, Review, Reviews, RoomContent};
use stopover_sdk::hotel_places::{Alternative, Place};
use stopover_sdk::hotel_price_calendar::{DayPrice, HotelPrices};
use stopover_sdk::hotel_search::{
    AppliedFilters, SearchRequest, SearchResponse, Sort, SupplierHotel,
};
use stopover_sdk::hotel_weather::{WeatherCondition, WeatherDay};
use stopover_sdk::html::plain;
use stopover_sdk::json::{DecodeError, ensure, non_empty, without_nulls};
use stopover_sdk::money::Decimal;
use stopover_sdk::types::{Board, Location, ReadError, Refusal, RefusalReason};

use super::wire;
use crate::map::{amount, check_currency, in_requested_order, lacks_list, with_stay};

/// Currency of published prices in the interface.
const CALENDAR_CURRENCY: &str = "USD";

/// Converts up to `limit` places. Those that cannot be read are left out.
pub(super) fn places(found: wire::Places, limit: u16) -> Result<Vec<Place>, DecodeError> {
    let found = found.places.ok_or_else(lacks_list)?;
    let mut dropped = DroppedItems::default();
    let places = dropped.convert(format_args!("/places"), found, limit.into(), |found| {
        Ok(Some(place(found)))
    });
    dropped.check_remaining(!places.is_empty())?;
    Ok(places)
}

fn place(place: wire::Place) -> Place {
    let alternatives = place.similar.into_iter().map(|similar| Alternative {
        name: similar.name,
        address: similar.label,
    });
    Place {
        supplier_place_id: place.id,
        name: place.name,
        address: place.label,
        location: Location {
            latitude: place.lat,
            longitude: place.lng,
        },
        suggested_radius: place.radius_m,
        country: place.country,
        city: place.city,
        types: place.kinds,
        alternatives: alternatives.collect(),
    }
}

/// Converts the filters and returns which of the requested ones Lodge applies. Returns no filters
/// if no hotel of Lodge can match.
pub(super) fn filters(
    request: &SearchRequest,
) -> Result<(Option<Value>, AppliedFilters), ReadError> {
    let wanted = &request.filters;
    let max_total = (wanted.max_total)
        .map(|total| Decimal::from_minor(total, &request.stay.currency))
        .transpose()
        .map_err(|error| Refusal::new(RefusalReason::Invalid, error.to_string()))?;
    // Lodge can leave out non-refundable rates, but not refundable ones.
    let refundable = wanted.refundable.filter(|refundable| *refundable);
    let boards = wanted.boards.iter().copied();
    let boards: Vec<_> = boards.filter_map(lodge_board).collect();
    let mut applied = AppliedFilters::SORT;
    let (stars, rating) = (wanted.min_star_rating, wanted.min_guest_rating);
    applied.set(AppliedFilters::MIN_STAR_RATING, stars.is_some());
    applied.set(AppliedFilters::MIN_GUEST_RATING, rating.is_some());
    applied.set(AppliedFilters::REFUNDABLE, refundable.is_some());
    applied.set(AppliedFilters::BOARDS, !wanted.boards.is_empty());
    applied.set(AppliedFilters::MAX_TOTAL, max_total.is_some());
    if boards.is_empty() && !wanted.boards.is_empty() {
        return Ok((None, applied));
    }
    let filters = without_nulls(json!({
        "min_stars": stars,
        "min_rating": rating,
        "refundable": refundable,
        "boards": (!boards.is_empty()).then_some(boards),
        "max_total": max_total.map(|total| total.to_string()),
    }));
    Ok((Some(filters), applied))
}

fn lodge_board(board: Board) -> Option<&'static str> {
    match board {
        Board::RoomOnly => Some("RO"),
        Board::BedAndBreakfast => Some("BB"),
        Board::HalfBoard | Board::FullBoard | Board::AllInclusive | Board::Other => None,
    }
}

pub(super) fn nothing_found(request: SearchRequest, applied: AppliedFilters) -> SearchResponse {
    SearchResponse {
        currency: request.stay.currency,
        hotels: Vec::new(),
        applied,
        truncated: false,
    }
}

/// Creates a search by the area only. Lodge's places add nothing to a centre and a radius.
pub(super) fn search_request(request: &SearchRequest, filters: Value) -> Value {
    let center = request.area.center;
    let body = json!({
        "center": {"lat": center.latitude, "lng": center.longitude},
        "radius_m": request.area.radius_m,
        "filters": filters,
        "sort": match request.sort {
            Sort::Distance => "distance",
            Sort::Total => "price",
            Sort::GuestRating => "rating",
            Sort::StarRating => "stars",
        },
        "limit": request.limit,
    });
    with_stay(body, &request.stay)
}

pub(super) fn search_response(
    found: wire::Found,
    request: &SearchRequest,
    applied: AppliedFilters,
) -> Result<SearchResponse, DecodeError> {
    let limit = usize::from(request.limit);
    let currency = found.currency;
    check_currency(&currency, &request.stay.currency)?;
    let hotels = found.hotels.ok_or_else(lacks_list)?;
    let truncated = found.more || hotels.len() > limit;
    let mut dropped = DroppedItems::default();
    let hotels = dropped.convert(format_args!("/hotels"), hotels, limit, |found| {
        hotel(found, &currency).map(Some)
    });
    dropped.check_remaining(!hotels.is_empty())?;
    Ok(SearchResponse {
        hotels,
        applied,
        truncated,
        currency,
    })
}

fn hotel(found: wire::SupplierHotel, currency: &str) -> Result<SupplierHotel, DecodeError> {
    let price_from = found.price_from.map(|total| amount(total, currency));
    Ok(SupplierHotel {
        supplier_hotel_id: found.id,
        name: found.name,
        address: found.address,
        location: Location {
            latitude: found.lat,
            longitude: found.lng,
        },
        star_rating: found.stars,
        guest_rating: found.rating,
        lowest_total: price_from.transpose()?,
        main_image: found.photo,
    })
}

pub(super) fn details(details: wire::Details) -> HotelDetails {
    let filled = |text: Option<String>| text.and_then(non_empty);
    let policies = details.policies.into_iter().map(|policy| HouseRule {
        name: policy.name,
        text: plain(&policy.text),
    });
    let rooms = details.rooms.into_iter().map(|room| RoomContent {
        name: room.name,
        description: room.text.and_then(|html| non_empty(plain(&html))),
        max_occupancy: room.sleeps,
        images: room.images.into_iter().map(image).collect(),
    });
    HotelDetails {
        name: details.hotel.name,
        description: details.description.and_then(|html| non_empty(plain(&html))),
        star_rating: details.stars,
        guest_rating: details.rating,
        review_count: details.review_count,
        address_line: filled(details.postal.line1),
        city: filled(details.postal.city),
        region: filled(details.postal.region),
        postal_code: filled(details.postal.postcode),
        country: filled(details.postal.country),
        location: Some(Location {
            latitude: details.hotel.lat,
            longitude: details.hotel.lng,
        }),
        time_zone: non_empty(details.hotel.zone),
        check_in_from: filled(details.check_in_from),
        check_out_until: filled(details.check_out_until),
        phone: filled(details.phone),
        email: filled(details.email),
        amenities: details.amenities,
        images: details.images.into_iter().map(image).collect(),
        policies: policies.collect(),
        rooms: rooms.collect(),
    }
}

fn image(image: wire::Image) -> Image {
    Image {
        url: image.url,
        caption: image.caption.and_then(non_empty),
        width: image.width,
        height: image.height,
    }
}

pub(super) fn reviews(reviews: wire::Reviews, limit: u16) -> Reviews {
    let filled = |text: Option<String>| text.and_then(non_empty);
    let items = reviews.reviews.into_iter().map(|review| Review {
        rating: review.score,
        title: filled(review.title),
        pros: filled(review.pros),
        cons: filled(review.cons),
        text: filled(review.text),
        language: filled(review.language),
        traveller_type: filled(review.traveller),
        stayed_on: filled(review.stayed),
    });
    Reviews {
        average: reviews.average,
        count: reviews.count,
        items: items.take(limit.into()).collect(),
    }
}

pub(super) fn forecast(weather: wire::Weather) -> Result<Vec<WeatherDay>, DecodeError> {
    ensure(
        weather.units == "metric",
        "the weather is not in metric units",
    )?;
    let days = weather.days.into_iter().map(|day| WeatherDay {
        date: day.date,
        temperature_min: day.min,
        temperature_max: day.max,
        summary: day.summary.and_then(non_empty),
        conditions: day.sky.into_iter().map(condition).collect(),
        humidity_percent: day.humidity,
        afternoon_humidity_percent: day.humidity_afternoon,
        wind_speed_mps: day.wind,
        maximum_wind_speed_mps: day.wind_max,
        precipitation_probability: day.rain_chance,
        precipitation_total_mm: day.rain_mm,
    });
    Ok(days.collect())
}

fn condition(sky: wire::Sky) -> WeatherCondition {
    WeatherCondition {
        description: sky.text,
        icon: sky.icon.and_then(non_empty),
    }
}

/// Returns the requested hotels, in their order.
pub(super) fn calendar(
    calendar: wire::Calendar,
    hotel_ids: &[String],
) -> Result<Vec<HotelPrices>, DecodeError> {
    check_currency(&calendar.currency, CALENDAR_CURRENCY)?;
    let found = in_requested_order(calendar.hotels, hotel_ids, |hotel| &hotel.id);
    let hotels = found.into_iter().map(|hotel| {
        let prices = hotel.days.into_iter().map(|day| {
            Ok(DayPrice {
                date: day.date,
                average_nightly: amount(day.average, CALENDAR_CURRENCY)?,
            })
        });
        Ok(HotelPrices {
            supplier_hotel_id: hotel.id,
            prices: prices.collect::<Result<_, DecodeError>>()?,
        })
    });
    hotels.collect()
}
