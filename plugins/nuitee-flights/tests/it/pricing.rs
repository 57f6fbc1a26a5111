//! Search.

use serde_json::{Value, json};
use stopover_sdk::flight_pricing::{AppliedFilters, Filters, PriceRequest, PriceResponse, Sort};
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse};
use stopover_sdk::testing::{MockGateway, outcome, read_failures};
use stopover_sdk::time;
use stopover_sdk::types::flight::{Cabin, Direction};

use crate::ask;

/// Runs a changed search with this gateway.
fn price(gateway: &MockGateway, change: impl FnOnce(&mut PriceRequest)) -> PriceResponse {
    let mut request = ask::price_request();
    change(&mut request);
    ask::price_with(gateway, request).unwrap()
}

fn rates() -> MockGateway {
    ask::fixtures(&["rates.json"])
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
        let response = price(&rates(), |request| {
            request.sort = sort;
            request.descending = descending;
        });
        assert_eq!(families(&response), expected, "{sort:?} {descending}");
        assert!(!response.truncated);
    }
}

#[test]
fn offer_has_terms_and_bags_of_each_passenger() {
    let response = ask::price(&rates()).unwrap();
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
    let expires_at = time::parse_timestamp("2027-05-01T10:30:00Z");
    assert_eq!(flex.expires_at, expires_at);
    // The passengers are an adult, a child who is an adult to Nuitee, a child and an infant. Bags
    // with a price are not included.
    let passengers = flex.journeys[0].segments[0].passengers.iter();
    let bags = passengers.map(|passenger| (passenger.checked_bags, passenger.carry_on_bags));
    let (one, none) = (Some(1), None);
    assert!(bags.eq([(one, one), (one, one), (one, none), (none, none)]));

    let basic = &response.offers[0];
    assert_eq!(basic.refundable, Some(false));
    // The fee for a no-show is not the refund's penalty.
    assert_eq!(basic.fare_conditions.refund.penalty, None);
    let passenger = &basic.journeys[0].segments[0].passengers[3];
    assert_eq!(
        (passenger.checked_bags, passenger.carry_on_bags),
        (Some(0), None)
    );
    // Its expiry is the time of the response, which is treated as none.
    assert_eq!(response.offers[2].expires_at, None);
}

/// The party is two adults to Nuitee, a child and an infant without a seat.
#[test]
fn bags_of_every_seat_are_included_if_nuitee_does_not_say_it() {
    let bag =
        |passenger: &str| json!({"bagType": "checked", "passengerType": passenger, "pieces": 1});
    let dear = json!({"display": {"amount": 20, "currency": "EUR"}});
    let for_sale = json!({"bagType": "checked", "pieces": 1, "pricing": dear});
    for (flag, included, expected) in [
        (
            Value::Null,
            json!([{"bagType": "checked", "pieces": 1}]),
            true,
        ),
        (json!("yes"), json!([bag("ADT"), bag("CHD")]), true),
        (Value::Null, json!([bag("ADT")]), false),
        (Value::Null, json!([bag("INF")]), false),
        (
            Value::Null,
            json!([{"bagType": "checked", "pieces": 0}]),
            false,
        ),
        (Value::Null, json!([{"bagType": "checked"}]), false),
        (Value::Null, json!([for_sale]), false),
        (Value::Null, json!([]), false),
        (json!(false), json!([bag("ALL")]), false),
        (json!(true), json!([]), true),
    ] {
        let document = ask::changed("rates.json", |document| {
            let offer = &mut document["data"][0]["journeys"][0]["offers"][0];
            offer["baggage"] = json!({"hasCheckedBag": flag, "included": included});
        });
        let response = ask::price(&ask::responding(&[(200, &document)])).unwrap();
        let flex = &response.offers[1];
        assert_eq!(flex.checked_bag_included, expected, "{flag} {included}");
        assert!(!flex.carry_on_included, "{flag} {included}");
    }
}

/// A fee may be a percentage of the base fare, which is 800 EUR of a total of 1210.40 EUR.
#[test]
fn fee_without_amount_is_its_percentage_of_the_base_fare() {
    let no_show = json!({"pricing": null, "percent": 100, "applicability": "noShow"});
    let of = |percent: Value| json!({"percent": percent, "applicability": "beforeDeparture"});
    let amount = json!({"display": {"amount": 30, "currency": "GBP"}});
    let empty = json!({"display": null});
    for (fee, base, expected) in [
        (
            json!({"pricing": null, "percent": 100}),
            json!(800),
            Some((80_000, "EUR")),
        ),
        (of(json!(12.5)), json!(800), Some((10_000, "EUR"))),
        (of(json!("33.33")), json!(0.1), Some((3, "EUR"))),
        (of(json!(0)), json!(800), None),
        (
            json!({"pricing": empty, "percent": 50}),
            json!(800),
            Some((40_000, "EUR")),
        ),
        (
            json!({"pricing": amount, "percent": 50}),
            json!(800),
            Some((3_000, "GBP")),
        ),
        (of(json!(100)), Value::Null, None),
        (of(json!(100)), json!(-800), None),
        (of(json!(101)), json!(800), None),
        (of(json!(-1)), json!(800), None),
        (of(Value::Null), json!(800), None),
        (no_show, json!(800), None),
    ] {
        let document = ask::changed("rates.json", |document| {
            let offer = &mut document["data"][0]["journeys"][0]["offers"][0];
            offer["terms"]["refundFee"] = fee.clone();
            offer["pricing"]["display"]["base"] = base.clone();
        });
        let response = ask::price(&ask::responding(&[(200, &document)])).unwrap();
        let refund = &response.offers[1].fare_conditions.refund;
        let penalty = refund.penalty.as_ref();
        let penalty = penalty.map(|penalty| (penalty.amount, penalty.currency.as_str()));
        assert_eq!(penalty, expected, "{fee} {base}");
    }
}

#[test]
fn flights_are_grouped_into_journeys() {
    let response = ask::price(&rates()).unwrap();
    let [out, back] = response.offers[1].journeys.as_slice() else {
        panic!("{response:?}");
    };
    assert_eq!(out.direction, Direction::Outbound);
    assert_eq!([&out.origin, &out.destination], ["LHR", "JFK"]);
    let times = [&out.departure_time, &out.arrival_time];
    assert_eq!(times, ["2027-06-01T08:00", "2027-06-01T13:20"]);
    // 190 minutes of flight, 90 at the airport, and 340 of flight.
    assert_eq!((out.stops, out.duration_minutes), (1, Some(620)));
    assert_eq!(out.fare_brand.as_deref(), Some("Flex"));
    let flights = out
        .segments
        .iter()
        .map(|segment| segment.marketing_flight.as_str());
    assert!(flights.eq(["XO101", "XO205"]));
    assert_eq!(back.direction, Direction::Inbound);
    let segment = &back.segments[0];
    assert_eq!(segment.supplier_segment_id, "s3");
    assert_eq!(segment.operating_carrier.as_deref(), Some("Partner Wings"));
    let marketing_logo = "https://production.nuitee.flights/static/images/airlines/XO.png";
    let logos = [
        &segment.marketing_carrier_logo_url,
        &segment.operating_carrier_logo_url,
    ];
    let logos = logos.map(|logo| logo.as_deref().unwrap());
    assert_eq!(logos, [marketing_logo, "https://logos.example/YP.png"]);
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
    let (june1, june10) = ("2027-06-01", "2027-06-10");
    type Case<'a> = (&'a [(&'a str, &'a str, &'a str)], Option<&'a [usize]>);
    let cases: [Case<'_>; 5] = [
        (
            &[
                ("LHR", "KEF", june1),
                ("KEF", "JFK", june1),
                ("JFK", "LHR", june10),
            ],
            Some(&[1, 1, 1]),
        ),
        (
            &[("LHR", "JFK", june1), ("JFK", "LHR", june10)],
            Some(&[2, 1]),
        ),
        // The journeys are requested by city codes.
        (
            &[("LON", "NYC", june1), ("JFK", "LON", june10)],
            Some(&[2, 1]),
        ),
        (&[("LON", "NYC", june1), ("NYC", "LON", june10)], None),
        (&[("LHR", "JFK", june1), ("JFK", "LHR", "2027-06-11")], None),
    ];
    for (journeys, expected) in cases {
        let requested = journeys
            .iter()
            .map(|(origin, destination, date)| ask::requested_journey(origin, destination, date));
        let mut request = ask::price_request();
        request.journeys = requested.collect();
        // Without an offer whose flights match, the response is an error.
        let response = ask::price_with(&ask::responding(&[(200, &document)]), request);
        let offers = response.map_or_else(|_| Vec::new(), |response| response.offers);
        let mut offers = offers.iter();
        let offer = offers.find(|offer| offer.fare_family.as_deref() == Some("Flex"));
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
    let gateway = rates().settings(r#"{"point_of_sale": "FR"}"#);
    let response = price(&gateway, |request| {
        request.filters = Filters {
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
        };
        request.sort = Sort::Duration;
        request.descending = true;
    });
    assert_eq!(ask::sent(&gateway), ["POST /flights/rates"]);
    let sent = &gateway.requests()[0];
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
    let gateway = rates().settings(r#"{"currency": "EUR"}"#);
    let response = price(&gateway, |request| {
        request.filters.max_stops = Some(3);
        request.filters.refundable = Some(false);
        request.filters.checked_bag = Some(false);
        request.currency = None;
    });
    assert_eq!(response.applied, AppliedFilters::SORT);
    let sent = gateway.request_json(0);
    assert_eq!(sent["currency"], "EUR");
    assert_eq!(sent.get("filters"), None);
    assert_eq!(sent["legs"][0].get("filters"), None);
}

#[test]
fn offers_beyond_limit_are_truncated_and_reported() {
    for (limit, expected) in [(1, true), (2, true), (3, false)] {
        let response = price(&rates(), |request| request.limit = limit);
        assert_eq!(response.offers.len(), usize::from(limit));
        assert_eq!(response.truncated, expected, "{limit}");
    }
}

#[test]
fn unusable_offer_is_left_out_and_logged() {
    let values = [
        ("/pricing/display/currency", json!("USD"), 1),
        ("/pricing", Value::Null, 1),
        ("/pricing/display/total", json!(0), 1),
        ("/pricing/display/total", json!(-5), 1),
        ("/offerId", json!(""), 1),
        ("/offerId", json!("x".repeat(4096)), 1),
        ("/segmentFares/1/cabin", json!("Cargo"), 1),
        ("/segmentFares", Value::Null, 1),
        // An offer that comes again is not worth a message.
        ("/offerId", json!("OFFER-BASIC"), 0),
    ];
    for (pointer, value, log_count) in values {
        let document = ask::changed("rates.json", |document| {
            let offers = document["data"][0]["journeys"][0]["offers"].as_array_mut();
            let offers = offers.unwrap();
            offers.reverse();
            *offers[1].pointer_mut(pointer).unwrap() = value;
        });
        let gateway = ask::responding(&[(200, &document)]);
        let response = ask::price(&gateway).unwrap();
        assert_eq!(families(&response), ["Basic", "Upper"], "{pointer}");
        assert_eq!(gateway.logs().len(), log_count, "{pointer}");
    }
}

#[test]
fn missing_cabin_is_taken_from_fare_name() {
    let document = ask::changed("rates.json", |document| {
        let offer = &mut document["data"][1]["journeys"][0]["offers"][0];
        offer["segmentFares"] = json!([]);
        offer["fare"]["family"] = json!("First");
    });
    let response = ask::price(&ask::responding(&[(200, &document)])).unwrap();
    let segment = &response.offers[2].journeys[0].segments[0];
    assert_eq!(segment.cabin, Cabin::First);
}

/// The name of the whole fare is often a cabin's, and says nothing of a segment whose cabin is another one.
#[test]
fn unknown_cabin_is_not_replaced_by_the_name_of_the_fare() {
    let families_with = |cabin: &Value| {
        let document = ask::changed("rates.json", |document| {
            let offer = &mut document["data"][0]["journeys"][0]["offers"][0];
            offer["fare"]["family"] = json!("Economy");
            offer["segmentFares"][1]["cabin"] = cabin.clone();
        });
        let response = ask::price(&ask::responding(&[(200, &document)])).unwrap();
        let families = families(&response).into_iter();
        families.map(str::to_owned).collect::<Vec<String>>()
    };
    for odd in [
        json!("Premium"),
        json!("Y"),
        json!(7),
        json!({}),
        json!(["Economy"]),
    ] {
        assert_eq!(families_with(&odd), ["Basic", "Upper"], "{odd}");
    }
    for absent in [Value::Null, json!(""), json!(" ")] {
        assert_eq!(
            families_with(&absent),
            ["Basic", "Economy", "Upper"],
            "{absent}"
        );
    }
}

#[test]
fn event_stream_is_read_like_single_document() {
    let document: Value = serde_json::from_str(&ask::fixture("rates.json")).unwrap();
    let event =
        |batch: &Value| format!("event: rates-chunk\ndata: {}\n\n", json!({"data": [batch]}));
    // A document may come in two lines, which end with a carriage return, too.
    let lines = format!(
        "event: rates-chunk\r\ndata:{{\"data\":\r\ndata: [{}]}}\r\n\r\n",
        document["data"][1]
    );
    let stream = format!(
        ": hello\n\n{}{lines}{}event: rates-complete\ndata: [DONE]\n\n",
        event(&document["data"][0]),
        // The stream repeats the first batch, as a summary.
        event(&document["data"][0]),
    );
    let price = |document: &str| {
        let gateway = ask::responding(&[(200, document)]);
        (ask::price(&gateway), gateway.logs().len())
    };
    let (response, logged) = price(&stream);
    assert_eq!(families(&response.unwrap()), ["Basic", "Flex", "Upper"]);
    assert_eq!(logged, 0);

    let failed = "event: error\ndata: {\"error\": {\"code\": 51006, \"message\": \"m\"}}\n\n";
    let (response, logged) = price(&format!("{failed}{stream}"));
    assert_eq!((response.unwrap().offers.len(), logged), (3, 1));
    assert_eq!(outcome(&price(failed).0), Failed);

    // A stream that breaks off has the offers of the events before.
    let broken = format!("{}data: {{\"data\": [", event(&document["data"][0]));
    let (response, logged) = price(&broken);
    let response = response.unwrap();
    assert_eq!(
        (response.offers.len(), response.truncated, logged),
        (2, true, 1)
    );
}

#[test]
fn search_without_results_returns_empty_list() {
    let no_availability = ask::error(2001);
    let nothing = [
        (200, r#"{"data": []}"#),
        (200, r#"{"data": [{"journeys": []}]}"#),
        (200, no_availability.as_str()),
        (204, ""),
    ];
    for response in nothing {
        let result = ask::price(&ask::responding(&[response])).unwrap();
        let is_empty = result.offers.is_empty() && !result.truncated;
        assert!(is_empty, "{response:?}");
    }
    for lacking in [
        r#"{"data": [{}]}"#,
        r#"{"data": [null]}"#,
        r#"{"data": ""}"#,
        r#"{"data": [{"journeys": null}]}"#,
        r#"{"data": [{"journeys": ""}]}"#,
        r#"{"data": [{"journeys": [null]}]}"#,
        r#"{"data": [{"journeys": [{"journeyKey": "k"}]}]}"#,
        r#"{"data": [{"journeys": [{"offers": ""}]}]}"#,
        "event: rates-complete\ndata: [DONE]\n\n",
    ] {
        let result = ask::price(&ask::responding(&[(200, lacking)]));
        assert_eq!(outcome(&result), InvalidResponse, "{lacking}");
    }
}

#[test]
fn repeated_json_key_uses_last_value() {
    let document = ask::fixture("rates.json").replace(
        "\"journeyKey\": \"k-direct\",",
        "\"journeyKey\": \"old\", \"offers\": [], \"journeyKey\": \"k-direct\",",
    );
    let response = ask::price(&ask::responding(&[(200, &document)])).unwrap();
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
        let is_read = ask::price(&gateway).is_ok();
        assert_eq!(is_read, gateway.unused_responses() == 0, "{location}");
        let requests = gateway.requests();
        let mut bodies = requests.iter().map(|request| &request.body);
        assert!(bodies.all(|body| *body == requests[0].body), "{location}");
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
        let offers = itinerary["offers"].as_array_mut().unwrap();
        for (index, offer) in offers.iter_mut().enumerate() {
            offer["offerId"] = json!(format!("OFFER-{number}-{index}"));
            offer["pricing"]["display"]["total"] = json!(2000 - number);
        }
        journeys.push(itinerary);
    }
    let document = document.to_string();
    assert!(document.len() > 3_000_000, "{}", document.len());
    let gateway = ask::responding(&[(200, &document)]);
    let response = price(&gateway, |request| request.limit = 250);
    assert_eq!((response.offers.len(), response.truncated), (250, true));
    assert_eq!(response.offers[0].total, 98_010);
}

#[test]
fn failed_search_returns_error() {
    let mut failures = read_failures();
    failures.push((Ok(Response::new(200, "<html>")), InvalidResponse));
    for (failure, expected) in failures {
        let response = ask::price(&ask::gateway().exchange(failure));
        assert_eq!(outcome(&response), expected, "{response:?}");
    }
}

/// A stream of which one event cannot be read answers with the others, and counts it.
#[test]
fn unreadable_event_of_a_stream_is_left_out() {
    let whole = ask::changed("rates.json", |_| {});
    let offers = ask::price(&ask::responding(&[(200, &whole)]))
        .unwrap()
        .offers;
    for odd in [
        r#"{"data":7}"#,
        r#"{"total":12}"#,
        r#"{"data":[]}{}"#,
        r#"{"data":[{"journeys":""}]}"#,
    ] {
        for events in [[whole.as_str(), odd], [odd, whole.as_str()]] {
            let stream = events.map(|event| format!("data: {event}\n\n")).concat();
            let gateway = ask::responding(&[(200, &stream)]);
            let found = ask::price(&gateway).unwrap().offers;
            assert_eq!(found, offers, "{odd}");
            let dropped = gateway.dropped_items();
            let dropped: u32 = dropped.iter().map(|(_, count)| count).sum();
            assert_eq!(dropped, 1, "{odd}");
        }
        let alone = format!("data: {odd}\n\n");
        let nothing = ask::price(&ask::responding(&[(200, &alone)]));
        assert_eq!(outcome(&nothing), InvalidResponse, "{odd}: {nothing:?}");
    }
}
