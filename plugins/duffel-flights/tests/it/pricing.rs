//! Search: requests, pages, and the conversion of offers.

use serde_json::{Value, json};
use stopover_sdk::dropped::DropReason;
use stopover_sdk::flight_pricing::{AppliedFilters, Filters, PriceRequest, PriceResponse, Sort};
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::flight::{Cabin, Direction};

use crate::ask;

fn gateway() -> MockGateway {
    ask::fixtures(&["offer-request.json", "offers-1.json", "offers-2.json"])
}

/// Runs a changed search.
fn price(gateway: &MockGateway, change: impl FnOnce(&mut PriceRequest)) -> PriceResponse {
    let mut request = ask::price_request();
    change(&mut request);
    ask::price_of(gateway, request).unwrap()
}

fn ids(response: &PriceResponse) -> Vec<&str> {
    let offers = response.offers.iter();
    offers.map(|offer| offer.supplier_offer.as_str()).collect()
}

#[test]
fn search_requests_no_offers_and_reads_them_in_pages() {
    let gateway = gateway();
    let response = ask::price(&gateway).unwrap();
    assert_eq!(ids(&response), ["off_cheap", "off_flex", "off_biz"]);
    assert!(!response.truncated);
    assert_eq!(
        gateway.request_json(0)["data"],
        json!({
            "slices": [
                { "origin": "OLD", "destination": "NEW", "departure_date": "2027-06-01" },
                { "origin": "NEW", "destination": "OLD", "departure_date": "2027-06-08" },
            ],
            "passengers": [{ "type": "adult" }, { "age": 8 }, { "type": "infant_without_seat" }],
        })
    );
    let list = "GET /air/offers?offer_request_id=orq_own&sort=total_amount";
    let pages = [
        format!("{list}&limit=50"),
        format!("{list}&limit=48&after=page-2"),
    ];
    assert_eq!(ask::sent(&gateway)[1..], pages);
    // The log has one line, for the offer without a price.
    assert_eq!(gateway.logs().len(), 1);
}

#[test]
fn offer_is_fully_converted() {
    let response = ask::price(&gateway()).unwrap();
    let flex = &response.offers[1];
    assert_eq!((flex.total, flex.currency.as_str()), (36_040, "EUR"));
    assert_eq!(flex.exclusive_key.as_deref(), Some("orq_own"));
    assert_eq!(flex.fare_family.as_deref(), Some("Own Flex"));
    assert_eq!(flex.refundable, Some(true));
    let penalty = flex.fare_conditions.refund.penalty.as_ref().unwrap();
    assert_eq!((penalty.amount, penalty.currency.as_str()), (5_000, "USD"));
    assert_eq!(flex.fare_conditions.change.allowed, Some(false));
    assert!(flex.documents_required && flex.checked_bag_included && flex.carry_on_included);
    assert_eq!(flex.expires_at, Some(1_809_167_400_500));

    let [out, back] = flex.journeys.as_slice() else {
        panic!("{:?}", flex.journeys);
    };
    // The trip leaves Oldtown North and returns to Oldtown South, which is in the same city.
    assert_eq!(out.direction, Direction::Outbound);
    assert_eq!(back.direction, Direction::Inbound);
    let places = [
        &out.origin,
        &out.destination,
        &back.origin,
        &back.destination,
    ];
    assert_eq!(places, ["OLD", "NEW", "NEW", "OLS"]);
    let times = [&out.departure_time, &out.arrival_time];
    assert_eq!(times, ["2027-06-01T09:00", "2027-06-01T14:30"]);
    let durations = [out.duration_minutes, back.duration_minutes];
    assert_eq!(durations, [Some(690), Some(2375)]);
    // The outbound journey has one connection and one landing within a segment.
    assert_eq!((out.stops, back.stops), (2, 0));

    let segment = &out.segments[1];
    assert_eq!(segment.supplier_segment_id, "seg_2");
    assert_eq!(segment.marketing_flight, "OW12");
    assert_eq!(segment.marketing_carrier, "Own Air");
    let logo = segment.marketing_carrier_logo_url.as_deref();
    assert_eq!(logo, Some("https://logos.example/OW.svg"));
    assert_eq!(segment.operating_carrier.as_deref(), Some("Charter Own"));
    assert_eq!(segment.operating_carrier_logo_url, None);
    assert_eq!(segment.origin_time_zone.as_deref(), Some("Europe/Paris"));
    // Duffel lists the child first, the request the adult.
    let passengers = segment.passengers.iter();
    let bags: Vec<_> = passengers
        .map(|one| (one.passenger, one.checked_bags))
        .collect();
    assert_eq!(bags, [(0, Some(1)), (1, Some(1)), (2, None)]);
}

#[test]
fn missing_offer_data_is_unknown() {
    let response = ask::price(&gateway()).unwrap();
    let cheap = &response.offers[0];
    assert_eq!(cheap.total, 21_050);
    assert_eq!(cheap.refundable, None);
    assert_eq!(cheap.fare_family.as_deref(), None);
    let change = &cheap.fare_conditions.change;
    assert_eq!(change.allowed, Some(true));
    assert_eq!(change.penalty.as_ref(), None);
    assert!(!cheap.checked_bag_included && !cheap.carry_on_included);
    let out = &cheap.journeys[0];
    assert_eq!(out.duration_minutes, None);
    let segment = &out.segments[0];
    assert_eq!(
        (segment.duration_minutes, &segment.operating_carrier),
        (None, &None)
    );
    let [adult, child, ..] = segment.passengers.as_slice() else {
        panic!("{segment:?}");
    };
    assert_eq!((adult.checked_bags, child.checked_bags), (Some(0), None));
    assert_eq!(adult.cabin_name, None);
    // The two journeys have different names.
    assert_eq!(response.offers[2].fare_family, None);
}

#[test]
fn filters_are_sent_and_checked_again() {
    type Case<'a> = (fn(&mut Filters), Value, &'a [&'a str]);
    let cases: [Case<'_>; 5] = [
        (
            |filters| filters.cabin = Some(Cabin::Business),
            json!({ "cabin_class": "business" }),
            &["off_biz"],
        ),
        (
            |filters| filters.max_stops = Some(1),
            json!({ "max_connections": 1 }),
            &["off_cheap", "off_biz"],
        ),
        (
            |filters| filters.departure_after = Some("09:00".to_owned()),
            json!({ "departure_time": { "from": "09:00", "to": "23:59" } }),
            &["off_flex", "off_biz"],
        ),
        (
            |filters| {
                filters.departure_after = Some("07:00".to_owned());
                filters.departure_before = Some("20:00".to_owned());
            },
            json!({ "departure_time": { "from": "07:00", "to": "20:00" } }),
            &["off_flex", "off_biz"],
        ),
        (
            |filters| filters.arrival_before = Some("13:00".to_owned()),
            json!({ "arrival_time": { "from": "00:00", "to": "13:00" } }),
            &["off_cheap", "off_biz"],
        ),
    ];
    for (change, asked, kept) in cases {
        let gateway = gateway();
        let response = price(&gateway, |request| change(&mut request.filters));
        assert_eq!(ids(&response), kept, "{asked}");
        let sent = &gateway.request_json(0)["data"];
        for (name, value) in asked.as_object().unwrap() {
            let of_slice = sent["slices"][1].get(name);
            assert_eq!(sent.get(name).or(of_slice), Some(value));
        }
    }
}

#[test]
fn only_filters_of_duffel_are_reported_as_applied() {
    let cases = [
        (Sort::TotalAmount, false, "sort=total_amount", true),
        (Sort::TotalAmount, true, "sort=-total_amount", true),
        (Sort::Duration, false, "sort=total_duration", true),
        (Sort::Duration, true, "sort=-total_duration", true),
        (Sort::DepartureTime, true, "sort=total_amount", false),
    ];
    for (sort, descending, asked, is_sorted) in cases {
        let gateway = gateway();
        let response = price(&gateway, |request| {
            request.sort = sort;
            request.descending = descending;
        });
        assert!(gateway.requests()[1].url.contains(asked), "{asked}");
        let applied = response.applied;
        assert_eq!(applied.contains(AppliedFilters::SORT), is_sorted, "{asked}");
        let others = AppliedFilters::AIRLINES
            | AppliedFilters::EXCLUDED_AIRLINES
            | AppliedFilters::REFUNDABLE
            | AppliedFilters::CHECKED_BAG
            | AppliedFilters::MAX_TOTAL;
        assert!(applied.intersection(others).is_empty());
        assert!(applied.contains(AppliedFilters::CABIN | AppliedFilters::MAX_STOPS));
    }
}

#[test]
fn offers_beyond_limit_are_truncated_and_reported() {
    let cases = [(1, 2, true), (2, 2, true), (3, 3, false)];
    for (limit, requests, truncated) in cases {
        let gateway = gateway();
        let response = price(&gateway, |request| request.limit = limit);
        assert_eq!(response.offers.len(), usize::from(limit));
        assert_eq!(gateway.requests().len(), requests, "{limit}");
        assert_eq!(response.truncated, truncated, "{limit}");
    }
}

#[test]
fn endless_offer_list_stops_after_page_limit() {
    let made = ask::fixture("offer-request.json");
    let page = ask::fixture("offers-1.json");
    let mut asked = 0;
    let gateway = MockGateway::new().handle_requests(move |_| {
        asked += 1;
        let body = if asked == 1 { &made } else { &page };
        Ok(Response::new(200, body))
    });
    let response = price(&gateway, |request| {
        request.filters.cabin = Some(Cabin::First);
    });
    assert!(response.offers.is_empty() && response.truncated);
    assert_eq!(gateway.requests().len(), 11);
}

#[test]
fn search_without_offers_returns_empty_list() {
    let gateway =
        ask::fixtures(&["offer-request.json"]).respond_with(200, r#"{"data": [], "meta": null}"#);
    let response = ask::price(&gateway).unwrap();
    assert!(response.offers.is_empty() && !response.truncated);
}

#[test]
fn search_for_other_passengers_is_unreadable() {
    let adult = json!({ "id": "pas_x", "type": "adult" });
    let made = ask::changed("offer-request.json", &[("/passengers/0", adult)]);
    let response = ask::price(&MockGateway::new().respond_with(201, made));
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}

#[test]
fn offer_for_other_passengers_is_left_out() {
    let stranger = ("/0/passengers/1/id", json!("pas_other"));
    let page = ask::changed("offers-1.json", &[stranger]);
    let gateway = ask::fixtures(&["offer-request.json"])
        .respond_with(200, page)
        .respond_with(200, ask::fixture("offers-2.json"));
    let response = ask::price(&gateway).unwrap();
    assert_eq!(ids(&response), ["off_flex", "off_biz"]);
}

/// The pages before one that cannot be read are answered, and the rest is counted as one item.
#[test]
fn failed_page_costs_only_the_offers_after_it() {
    let page = |status: u16, body: &str| {
        ask::fixtures(&["offer-request.json", "offers-1.json"]).respond_with(status, body)
    };
    for (status, body) in [
        (200, "<html>"),
        (200, "{}"),
        (200, r#"{"data": 7}"#),
        (500, ""),
        (429, ""),
        (404, "{}"),
    ] {
        let gateway = page(status, body);
        let response = ask::price(&gateway).unwrap();
        assert_eq!(ids(&response), ["off_cheap", "off_flex"], "{status} {body}");
        assert!(response.truncated, "{status} {body}");
        // The first page has an offer without a price.
        let dropped = gateway.dropped_items();
        let dropped: u32 = dropped.iter().map(|(_, count)| count).sum();
        assert_eq!(dropped, 2, "{status} {body}");
        // Nothing is left of an answer whose offers are all filtered out.
        let mut request = ask::price_request();
        request.filters.cabin = Some(Cabin::First);
        assert!(ask::price_of(&page(status, body), request).is_err());
    }
    let lost = stopover_sdk::http::Error::ConnectionLost("reset".to_owned());
    let gateway = ask::fixtures(&["offer-request.json", "offers-1.json"]).fail_with(lost);
    assert_eq!(ids(&ask::price(&gateway).unwrap()).len(), 2);
}

/// A search binds nobody. The offers state the same passengers, and the prebook matches them strictly.
#[test]
fn odd_passenger_of_a_search_costs_at_most_its_bags() {
    let offers = |values: &[(&str, Value)]| {
        let made = ask::changed("offer-request.json", values);
        let gateway = MockGateway::new()
            .respond_with(201, made)
            .respond_with(200, ask::fixture("offers-2.json"));
        let offers = ask::price(&gateway).unwrap().offers;
        let dropped = gateway.dropped_items();
        (offers, dropped.iter().map(|(_, count)| count).sum::<u32>())
    };
    let (whole, none) = offers(&[]);
    assert_eq!((whole.len(), none), (1, 0));
    // One passenger without a known type is the one that is left.
    for odd in [json!(null), json!({}), json!("youth"), json!(7)] {
        let (found, dropped) = offers(&[("/passengers/1/type", odd.clone())]);
        assert_eq!((&found, dropped), (&whole, 1), "{odd}");
    }
    for odd in [json!(null), json!({}), json!("pas_child")] {
        let (found, dropped) = offers(&[("/passengers/1/id", odd.clone())]);
        assert_eq!(found.len(), 1, "{odd}");
        assert!(dropped >= 1, "{odd}");
        assert_eq!(found[0].total, whole[0].total, "{odd}");
    }
    let (found, dropped) = offers(&[("/passengers/1", json!(7))]);
    assert_eq!((found.len(), dropped), (1, 1));
}

/// Only a list of other passengers shows that the search is another one.
#[test]
fn search_without_readable_passengers_costs_only_their_bags() {
    let search = ask::fixture("offer-request.json");
    let twice = search.replacen(r#""slices""#, r#""passengers": [], "slices""#, 1);
    let with = |odd: Value| ask::changed("offer-request.json", &[("/passengers", odd)]);
    let odd = [json!(null), json!([]), json!(5), json!("x"), json!("")];
    let whole = ask::price(&ask::fixtures(&["offer-request.json", "offers-2.json"]));
    let whole = whole.unwrap().offers;
    for search in odd.map(with).into_iter().chain([twice]) {
        let gateway = MockGateway::new()
            .respond_with(201, &search)
            .respond_with(200, ask::fixture("offers-2.json"));
        let offers = ask::price(&gateway).unwrap().offers;
        assert_eq!(offers.len(), whole.len(), "{search}");
        assert_eq!(offers[0].total, whole[0].total, "{search}");
        let segment = &offers[0].journeys[0].segments[0];
        assert_eq!(segment.cabin, whole[0].journeys[0].segments[0].cabin);
        // Duffel's order of the passengers is not that of the request.
        assert_eq!(segment.passengers, [], "{search}");
        let dropped = gateway.dropped_items();
        let dropped: u32 = dropped.iter().map(|(_, count)| count).sum();
        assert_eq!(dropped, 1, "{search}");
        assert!(gateway.logs()[0].1.contains("/data/passengers"), "{search}");
    }
}

/// A search of one passenger needs no ids.
#[test]
fn bags_of_a_single_passenger_are_known_without_ids() {
    let search = ask::changed("offer-request.json", &[("/passengers", json!(null))]);
    let mut page: Value = serde_json::from_str(&ask::fixture("offers-2.json")).unwrap();
    let adult = |one: &Value| one["id"] == "pas_adult" || one["passenger_id"] == "pas_adult";
    for offer in page["data"].as_array_mut().unwrap() {
        offer["passengers"].as_array_mut().unwrap().retain(adult);
        for slice in offer["slices"].as_array_mut().unwrap() {
            for segment in slice["segments"].as_array_mut().unwrap() {
                segment["passengers"].as_array_mut().unwrap().retain(adult);
            }
        }
    }
    let gateway = MockGateway::new()
        .respond_with(201, search)
        .respond_with(200, page.to_string());
    let mut request = ask::price_request();
    request.passengers.children.clear();
    request.passengers.infants = 0;
    let offers = ask::price_of(&gateway, request).unwrap().offers;
    let segment = &offers[0].journeys[0].segments[0];
    let passengers = segment.passengers.iter().map(|one| one.passenger);
    assert_eq!(passengers.collect::<Vec<_>>(), [0]);
}

/// Returns pages of offers in these currencies, with their positions as ids.
fn pages_in(currencies: &[&[&str]]) -> Vec<String> {
    let offer: Value = serde_json::from_str(&ask::fixture("offer.json")).unwrap();
    let numbered = |page: usize, at: usize, currency: &str| {
        let mut offer = offer["data"].clone();
        offer["id"] = json!(format!("off_{page}_{at}"));
        offer["total_currency"] = json!(currency);
        offer
    };
    let pages = currencies.iter().enumerate();
    let pages = pages.map(|(page, in_page)| {
        let offers = in_page.iter().enumerate();
        let offers = offers.map(|(at, currency)| numbered(page, at, currency));
        let after = (page + 1 < currencies.len()).then_some("more");
        json!({ "data": offers.collect::<Vec<_>>(), "meta": { "after": after } }).to_string()
    });
    pages.collect()
}

/// A response has one currency. Offers in another one than most are counted, and do not cost the search.
#[test]
fn offer_in_another_currency_costs_only_itself() {
    type Case<'a> = (&'a [&'a [&'a str]], &'a [&'a str], &'a str);
    let cases: [Case<'_>; 9] = [
        (
            &[&["USD", "USD", "EUR"]],
            &["off_0_0", "off_0_1"],
            "/data/2",
        ),
        (
            &[&["EUR", "USD", "USD"]],
            &["off_0_1", "off_0_2"],
            "/data/0",
        ),
        (
            &[&["USD", "XXX", "USD"]],
            &["off_0_0", "off_0_2"],
            "/data/1",
        ),
        (
            &[&["XXX", "USD", "USD"]],
            &["off_0_1", "off_0_2"],
            "/data/0",
        ),
        (&[&["dollars", "USD"]], &["off_0_1"], "/data/0"),
        // Of two currencies with as many offers, the first one counts, unless nobody pays in it.
        (&[&["EUR", "USD"]], &["off_0_0"], "/data/1"),
        (&[&["XXX", "USD"]], &["off_0_1"], "/data/0"),
        (&[&["XCD", "USD"]], &["off_0_0"], "/data/1"),
        // The offers of all pages count.
        (
            &[&["EUR"], &["USD", "USD"]],
            &["off_1_0", "off_1_1"],
            "/data/0",
        ),
    ];
    for (currencies, kept, pointer) in cases {
        let pages = pages_in(currencies);
        let search = ask::fixtures(&["offer-request.json"]);
        let pages = pages.iter();
        let gateway = pages.fold(search, |gateway, page| gateway.respond_with(200, page));
        let response = ask::price(&gateway).unwrap();
        assert_eq!(ids(&response), kept, "{currencies:?}");
        let mut offers = response.offers.iter();
        let first = &response.offers[0].currency;
        assert!(offers.all(|offer| offer.currency == *first));
        assert!(!response.truncated, "{currencies:?}");
        let dropped = gateway.dropped_items();
        assert_eq!(dropped, [(DropReason::InvalidValue, 1)], "{currencies:?}");
        let logs = gateway.logs();
        assert!(logs[0].1.contains(pointer), "{currencies:?}: {logs:?}");
    }
}

/// Pages are read until as many offers as requested are in one currency.
#[test]
fn offers_in_another_currency_do_not_count_towards_the_limit() {
    let pages = pages_in(&[&["EUR", "USD"], &["USD", "EUR"], &["USD", "USD"], &["USD"]]);
    let search = ask::fixtures(&["offer-request.json"]);
    let pages = pages.iter();
    let gateway = pages.fold(search, |gateway, page| gateway.respond_with(200, page));
    let response = price(&gateway, |request| request.limit = 4);
    assert_eq!(ids(&response), ["off_0_1", "off_1_0", "off_2_0", "off_2_1"]);
    assert!(response.truncated);
    assert_eq!(gateway.unused_responses(), 1);
    assert_eq!(gateway.dropped_items(), [(DropReason::InvalidValue, 2)]);
}
