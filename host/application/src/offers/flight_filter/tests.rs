use super::*;
use host_domain::flight::passenger::Travellers;
use host_domain::flight::{Cabin, Direction, FareCondition, FareConditions};
use host_domain::money::{Currency, Money};

const ALL: FlightAppliedFilters = FlightAppliedFilters {
    cabin: true,
    max_stops: true,
    airlines: true,
    excluded_airlines: true,
    departure_after: true,
    departure_before: true,
    arrival_before: true,
    refundable: true,
    checked_bag: true,
    max_total: true,
    sort: true,
};

fn money(minor: i64, currency: &str) -> Money {
    Money::new(minor, Currency::parse(currency).unwrap())
}

fn segment(carrier: &str, cabin: Cabin) -> Segment {
    Segment {
        supplier_segment_id: String::new(),
        origin: "LHR".to_owned(),
        destination: "JFK".to_owned(),
        departure_time: "2026-12-01T10:00".to_owned(),
        arrival_time: "2026-12-01T13:00".to_owned(),
        origin_time_zone: None,
        destination_time_zone: None,
        marketing_flight: format!("{carrier}117"),
        marketing_carrier: carrier.to_owned(),
        marketing_carrier_code: carrier.to_owned(),
        marketing_carrier_logo_url: None,
        operating_carrier: None,
        operating_carrier_logo_url: None,
        duration_minutes: None,
        cabin,
        passengers: Vec::new(),
    }
}

fn journey(
    departure: &str,
    arrival: &str,
    minutes: Option<u32>,
    segments: Vec<Segment>,
) -> Journey {
    Journey {
        supplier_journey_id: String::new(),
        origin: "LHR".to_owned(),
        destination: "JFK".to_owned(),
        direction: Direction::Outbound,
        fare_brand: None,
        departure_time: departure.to_owned(),
        arrival_time: arrival.to_owned(),
        duration_minutes: minutes,
        stops: u8::try_from(segments.len()).unwrap() - 1,
        segments,
    }
}

/// An economy round trip with BA for 300.00, refundable, with one flight each way, at noon and in
/// the evening.
fn offer(id: &str) -> FlightOffer {
    let allowed = FareCondition {
        allowed: Some(true),
        penalty: None,
    };
    let ba = || vec![segment("BA", Cabin::Economy)];
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
            journey("2026-12-01T12:00", "2026-12-01T15:00", Some(480), ba()),
            journey("2026-12-09T18:30", "2026-12-10T06:30", Some(420), ba()),
        ],
        expires_at: None,
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
    let left = response
        .offers
        .into_iter()
        .map(|offer| offer.supplier_offer);
    (left.collect(), response.truncated, unsupported)
}

/// A filter that the default offer passes: its name, the filter, and a change that makes the offer
/// fail it.
type Case = (&'static str, fn(&mut Filters), fn(&mut FlightOffer));

const CASES: &[Case] = &[
    ("cabin_class", |f| f.cabin = Some(Cabin::Economy), connect),
    ("max_stops", |f| f.max_stops = Some(0), connect),
    ("airlines", |f| f.airlines = codes(&["BA", "IB"]), connect),
    (
        "excluded_airlines",
        |f| f.excluded_airlines = codes(&["AA"]),
        connect,
    ),
    (
        "departure_after",
        |f| f.departure_after = at("12:00"),
        |o| depart(o, 1, "11:59"),
    ),
    (
        "departure_before",
        |f| f.departure_before = at("18:30"),
        |o| depart(o, 0, "18:31"),
    ),
    // The next morning is before the afternoon, because only the time of day counts.
    (
        "arrival_before",
        |f| f.arrival_before = at("15:00"),
        |o| {
            "2026-12-01T15:01".clone_into(&mut o.journeys[0].arrival_time);
        },
    ),
    (
        "refundable",
        |f| f.refundable = Some(true),
        |o| o.refundable = Some(false),
    ),
    (
        "refundable",
        |f| f.refundable = Some(true),
        |o| {
            o.fare_conditions.refund.allowed = None;
        },
    ),
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

fn codes(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|&code| code.to_owned()).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "as filters hold it")]
fn at(clock: &str) -> Option<String> {
    Some(clock.to_owned())
}

fn depart(offer: &mut FlightOffer, journey: usize, clock: &str) {
    let time = &mut offer.journeys[journey].departure_time;
    time.truncate("2026-12-01T".len());
    time.push_str(clock);
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
        let sorted = FlightAppliedFilters {
            sort: true,
            ..FlightAppliedFilters::default()
        };
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
    let (left, ..) = finished(&request, FlightAppliedFilters::default(), &offers);
    assert_eq!(left, ["lost"]);
}

#[test]
fn max_total_in_another_currency_keeps_the_fare() {
    let request = request(Filters {
        max_total: Some(money(1, "USD")),
        ..Filters::default()
    });
    let (left, _, unsupported) =
        finished(&request, FlightAppliedFilters::default(), &[offer("euros")]);
    assert_eq!(left, ["euros"]);
    assert_eq!(unsupported, ["max_total"]);
}

/// Fares with prices from 1 to 3, one of them twice. Durations descend as prices rise, and one is
/// unknown.
fn fares() -> Vec<FlightOffer> {
    let fares = [
        ("b", 2, Some(20)),
        ("c", 3, Some(10)),
        ("a", 1, None),
        ("b2", 2, Some(20)),
    ];
    fares
        .into_iter()
        .map(|(id, total, minutes)| {
            let mut offer = offer(id);
            offer.total.minor = total;
            offer.journeys[0].duration_minutes = minutes;
            offer.journeys[0].departure_time = format!("2026-12-0{total}T12:00");
            offer
        })
        .collect()
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
        let request = FlightPriceRequest {
            sort,
            descending,
            ..request(Filters::default())
        };
        let (left, ..) = finished(&request, FlightAppliedFilters::default(), &fares());
        assert_eq!(left, order, "{sort:?} {descending}");
        let (left, ..) = finished(&request, ALL, &fares());
        assert_eq!(left, ["b", "c", "a", "b2"], "{sort:?} {descending}");
    }
}

#[test]
fn sort_is_reported_if_requested_or_if_the_response_is_truncated() {
    let plain = request(Filters::default());
    let (.., unsupported) = finished(&plain, FlightAppliedFilters::default(), &fares());
    assert!(unsupported.is_empty());
    let cut = FlightPriceResponse {
        offers: fares(),
        applied: FlightAppliedFilters::default(),
        truncated: true,
    };
    assert_eq!(unsupported_filters(&plain, &cut), ["sort"]);
    let dearest = FlightPriceRequest {
        descending: true,
        ..plain
    };
    let (.., unsupported) = finished(&dearest, FlightAppliedFilters::default(), &fares());
    assert_eq!(unsupported, ["sort"]);
}

#[test]
fn fares_over_the_limit_are_truncated_after_sorting() {
    let request = FlightPriceRequest {
        limit: 2,
        ..request(Filters::default())
    };
    let (left, truncated, _) = finished(&request, FlightAppliedFilters::default(), &fares());
    assert_eq!(
        (left, truncated),
        (vec!["a".to_owned(), "b".to_owned()], true)
    );
}

#[test]
fn supplier_limit_is_raised_only_for_filters_or_sorting() {
    let plain = request(Filters::default());
    assert_eq!(supplier_request(&plain), plain);
    let chosen = [
        FlightPriceRequest {
            sort: Sort::Duration,
            ..plain.clone()
        },
        FlightPriceRequest {
            filters: Filters {
                max_stops: Some(0),
                ..Filters::default()
            },
            ..plain.clone()
        },
    ];
    for request in chosen {
        assert_eq!(supplier_request(&request).limit, UNFILTERED_FARES_MAX);
    }
}
