//! Conversion of fares to offers.

use fake_flights::{Jetbridge, Skylane};
use serde_json::{Value, json};
use stopover_sdk::flight_pricing::{
    AppliedFilters, Filters, PassengerCounts, PriceRequest, PriceResponse, Sort,
};
use stopover_sdk::log::Level;
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::outcome;
use stopover_sdk::types::Money;
use stopover_sdk::types::flight::{Cabin, Direction};
use stopover_sdk::{DetailedFlightPricing, FlightPricing, ReadError};

use crate::ask::{asked, gateway, price_request};
use crate::supplier::{JETBRIDGE, SKYLANE, SUPPLIERS, Supplier};

/// Prices at a supplier that returns its fixture after some values were replaced.
fn priced(supplier: &Supplier, edits: &[(&str, Value)]) -> Result<PriceResponse, ReadError> {
    let gateway = gateway().respond_with(200, supplier.edited("offers", edits));
    gateway.run(|| (supplier.price)(price_request()))
}

/// Returns a request with every filter.
fn picky() -> PriceRequest {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    PriceRequest {
        passengers: PassengerCounts {
            adults: 1,
            children: vec![7, 12],
            infants: 1,
        },
        filters: Filters {
            cabin: Some(Cabin::PremiumEconomy),
            max_stops: Some(0),
            airlines: texts(&["BA", "QF"]),
            excluded_airlines: texts(&["EK"]),
            departure_after: Some("06:00".to_owned()),
            departure_before: Some("12:30".to_owned()),
            arrival_before: Some("23:59".to_owned()),
            refundable: Some(true),
            checked_bag: Some(false),
            max_total: Some(150_000),
        },
        sort: Sort::DepartureTime,
        descending: true,
        limit: 250,
        ..price_request()
    }
}

#[test]
fn skylane_search_sends_supported_filters() {
    let nothing = r#"{"data": {"offers": [], "matches": 0, "more": false}}"#;
    let slices = json!([
        {"from": "LHR", "to": "SYD", "date": "2027-03-01"},
        {"from": "SYD", "to": "LHR", "date": "2027-03-15"},
    ]);
    let plain = json!({
        "slices": slices, "travellers": [{"type": "adult"}, {"type": "adult"}],
        "currency": "EUR", "limit": 50,
    });
    let whole = json!({
        "slices": slices,
        "travellers": [
            {"type": "adult"}, {"type": "child", "age": 7}, {"type": "child", "age": 12}, {"type": "infant"},
        ],
        "cabin": "premium", "max_connections": 0, "currency": "EUR", "limit": 250,
    });
    for (request, expected) in [(price_request(), plain), (picky(), whole)] {
        let gateway = gateway().respond_with(201, nothing);
        gateway.run(|| Skylane::price(request)).unwrap();
        assert_eq!(asked(&gateway), ["POST /skylane/offers/search"]);
        assert_eq!(gateway.request_json(0), expected);
    }
}

#[test]
fn jetbridge_search_sends_all_filters_and_reports_them_as_applied() {
    let nothing = r#"{"ok": true, "result": {"fares": [], "more": false}}"#;
    let legs = json!([
        {"org": "LHR", "dst": "SYD", "day": "2027-03-01"},
        {"org": "SYD", "dst": "LHR", "day": "2027-03-15"},
    ]);
    let plain = json!({
        "legs": legs, "pax": {"adt": 2, "chd": [], "inf": 0}, "ccy": "EUR", "filters": {},
        "sort": "PRICE", "descending": false, "limit": 50,
    });
    let whole = json!({
        "legs": legs, "pax": {"adt": 1, "chd": [7, 12], "inf": 1}, "ccy": "EUR",
        "filters": {
            "cabin": "W", "maxStops": 0, "airlines": ["BA", "QF"], "notAirlines": ["EK"],
            "departAfter": "06:00", "departBefore": "12:30", "arriveBefore": "23:59",
            "refundable": true, "checkedBag": false, "maxPrice": 150_000,
        },
        "sort": "DEPARTURE", "descending": true, "limit": 250,
    });
    for (request, expected) in [(price_request(), plain), (picky(), whole)] {
        let gateway = gateway().respond_with(200, nothing);
        let response = gateway.run(|| Jetbridge::price(request)).unwrap();
        assert_eq!(response.applied, AppliedFilters::all());
        assert_eq!(asked(&gateway), ["POST /jetbridge/v3/fares"]);
        assert_eq!(gateway.request_json(0), expected);
    }
}

#[test]
fn skylane_reports_two_filters_and_one_sort_order_as_applied() {
    let known = AppliedFilters::CABIN | AppliedFilters::MAX_STOPS;
    for (sort, descending, expected) in [
        (Sort::TotalAmount, false, known | AppliedFilters::SORT),
        (Sort::TotalAmount, true, known),
        (Sort::Duration, false, known),
        (Sort::DepartureTime, false, known),
    ] {
        let gateway = gateway().respond_with(201, SKYLANE.edited("offers", &[]));
        let request = PriceRequest {
            sort,
            descending,
            ..price_request()
        };
        let response = gateway.run(|| Skylane::price(request)).unwrap();
        assert_eq!(response.applied, expected, "{sort:?} {descending}");
    }
}

#[test]
fn fares_are_fully_converted() {
    for supplier in SUPPLIERS {
        let response = priced(&supplier, &[]).unwrap();
        assert!(response.truncated);
        let totals: Vec<_> = response.offers.iter().map(|offer| offer.total).collect();
        assert_eq!(totals, [128_000, 129_400, 130_800, 132_200]);

        let offer = &response.offers[2];
        assert_eq!(offer.currency, "EUR");
        assert_eq!(offer.fare_family.as_deref(), Some("Economy Basic"));
        assert_eq!(offer.refundable, Some(false));
        assert_eq!(offer.fare_conditions.refund.allowed, Some(false));
        assert_eq!(offer.fare_conditions.change.penalty, None);
        assert!(!offer.documents_required);
        assert!(!offer.checked_bag_included && offer.carry_on_included);
        let minutes = offer.expires_at.unwrap() - 1_795_301_747_914;
        assert!((1_800_000..1_801_000).contains(&minutes), "{minutes}");

        let [out, back] = offer.journeys.as_slice() else {
            panic!("{:?}", offer.journeys);
        };
        assert_eq!(out.origin, "LHR");
        assert_eq!(out.destination, "SYD");
        assert_eq!(out.direction, Direction::Outbound);
        assert_eq!(back.direction, Direction::Inbound);
        assert_eq!((out.stops, back.stops), (2, 0));
        assert_eq!(out.fare_brand.as_deref(), Some("Economy Basic"));
        let first = &out.segments[0];
        assert_eq!(out.departure_time, first.departure_time);
        assert_eq!(out.arrival_time, out.segments[2].arrival_time);
        assert_eq!(first.origin, "LHR");
        assert_eq!(first.destination, "DOH");
        assert_eq!(first.departure_time, "2027-03-01T08:00");
        assert_eq!(first.origin_time_zone.as_deref(), Some("Europe/London"));
        assert_eq!(first.destination_time_zone.as_deref(), Some("Asia/Qatar"));
        assert_eq!(first.marketing_carrier, "Singapore Airlines");
        assert_eq!(first.marketing_carrier_code, "SQ");
        let flight = &first.marketing_flight;
        assert!(flight.starts_with("SQ"), "{flight}");
        assert_eq!(first.operating_carrier, None);
        assert_eq!(first.cabin, Cabin::Economy);
        let [one, other] = first.passengers.as_slice() else {
            panic!("{:?}", first.passengers);
        };
        assert_eq!((one.passenger, other.passenger), (0, 1));
        assert_eq!((one.checked_bags, one.carry_on_bags), (Some(0), Some(1)));
        assert_eq!(one.cabin_name.as_deref(), Some("Economy Basic"));
    }
}

#[test]
fn requests_have_no_credentials() {
    for supplier in SUPPLIERS {
        let gateway = gateway().respond_with(200, supplier.edited("offers", &[]));
        gateway.run(|| (supplier.price)(price_request())).unwrap();
        let headers = &gateway.requests()[0].headers;
        let names: Vec<_> = headers.iter().map(|header| header.name.as_str()).collect();
        assert_eq!(names, ["content-type"]);
    }
}

#[test]
fn journey_durations_include_connections() {
    for supplier in SUPPLIERS {
        let response = priced(&supplier, &[]).unwrap();
        let out = &response.offers[1].journeys[0];
        let flown = out.segments.iter().filter_map(|one| one.duration_minutes);
        let flown: u32 = flown.sum();
        // The journey has one connection of 110 minutes.
        assert_eq!(out.duration_minutes, Some(flown + 110));
        assert!(flown > 1_000, "{flown}");
    }
}

#[test]
fn skylane_offer_is_exclusive_and_jetbridge_fare_is_not() {
    for offer in priced(&SKYLANE, &[]).unwrap().offers {
        assert_eq!(offer.exclusive_key, Some(offer.supplier_offer));
    }
    for offer in priced(&JETBRIDGE, &[]).unwrap().offers {
        assert_eq!(offer.exclusive_key, None);
    }
}

#[test]
fn operating_carrier_is_converted() {
    let carrier = json!({"code": "EK", "name": "Emirates", "logo": "https://t.example/EK.svg"});
    let pointers = [
        "/data/offers/0/slices/0/segments/0/operator",
        "/result/fares/0/journeys/0/legs/0/opr",
    ];
    for (supplier, pointer) in SUPPLIERS.into_iter().zip(pointers) {
        let response = priced(&supplier, &[(pointer, carrier.clone())]).unwrap();
        let segment = &response.offers[0].journeys[0].segments[0];
        assert_eq!(segment.operating_carrier.as_deref(), Some("Emirates"));
        let logo = segment.operating_carrier_logo_url.as_deref();
        assert_eq!(logo, Some("https://t.example/EK.svg"));
    }
}

#[test]
fn bag_is_included_only_if_every_passenger_has_one() {
    let with_bag = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(slice, traveller)| {
        let travellers = format!("/data/offers/0/slices/{slice}/segments/0/travellers");
        format!("{travellers}/{traveller}/checked")
    });
    for (with_bag, expected) in [
        (&with_bag[..], true),
        (&with_bag[..3], false),
        (&with_bag[1..], false),
    ] {
        let edits = with_bag.iter().map(|pointer| (pointer.as_str(), json!(1)));
        let response = priced(&SKYLANE, &edits.collect::<Vec<_>>()).unwrap();
        let is_included = response.offers[0].checked_bag_included;
        assert_eq!(is_included, expected, "{with_bag:?}");
    }
}

#[test]
fn skylane_amount_must_have_decimals_of_currency() {
    for (currency, written, expected) in [
        ("EUR", "600.00", Some(60_000)),
        ("JPY", "600", Some(600)),
        ("KWD", "600.125", Some(600_125)),
        ("EUR", "600.125", None),
        ("JPY", "600.50", None),
        ("EUR", "six hundred", None),
        ("EUR", "", None),
        ("euro", "1", None),
    ] {
        let money = json!({"value": written, "currency": currency});
        let total = first_total(&SKYLANE, ("/data/offers/0/total", money));
        assert_eq!(total, expected, "{currency} {written}");
    }
}

#[test]
fn jetbridge_amount_uses_scale() {
    for (ccy, units, scale, expected) in [
        ("EUR", 60_000_i64, 2, Some(60_000)),
        ("EUR", 600, 0, Some(60_000)),
        ("EUR", 6_000_000, 4, Some(60_000)),
        ("JPY", 600, 0, Some(600)),
        ("KWD", 600_125, 3, Some(600_125)),
        ("EUR", 600_125, 3, None),
        ("JPY", 60_050, 2, None),
        ("EUR", i64::MAX, 0, None),
        ("EUR", 1, 255, None),
    ] {
        let money = json!({"units": units, "scale": scale, "ccy": ccy});
        let total = first_total(&JETBRIDGE, ("/result/fares/0/price", money));
        assert_eq!(total, expected, "{units} {scale} {ccy}");
    }
}

/// Returns the total of the first offer for a request without a currency, or `None` if the response
/// is unreadable.
fn first_total(supplier: &Supplier, edit: (&str, Value)) -> Option<i64> {
    let request = PriceRequest {
        currency: None,
        limit: 1,
        ..price_request()
    };
    let only = with_offers(&supplier.edited("offers", &[edit]), |offers| {
        offers.truncate(1)
    });
    let gateway = gateway().respond_with(200, only);
    match gateway.run(|| (supplier.price)(request)) {
        Err(ReadError::InvalidResponse(_)) => None,
        response => Some(response.unwrap().offers[0].total),
    }
}

#[test]
fn penalty_may_be_in_another_currency() {
    let conditions = [
        (
            "/data/offers/0/conditions/refund",
            json!({"allowed": true, "penalty": {"value": "7500", "currency": "JPY"}}),
        ),
        (
            "/result/fares/0/conditions/refund",
            json!({"allowed": true, "fee": {"units": 7500, "scale": 0, "ccy": "JPY"}}),
        ),
    ];
    for (supplier, condition) in SUPPLIERS.into_iter().zip(conditions) {
        let response = priced(&supplier, &[condition]).unwrap();
        let condition = &response.offers[0].fare_conditions.refund;
        assert_eq!(condition.penalty, Some(Money::new(7_500, "JPY")));
        assert_eq!(condition.allowed, Some(true));
    }
}

#[test]
fn odd_offer_costs_that_offer_and_is_counted() {
    let wrong_offers = [
        ("/data/offers/0/total/currency", json!("USD")),
        ("/data/offers/0/slices/0/segments", json!([])),
        ("/data/offers/0/slices/0/duration", json!("long")),
        ("/data/offers/0/slices/0/segments/0/departs", json!("noon")),
        ("/data/offers/0/slices/0/segments/0/travellers", json!([])),
        ("/data/offers/0/expires_at", json!("tomorrow")),
    ];
    let arrival = "/result/fares/0/journeys/0/legs/0/arr";
    let wrong_fares = [
        ("/result/fares/0/price/ccy", json!("USD")),
        ("/result/fares/0/journeys/0/legs", json!([])),
        ("/result/fares/0/journeys/0/minutes", json!(-1)),
        (arrival, json!("2027-02-30 10:00")),
        ("/result/fares/0/validUntil", json!(null)),
    ];
    for (supplier, edits) in SUPPLIERS.into_iter().zip([&wrong_offers[..], &wrong_fares]) {
        let whole = priced(&supplier, &[]).unwrap();
        for edit in edits {
            let edited = supplier.edited("offers", std::slice::from_ref(edit));
            let gateway = gateway().respond_with(200, &edited);
            let response = gateway.run(|| (supplier.price)(price_request())).unwrap();
            assert_eq!(response.offers, whole.offers[1..], "{edit:?}");
            let dropped = gateway.dropped_items();
            assert_eq!(dropped.iter().map(|(_, count)| count).sum::<u32>(), 1);
            // If nothing is left, it must not look like "nothing found".
            let only = with_offers(&edited, |offers| offers.truncate(1));
            let gateway = self::gateway().respond_with(200, only);
            let response = gateway.run(|| (supplier.price)(price_request()));
            assert_eq!(outcome(&response), InvalidResponse, "{edit:?}");
        }
        for odd in [json!(7), json!(null), json!("x"), json!({})] {
            let document = with_offers(&supplier.edited("offers", &[]), |offers| {
                offers.insert(0, odd.clone());
            });
            let gateway = gateway().respond_with(200, document);
            let response = gateway.run(|| (supplier.price)(price_request())).unwrap();
            assert_eq!(response.offers, whole.offers, "{odd}");
        }
    }
}

/// Changes the list of offers of a response.
fn with_offers(document: &str, change: impl FnOnce(&mut Vec<Value>)) -> String {
    let mut document: Value = serde_json::from_str(document).unwrap();
    for pointer in ["/data/offers", "/result/fares"] {
        if let Some(Value::Array(offers)) = document.pointer_mut(pointer) {
            change(offers);
            break;
        }
    }
    document.to_string()
}

#[test]
fn response_without_a_list_of_offers_is_unreadable() {
    let no_offers = [("/data/offers", json!(null)), ("/data/offers", json!(7))];
    let no_fares = [("/result/fares", json!(null)), ("/ok", json!(false))];
    for (supplier, edits) in SUPPLIERS.into_iter().zip([no_offers, no_fares]) {
        for edit in edits {
            let response = priced(&supplier, &[edit]);
            assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
        }
    }
}

#[test]
fn offers_beyond_limit_are_truncated() {
    for (supplier, more) in SUPPLIERS.into_iter().zip(["/data/more", "/result/more"]) {
        for (limit, expected, truncated) in [(2, 2, true), (4, 4, false), (50, 4, false)] {
            let offers = supplier.edited("offers", &[(more, json!(false))]);
            let gateway = gateway().respond_with(200, offers);
            let request = PriceRequest {
                limit,
                ..price_request()
            };
            let response = gateway.run(|| (supplier.price)(request)).unwrap();
            assert_eq!(response.offers.len(), expected);
            assert_eq!(response.truncated, truncated);
        }
    }
}

#[test]
fn offer_with_too_long_id_is_left_out() {
    let ids = ["/data/offers/0/id", "/result/fares/0/fareKey"];
    for (supplier, id) in SUPPLIERS.into_iter().zip(ids) {
        for (bytes, offers) in [(4_096, 4), (4_097, 3)] {
            let edits = [(id, json!("o".repeat(bytes)))];
            let gateway = gateway().respond_with(200, supplier.edited("offers", &edits));
            let response = gateway.run(|| (supplier.price)(price_request()));
            assert_eq!(response.unwrap().offers.len(), offers);
            let warned = (gateway.logs().iter()).any(|(level, _)| *level == Level::Warn);
            assert_eq!(warned, offers == 3);
        }
    }
}
