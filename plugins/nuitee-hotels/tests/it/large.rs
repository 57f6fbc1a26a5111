//! Large responses whose items all differ: the time grows with their size and no faster.

use std::time::Duration;

use serde_json::{Value, json};
use stopover_sdk::testing::{MockGateway, with_values};
use variants::cpu_time;

use crate::ask;

/// Number of items of the smaller list. The other one has sixteen times as many.
const FEW: usize = 700;
/// Greatest ratio of the two processor times: three times the ratio of linear work.
const TIME_RATIO_MAX: u32 = 48;
/// Time that a call may take in addition, because short calls vary by more than a ratio.
const TIME_SLACK: Duration = Duration::from_millis(50);

/// Creates a document with a list of this number of items at each of the pointers.
fn with_items(fixture: &str, pointers: &[&str], item: fn(usize) -> Value, count: usize) -> String {
    let items: Value = (0..count).map(item).collect();
    let edits: Vec<(&str, Value)> = pointers.iter().map(|at| (*at, items.clone())).collect();
    let document = serde_json::from_str(&ask::fixture(fixture)).unwrap();
    with_values(document, &edits).to_string()
}

fn text(number: usize) -> Value {
    json!(format!("text {number}"))
}

fn promotion(number: usize) -> Value {
    json!({"name": format!("promotion {number}"), "discount": 5, "discountType": "amount"})
}

fn penalty(number: usize) -> Value {
    let (year, month, day) = (2000 + number / 336, number / 28 % 12 + 1, number % 28 + 1);
    let time = format!("{year:04}-{month:02}-{day:02} 10:00:00");
    json!({"cancelTime": time, "amount": 1, "currency": "EUR", "type": "amount"})
}

fn room(number: usize) -> Value {
    json!({
        "occupancy_number": number + 1,
        "rate": {"retailRate": {"total": {"amount": 1, "currency": "EUR"}}},
        "cancellationPolicies": {"cancelPolicyInfos": [penalty(number)], "refundableTag": "RFN"},
    })
}

/// A fixture, the lists in it that grow, an item by its number, and the call that reads the document.
type Case = (
    &'static str,
    &'static [&'static str],
    fn(usize) -> Value,
    fn(&MockGateway),
);

#[test]
fn distinct_items_are_read_in_linear_time() {
    let price: fn(&MockGateway) =
        |gateway| drop(ask::detailed_price(gateway, ask::price_request(), false));
    let book: fn(&MockGateway) = |gateway| drop(ask::book(gateway));
    let cases: [Case; 7] = [
        (
            "rates.json",
            &["/data/1/roomTypes/0/rates/0/retailRate/promotions"],
            promotion,
            price,
        ),
        (
            "rates.json",
            &[
                "/data/1/roomTypes/0/rates/0/cancellationPolicies/cancelPolicyInfos",
                "/data/1/roomTypes/0/rates/1/cancellationPolicies/cancelPolicyInfos",
            ],
            penalty,
            price,
        ),
        (
            "rates.json",
            &["/data/1/roomTypes/0/rates/0/cancellationPolicies/hotelRemarks"],
            text,
            price,
        ),
        (
            "rates.json",
            &["/data/1/roomTypes/0/rates/0/perks"],
            promotion,
            price,
        ),
        ("booking.json", &["/data/hotelRemarks"], text, book),
        ("booking.json", &["/data/bookedRooms"], room, book),
        ("hotel.json", &["/data/hotelFacilities"], text, |gateway| {
            drop(ask::details(gateway));
        }),
    ];
    for (fixture, pointers, item, call) in cases {
        let time = |count| {
            let document = with_items(fixture, pointers, item, count);
            let gateway = MockGateway::new().respond_with(200, document);
            cpu_time(|| call(&gateway))
        };
        let (few, many) = (time(FEW), time(16 * FEW));
        let is_linear = many <= few * TIME_RATIO_MAX + TIME_SLACK;
        assert!(is_linear, "{fixture} {pointers:?}: {few:?}, then {many:?}");
    }
}

#[test]
fn payment_types_of_all_rates_are_compared_in_linear_time() {
    let types = |count: usize| -> Vec<Value> { (0..count).map(text).collect() };
    let time = |count| {
        let mut document: Value = serde_json::from_str(&ask::fixture("rates.json")).unwrap();
        for rate in 0..2 {
            let offer = &mut document["data"][1]["roomTypes"][0];
            offer["rates"][rate]["paymentTypes"] = types(count).into();
        }
        let gateway = MockGateway::new().respond_with(200, document.to_string());
        cpu_time(|| {
            let response = ask::detailed_price(&gateway, ask::price_request(), false);
            let found = &response.unwrap().hotels[0].offers[0].details.payment_types;
            assert_eq!(found.len(), count);
        })
    };
    let (few, many) = (time(2 * FEW), time(32 * FEW));
    let is_linear = many <= few * TIME_RATIO_MAX + TIME_SLACK;
    assert!(is_linear, "{few:?}, then {many:?}");
}
