//! Search: requests, pages, and the conversion of offers.

use duffel_flights::DuffelFlights;
use serde_json::json;
use stopover_sdk::FlightPricing;
use stopover_sdk::flight_pricing::{
    AppliedFilters, Filters, Offer, PriceRequest, PriceResponse, Sort,
};
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::flight::{Cabin, Direction};

use crate::ask;

fn gateway() -> MockGateway {
    MockGateway::new()
        .respond_with(201, ask::fixture("offer-request.json"))
        .respond_with(200, ask::fixture("offers-1.json"))
        .respond_with(200, ask::fixture("offers-2.json"))
}

fn price(gateway: &MockGateway, request: PriceRequest) -> PriceResponse {
    gateway.run(|| DuffelFlights::price(request)).unwrap()
}

fn ids(offers: &[Offer]) -> Vec<&str> {
    offers
        .iter()
        .map(|offer| offer.supplier_offer.as_str())
        .collect()
}

#[test]
fn search_requests_no_offers_and_reads_them_in_pages() {
    let gateway = gateway();
    let response = price(&gateway, ask::price_request());
    assert_eq!(ids(&response.offers), ["off_cheap", "off_flex", "off_biz"]);
    assert!(!response.truncated);
    let requests = gateway.requests();
    assert_eq!(
        ask::data(&requests[0]),
        json!({
            "slices": [
                { "origin": "OLD", "destination": "NEW", "departure_date": "2027-06-01" },
                { "origin": "NEW", "destination": "OLD", "departure_date": "2027-06-08" },
            ],
            "passengers": [{ "type": "adult" }, { "age": 8 }, { "type": "infant_without_seat" }],
        })
    );
    let list = "https://api.duffel.com/air/offers?offer_request_id=orq_own&sort=total_amount";
    assert_eq!(requests[1].url, format!("{list}&limit=50"));
    assert_eq!(requests[2].url, format!("{list}&limit=48&after=page-2"));
    // The log has one line, for the offer without a price.
    assert_eq!(gateway.logs().len(), 1);
}

#[test]
fn offer_is_fully_converted() {
    let response = price(&gateway(), ask::price_request());
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
    assert_eq!(out.origin, "OLD");
    assert_eq!(out.destination, "NEW");
    assert_eq!(back.origin, "NEW");
    assert_eq!(back.destination, "OLS");
    assert_eq!(out.departure_time, "2027-06-01T09:00");
    assert_eq!(out.arrival_time, "2027-06-01T14:30");
    assert_eq!(out.duration_minutes, Some(690));
    assert_eq!(back.duration_minutes, Some(2375));
    // The outbound journey has one connection and one landing within a segment.
    assert_eq!((out.stops, back.stops), (2, 0));

    let segment = &out.segments[1];
    assert_eq!(segment.supplier_segment_id, "seg_2");
    assert_eq!(segment.marketing_flight, "OW12");
    assert_eq!(segment.marketing_carrier, "Own Air");
    assert_eq!(
        segment.marketing_carrier_logo_url.as_deref(),
        Some("https://logos.example/OW.svg")
    );
    assert_eq!(segment.operating_carrier.as_deref(), Some("Charter Own"));
    assert_eq!(segment.operating_carrier_logo_url, None);
    assert_eq!(segment.origin_time_zone.as_deref(), Some("Europe/Paris"));
    // Duffel lists the child first, the request the adult.
    let bags: Vec<_> = segment
        .passengers
        .iter()
        .map(|one| (one.passenger, one.checked_bags))
        .collect();
    assert_eq!(bags, [(0, Some(1)), (1, Some(1)), (2, None)]);
}

#[test]
fn missing_offer_data_is_unknown() {
    let response = price(&gateway(), ask::price_request());
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
    assert_eq!(out.segments[0].duration_minutes, None);
    assert_eq!(out.segments[0].operating_carrier, None);
    assert_eq!(out.segments[0].passengers[0].checked_bags, Some(0));
    assert_eq!(out.segments[0].passengers[1].checked_bags, None);
    assert_eq!(out.segments[0].passengers[0].cabin_name, None);
    // The two journeys have different names.
    assert_eq!(response.offers[2].fare_family, None);
}

#[test]
fn filters_are_sent_and_checked_again() {
    let with = |filters: Filters| PriceRequest {
        filters,
        ..ask::price_request()
    };
    let clock = |text: &str| Some(text.to_owned());
    type Case<'a> = (Filters, serde_json::Value, &'a [&'a str]);
    let cases: [Case<'_>; 5] = [
        (
            Filters {
                cabin: Some(Cabin::Business),
                ..Filters::default()
            },
            json!({ "cabin_class": "business" }),
            &["off_biz"],
        ),
        (
            Filters {
                max_stops: Some(1),
                ..Filters::default()
            },
            json!({ "max_connections": 1 }),
            &["off_cheap", "off_biz"],
        ),
        (
            Filters {
                departure_after: clock("09:00"),
                ..Filters::default()
            },
            json!({ "departure_time": { "from": "09:00", "to": "23:59" } }),
            &["off_flex", "off_biz"],
        ),
        (
            Filters {
                departure_after: clock("07:00"),
                departure_before: clock("20:00"),
                ..Filters::default()
            },
            json!({ "departure_time": { "from": "07:00", "to": "20:00" } }),
            &["off_flex", "off_biz"],
        ),
        (
            Filters {
                arrival_before: clock("13:00"),
                ..Filters::default()
            },
            json!({ "arrival_time": { "from": "00:00", "to": "13:00" } }),
            &["off_cheap", "off_biz"],
        ),
    ];
    for (filters, asked, kept) in cases {
        let gateway = gateway();
        let response = price(&gateway, with(filters));
        assert_eq!(ids(&response.offers), kept, "{asked}");
        let sent = ask::data(&gateway.requests()[0]);
        for (name, value) in asked.as_object().unwrap() {
            let of_slice = sent["slices"][1].get(name);
            assert_eq!(sent.get(name).or(of_slice), Some(value));
        }
    }
}

#[test]
fn only_filters_of_duffel_are_reported_as_applied() {
    let by = |sort, descending| PriceRequest {
        sort,
        descending,
        ..ask::price_request()
    };
    let cases = [
        (by(Sort::TotalAmount, false), "sort=total_amount", true),
        (by(Sort::TotalAmount, true), "sort=-total_amount", true),
        (by(Sort::Duration, false), "sort=total_duration", true),
        (by(Sort::Duration, true), "sort=-total_duration", true),
        (by(Sort::DepartureTime, true), "sort=total_amount", false),
    ];
    for (request, asked, is_sorted) in cases {
        let gateway = gateway();
        let applied = price(&gateway, request).applied;
        assert!(gateway.requests()[1].url.contains(asked), "{asked}");
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
        let response = price(
            &gateway,
            PriceRequest {
                limit,
                ..ask::price_request()
            },
        );
        assert_eq!(response.offers.len(), usize::from(limit));
        assert_eq!(
            (gateway.requests().len(), response.truncated),
            (requests, truncated),
            "{limit}"
        );
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
    let none = Filters {
        cabin: Some(Cabin::First),
        ..Filters::default()
    };
    let response = price(
        &gateway,
        PriceRequest {
            filters: none,
            ..ask::price_request()
        },
    );
    assert!(response.offers.is_empty() && response.truncated);
    assert_eq!(gateway.requests().len(), 11);
}

#[test]
fn search_without_offers_returns_empty_list() {
    let gateway = MockGateway::new()
        .respond_with(201, ask::fixture("offer-request.json"))
        .respond_with(200, r#"{"data": [], "meta": null}"#);
    let response = price(&gateway, ask::price_request());
    assert!(response.offers.is_empty() && !response.truncated);
}

#[test]
fn search_for_other_passengers_is_unreadable() {
    let made = ask::changed(
        "offer-request.json",
        &[("/passengers/0", json!({ "id": "pas_x", "type": "adult" }))],
    );
    let gateway = MockGateway::new().respond_with(201, made);
    let response = gateway.run(|| DuffelFlights::price(ask::price_request()));
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}
