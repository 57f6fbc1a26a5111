//! Filters and sorts fares. Filters that a supplier does not apply are reported and applied here,
//! as far as its response allows. The code is pure.

use host_domain::flight::supplier_api::{
    Filters, FlightAppliedFilters, FlightOffer, FlightPriceRequest, FlightPriceResponse, Sort,
};
use host_domain::flight::{Journey, Segment};
use std::cmp::Ordering;

/// Number of fares to request from a supplier if the gateway may have to filter or sort. It is
/// twice what a caller can request, and few enough to return from an adapter.
const UNFILTERED_FARES_MAX: u16 = 500;

/// Builds the request to a supplier. Which filters a supplier applies is known only from its
/// response, so a request with filters asks for enough fares to choose from.
pub fn supplier_request(request: &FlightPriceRequest) -> FlightPriceRequest {
    let is_plain = request.filters == Filters::default() && is_cheapest_first(request);
    let mut wide = request.clone();
    if !is_plain {
        wide.limit = request.limit.max(UNFILTERED_FARES_MAX);
    }
    wide
}

fn is_cheapest_first(request: &FlightPriceRequest) -> bool {
    request.sort == Sort::TotalAmount && !request.descending
}

/// Returns the names of the filters that the supplier did not apply, as the request spells them.
/// `sort` is included if a non-default order was requested, or if the supplier truncated its
/// response and may have left out the first fares.
pub fn unsupported_filters(
    request: &FlightPriceRequest,
    response: &FlightPriceResponse,
) -> Vec<&'static str> {
    let (filters, done) = (&request.filters, response.applied);
    let excludes = !filters.excluded_airlines.is_empty();
    let order_matters = !is_cheapest_first(request) || response.truncated;
    let requested = [
        ("cabin_class", filters.cabin.is_some(), done.cabin),
        ("max_stops", filters.max_stops.is_some(), done.max_stops),
        ("airlines", !filters.airlines.is_empty(), done.airlines),
        ("excluded_airlines", excludes, done.excluded_airlines),
        (
            "departure_after",
            filters.departure_after.is_some(),
            done.departure_after,
        ),
        (
            "departure_before",
            filters.departure_before.is_some(),
            done.departure_before,
        ),
        (
            "arrival_before",
            filters.arrival_before.is_some(),
            done.arrival_before,
        ),
        ("refundable", filters.refundable.is_some(), done.refundable),
        (
            "checked_bag",
            filters.checked_bag.is_some(),
            done.checked_bag,
        ),
        ("max_total", filters.max_total.is_some(), done.max_total),
        ("sort", order_matters, done.sort),
    ];
    let requested = requested.into_iter();
    let ignored = requested.filter(|(_, requested, done)| *requested && !done);
    ignored.map(|(name, ..)| name).collect()
}

/// Applies the missing filters and order. Equal fares stay in the supplier's order.
pub fn apply_filters(request: &FlightPriceRequest, response: &mut FlightPriceResponse) {
    let (offers, done) = (&mut response.offers, response.applied);
    offers.retain(|offer| matches_filters(&request.filters, done, offer));
    if !done.sort {
        offers.sort_by(|one, other| compare(request, one, other));
    }
    let limit = usize::from(request.limit);
    response.truncated |= offers.len() > limit;
    offers.truncate(limit);
}

fn matches_filters(filters: &Filters, done: FlightAppliedFilters, offer: &FlightOffer) -> bool {
    (done.cabin || matches_cabin(filters, offer))
        && (done.max_stops || passes_stops(filters, offer))
        && passes_airlines(filters, done, offer)
        && passes_times(filters, done, offer)
        && (done.refundable || passes_refundable(filters, offer))
        && (done.checked_bag
            || matches_requested(filters.checked_bag, Some(offer.checked_bag_included)))
        && (done.max_total || passes_total(filters, offer))
}

fn segments(offer: &FlightOffer) -> impl Iterator<Item = &Segment> {
    offer.journeys.iter().flat_map(|journey| &journey.segments)
}

fn matches_cabin(filters: &Filters, offer: &FlightOffer) -> bool {
    let is_in = |cabin| segments(offer).all(|segment| segment.cabin == cabin);
    filters.cabin.is_none_or(is_in)
}

fn passes_stops(filters: &Filters, offer: &FlightOffer) -> bool {
    let within = |most| offer.journeys.iter().all(|journey| journey.stops <= most);
    filters.max_stops.is_none_or(within)
}

/// Compares the marketing carriers, which sell the flights.
fn passes_airlines(filters: &Filters, done: FlightAppliedFilters, offer: &FlightOffer) -> bool {
    let is_of = |list: &[String], segment: &Segment| list.contains(&segment.marketing_carrier_code);
    let only = &filters.airlines;
    let never = &filters.excluded_airlines;
    (done.airlines || only.is_empty() || segments(offer).all(|segment| is_of(only, segment)))
        && (done.excluded_airlines || !segments(offer).any(|segment| is_of(never, segment)))
}

/// Compares local times of day at the start or the end of a journey, whatever the date.
fn passes_times(filters: &Filters, done: FlightAppliedFilters, offer: &FlightOffer) -> bool {
    let holds = |done: bool, bound: &Option<String>, keeps: fn(&Journey, &str) -> bool| {
        let Some(bound) = bound.as_deref().filter(|_| !done) else {
            return true;
        };
        offer.journeys.iter().all(|journey| keeps(journey, bound))
    };
    holds(
        done.departure_after,
        &filters.departure_after,
        |journey, bound| time_of_day(&journey.departure_time) >= bound,
    ) && holds(
        done.departure_before,
        &filters.departure_before,
        |journey, bound| time_of_day(&journey.departure_time) <= bound,
    ) && holds(
        done.arrival_before,
        &filters.arrival_before,
        |journey, bound| time_of_day(&journey.arrival_time) <= bound,
    )
}

/// Returns `HH:MM` of `YYYY-MM-DDTHH:MM`.
fn time_of_day(local_time: &str) -> &str {
    local_time.split_once('T').map_or("", |(_, clock)| clock)
}

/// Returns whether a fare passes the filter `refundable`. A fare without this information counts neither as refundable nor as non-refundable.
fn passes_refundable(filters: &Filters, offer: &FlightOffer) -> bool {
    let reported = offer.refundable.or(offer.fare_conditions.refund.allowed);
    matches_requested(filters.refundable, reported)
}

fn matches_requested(requested: Option<bool>, reported: Option<bool>) -> bool {
    requested.is_none() || requested == reported
}

/// Amounts in different currencies cannot be compared, so such a fare passes.
fn passes_total(filters: &Filters, offer: &FlightOffer) -> bool {
    filters
        .max_total
        .is_none_or(|most| offer.total.currency != most.currency || offer.total.minor <= most.minor)
}

/// Compares two fares. An unknown duration comes last in either direction.
fn compare(request: &FlightPriceRequest, one: &FlightOffer, other: &FlightOffer) -> Ordering {
    let directed = |ordering: Ordering| match request.descending {
        true => ordering.reverse(),
        false => ordering,
    };
    match request.sort {
        Sort::TotalAmount => directed(one.total.minor.cmp(&other.total.minor)),
        Sort::Duration => match (one.total_duration_minutes(), other.total_duration_minutes()) {
            (Some(one), Some(other)) => directed(one.cmp(&other)),
            (one, other) => other.is_some().cmp(&one.is_some()),
        },
        Sort::DepartureTime => directed(departure(one).cmp(departure(other))),
    }
}

/// Returns the departure time of the first journey. All fares start at one airport or city, so
/// local times are comparable.
fn departure(offer: &FlightOffer) -> &str {
    let first = offer.journeys.first();
    first.map_or("", |journey| journey.departure_time.as_str())
}

#[cfg(test)]
mod tests;
