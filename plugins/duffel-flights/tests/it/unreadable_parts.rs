//! One odd value costs one item, and never a booking. Expectations are computed from the changed
//! document.

use serde_json::{Value, json};
use stopover_sdk::flight_pricing::PriceResponse;
use stopover_sdk::testing::Outcome::{Done, InvalidResponse, Refused, Unknown};
use stopover_sdk::testing::{self, MockGateway, outcome};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::SupplierBooking;

use crate::ask;

/// The members of an order that a booking needs.
const NEEDED: [&str; 6] = [
    "/data/id",
    "/data/total_amount",
    "/data/total_currency",
    "/data/cancelled_at",
    "/data/payment_status",
    "/data/metadata",
];

/// Returns the fixture's document without a next page.
fn single_page(name: &str) -> String {
    let mut document: Value = serde_json::from_str(&ask::fixture(name)).unwrap();
    document["meta"] = json!(null);
    document.to_string()
}

/// Returns the positions of the items of `data` that a mutation left as they were. Returns `None` if
/// `data` is no longer a list, or the document has a number that only a few parsers can read.
fn unchanged(document: &str, original: &Value) -> Option<Vec<usize>> {
    let changed: Value = serde_json::from_str(document).ok()?;
    let items = changed["data"].as_array()?;
    let same = |at: &usize| items.get(*at) == original["data"].get(*at);
    let same: Vec<usize> = (0..items.len()).filter(same).collect();
    (changed["meta"] == original["meta"] && !same.is_empty()).then_some(same)
}

fn offers(document: &str) -> PriceResponse {
    let gateway = ask::fixtures(&["offer-request.json"]).respond_with(200, document);
    ask::price(&gateway).unwrap()
}

#[test]
fn odd_value_in_an_offer_costs_only_that_offer() {
    let page = single_page("offers-1.json");
    let original: Value = serde_json::from_str(&page).unwrap();
    let items = original["data"].as_array().unwrap();
    let readable = offers(&page);
    testing::for_each_mutation(&page, |document| {
        let Some(same) = unchanged(document, &original) else {
            return;
        };
        let found = offers(document);
        for at in same {
            let id = items[at]["id"].as_str();
            let is_id = |one: &&_| Some(offer_id(one)) == id;
            let before = readable.offers.iter().find(is_id);
            let after = found.offers.iter().find(is_id);
            assert_eq!(before, after, "{document}");
        }
    });
}

fn offer_id(offer: &stopover_sdk::flight_pricing::Offer) -> &str {
    &offer.supplier_offer
}

#[test]
fn offers_without_any_readable_one_are_an_error() {
    let offer = |id| json!({ "id": id, "total_amount": "1.00", "total_currency": "EUR" });
    for items in [
        json!([7]),
        json!([null]),
        json!([offer("off_1"), offer("ord_1")]),
    ] {
        let page = json!({ "data": items, "meta": null }).to_string();
        let gateway = ask::fixtures(&["offer-request.json"]).respond_with(200, page);
        assert_eq!(outcome(&ask::price(&gateway)), InvalidResponse, "{items}");
    }
}

#[test]
fn page_with_unreadable_cursor_is_truncated() {
    for meta in [json!(5), json!({ "after": {} }), json!([])] {
        let mut page: Value = serde_json::from_str(&ask::fixture("offers-1.json")).unwrap();
        page["meta"] = meta.clone();
        let response = offers(&page.to_string());
        assert_eq!(response.offers.len(), 2, "{meta}");
        assert!(response.truncated, "{meta}");
    }
}

#[test]
fn left_out_offers_are_logged_once_with_pointer() {
    let mut page: Value = serde_json::from_str(&single_page("offers-1.json")).unwrap();
    let offers = page["data"].as_array_mut().unwrap();
    offers.push(json!(7));
    offers.push(json!({ "id": "ord_1" }));
    offers.push(json!({ "id": "ord_2" }));
    let gateway = ask::fixtures(&["offer-request.json"]).respond_with(200, page.to_string());
    assert_eq!(ask::price(&gateway).unwrap().offers.len(), 2);
    let logs = gateway.logs();
    assert_eq!(logs.len(), 1, "{logs:?}");
    let message = &logs[0].1;
    for part in [
        "/data/3",
        "an offer has no id of an offer (2, first at /data/4)",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn odd_value_in_an_airport_costs_only_that_airport() {
    let page = ask::fixture("suggestions.json");
    let original: Value = serde_json::from_str(&page).unwrap();
    let items = original["data"].as_array().unwrap();
    let ids = |document: &str| {
        let gateway = MockGateway::new().respond_with(200, document);
        let response = ask::airports(&gateway).unwrap();
        let airports = response.airports.into_iter();
        let ids = airports.map(|airport| airport.supplier_airport_id);
        ids.collect::<Vec<String>>()
    };
    let readable = ids(&page);
    testing::for_each_mutation(&page, |document| {
        let Some(same) = unchanged(document, &original) else {
            return;
        };
        let found = ids(document);
        for at in same {
            let item = items[at].to_string();
            let of_item = readable.iter().filter(|id| item.contains(id.as_str()));
            for id in of_item {
                assert!(found.contains(id), "{id}: {document}");
            }
        }
    });
    // Within a city, too, an airport costs only itself. The first one is also a suggestion of its own.
    for odd in [
        json!(null),
        json!(5),
        json!({ "id": 7, "iata_code": "ODD" }),
    ] {
        let odd = ask::changed("suggestions.json", &[("/1/airports/0", odd)]);
        let expected = ["arp_noz_gb", "arp_ols_gb", "arp_old_gb"];
        assert_eq!(ids(&odd), expected, "{odd}");
    }
}

#[test]
fn odd_value_in_a_service_costs_only_that_service() {
    let page = ask::fixture("services.json");
    let original: Value = serde_json::from_str(&page).unwrap();
    let items = original["data"].as_array().unwrap();
    let ids = |document: &str| {
        let gateway = ask::fixtures(&["order.json"]).respond_with(200, document);
        let services = ask::list_services(&gateway).unwrap().services.into_iter();
        let ids = services.map(|service| service.supplier_service_id);
        ids.collect::<Vec<String>>()
    };
    let readable = ids(&page);
    testing::for_each_mutation(&page, |document| {
        let Some(same) = unchanged(document, &original) else {
            return;
        };
        let found = ids(document);
        for at in same {
            let id = items[at]["id"].as_str().unwrap().to_owned();
            assert_eq!(found.contains(&id), readable.contains(&id), "{document}");
        }
    });
}

fn booked(document: &str) -> Result<SupplierBooking, stopover_sdk::ChangeError> {
    ask::book(&MockGateway::new().respond_with(201, document))
}

#[test]
fn odd_value_in_an_order_never_costs_the_booking() {
    let order = ask::fixture("order.json");
    let original: Value = serde_json::from_str(&order).unwrap();
    let expected = booked(&order).unwrap();
    testing::for_each_mutation(&order, |document| {
        let result = booked(document);
        assert!([Done, Unknown].contains(&outcome(&result)), "{document}");
        let Ok(changed) = serde_json::from_str::<Value>(document) else {
            return;
        };
        let is_needed_same = |pointer: &&str| changed.pointer(pointer) == original.pointer(pointer);
        if !NEEDED.iter().all(is_needed_same) {
            return;
        }
        let state = result.unwrap();
        assert_eq!(state.status, BookingStatus::Confirmed, "{document}");
        assert_eq!(state.supplier_reference, expected.supplier_reference);
        assert_eq!(state.client_reference, expected.client_reference);
        assert_eq!(state.total, expected.total, "{document}");
        // The journeys are whole or left out.
        assert!([0, 2].contains(&state.journeys.len()), "{document}");
        for member in [
            "slices",
            "services",
            "airline_initiated_changes",
            "passengers",
        ] {
            if changed["data"][member] != original["data"][member] {
                return;
            }
        }
        assert_eq!(state.journeys, expected.journeys, "{document}");
        assert_eq!(state.services, expected.services, "{document}");
        assert_eq!(state.changes, expected.changes, "{document}");
    });
}

/// Numbers of journeys, services and changes, whether the fare is known, and the logged pointer.
type Left = ([usize; 3], bool, &'static str);

/// Odd values of an order, by JSON pointer, and what is left of the order.
fn odd_parts() -> [(&'static str, Value, Left); 14] {
    [
        ("/slices", json!("x"), ([0, 2, 1], true, "/slices")),
        (
            "/slices/0/segments/0/departing_at",
            json!(5),
            ([0, 2, 1], true, "/slices"),
        ),
        (
            "/slices/0/segments/0/origin",
            json!(null),
            ([0, 2, 1], true, "/slices"),
        ),
        (
            "/slices/0/segments/1/id",
            json!("seg_o1"),
            ([0, 2, 1], true, "/slices"),
        ),
        (
            "/slices/0/segments/0/duration",
            json!(["PT1H"]),
            ([2, 2, 1], true, ""),
        ),
        (
            "/slices/0/segments/0/stops",
            json!([null]),
            ([2, 2, 1], true, ""),
        ),
        ("/services", json!(5), ([2, 0, 1], false, "/services")),
        (
            "/services/0",
            json!("bag"),
            ([2, 1, 1], false, "/services/0"),
        ),
        (
            "/services/1/total_amount",
            json!(null),
            ([2, 1, 1], false, "/services/1"),
        ),
        ("/services/0/metadata", json!(5), ([2, 2, 1], true, "")),
        (
            "/airline_initiated_changes",
            json!(5),
            ([2, 2, 0], true, "/airline_initiated_changes"),
        ),
        (
            "/airline_initiated_changes/0/added",
            json!(null),
            ([2, 2, 0], true, "/airline_initiated_changes/0"),
        ),
        (
            "/airline_initiated_changes/0/id",
            json!(null),
            ([2, 2, 0], true, "/airline_initiated_changes/0"),
        ),
        ("/passengers", json!("x"), ([2, 2, 1], true, "")),
    ]
}

#[test]
fn unreadable_part_of_an_order_is_left_out_and_logged() {
    for (pointer, value, (left, has_fare, logged)) in odd_parts() {
        let document = ask::changed("order.json", &[(pointer, value.clone())]);
        let gateway = MockGateway::new().respond_with(201, document);
        let state = ask::book(&gateway).unwrap();
        let found = [
            state.journeys.len(),
            state.services.len(),
            state.changes.len(),
        ];
        assert_eq!(found, left, "{pointer} {value}");
        assert_eq!(state.fare.is_some(), has_fare, "{pointer} {value}");
        let logs = gateway.logs();
        assert_eq!(logs.len(), usize::from(!logged.is_empty()), "{logs:?}");
        let is_named = logs.iter().all(|(_, message)| message.contains(logged));
        assert!(is_named, "{pointer}: {logs:?}");
        // The ids of the passengers are in the metadata, too.
        if !state.services.is_empty() {
            assert!(state.services[0].passenger.is_some(), "{pointer}");
        }
    }
}

#[test]
fn odd_value_in_a_delivery_never_costs_its_event() {
    for (pointer, value) in [
        ("/data", json!(5)),
        ("/data/object", json!([1])),
        ("/data/object/metadata", json!("x")),
        ("/data/object/offer_id", json!({})),
        ("/created_at", json!(false)),
        ("/live_mode", json!("yes")),
    ] {
        let document: Value = serde_json::from_str(&ask::fixture("event.json")).unwrap();
        let event = testing::with_values(document, &[(pointer, value)]);
        let delivery = crate::events::signed(event.to_string().into_bytes());
        let events = crate::events::verify(&crate::events::gateway(), delivery).unwrap();
        assert_eq!(events[0].id, "wev_own", "{pointer}");
        // The id of the order is in two places.
        let reference = events[0].supplier_reference.as_deref();
        assert_eq!(reference, Some("ord_own"), "{pointer}");
    }
}

/// Values that no parser can represent. They cost neither a booking nor a cancellation.
#[test]
fn unrepresentable_value_costs_only_itself() {
    const PLACE: &str = "unrepresentable";
    let odd = |name: &str, values: &[(&str, Value)], value: &str| {
        let document = ask::changed(name, values);
        document.replace(&format!("\"{PLACE}\""), value)
    };
    for value in [r#""\ud800""#, "1e999"] {
        for pointer in [
            "/booking_reference",
            "/base_amount",
            "/base_currency",
            "/tax_amount",
            "/tax_currency",
            "/payment_status/payment_required_by",
            "/payment_status/price_guarantee_expires_at",
            "/metadata/gateway_passengers",
            "/owner/name",
            "/documents/0/unique_identifier",
        ] {
            let order = odd("order.json", &[(pointer, json!(PLACE))], value);
            let state = booked(&order).unwrap();
            assert_eq!(state.supplier_reference, "ord_own", "{pointer} {value}");
            assert_eq!(state.services.len(), 2, "{pointer} {value}");
        }
        for pointer in [
            "/refund_amount",
            "/refund_currency",
            "/refund_to",
            "/expires_at",
            "/created_at",
        ] {
            let confirmed_at = ("/confirmed_at", json!("2027-05-02T10:00:05Z"));
            let done = odd(
                "quote.json",
                &[confirmed_at, (pointer, json!(PLACE))],
                value,
            );
            let gateway = ask::fixtures(&["order.json", "quote.json"]).respond_with(200, done);
            let state = ask::cancel(&gateway).unwrap();
            assert_eq!(state.status, BookingStatus::Canceled, "{pointer} {value}");
        }
    }
}

#[test]
fn odd_passenger_of_an_order_does_not_cost_the_others() {
    let expected = booked(&ask::fixture("order.json")).unwrap();
    for odd in [
        json!({ "odd": 1 }),
        json!({ "id": "7" }),
        json!({ "id": 7 }),
    ] {
        let order = ask::changed("order.json", &[("/passengers/0", odd.clone())]);
        let state = booked(&order).unwrap();
        assert_eq!(state.services, expected.services, "{odd}");
        assert_eq!(state.journeys, expected.journeys, "{odd}");
    }
}

#[test]
fn odd_condition_costs_only_itself() {
    const REFUND: &str = "/conditions/refund_before_departure";
    for (pointer, value, has_change) in [
        ("/conditions", json!([null]), false),
        ("/conditions", json!(" "), false),
        (REFUND, json!(7), true),
        (REFUND, json!({ "allowed": "yes" }), true),
    ] {
        let offer = ask::changed("offer.json", &[(pointer, value.clone())]);
        let bound = ask::prebook(&MockGateway::new().respond_with(200, offer)).unwrap();
        let conditions = bound.fare_conditions;
        assert_eq!(conditions.refund.allowed, None, "{pointer} {value}");
        let is_change_known = conditions.change.allowed.is_some();
        assert_eq!(is_change_known, has_change, "{pointer} {value}");
    }
}

/// Each response is decoded at most twice, so that a mebibyte of unreadable items takes no longer
/// than some mebibytes of readable ones.
#[test]
fn mebibyte_of_unreadable_items_is_read_in_linear_time() {
    let deep = format!(
        "{}{}",
        r#"{"airports":["#.repeat(60_000),
        "]}".repeat(60_000)
    );
    let many = "{\"id\":1},".repeat(100_000);
    for items in [deep, format!("{many}7"), "null,".repeat(200_000) + "7"] {
        let page = format!(r#"{{"data": [{items}], "meta": null}}"#);
        assert!(page.len() > 700_000);
        let searched = ask::fixtures(&["offer-request.json"]).respond_with(200, &page);
        assert_eq!(outcome(&ask::price(&searched)), InvalidResponse);
        let page = || MockGateway::new().respond_with(200, &page);
        assert_eq!(outcome(&ask::airports(&page())), InvalidResponse);
        assert_eq!(outcome(&ask::airline(&page(), "OW")), InvalidResponse);
        assert_eq!(outcome(&ask::find_by_offer(&page())), InvalidResponse);
    }
}

/// Work per passenger, service or change does not depend on how many others there are. These 3 MiB
/// take a second; comparing each with all others takes a minute.
#[test]
fn order_with_many_passengers_and_changes_is_read() {
    const MANY: usize = 100_000;
    let id = |number: usize| format!("pas_{number}");
    let label: Vec<String> = (0..MANY).map(id).collect();
    let listed: Vec<Value> = label.iter().rev().map(|id| json!({ "id": id })).collect();
    let changes: Vec<Value> = (0..10_000)
        .map(|number| {
            json!({
                "id": format!("aic_{number}"), "created_at": "2027-05-03T10:00:00Z",
                "added": [], "removed": [], "available_actions": [],
            })
        })
        .collect();
    let values = [
        ("/metadata/gateway_passengers", json!(label.join(","))),
        ("/passengers", json!(listed)),
        ("/airline_initiated_changes", json!(changes)),
    ];
    let order = ask::changed("order.json", &values);
    assert!(order.len() > 3 << 20);
    let state = booked(&order).unwrap();
    assert_eq!(state.changes.len(), changes.len());
    let party = json!({ "passengers": listed, "id": "orq_own" });
    let search = json!({ "data": party }).to_string();
    let found = ask::price(&MockGateway::new().respond_with(201, search));
    assert_eq!(outcome(&found), InvalidResponse);
    let typed: Vec<Value> = label
        .iter()
        .map(|id| json!({ "id": id, "type": "adult" }))
        .collect();
    let offer = ask::changed("offer.json", &[("/passengers", json!(typed))]);
    let bound = ask::prebook(&MockGateway::new().respond_with(200, offer));
    assert_eq!(outcome(&bound), Refused("invalid"), "{bound:?}");
}
