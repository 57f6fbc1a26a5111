//! Searching at Jetbridge, which supports every filter.

use axum::Json;
use bytes::Bytes;
use jiff::civil::{Date, Time};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    flight::{
        fare::{Fare, FareSelection, Search, fares},
        itinerary::Itinerary,
        jetbridge::{
            ok,
            refusal::JetbridgeResult,
            wire::{cabin, fare_wire},
        },
        trip::{Leg, PassengerType, Trip},
    },
    money::Currency,
    request::{self, Call},
};

const LIMIT: usize = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchRequest {
    legs: Vec<SearchedLeg>,
    pax: Pax,
    ccy: Option<Currency>,
    #[serde(default)]
    filters: Filters,
    #[serde(default)]
    sort: Sort,
    #[serde(default)]
    descending: bool,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchedLeg {
    org: String,
    dst: String,
    day: Date,
}

/// Numbers of adults and infants, and ages of the children.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pax {
    adt: usize,
    #[serde(default)]
    chd: Vec<u8>,
    #[serde(default)]
    inf: usize,
}

impl Pax {
    /// Returns the passenger types: adults, then children, then infants.
    fn types(&self) -> Vec<PassengerType> {
        let many = |kind, count| std::iter::repeat_n(kind, count);
        many(PassengerType::Adult, self.adt.min(10))
            .chain(many(PassengerType::Child, self.chd.len()))
            .chain(many(PassengerType::Infant, self.inf.min(10)))
            .collect()
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Filters {
    cabin: Option<String>,
    max_stops: Option<usize>,
    airlines: Vec<String>,
    not_airlines: Vec<String>,
    depart_after: Option<String>,
    depart_before: Option<String>,
    arrive_before: Option<String>,
    refundable: Option<bool>,
    checked_bag: Option<bool>,
    max_price: Option<i64>,
}

/// The time filters after parsing.
struct Times {
    depart_after: Option<Time>,
    depart_before: Option<Time>,
    arrive_before: Option<Time>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Sort {
    #[default]
    Price,
    Duration,
    Departure,
}

pub(super) async fn search_fares(call: Call, body: Bytes) -> JetbridgeResult<Json<Value>> {
    let request: SearchRequest = request::body(&body)?;
    let trip = Trip {
        passengers: request.pax.types(),
        currency: request.ccy.unwrap_or(Currency::GBP),
        legs: (request.legs.into_iter())
            .map(|leg| Leg {
                from: leg.org,
                to: leg.dst,
                date: leg.day,
            })
            .collect(),
    };
    trip.check()?;
    let filters = request.filters;
    let times = Times {
        depart_after: time(filters.depart_after.as_deref())?,
        depart_before: time(filters.depart_before.as_deref())?,
        arrive_before: time(filters.arrive_before.as_deref())?,
    };
    let found = fares(&trip.legs);
    let search = call
        .transact(|records| Search::new(records.now(), trip))
        .await?;
    let mut fitting: Vec<(i64, FareSelection, &Fare)> = (found.iter())
        .filter(|fare| fits(fare, &filters, &times))
        .map(|fare| {
            let choice = search.choice(fare);
            (choice.offered_total(fare), choice, fare)
        })
        .filter(|(total, ..)| filters.max_price.is_none_or(|max| *total <= max))
        .collect();
    fitting.sort_by_key(|(total, _, fare)| {
        let by = match request.sort {
            Sort::Price => *total,
            Sort::Duration => fare.minutes(),
            Sort::Departure => departure(fare),
        };
        (by, fare.number)
    });
    if request.descending {
        fitting.reverse();
    }
    let limit = request.limit.unwrap_or(LIMIT);
    let fares: Vec<Value> = (fitting.iter().take(limit))
        .map(|(_, choice, fare)| fare_wire(&call.app, choice, fare))
        .collect();
    Ok(ok(json!({ "fares": fares, "more": fitting.len() > limit })))
}

fn time(text: Option<&str>) -> Result<Option<Time>, String> {
    text.map(|text| {
        Time::strptime("%H:%M", text).map_err(|_| format!("`{text}` is not a time as HH:MM"))
    })
    .transpose()
}

/// Returns the departure of the first flight in minutes of the day.
fn departure(fare: &Fare) -> i64 {
    (fare.itineraries.first())
        .and_then(Itinerary::departs)
        .map_or(0, |at| i64::from(at.hour()) * 60 + i64::from(at.minute()))
}

fn fits(fare: &Fare, filters: &Filters, times: &Times) -> bool {
    let brand = fare.brand;
    let carriers = || {
        (fare.itineraries.iter())
            .flat_map(|itinerary| &itinerary.segments)
            .map(|segment| segment.carrier.iata)
    };
    let listed = |codes: &[String], code: &str| codes.iter().any(|listed| listed == code);
    let is = |wanted: Option<bool>, truth: bool| wanted.is_none_or(|wanted| wanted == truth);
    (filters.cabin.as_deref()).is_none_or(|wanted| wanted == cabin(brand))
        && (filters.max_stops).is_none_or(|max| {
            fare.itineraries
                .iter()
                .all(|itinerary| itinerary.stops() <= max)
        })
        && (filters.airlines.is_empty() || carriers().all(|code| listed(&filters.airlines, code)))
        && !carriers().any(|code| listed(&filters.not_airlines, code))
        && is(
            filters.refundable,
            brand.refund_fee(Currency::GBP).is_some(),
        )
        && is(filters.checked_bag, brand.checked_bags() > 0)
        && fare
            .itineraries
            .iter()
            .all(|itinerary| in_time(itinerary, times))
}

fn in_time(itinerary: &Itinerary, times: &Times) -> bool {
    let (Some(departs), Some(arrives)) = (itinerary.departs(), itinerary.arrives()) else {
        return false;
    };
    times
        .depart_after
        .is_none_or(|after| departs.time() >= after)
        && (times.depart_before).is_none_or(|before| departs.time() <= before)
        && (times.arrive_before).is_none_or(|before| arrives.time() <= before)
}
