//! Search.

use nuitee_flights::NuiteeFlights;
use serde_json::{Value, json};
use stopover_sdk::flight_pricing::{AppliedFilters, Filters, PriceRequest, PriceResponse, Sort};
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse};
use stopover_sdk::testing::{outcome, read_failures};
use stopover_sdk::types::flight::{Cabin, Direction};
use stopover_sdk::{FlightPricing, ReadError, time};

use crate::ask;

fn priced(document: impl AsRef<[u8]>, request: PriceRequest) -> Result<PriceResponse, ReadError> {
    let gateway = ask::gateway().respond_with(200, document);
    gateway.run(|| NuiteeFlights::price(request))
}

fn families(response: &PriceResponse) -> Vec<&str> {
    let families = response.offers.iter();
    families
        .map(|offer| offer.fare_family.as_deref().unwrap())
        .collect()
}

#[test]
fn offers_are_sorted_in_requested_order() {
    let cases = [
        (Sort::TotalAmount, false, ["Basic", "Flex", "Upper"]),
        (Sort::TotalAmount, true, ["Upper", "Flex", "Basic"]),
        (Sort::Duration, false, ["Upper", "Flex", "Basic"]),
        (Sort::DepartureTime, false, ["Flex", "Basic", "Upper"]),
        (Sort::DepartureTime, true, ["Upper", "Basic", "Flex"]),
    ];
    for (sort, descending, expected) in cases {
        let request = PriceRequest {
            sort,
            descending,
            ..ask::price_request()
        };
        let response = priced(ask::fixture("rates.json"), request).unwrap();
        assert_eq!(families(&response), expected, "{sort:?} {descending}");
        assert!(!response.truncated);
    }
}

#[test]
fn offer_has_terms_and_bags_of_each_passenger() {
    let response = priced(ask::fixture("rates.json"), ask::price_request()).unwrap();
    let flex = &response.offers[1];
    assert_eq!((flex.total, flex.currency.as_str()), (121_040, "EUR"));
    assert_eq!(flex.refundable, Some(true));
    let change = &flex.fare_conditions.change;
    assert_eq!(change.allowed, Some(true));
    let penalty = change.penalty.as_ref().unwrap();
    assert_eq!((penalty.amount, penalty.currency.as_str()), (7500, "USD"));
    let refund = flex.fare_conditions.refund.penalty.as_ref().unwrap();
    assert_eq!((refund.amount, refund.currency.as_str()), (12_000, "EUR"));
    assert!(flex.checked_bag_included && flex.carry_on_included && flex.documents_required);
    assert_eq!(
        flex.expires_at,
        time::parse_timestamp("2027-05-01T10:30:00Z")
    );
    // The passengers are an adult, a child who is an adult to Nuitee, a child and an infant. Bags
    // with a price are not included.
    let bags: Vec<_> = flex.journeys[0].segments[0]
        .passengers
        .iter()
        .map(|passenger| (passenger.checked_bags, passenger.carry_on_bags))
        .collect();
    let expected = [
        (Some(1), Some(1)),
        (Some(1), Some(1)),
        (Some(1), None),
        (None, None),
    ];
    assert_eq!(bags, expected);

    let basic = &response.offers[0];
    assert_eq!(basic.refundable, Some(false));
    // The fee for a no-show is not the refund's penalty.
    assert_eq!(basic.fare_conditions.refund.penalty, None);
    let passenger = &basic.journeys[0].segments[0].passengers[3];
    assert_eq!(passenger.checked_bags, Some(0));
    assert_eq!(passenger.carry_on_bags, None);
    // Its expiry is the time of the response, which is treated as none.
    assert_eq!(response.offers[2].expires_at, None);
}

#[test]
fn flights_are_grouped_into_journeys() {
    let response = priced(ask::fixture("rates.json"), ask::price_request()).unwrap();
    let [out, back] = response.offers[1].journeys.as_slice() else {
        panic!("{response:?}");
    };
    assert_eq!(out.direction, Direction::Outbound);
    assert_eq!(out.origin, "LHR");
    assert_eq!(out.destination, "JFK");
    assert_eq!(out.departure_time, "2027-06-01T08:00");
    assert_eq!(out.arrival_time, "2027-06-01T13:20");
    // 190 minutes of flight, 90 at the airport, and 340 of flight.
    assert_eq!((out.stops, out.duration_minutes), (1, Some(620)));
    assert_eq!(out.fare_brand.as_deref(), Some("Flex"));
    let flights: Vec<&str> = out
        .segments
        .iter()
        .map(|segment| segment.marketing_flight.as_str())
        .collect();
    assert_eq!(flights, ["XO101", "XO205"]);
    assert_eq!(back.direction, Direction::Inbound);
    let segment = &back.segments[0];
    assert_eq!(segment.supplier_segment_id, "s3");
    assert_eq!(segment.operating_carrier.as_deref(), Some("Partner Wings"));
    assert_eq!(
        segment.marketing_carrier_logo_url.as_deref(),
        Some("https://production.nuitee.flights/static/images/airlines/XO.png")
    );
    assert_eq!(
        segment.operating_carrier_logo_url.as_deref(),
        Some("https://logos.example/YP.png")
    );
    assert_eq!(segment.cabin, Cabin::Economy);
}

#[test]
fn multi_city_legs_are_split_by_date_and_airport() {
    let tour = |document: &mut Value| {
        let journey = &mut document["data"][0]["journeys"][0];
        for segment in journey["segments"].as_array_mut().unwrap() {
            segment["direction"] = json!("OUTBOUND");
        }
    };
    let document = ask::changed("rates.json", tour);
    type Case<'a> = (&'a [(&'a str, &'a str, &'a str)], Option<&'a [usize]>);
    let cases: [Case<'_>; 5] = [
        (
            &[
                ("LHR", "KEF", "2027-06-01"),
                ("KEF", "JFK", "2027-06-01"),
                ("JFK", "LHR", "2027-06-10"),
            ],
            Some(&[1, 1, 1]),
        ),
        (
            &[("LHR", "JFK", "2027-06-01"), ("JFK", "LHR", "2027-06-10")],
            Some(&[2, 1]),
        ),
        // The journeys are requested by city codes.
        (
            &[("LON", "NYC", "2027-06-01"), ("JFK", "LON", "2027-06-10")],
            Some(&[2, 1]),
        ),
        (
            &[("LON", "NYC", "2027-06-01"), ("NYC", "LON", "2027-06-10")],
            None,
        ),
        (
            &[("LHR", "JFK", "2027-06-01"), ("JFK", "LHR", "2027-06-11")],
            None,
        ),
    ];
    for (journeys, expected) in cases {
        let request = PriceRequest {
            journeys: journeys
                .iter()
                .map(|(origin, destination, date)| {
                    ask::requested_journey(origin, destination, date)
                })
                .collect(),
            ..ask::price_request()
        };
        let response = priced(&document, request).unwrap();
        let offer = response
            .offers
            .iter()
            .find(|offer| offer.fare_family.as_deref() == Some("Flex"));
        let counts: Option<Vec<usize>> = offer.map(|offer| {
            let journeys = offer.journeys.iter();
            journeys.map(|journey| journey.segments.len()).collect()
        });
        assert_eq!(counts.as_deref(), expected, "{journeys:?}");
        if let Some(offer) = offer {
            let direction = offer.journeys[0].direction;
            assert_eq!(direction, Direction::MultiCity, "{journeys:?}");
        }
    }
}

#[test]
fn search_sends_supported_filters() {
    let request = PriceRequest {
        filters: Filters {
            cabin: Some(Cabin::PremiumEconomy),
            max_stops: Some(1),
            airlines: vec!["XO".to_owned()],
            excluded_airlines: vec!["YP".to_owned()],
            departure_after: Some("06:00".to_owned()),
            departure_before: Some("20:00".to_owned()),
            arrival_before: Some("23:30".to_owned()),
            refundable: Some(true),
            checked_bag: Some(true),
            max_total: Some(150_050),
        },
        sort: Sort::Duration,
        descending: true,
        ..ask::price_request()
    };
    let gateway = ask::responding_with("rates.json").settings(r#"{"point_of_sale": "FR"}"#);
    let response = gateway.run(|| NuiteeFlights::price(request)).unwrap();
    let sent = &gateway.requests()[0];
    assert_eq!(sent.url, "https://api.liteapi.travel/v3.0/flights/rates");
    assert_eq!(sent.header_value("accept"), Some("application/json"));
    let filters = json!({"departureTimeAfter": "06:00", "departureTimeBefore": "20:00",
        "arrivalTimeBefore": "23:30", "maxStops": 1});
    assert_eq!(
        sent.body_json(),
        json!({
            "legs": [
                {"origin": "LHR", "destination": "JFK", "date": "2027-06-01", "direction": "OUTBOUND", "filters": filters},
                {"origin": "JFK", "destination": "LHR", "date": "2027-06-10", "direction": "INBOUND", "filters": filters},
            ],
            // The child of 12 years counts as an adult.
            "adults": 2, "children": 1, "infants": 1, "childrenAges": [7],
            "cabinClass": "PREMIUM_ECONOMY", "currency": "EUR", "country": "FR",
            "filters": {"cabinClass": "PREMIUM_ECONOMY", "cabinClassMatch": "exactly", "refundableOnly": true,
                "includesCheckedBag": true, "maxPrice": 1500.5},
            "sort": {"sortBy": "duration", "sortOrder": "desc"},
        })
    );
    let not_applied = AppliedFilters::AIRLINES | AppliedFilters::EXCLUDED_AIRLINES;
    assert_eq!(response.applied, AppliedFilters::all() - not_applied);
}

#[test]
fn unsupported_filters_are_neither_sent_nor_reported_as_applied() {
    let request = PriceRequest {
        filters: Filters {
            max_stops: Some(3),
            refundable: Some(false),
            checked_bag: Some(false),
            ..Filters::default()
        },
        currency: None,
        ..ask::price_request()
    };
    let gateway = ask::responding_with("rates.json").settings(r#"{"currency": "EUR"}"#);
    let response = gateway.run(|| NuiteeFlights::price(request)).unwrap();
    assert_eq!(response.applied, AppliedFilters::SORT);
    let sent = gateway.request_json(0);
    assert_eq!(sent["currency"], "EUR");
    assert_eq!(sent.get("filters"), None);
    assert_eq!(sent["legs"][0].get("filters"), None);
}

#[test]
fn offers_beyond_limit_are_truncated_and_reported() {
    for (limit, expected) in [(1, true), (2, true), (3, false)] {
        let request = PriceRequest {
            limit,
            ..ask::price_request()
        };
        let response = priced(ask::fixture("rates.json"), request).unwrap();
        assert_eq!(response.offers.len(), usize::from(limit));
        assert_eq!(response.truncated, expected, "{limit}");
    }
}

#[test]
fn unusable_offer_is_left_out_and_logged() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 9] = [
        ("other currency", |offer| {
            offer["pricing"]["display"]["currency"] = json!("USD");
        }),
        ("no price", |offer| offer["pricing"] = Value::Null),
        ("free", |offer| {
            offer["pricing"]["display"]["total"] = json!(0)
        }),
        ("negative", |offer| {
            offer["pricing"]["display"]["total"] = json!(-5);
        }),
        ("no id", |offer| offer["offerId"] = json!("")),
        ("long id", |offer| {
            offer["offerId"] = json!("x".repeat(4096))
        }),
        ("no cabin", |offer| {
            offer["segmentFares"][1]["cabin"] = json!("Cargo");
        }),
        ("no fares", |offer| offer["segmentFares"] = Value::Null),
        ("again", |offer| offer["offerId"] = json!("OFFER-BASIC")),
    ];
    for (name, change) in cases {
        let document = ask::changed("rates.json", |document| {
            let offers = document["data"][0]["journeys"][0]["offers"].as_array_mut();
            let offers = offers.unwrap();
            offers.reverse();
            change(&mut offers[1]);
        });
        let gateway = ask::gateway().respond_with(200, document);
        let response = gateway.run(|| NuiteeFlights::price(ask::price_request()));
        assert_eq!(families(&response.unwrap()), ["Basic", "Upper"], "{name}");
        let log_count = usize::from(name != "again");
        assert_eq!(gateway.logs().len(), log_count, "{name}");
    }
}

#[test]
fn missing_cabin_is_taken_from_fare_name() {
    let document = ask::changed("rates.json", |document| {
        let offer = &mut document["data"][1]["journeys"][0]["offers"][0];
        offer["segmentFares"] = json!([]);
        offer["fare"]["family"] = json!("First");
    });
    let response = priced(document, ask::price_request()).unwrap();
    assert_eq!(
        response.offers[2].journeys[0].segments[0].cabin,
        Cabin::First
    );
}

#[test]
fn event_stream_is_read_like_single_document() {
    let document: Value = serde_json::from_str(&ask::fixture("rates.json")).unwrap();
    let event =
        |batch: &Value| format!("event: rates-chunk\ndata: {}\n\n", json!({"data": [batch]}));
    let stream = format!(
        ": hello\n\n{}{}{}event: rates-complete\ndata: [DONE]\n\n",
        event(&document["data"][0]),
        event(&document["data"][1]),
        // The stream repeats the first batch, as a summary.
        event(&document["data"][0]),
    );
    let response = priced(&stream, ask::price_request()).unwrap();
    assert_eq!(families(&response), ["Basic", "Flex", "Upper"]);

    let failed = "event: error\ndata: {\"error\": {\"code\": 51006, \"message\": \"m\"}}\n\n";
    let gateway = ask::gateway().respond_with(200, format!("{failed}{stream}"));
    let response = gateway.run(|| NuiteeFlights::price(ask::price_request()));
    assert_eq!(response.unwrap().offers.len(), 3);
    assert_eq!(gateway.logs().len(), 1);
    let response = priced(failed, ask::price_request());
    assert_eq!(outcome(&response), Failed, "{response:?}");

    let broken = format!("{}data: {{\"data\": [", event(&document["data"][0]));
    let response = priced(broken, ask::price_request());
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}

#[test]
fn search_without_results_returns_empty_list() {
    let nothing = [
        (200, r#"{"data": []}"#),
        (200, r#"{"data": null}"#),
        (200, r#"{"data": [{"journeys": null}]}"#),
        (
            200,
            r#"{"error": {"code": 2001, "message": "no availability found"}}"#,
        ),
        (204, ""),
    ];
    for (status, document) in nothing {
        let gateway = ask::gateway().respond_with(status, document);
        let response = gateway.run(|| NuiteeFlights::price(ask::price_request()));
        let response = response.unwrap();
        assert!(
            response.offers.is_empty() && !response.truncated,
            "{document}"
        );
    }
}

#[test]
fn repeated_json_key_uses_last_value() {
    let document = ask::fixture("rates.json").replace(
        "\"journeyKey\": \"k-direct\",",
        "\"journeyKey\": \"old\", \"offers\": [], \"journeyKey\": \"k-direct\",",
    );
    let response = priced(document, ask::price_request()).unwrap();
    let journey = &response.offers[2].journeys[1];
    assert_eq!(journey.supplier_journey_id, "k-direct-2");
}

#[test]
fn redirect_is_followed_once_within_same_origin() {
    let moved = |location: &str| Response::new(307, "").with_header("Location", location);
    let sent_to = |location: &str| {
        let gateway = ask::gateway()
            .respond(moved(location))
            .respond_with(200, ask::fixture("rates.json"));
        let response = gateway.run(|| NuiteeFlights::price(ask::price_request()));
        assert_eq!(
            response.is_ok(),
            gateway.unused_responses() == 0,
            "{location}"
        );
        let requests = gateway.requests();
        let same = requests
            .iter()
            .all(|request| request.body == requests[0].body);
        assert!(same, "{location}");
        requests.get(1).map(|request| request.url.clone())
    };
    let home = "https://api.liteapi.travel/v3.0/flights/rates/";
    for location in ["/v3.0/flights/rates/", home] {
        assert_eq!(sent_to(location).as_deref(), Some(home));
    }
    for location in [
        "https://elsewhere.example/v3.0/flights/rates/",
        "https://api.liteapi.travel.elsewhere.example/",
        "//elsewhere.example/",
        "rates/",
        "",
    ] {
        assert_eq!(sent_to(location), None, "{location}");
    }
}

#[test]
fn large_response_is_converted_up_to_limit() {
    let mut document: Value = serde_json::from_str(&ask::fixture("rates.json")).unwrap();
    let itinerary = document["data"][0]["journeys"][0].clone();
    let journeys = document["data"][0]["journeys"].as_array_mut().unwrap();
    for number in 0..600 {
        let mut itinerary = itinerary.clone();
        for (index, offer) in itinerary["offers"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .enumerate()
        {
            offer["offerId"] = json!(format!("OFFER-{number}-{index}"));
            offer["pricing"]["display"]["total"] = json!(2000 - number);
        }
        journeys.push(itinerary);
    }
    let document = document.to_string();
    assert!(document.len() > 3_000_000, "{}", document.len());
    let request = PriceRequest {
        limit: 250,
        ..ask::price_request()
    };
    let response = priced(document, request).unwrap();
    assert_eq!((response.offers.len(), response.truncated), (250, true));
    assert_eq!(response.offers[0].total, 98_010);
}

#[test]
fn failed_search_returns_error() {
    let mut failures = read_failures();
    failures.push((Ok(Response::new(200, "<html>")), InvalidResponse));
    for (failure, expected) in failures {
        let gateway = ask::gateway().exchange(failure);
        let response = gateway.run(|| NuiteeFlights::price(ask::price_request()));
        assert_eq!(outcome(&response), expected, "{response:?}");
    }
}
