//! Conversion of orders.

use serde_json::{Value, json};
use stopover_sdk::flight_booking::BookingLookup;
use stopover_sdk::testing::Outcome::{InvalidResponse, Unknown};
use stopover_sdk::testing::{self, MockGateway, outcome};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::{
    BaggageType, ChangeType, Direction, ServiceType, SupplierBooking,
};

use crate::ask;

fn state(document: impl AsRef<[u8]>) -> SupplierBooking {
    ask::found(&MockGateway::new().respond_with(200, document))
        .unwrap()
        .unwrap()
}

fn with(values: &[(&str, Value)]) -> SupplierBooking {
    state(ask::changed("order.json", values))
}

#[test]
fn order_has_locator_amounts_and_journeys() {
    let state = state(ask::fixture("order.json"));
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));
    assert_eq!(state.airline_pnr.as_deref(), Some("OWNPNR"));
    assert_eq!((state.total, state.currency.as_str()), (41_540, "EUR"));
    // Base and taxes add up to the total, so the base includes the services.
    assert_eq!((state.fare, state.fare_tax), (Some(30_000), Some(6_040)));
    assert_eq!(state.cancellation, None);
    let [out, back] = state.journeys.as_slice() else {
        panic!("{:?}", state.journeys);
    };
    assert_eq!(out.direction, Direction::Outbound);
    assert_eq!(back.direction, Direction::Inbound);
    assert_eq!(out.segments[0].supplier_segment_id, "seg_o1");
    // The order's metadata has the adult first, its list the child.
    let passengers = out.segments[0].passengers.iter();
    assert!(passengers.map(|one| one.passenger).eq(0..3));
}

#[test]
fn order_status_depends_on_payment_and_not_on_documents() {
    let cases = [
        ("/documents", json!(null), BookingStatus::Confirmed),
        ("/payment_status", json!(null), BookingStatus::Confirmed),
        (
            "/payment_status/awaiting_payment",
            json!(true),
            BookingStatus::Pending,
        ),
    ];
    for (pointer, value, expected) in cases {
        assert_eq!(with(&[(pointer, value)]).status, expected, "{pointer}");
    }
}

#[test]
fn empty_record_locator_is_none() {
    for empty in [json!(""), json!(null)] {
        assert_eq!(with(&[("/booking_reference", empty)]).airline_pnr, None);
    }
}

#[test]
fn order_amounts_are_taken_without_adding() {
    let state = with(&[("/base_amount", json!("30.20"))]);
    assert_eq!((state.fare, state.total), (Some(3_020), 41_540));
    let state = with(&[("/tax_amount", json!(null)), ("/tax_currency", json!(null))]);
    assert_eq!((state.fare, state.fare_tax), (Some(35_500), None));
    let state = with(&[("/tax_currency", json!("USD"))]);
    assert_eq!(state.fare_tax, None);
}

#[test]
fn order_services_have_passenger_segments_and_unit_price() {
    let state = state(ask::fixture("order.json"));
    let [bag, seat] = state.services.as_slice() else {
        panic!("{:?}", state.services);
    };
    assert_eq!(bag.supplier_service_id, "ser_bag");
    assert_eq!(bag.service_type, ServiceType::Baggage);
    assert_eq!(bag.passenger, Some(0));
    assert_eq!(bag.supplier_segment_ids, ["seg_o1", "seg_o2"]);
    assert_eq!((bag.quantity, bag.unit_amount), (2, 2_000));
    let what = bag.baggage.unwrap();
    assert_eq!(what.baggage_type, BaggageType::Checked);
    assert_eq!(what.max_weight_kg, Some(23));
    assert_eq!(seat.service_type, ServiceType::Seat);
    assert_eq!(seat.passenger, Some(1));
    assert_eq!((seat.baggage, seat.unit_amount), (None, 1_500));
}

#[test]
fn passengers_without_valid_metadata_keep_listed_order() {
    for label in [json!(null), json!("pas_x,pas_y,pas_z"), json!("pas_adult")] {
        let state = with(&[("/metadata/gateway_passengers", label)]);
        assert_eq!(state.services[0].passenger, Some(1));
    }
    let state = with(&[("/metadata", json!(null))]);
    assert_eq!(state.client_reference, None);
    assert_eq!(state.services[0].passenger, Some(1));
}

#[test]
fn airline_change_has_removed_and_added_segments() {
    let state = state(ask::fixture("order.json"));
    let [change] = state.changes.as_slice() else {
        panic!("{:?}", state.changes);
    };
    assert_eq!(change.supplier_change_id, "aic_own");
    assert_eq!(change.change_type, ChangeType::ScheduleChange);
    assert_eq!(change.detected_at, 1_809_331_200_000);
    assert!(change.action_required);
    assert_eq!((change.accepted_at, change.expires_at), (None, None));
    assert_eq!(
        change.removed_segments[0].departure_time,
        "2027-06-08T17:00"
    );
    assert_eq!(change.added_segments[0].departure_time, "2027-06-08T18:00");
    assert_eq!(change.added_segments[0].passengers[0].checked_bags, Some(1));
}

#[test]
fn airline_change_type_is_derived_from_flights() {
    let document: Value = serde_json::from_str(&ask::fixture("order.json")).unwrap();
    let change = &document["data"]["airline_initiated_changes"][0];
    let city = json!({ "iata_code": "HUB" });
    let accepted = vec![
        ("/action_taken", json!("accepted")),
        ("/action_taken_at", json!("2027-05-04T00:00:00Z")),
    ];
    let one = |pointer, value| vec![(pointer, value)];
    let cases = [
        (one("/added", json!([])), ChangeType::Cancellation, true),
        (
            one("/added/0/segments/0/destination", city),
            ChangeType::Reroute,
            true,
        ),
        (one("/removed", json!([])), ChangeType::Reroute, true),
        (
            one("/removed", change["added"].clone()),
            ChangeType::Equipment,
            true,
        ),
        (
            one("/available_actions", json!([])),
            ChangeType::ScheduleChange,
            false,
        ),
        (accepted, ChangeType::ScheduleChange, false),
    ];
    for (values, change_type, action_required) in cases {
        let changed = json!([testing::with_values(change.clone(), &values)]);
        let state = with(&[("/airline_initiated_changes", changed)]);
        let change = &state.changes[0];
        assert_eq!(change.change_type, change_type, "{values:?}");
        assert_eq!(change.action_required, action_required, "{values:?}");
        let is_accepted = values.iter().any(|(_, value)| value == "accepted");
        assert_eq!(change.accepted_at.is_some(), is_accepted, "{values:?}");
    }
}

#[test]
fn repeated_json_keys_that_decide_nothing_use_last_value() {
    let document = ask::fixture("order.json")
        .replacen("\"id\":", "\"id\": \"ord_own\", \"id\": null, \"id\":", 1)
        .replace(
            "\"booking_reference\":",
            "\"booking_reference\": null, \"booking_reference\":",
        )
        .replace("\"duration\":", "\"duration\": \"PT1M\", \"duration\":");
    let state = state(document);
    assert_eq!(state.supplier_reference, "ord_own");
    assert_eq!(state.airline_pnr.as_deref(), Some("OWNPNR"));
    assert_eq!(state.journeys[0].duration_minutes, Some(690));
}

/// A ticket is issued, so that an odd total does not make its outcome unknown. The agreed total takes its
/// place, and it is counted.
#[test]
fn order_without_readable_total_has_the_agreed_one() {
    let order = ask::fixture("order.json");
    let total = r#""total_amount": "415.40""#;
    assert!(order.contains(total));
    let with = |pointer, value| ask::changed("order.json", &[(pointer, value)]);
    for order in [
        with("/total_amount", json!(null)),
        with("/total_amount", json!({})),
        with("/total_amount", json!("-1.00")),
        with("/total_amount", json!("415.405")),
        // The gateway does not handle an amount of 10^15 minor units.
        with("/total_amount", json!("10000000000000")),
        with("/total_amount", json!(10_000_000_000_000_i64)),
        with("/total_currency", json!(null)),
        with("/total_currency", json!(978)),
        order.replace(total, &format!(r#""total_amount": "1.00", {total}"#)),
    ] {
        let gateway = MockGateway::new().respond_with(201, &order);
        let booked = ask::book(&gateway).unwrap();
        let total = (booked.total, booked.currency.as_str());
        assert_eq!(total, (36_040, "EUR"), "{order}");
        assert_eq!(booked.status, BookingStatus::Confirmed);
        let logs = gateway.logs();
        assert_eq!(logs.len(), 1, "{logs:?}");
        assert!(logs[0].1.contains("/total_amount"), "{logs:?}");

        let read = |prebook: Option<&str>| {
            let request = ask::find_request(Some("ord_own"), prebook);
            ask::find_of(&MockGateway::new().respond_with(200, &order), request)
        };
        let Ok(BookingLookup::Found(found)) = read(Some(ask::PREBOOK)) else {
            panic!("{order}");
        };
        assert_eq!((found.total, found.currency.as_str()), (36_040, "EUR"));
        // Prebooks that were stored earlier have no total.
        let earlier = ask::PREBOOK.replace(r#","total":[36040,"EUR"]"#, "");
        assert_ne!(earlier, ask::PREBOOK);
        for prebook in [None, Some(earlier.as_str())] {
            assert_eq!(outcome(&read(prebook)), InvalidResponse, "{order}");
        }
    }
}

/// Which value counts must not depend on their order.
#[test]
fn repeated_json_keys_that_decide_make_a_booking_unknown() {
    for (member, other) in [
        (r#""id": "ord_own""#, r#""id": "ord_other""#),
        (
            r#""cancelled_at": null"#,
            r#""cancelled_at": "2027-05-02T10:05:00Z", "cancelled_at": "x""#,
        ),
        (
            r#""awaiting_payment": false"#,
            r#""awaiting_payment": true"#,
        ),
        (
            r#""gateway_booking_id": "bkg_own_1""#,
            r#""gateway_booking_id": "bkg_other""#,
        ),
        (r#""data": {"#, r#""data": {}, "data": {"#),
    ] {
        let document = ask::fixture("order.json");
        assert!(document.contains(member), "{member}");
        let orders = match member.ends_with('{') {
            true => vec![document.replacen(member, other, 1)],
            false => [(member, other), (other, member)]
                .map(|(first, second)| document.replacen(member, &format!("{first}, {second}"), 1))
                .to_vec(),
        };
        for order in orders {
            let booked = ask::book(&MockGateway::new().respond_with(201, &order));
            assert_eq!(outcome(&booked), Unknown, "{other}");
        }
    }
}
