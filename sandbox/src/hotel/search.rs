//! Searching places by name and hotels by area.

use std::cmp::Ordering;

use axum::{Json, response::IntoResponse};
use bytes::Bytes;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    hotel::{
        catalog::{self, Hotel, Point},
        content::photo_url,
        price,
        quote::{BoardPlan, Occupancy, Stay},
        refusal::{LodgeError, LodgeResult},
        scenario::Scenario,
    },
    money::Currency,
    request::{self, Call},
    state::{SandboxRecords, SandboxState},
};

const LIMIT: usize = 20;
const LIMIT_MAX: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceQuery {
    q: String,
    country: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn find_places(call: Call) -> LodgeResult {
    let query: PlaceQuery = call.query()?;
    let text = query.q.trim().to_lowercase();
    let named = !text.is_empty() && catalog::CITY.to_lowercase().contains(&text)
        || text.contains(&catalog::CITY.to_lowercase());
    let there = (query.country.as_deref()).is_none_or(|code| code == catalog::COUNTRY);
    let places: Vec<Value> = if named && there && query.limit != Some(0) {
        vec![testville()]
    } else {
        Vec::new()
    };
    Ok(Json(json!({ "places": places })).into_response())
}

fn testville() -> Value {
    let label = format!("{}, {}, United Kingdom", catalog::CITY, catalog::REGION);
    json!({
        "id": catalog::PLACE_ID,
        "name": catalog::CITY,
        "label": label,
        "lat": catalog::CENTER.lat,
        "lng": catalog::CENTER.lng,
        "radius_m": catalog::RADIUS_M,
        "country": catalog::COUNTRY,
        "city": catalog::CITY,
        "kinds": ["locality", "political"],
        "similar": [{ "name": "Testville Abbey", "label": format!("Testville Abbey, {label}") }],
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct SearchRequest {
    place_id: Option<String>,
    center: Option<Center>,
    radius_m: Option<f64>,
    arrive: Date,
    depart: Date,
    rooms: Vec<Occupancy>,
    currency: Currency,
    nationality: Option<String>,
    residence: Option<String>,
    #[serde(default)]
    filters: Filters,
    #[serde(default)]
    sort: Sort,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Center {
    lat: f64,
    lng: f64,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Filters {
    min_stars: Option<f64>,
    min_rating: Option<f64>,
    refundable: Option<bool>,
    boards: Vec<BoardPlan>,
    max_total: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Sort {
    #[default]
    Distance,
    Price,
    Rating,
    Stars,
}

/// A hotel that matches a search, with the values by which it is sorted.
struct Found {
    hotel: Hotel,
    distance_m: f64,
    price_from: Option<i64>,
}

pub(super) async fn search_hotels(call: Call, body: Bytes) -> LodgeResult {
    let mut request: SearchRequest = request::body(&body)?;
    let stay = Stay {
        arrive: request.arrive,
        depart: request.depart,
        parties: std::mem::take(&mut request.rooms),
        currency: request.currency,
    };
    stay.check()?;
    let (center, radius_m) = area(&request)?;
    let max_total = (request.filters.max_total.as_ref())
        .map(|text| {
            (stay.currency.parse(text))
                .ok_or_else(|| LodgeError::Invalid("filters.max_total: not an amount".to_owned()))
        })
        .transpose()?;
    let mut found = call
        .transact(|records| -> Vec<Found> {
            catalog::all()
                .filter_map(|hotel| look_at(records, hotel, center, &stay, &request.filters))
                .filter(|found| found.distance_m <= radius_m)
                .filter(|found| {
                    max_total.is_none_or(|max| found.price_from.is_some_and(|price| price <= max))
                })
                .collect()
        })
        .await?;
    found.sort_by(|left, right| order(request.sort, left, right));
    let limit = request.limit.unwrap_or(LIMIT).min(LIMIT_MAX);
    let more = found.len() > limit;
    let hotels: Vec<Value> = (found.iter().take(limit))
        .map(|found| found_wire(&call.app, found, stay.currency))
        .collect();
    Ok(Json(json!({ "currency": stay.currency, "more": more, "hotels": hotels })).into_response())
}

fn area(request: &SearchRequest) -> Result<(Point, f64), LodgeError> {
    match (&request.place_id, &request.center) {
        (Some(id), None) if id == catalog::PLACE_ID => Ok((
            catalog::CENTER,
            request.radius_m.unwrap_or(catalog::RADIUS_M.into()),
        )),
        (Some(_), None) => Err(LodgeError::NotFound("place")),
        (None, Some(center)) => {
            let center = Point {
                lat: center.lat,
                lng: center.lng,
            };
            let radius_m = request
                .radius_m
                .ok_or_else(|| LodgeError::Invalid("radius_m is needed with center".to_owned()))?;
            Ok((center, radius_m))
        }
        _ => Err(LodgeError::Invalid(
            "one of place_id and center is needed".to_owned(),
        )),
    }
}

fn look_at(
    records: &SandboxRecords,
    hotel: Hotel,
    center: Point,
    stay: &Stay,
    filters: &Filters,
) -> Option<Found> {
    if filters.min_stars.is_some_and(|min| hotel.stars < min)
        || filters.min_rating.is_some_and(|min| hotel.rating < min)
    {
        return None;
    }
    let asks_of_offers = filters.refundable == Some(true) || !filters.boards.is_empty();
    let price_from = (BoardPlan::ALL.into_iter())
        .filter(|_| hotel.scenario != Scenario::NoOffers)
        .filter(|plan| filters.boards.is_empty() || filters.boards.contains(plan))
        .map(|plan| price::quote(records, &hotel.id, plan, stay.clone()))
        .filter(|quote| filters.refundable != Some(true) || quote.free_until().is_some())
        .map(|quote| quote.total())
        .min();
    if asks_of_offers && price_from.is_none() {
        return None;
    }
    Some(Found {
        distance_m: hotel.at.distance_m(center),
        price_from,
        hotel,
    })
}

fn order(sort: Sort, left: &Found, right: &Found) -> Ordering {
    let by_distance = left.distance_m.total_cmp(&right.distance_m);
    let first = match sort {
        Sort::Distance => Ordering::Equal,
        Sort::Price => {
            let price = |found: &Found| found.price_from.unwrap_or(i64::MAX);
            price(left).cmp(&price(right))
        }
        Sort::Rating => right.hotel.rating.total_cmp(&left.hotel.rating),
        Sort::Stars => right.hotel.stars.total_cmp(&left.hotel.stars),
    };
    first.then(by_distance)
}

fn found_wire(app: &SandboxState, found: &Found, currency: Currency) -> Value {
    let hotel = &found.hotel;
    json!({
        "id": hotel.id,
        "name": hotel.name,
        "address": hotel.address(),
        "lat": hotel.at.lat,
        "lng": hotel.at.lng,
        "stars": hotel.stars,
        "rating": hotel.rating,
        "price_from": found.price_from.map(|minor| currency.format(minor)),
        "photo": photo_url(app, &hotel.id, 1),
    })
}
