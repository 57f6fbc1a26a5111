use super::*;
use host_domain::flight::passenger::Travellers;
use host_domain::flight::{Cabin, Direction, FareCondition, FareConditions};
use host_domain::money::{Currency, Money};

const ALL: AppliedFilters = AppliedFilters {
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

/// One flight of BA in economy for 300.00, there at noon and back the next evening.
fn offer(id: &str) -> Offer {
    let silent = FareCondition {
        allowed: None,
        penalty: None,
    };
    let ba = || vec![segment("BA", Cabin::Economy)];
    Offer {
        supplier_offer: id.to_owned(),
        exclusive_key: None,
        total: money(30_000, "EUR"),
        fare_family: None,
        refundable: None,
        fare_conditions: FareConditions {
            refund: silent,
            change: silent,
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

fn wanted(filters: Filters) -> PriceRequest {
    PriceRequest {
        legs: Vec::new(),
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

/// The names of what is left, whether there was more, and what was not applied.
fn finished(
    wanted: &PriceRequest,
    applied: AppliedFilters,
    offers: &[Offer],
) -> (Vec<String>, bool, Vec<&'static str>) {
    let mut answer = PriceAnswer {
        offers: offers.to_vec(),
        applied,
        truncated: false,
    };
    let unsupported = not_applied(wanted, &answer);
    finish(wanted, &mut answer);
    let left = answer.offers.into_iter().map(|offer| offer.supplier_offer);
    (left.collect(), answer.truncated, unsupported)
}

/// Each filter with a fare that passes and one that does not, and its name.
fn cases() -> Vec<(&'static str, Filters, Offer, Offer)> {
    let good = || offer("good");
    let bad = |change: fn(&mut Offer)| {
        let mut offer = offer("bad");
        change(&mut offer);
        offer
    };
    let changed = |change: fn(&mut Offer)| {
        let mut offer = offer("good");
        change(&mut offer);
        offer
    };
    let any = Filters::default;
    let codes = |codes: &[&str]| codes.iter().map(|&code| code.to_owned()).collect();
    let at = |clock: &str| Some(clock.to_owned());
    let feeder = |offer: &mut Offer| {
        let segments = &mut offer.journeys[1].segments;
        segments.push(segment("AA", Cabin::Business));
        offer.journeys[1].stops = 1;
    };
    vec![
        (
            "cabin_class",
            Filters {
                cabin: Some(Cabin::Economy),
                ..any()
            },
            good(),
            bad(feeder),
        ),
        (
            "max_stops",
            Filters {
                max_stops: Some(0),
                ..any()
            },
            good(),
            bad(feeder),
        ),
        (
            "airlines",
            Filters {
                airlines: codes(&["BA", "IB"]),
                ..any()
            },
            good(),
            bad(feeder),
        ),
        (
            "excluded_airlines",
            Filters {
                excluded_airlines: codes(&["AA"]),
                ..any()
            },
            good(),
            bad(feeder),
        ),
        (
            "departure_after",
            Filters {
                departure_after: at("12:00"),
                ..any()
            },
            good(),
            bad(|offer| {
                "2026-12-09T11:59".clone_into(&mut offer.journeys[1].departure_time);
            }),
        ),
        (
            "departure_before",
            Filters {
                departure_before: at("18:30"),
                ..any()
            },
            good(),
            bad(|offer| {
                "2026-12-01T18:31".clone_into(&mut offer.journeys[0].departure_time);
            }),
        ),
        // The next morning is before the afternoon, by the clock.
        (
            "arrival_before",
            Filters {
                arrival_before: at("15:00"),
                ..any()
            },
            good(),
            bad(|offer| {
                "2026-12-01T15:01".clone_into(&mut offer.journeys[0].arrival_time);
            }),
        ),
        (
            "refundable",
            Filters {
                refundable: Some(true),
                ..any()
            },
            changed(|offer| {
                offer.fare_conditions.refund.allowed = Some(true);
            }),
            bad(|offer| offer.refundable = Some(false)),
        ),
        (
            "refundable",
            Filters {
                refundable: Some(false),
                ..any()
            },
            changed(|offer| {
                offer.refundable = Some(false);
            }),
            offer("not told"),
        ),
        (
            "checked_bag",
            Filters {
                checked_bag: Some(false),
                ..any()
            },
            good(),
            bad(|offer| {
                offer.checked_bag_included = true;
            }),
        ),
        (
            "max_total",
            Filters {
                max_total: Some(money(30_000, "EUR")),
                ..any()
            },
            good(),
            bad(|offer| {
                offer.total.minor = 30_001;
            }),
        ),
    ]
}

#[test]
fn a_filter_that_the_supplier_does_not_apply_is_named_and_applied() {
    for (name, filters, good, bad) in cases() {
        let wanted = wanted(filters);
        let offers = [bad.clone(), good.clone()];
        let sorted = AppliedFilters {
            sort: true,
            ..AppliedFilters::default()
        };
        let (left, truncated, unsupported) = finished(&wanted, sorted, &offers);
        assert_eq!(left, ["good"], "{name}");
        assert!(!truncated, "{name}");
        assert_eq!(unsupported, [name]);
        let (left, _, unsupported) = finished(&wanted, ALL, &offers);
        assert_eq!(left.len(), 2, "{name}");
        assert!(unsupported.is_empty(), "{name}");
    }
}

#[test]
fn prices_in_another_currency_are_not_held_against_the_highest() {
    let wanted = wanted(Filters {
        max_total: Some(money(1, "USD")),
        ..Filters::default()
    });
    let (left, _, unsupported) = finished(&wanted, AppliedFilters::default(), &[offer("euros")]);
    assert_eq!(left, ["euros"]);
    assert_eq!(unsupported, ["max_total"]);
}

/// Prices 1 to 3, one of them twice; the durations run the other way, one is not known.
fn fares() -> Vec<Offer> {
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
fn an_order_that_the_supplier_does_not_make_is_made() {
    for (sort, descending, order) in [
        (Sort::TotalAmount, false, ["a", "b", "b2", "c"]),
        (Sort::TotalAmount, true, ["c", "b", "b2", "a"]),
        (Sort::Duration, false, ["c", "b", "b2", "a"]),
        (Sort::Duration, true, ["b", "b2", "c", "a"]),
        (Sort::DepartureTime, false, ["a", "b", "b2", "c"]),
        (Sort::DepartureTime, true, ["c", "b", "b2", "a"]),
    ] {
        let wanted = PriceRequest {
            sort,
            descending,
            ..wanted(Filters::default())
        };
        let (left, ..) = finished(&wanted, AppliedFilters::default(), &fares());
        assert_eq!(left, order, "{sort:?} {descending}");
        let (left, ..) = finished(&wanted, ALL, &fares());
        assert_eq!(left, ["b", "c", "a", "b2"], "{sort:?} {descending}");
    }
}

#[test]
fn the_order_is_named_where_it_may_be_wrong_or_was_asked_for() {
    let plain = wanted(Filters::default());
    let (.., unsupported) = finished(&plain, AppliedFilters::default(), &fares());
    assert!(unsupported.is_empty());
    let cut = PriceAnswer {
        offers: fares(),
        applied: AppliedFilters::default(),
        truncated: true,
    };
    assert_eq!(not_applied(&plain, &cut), ["sort"]);
    let dearest = PriceRequest {
        descending: true,
        ..plain
    };
    let (.., unsupported) = finished(&dearest, AppliedFilters::default(), &fares());
    assert_eq!(unsupported, ["sort"]);
}

#[test]
fn more_than_asked_for_is_cut_after_the_choice_and_said() {
    let wanted = PriceRequest {
        limit: 2,
        ..wanted(Filters::default())
    };
    let (left, truncated, _) = finished(&wanted, AppliedFilters::default(), &fares());
    assert_eq!(
        (left, truncated),
        (vec!["a".to_owned(), "b".to_owned()], true)
    );
}

#[test]
fn more_is_asked_for_only_where_there_is_something_to_choose() {
    let plain = wanted(Filters::default());
    assert_eq!(to_ask(&plain), plain);
    let chosen = [
        PriceRequest {
            sort: Sort::Duration,
            ..plain.clone()
        },
        PriceRequest {
            filters: Filters {
                max_stops: Some(0),
                ..Filters::default()
            },
            ..plain.clone()
        },
    ];
    for wanted in chosen {
        assert_eq!(to_ask(&wanted).limit, FARES_TO_CHOOSE_FROM);
    }
}
