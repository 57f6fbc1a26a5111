//! Repeated members that decide money: both orders of their values have the same result, which takes
//! neither value for granted.

use serde_json::{Value, json};
use stopover_sdk::hotel_cancellation::Quote;
use stopover_sdk::testing::Outcome::Unknown;
use stopover_sdk::testing::{MockGateway, outcome, with_values};
use stopover_sdk::types::BookingStatus;

use crate::ask;

fn document(fixture: &str) -> Value {
    serde_json::from_str(&ask::fixture(fixture)).unwrap()
}

/// Returns both orders of a member and another value of it.
fn both_orders(document: &Value, pointer: &str, other: &Value) -> [String; 2] {
    let (_, name) = pointer.rsplit_once('/').unwrap();
    let value = document.pointer(pointer).unwrap();
    let (member, other) = (format!("\"{name}\":{value}"), format!("\"{name}\":{other}"));
    let text = document.to_string();
    assert_eq!(text.matches(&member).count(), 1, "{member}");
    [(&member, &other), (&other, &member)]
        .map(|(first, second)| text.replacen(&member, &format!("{first},{second}"), 1))
}

fn dropped(gateway: &MockGateway) -> u32 {
    let counts = gateway.dropped_items();
    counts.iter().map(|(_, count)| count).sum()
}

/// Returns the amounts of the policy that a quote follows, and the number of parts left out.
fn quoted(body: &str) -> (Option<Vec<i64>>, u32) {
    let gateway = MockGateway::with_responses(&[(200, body)]);
    let quote = ask::quote(&gateway);
    let Ok(Quote::Policy(policy)) = quote else {
        panic!("{quote:?}");
    };
    let amounts = policy.map(|policy| {
        let penalties = policy.penalties.iter();
        penalties.map(|penalty| penalty.amount).collect()
    });
    (amounts, dropped(&gateway))
}

/// A policy that is free longer than any other of the fixture.
fn free_policy() -> Value {
    let penalty = json!({"cancelTime": "2027-05-31", "amount": 1, "currency": "EUR"});
    json!({"refundableTag": "RFN", "cancelPolicyInfos": [penalty]})
}

#[test]
fn policy_of_the_booking_replaces_that_of_a_room_with_repeated_members() {
    let total = json!({"amount": 1, "currency": "EUR"});
    let retail_rate = json!({"total": total});
    let document = document("booking.json");
    assert_eq!(quoted(&document.to_string()), (Some(vec![21040, 46050]), 0));
    for (member, other, lost) in [
        ("/0/cancellationPolicies", free_policy(), 2),
        ("/1/rate/cancellationPolicies", free_policy(), 1),
        ("/1/rate", json!({"cancellationPolicies": free_policy()}), 1),
        ("/0/rate/retailRate", retail_rate, 2),
        ("/1/rate/retailRate/total", total, 2),
    ] {
        let pointer = format!("/data/bookedRooms{member}");
        for body in both_orders(&document, &pointer, &other) {
            let (amounts, count) = quoted(&body);
            assert_eq!(amounts, Some(vec![100]), "{body}");
            assert!((1..=lost).contains(&count), "{count}: {body}");
        }
    }
    for body in both_orders(&document, "/data/bookedRooms", &json!([])) {
        assert_eq!(quoted(&body), (Some(vec![100]), 1), "{body}");
    }
}

/// The gateway then keeps the policy that was agreed at prebook.
#[test]
fn booking_with_repeated_policy_or_date_states_no_policy() {
    let document = document("booking.json");
    let date = "/data/lastFreeCancellationDate";
    for other in [
        "2027-05-20T12:00:00+00:00",
        "2027-05-31T12:00:00+00:00",
        "soon",
    ] {
        for body in both_orders(&document, date, &json!(other)) {
            assert_eq!(quoted(&body), (None, 1), "{body}");
        }
    }
    let mut own = document.clone();
    own["data"]["bookedRooms"] = json!([]);
    assert_eq!(quoted(&own.to_string()), (Some(vec![100]), 0));
    for body in both_orders(&own, "/data/cancellationPolicies", &free_policy()) {
        assert_eq!(quoted(&body), (None, 1), "{body}");
    }
    // The rooms have policies, so that the booking's own does not count.
    for body in both_orders(&document, "/data/cancellationPolicies", &free_policy()) {
        assert_eq!(quoted(&body), (Some(vec![21040, 46050]), 1), "{body}");
    }
}

#[test]
fn last_free_date_that_cannot_be_read_leaves_only_a_policy_without_free_time() {
    let date = "/data/lastFreeCancellationDate";
    for odd in [json!("soon"), json!({}), json!([7]), json!(true)] {
        let document = with_values(document("booking.json"), &[(date, odd.clone())]);
        assert_eq!(quoted(&document.to_string()), (None, 1), "{odd}");
        let fixed = document.to_string().replace("\"RFN\"", "\"NRFN\"");
        assert_eq!(quoted(&fixed), (Some(vec![]), 1), "{odd}");
    }
    for none in [json!(null), json!(""), json!("0001-01-01T00:00:00Z")] {
        let document = with_values(document("booking.json"), &[(date, none.clone())]);
        let expected = (Some(vec![21040, 46050]), 0);
        assert_eq!(quoted(&document.to_string()), expected, "{none}");
    }
}

#[test]
fn booking_with_repeated_members_is_confirmed_for_its_price() {
    let document = document("booking.json");
    for (member, other) in [
        ("/0/occupancy_number", json!(7)),
        ("/0/rate", json!({})),
        ("/1/rate/retailRate", json!({})),
        (
            "/1/rate/retailRate/total",
            json!({"amount": 1, "currency": "EUR"}),
        ),
    ] {
        let pointer = format!("/data/bookedRooms{member}");
        for body in both_orders(&document, &pointer, &other) {
            let booked = ask::book(&MockGateway::with_responses(&[(200, &body)])).unwrap();
            assert_eq!(booked.status, BookingStatus::Confirmed, "{body}");
            assert_eq!(booked.total, 46050, "{body}");
            let positions = booked.rooms.iter().map(|room| room.position);
            assert!(positions.eq([0, 1]), "{body}");
        }
    }
}

/// Amounts that add up to no price are left to an operator by the gateway.
#[test]
fn repeated_currency_of_a_cancellation_leaves_the_amounts_undecided() {
    let canceled = ask::fixture("booking.json").replace("\"CONFIRMED\"", "\"CANCELED\"");
    let currency = "/data/currency";
    let mut bodies: Vec<String> = ["USD", "eur"]
        .iter()
        .flat_map(|other| both_orders(&document("cancel.json"), currency, &json!(other)))
        .collect();
    let odd = with_values(document("cancel.json"), &[(currency, json!([]))]);
    bodies.push(odd.to_string());
    for body in &bodies {
        let responses = [(200, body.as_str()), (200, canceled.as_str())];
        let state = ask::cancel(&MockGateway::with_responses(&responses)).unwrap();
        assert_eq!(state.status, BookingStatus::Canceled, "{body}");
        let amounts = state.cancellation.unwrap();
        let stated = (amounts.fee, amounts.refund, amounts.currency.as_str());
        assert_eq!(stated, (0, Some(0), "EUR"), "{body}");
        // Without the booking, nothing says in which currency the amounts are.
        let responses = [(200, body.as_str()), (500, "")];
        let result = ask::cancel(&MockGateway::with_responses(&responses));
        assert_eq!(outcome(&result), Unknown, "{body}");
    }
    for same in [json!("EUR"), json!(null), json!("")] {
        for body in both_orders(&document("cancel.json"), currency, &same) {
            let responses = [(200, body.as_str()), (200, canceled.as_str())];
            let state = ask::cancel(&MockGateway::with_responses(&responses)).unwrap();
            assert_eq!(state.cancellation.unwrap().fee, 5000, "{body}");
        }
    }
}

#[test]
fn repeated_list_of_add_ons_is_not_empty() {
    let addon = json!({"addon": "uber", "value": 70, "currency": "EUR"});
    let edits = [
        ("/data/price", json!(530.5)),
        ("/data/addonsTotalAmount", json!(null)),
        ("/data/voucherTotalAmount", json!(null)),
    ];
    let document = with_values(document("prebook.json"), &edits);
    for body in both_orders(&document, "/data/addonsRequest", &json!([addon])) {
        let gateway = MockGateway::with_responses(&[(200, &body), (204, "")]);
        let result = ask::prebook(&gateway);
        assert_eq!(outcome(&result), Unknown, "{body}: {result:?}");
    }
}

#[test]
fn prebook_with_repeated_inclusion_of_a_fee_is_unknown() {
    let pointer = "/data/roomTypes/0/rates/0/retailRate/taxesAndFees/0/included";
    for body in both_orders(&document("prebook.json"), pointer, &json!(true)) {
        let gateway = MockGateway::with_responses(&[(200, &body), (204, "")]);
        let result = ask::prebook(&gateway);
        assert_eq!(outcome(&result), Unknown, "{body}: {result:?}");
    }
}
