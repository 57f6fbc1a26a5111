//! Conversion of search requests, and assignment of a response's flights to the requested journeys.

use serde_json::{Value, json};
use stopover_sdk::flight_pricing::{
    AppliedFilters as Applied, PassengerCounts, PriceRequest, RequestedJourney, Sort,
};
use stopover_sdk::json::without_nulls;
use stopover_sdk::money::Decimal;
use stopover_sdk::types::flight::PassengerType;

use crate::map::journey::cabin_code;
use crate::map::passenger::FIRST_ADULT_AGE;
use crate::wire::Segment;

/// Maximum number of stops that Nuitee can filter by.
const MOST_STOPS: u8 = 2;

/// Creates the request and returns which filters Nuitee applies. Nuitee has no filter for airlines,
/// for non-refundable fares, or for fares without bags.
pub(crate) fn request(
    request: &PriceRequest,
    currency: &str,
    point_of_sale: Option<&str>,
) -> (Value, Applied) {
    let filters = &request.filters;
    let max_stops = filters.max_stops.filter(|stops| *stops <= MOST_STOPS);
    let max_price = filters
        .max_total
        .and_then(|total| Decimal::from_minor(total, currency).ok());
    let refundable_only = filters.refundable.filter(|only| *only);
    let includes_checked_bag = filters.checked_bag.filter(|only| *only);
    let cabin = filters.cabin.map(cabin_code);
    let leg_filters = json!({
        "departureTimeAfter": filters.departure_after,
        "departureTimeBefore": filters.departure_before,
        "arrivalTimeBefore": filters.arrival_before,
        "maxStops": max_stops,
    });
    let mut applied = Applied::SORT;
    applied.set(Applied::CABIN, cabin.is_some());
    applied.set(Applied::MAX_STOPS, max_stops.is_some());
    applied.set(Applied::MAX_TOTAL, max_price.is_some());
    applied.set(Applied::REFUNDABLE, refundable_only.is_some());
    applied.set(Applied::CHECKED_BAG, includes_checked_bag.is_some());
    applied.set(Applied::DEPARTURE_AFTER, filters.departure_after.is_some());
    applied.set(
        Applied::DEPARTURE_BEFORE,
        filters.departure_before.is_some(),
    );
    applied.set(Applied::ARRIVAL_BEFORE, filters.arrival_before.is_some());

    let types = passenger_types(&request.passengers);
    let count = |passenger_type| {
        let matching = types
            .iter()
            .filter(|passenger| **passenger == passenger_type);
        matching.count()
    };
    let ages = request.passengers.children.iter();
    let ages: Vec<&u8> = ages.filter(|age| **age < FIRST_ADULT_AGE).collect();
    let body = json!({
        "legs": legs(&request.journeys, &leg_filters),
        "adults": count(PassengerType::Adult),
        "children": count(PassengerType::Child),
        "infants": count(PassengerType::Infant),
        "childrenAges": (!ages.is_empty()).then_some(ages),
        "cabinClass": cabin,
        "currency": currency,
        "country": point_of_sale,
        "filters": {
            "cabinClass": cabin,
            "cabinClassMatch": cabin.map(|_| "exactly"),
            "refundableOnly": refundable_only,
            "includesCheckedBag": includes_checked_bag,
            "maxPrice": max_price,
        },
        "sort": {
            "sortBy": match request.sort {
                Sort::TotalAmount => "price",
                Sort::Duration => "duration",
                Sort::DepartureTime => "departure",
            },
            "sortOrder": if request.descending { "desc" } else { "asc" },
        },
    });
    (without_nulls(body), applied)
}

/// Converts the journeys. A round trip has directions; a multi-city trip has none.
fn legs(journeys: &[RequestedJourney], filters: &Value) -> Vec<Value> {
    let is_return = matches!(journeys, [out, back]
        if out.origin == back.destination && out.destination == back.origin);
    let directions = ["OUTBOUND", "INBOUND"].into_iter().map(Some);
    let directions = directions
        .filter(|_| is_return)
        .chain(std::iter::repeat(None));
    let each = journeys.iter().zip(directions);
    each.map(|(journey, direction)| {
        json!({
            "origin": journey.origin,
            "destination": journey.destination,
            "date": journey.date,
            "direction": direction,
            "filters": filters,
        })
    })
    .collect()
}

/// Returns Nuitee's type of each passenger in the order of the request. A child aged 12 or more
/// travels as an adult.
pub(crate) fn passenger_types(passengers: &PassengerCounts) -> Vec<PassengerType> {
    let adults = (0..passengers.adults).map(|_| PassengerType::Adult);
    let children = passengers.children.iter().map(|age| {
        if *age >= FIRST_ADULT_AGE {
            PassengerType::Adult
        } else {
            PassengerType::Child
        }
    });
    let infants = (0..passengers.infants).map(|_| PassengerType::Infant);
    adults.chain(children).chain(infants).collect()
}

/// Returns the number of flights of each requested journey, or `None` if it cannot be determined.
pub(crate) fn split(segments: &[Segment<'_>], journeys: &[RequestedJourney]) -> Option<Vec<usize>> {
    let mut counts = vec![1];
    // Whether a flight arrives at the destination of the current journey. All flights are searched for it,
    // so it is determined once per journey.
    let mut is_named: Option<bool> = None;
    for (before, after) in segments.iter().zip(segments.iter().skip(1)) {
        let ends_here = match journeys.get(counts.len().checked_sub(1)?..)? {
            [_, _, ..] if is_marked_end(before, after) => true,
            [this, next, ..] => {
                let arrives = |segment: &Segment<'_>| arrives(segment, this);
                let is_named = is_named.get_or_insert_with(|| segments.iter().any(arrives));
                is_next(this, next, before, after, *is_named)
            }
            _ => false,
        };
        match counts.last_mut() {
            Some(count) if !ends_here => *count += 1,
            _ => {
                counts.push(1);
                is_named = None;
            }
        }
    }
    (!segments.is_empty() && counts.len() == journeys.len()).then_some(counts)
}

/// Returns whether Nuitee marks one of two flights as part of the way out and the other one as part of the
/// way back. A mark that is missing or unknown says nothing.
fn is_marked_end(before: &Segment<'_>, after: &Segment<'_>) -> bool {
    matches!(
        (before.direction.as_str(), after.direction.as_str()),
        ("OUTBOUND", "INBOUND") | ("INBOUND", "OUTBOUND")
    )
}

/// Returns whether the flights of each journey fit the request: the first one departs on the requested date,
/// and the last one arrives at the requested destination. Each of the two counts only if a flight of the
/// trip meets it: no flight has the code of a city, and Nuitee may offer another day.
pub(crate) fn fits(flights: &[&[Segment<'_>]], journeys: &[RequestedJourney]) -> bool {
    let any = |meets: &dyn Fn(&Segment<'_>) -> bool| flights.iter().copied().flatten().any(meets);
    let mut each = flights.iter().zip(journeys);
    each.all(|(of_journey, journey)| {
        let arrives = |segment: &Segment<'_>| arrives(segment, journey);
        let departs = |segment: &Segment<'_>| departs(segment, journey);
        let is_on_date = of_journey.first().is_some_and(departs) || !any(&departs);
        let has_arrived = of_journey.last().is_some_and(arrives) || !any(&arrives);
        is_on_date && has_arrived
    })
}

fn departs(segment: &Segment<'_>, journey: &RequestedJourney) -> bool {
    segment.departure_time.as_str().starts_with(&journey.date)
}

fn arrives(segment: &Segment<'_>, journey: &RequestedJourney) -> bool {
    segment.destination.as_str() == journey.destination
}

/// Returns whether `after` is the first flight of the next journey: this journey has arrived, and the
/// departure is on the next journey's date. If a journey was requested by a city code, no flight has that
/// code, so that it is not named; the journey then ends where the next one's origin is.
fn is_next(
    this: &RequestedJourney,
    next: &RequestedJourney,
    before: &Segment<'_>,
    after: &Segment<'_>,
    is_named: bool,
) -> bool {
    let has_arrived = if is_named {
        arrives(before, this)
    } else {
        after.origin.as_str() == next.origin
    };
    has_arrived && departs(after, next)
}
