use super::*;
use host_domain::flight::passenger::Travellers;
use host_domain::flight::{Cabin, FareCondition, FareConditions, FlightOfferDetails};
use host_domain::money::{Currency, Money};
use serde_json::json;

const ALL: FlightAppliedFilters = applied(true);
const NONE: FlightAppliedFilters = applied(false);

const fn applied(done: bool) -> FlightAppliedFilters {
    FlightAppliedFilters {
        cabin: done,
        max_stops: done,
        airlines: done,
        excluded_airlines: done,
        departure_after: done,
        departure_before: done,
        arrival_before: done,
        refundable: done,
        checked_bag: done,
        max_total: done,
        sort: done,
    }
}

fn money(minor: i64, currency: &str) -> Money {
    Money::new(minor, Currency::parse(currency).unwrap())
}

fn segment(carrier: &str, cabin: Cabin) -> Segment {
    let stored = json!({
        "supplier_segment_id": "",
        "origin": "LHR",
        "destination": "JFK",
        "departure_time": "2026-12-01T10:00",
        "arrival_time": "2026-12-01T13:00",
        "marketing_flight": format!("{carrier}117"),
        "marketing_carrier": carrier,
        "marketing_carrier_code": carrier,
        "cabin": cabin,
        "passengers": [],
    });
    serde_json::from_value(stored).unwrap()
}

/// A journey of one flight with BA.
fn journey(departure: &str, arrival: &str, minutes: u32) -> Journey {
    let stored = json!({
        "supplier_journey_id": "",
        "origin": "LHR",
        "destination": "JFK",
        "direction": "outbound",
        "departure_time": departure,
        "arrival_time": arrival,
        "duration_minutes": minutes,
        "stops": 0,
        "segments": [segment("BA", Cabin::Economy)],
    });
    serde_json::from_value(stored).unwrap()
}

/// An economy round trip with BA for 300.00, refundable, with one flight each way, at noon and in
/// the evening.
fn offer(id: &str) -> FlightOffer {
    let allowed = FareCondition {
        allowed: Some(true),
        penalty: None,
    };
    FlightOffer {
        supplier_offer: id.to_owned(),
        exclusive_key: None,
        total: money(30_000, "EUR"),
        fare_family: None,
        refundable: None,
        fare_conditions: FareConditions {
            refund: allowed,
            change: allowed,
        },
        documents_required: false,
        checked_bag_included: false,
        carry_on_included: true,
        journeys: vec![
            journey("2026-12-01T12:00", "2026-12-01T15:00", 480),
            journey("2026-12-09T18:30", "2026-12-10T06:30", 420),
        ],
        expires_at: None,
        details: FlightOfferDetails::default(),
    }
}

fn request(filters: Filters) -> FlightPriceRequest {
    FlightPriceRequest {
        journeys: Vec::new(),
        travellers: Travellers {
            adults: 1,
            children: Vec::new(),
            infants: 0,
        },
        currency: None,
        filters,
        sort: Sort::TotalAmount,
        descending: false,
        limit: 50,
    }
}

/// Returns the ids of the remaining offers, whether the list was truncated, and the unsupported
/// filters.
fn finished(
    request: &FlightPriceRequest,
    applied: FlightAppliedFilters,
    offers: &[FlightOffer],
) -> (Vec<String>, bool, Vec<&'static str>) {
    let mut response = FlightPriceResponse {
        offers: offers.to_vec(),
        applied,
        truncated: false,
    };
    let unsupported = unsupported_filters(request, &response);
    apply_filters(request, &mut response);
    let left = response.offers.into_iter();
    let left = left.map(|offer| offer.supplier_offer);
    (left.collect(), response.truncated, unsupported)
}

/// A filter that the default offer passes: its name, the filter, and a change that makes the offer
/// fail it.
type Case = (&'static str, fn(&mut Filters), fn(&mut FlightOffer));

const CASES: &[Case] = &[
    ("cabin_class", |f| f.cabin = Some(Cabin::Economy), connect),
    ("max_stops", |f| f.max_stops = Some(0), connect),
    ("airlines", |f| f.airlines = codes(&["BA", "IB"]), connect),
    ("excluded_airlines", exclude_other, connect),
    (
        "departure_after",
        |f| f.departure_after = at("12:00"),
        leave_early,
    ),
    (
        "departure_before",
        |f| f.departure_before = at("18:30"),
        leave_late,
    ),
    // The next morning is before the afternoon, because only the time of day counts.
    (
        "arrival_before",
        |f| f.arrival_before = at("15:00"),
        arrive_late,
    ),
    (
        "refundable",
        |f| f.refundable = Some(true),
        |o| o.refundable = Some(false),
    ),
    ("refundable", |f| f.refundable = Some(true), hide_refund),
    (
        "checked_bag",
        |f| f.checked_bag = Some(false),
        |o| o.checked_bag_included = true,
    ),
    (
        "max_total",
        |f| f.max_total = Some(money(30_000, "EUR")),
        |o| o.total.minor = 30_001,
    ),
];

fn exclude_other(filters: &mut Filters) {
    filters.excluded_airlines = codes(&["AA"]);
}

fn codes(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|&code| code.to_owned()).collect()
}

fn at(clock: &str) -> Option<String> {
    Some(clock.to_owned())
}

fn leave_early(offer: &mut FlightOffer) {
    offer.journeys[1].departure_time = "2026-12-09T11:59".to_owned();
}

fn leave_late(offer: &mut FlightOffer) {
    offer.journeys[0].departure_time = "2026-12-01T18:31".to_owned();
}

fn arrive_late(offer: &mut FlightOffer) {
    offer.journeys[0].arrival_time = "2026-12-01T15:01".to_owned();
}

fn hide_refund(offer: &mut FlightOffer) {
    offer.fare_conditions.refund.allowed = None;
}

/// Adds a flight of another airline in another cabin to the return journey.
fn connect(offer: &mut FlightOffer) {
    let journey = &mut offer.journeys[1];
    journey.segments.push(segment("AA", Cabin::Business));
    journey.stops = 1;
}

#[test]
fn filter_not_applied_by_the_supplier_is_reported_and_applied() {
    for (name, filter, spoil) in CASES {
        let mut filters = Filters::default();
        filter(&mut filters);
        let request = request(filters);
        let mut bad = offer("bad");
        spoil(&mut bad);
        let offers = [bad, offer("good")];
        let sorted = FlightAppliedFilters { sort: true, ..NONE };
        let (left, truncated, unsupported) = finished(&request, sorted, &offers);
        assert_eq!(left, ["good"], "{name}");
        assert!(!truncated, "{name}");
        assert_eq!(unsupported, [*name]);
        let (left, _, unsupported) = finished(&request, ALL, &offers);
        assert_eq!(left, ["bad", "good"], "{name}");
        assert!(unsupported.is_empty(), "{name}");
    }
}

#[test]
fn fare_without_refund_information_matches_neither_refundable_filter() {
    let mut silent = offer("silent");
    silent.fare_conditions.refund.allowed = None;
    let mut lost = offer("lost");
    lost.refundable = Some(false);
    let request = request(Filters {
        refundable: Some(false),
        ..Filters::default()
    });
    let offers = [silent, offer("refundable"), lost];
    let (left, ..) = finished(&request, NONE, &offers);
    assert_eq!(left, ["lost"]);
}

#[test]
fn max_total_in_another_currency_keeps_the_fare() {
    let request = request(Filters {
        max_total: Some(money(1, "USD")),
        ..Filters::default()
    });
    let (left, _, unsupported) = finished(&request, NONE, &[offer("euros")]);
    assert_eq!(left, ["euros"]);
    assert_eq!(unsupported, ["max_total"]);
}

/// Fares with prices from 1 to 3, one of them twice. Durations descend as prices rise, and one is
/// unknown.
fn fares() -> Vec<FlightOffer> {
    let fare = |id, total, minutes| {
        let mut offer = offer(id);
        offer.total.minor = total;
        offer.journeys[0].duration_minutes = minutes;
        offer.journeys[0].departure_time = format!("2026-12-0{total}T12:00");
        offer
    };
    let (b, c) = (fare("b", 2, Some(20)), fare("c", 3, Some(10)));
    vec![b, c, fare("a", 1, None), fare("b2", 2, Some(20))]
}

#[test]
fn fares_are_sorted_if_the_supplier_does_not_sort_them() {
    for (sort, descending, order) in [
        (Sort::TotalAmount, false, ["a", "b", "b2", "c"]),
        (Sort::TotalAmount, true, ["c", "b", "b2", "a"]),
        (Sort::Duration, false, ["c", "b", "b2", "a"]),
        (Sort::Duration, true, ["b", "b2", "c", "a"]),
        (Sort::DepartureTime, false, ["a", "b", "b2", "c"]),
        (Sort::DepartureTime, true, ["c", "b", "b2", "a"]),
    ] {
        let mut request = request(Filters::default());
        (request.sort, request.descending) = (sort, descending);
        let (left, ..) = finished(&request, NONE, &fares());
        assert_eq!(left, order, "{sort:?} {descending}");
        let (left, ..) = finished(&request, ALL, &fares());
        assert_eq!(left, ["b", "c", "a", "b2"], "{sort:?} {descending}");
    }
}

#[test]
fn sort_is_reported_if_requested_or_if_the_response_is_truncated() {
    let mut request = request(Filters::default());
    let (.., unsupported) = finished(&request, NONE, &fares());
    assert!(unsupported.is_empty());
    let cut = FlightPriceResponse {
        offers: fares(),
        applied: NONE,
        truncated: true,
    };
    assert_eq!(unsupported_filters(&request, &cut), ["sort"]);
    request.descending = true;
    let (.., unsupported) = finished(&request, NONE, &fares());
    assert_eq!(unsupported, ["sort"]);
}

#[test]
fn fares_over_the_limit_are_truncated_after_sorting() {
    let mut request = request(Filters::default());
    request.limit = 2;
    let (left, truncated, _) = finished(&request, NONE, &fares());
    assert_eq!(left, ["a", "b"]);
    assert!(truncated);
}

#[test]
fn supplier_limit_is_raised_only_for_filters_or_sorting() {
    let plain = request(Filters::default());
    assert_eq!(supplier_request(&plain), plain);
    let (mut sorted, mut filtered) = (plain.clone(), plain);
    sorted.sort = Sort::Duration;
    filtered.filters.max_stops = Some(0);
    for request in [sorted, filtered] {
        assert_eq!(supplier_request(&request).limit, UNFILTERED_FARES_MAX);
    }
}
