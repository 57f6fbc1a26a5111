//! Cabin classes. The class is part of what is sold, so that a missing one is never guessed.

use serde_json::{Value, json};
use stopover_sdk::dropped::DropReason;
use stopover_sdk::flight_pricing::Offer;
use stopover_sdk::testing::Outcome::NotSent;
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::Cabin;

use crate::ask;

const PASSENGERS: &str = "/slices/0/segments/0/passengers";

/// Returns the passengers of the first segment of a fixture, of which each has this class and this cabin.
/// `None` removes the class.
fn passengers(fixture: &str, class: Option<&Value>, cabin: &Value) -> Value {
    let document: Value = serde_json::from_str(&ask::fixture(fixture)).unwrap();
    let mut passengers = document["data"].pointer(PASSENGERS).unwrap().clone();
    for passenger in passengers.as_array_mut().unwrap() {
        match class {
            Some(class) => passenger["cabin_class"] = class.clone(),
            None => drop(passenger.as_object_mut().unwrap().remove("cabin_class")),
        }
        passenger["cabin"] = cabin.clone();
    }
    passengers
}

/// Classes that state nothing.
fn no_classes() -> [Option<Value>; 3] {
    [None, Some(json!(null)), Some(json!(""))]
}

/// Cabins that state no class.
fn no_cabins() -> Vec<Value> {
    vec![
        json!(null),
        json!({}),
        json!({ "name": null, "marketing_name": "Business" }),
        json!({ "name": "" }),
        json!("business"),
        json!(7),
    ]
}

/// Searches for this offer beside a usual one. Returns it if it is found.
fn searched(offer: &str) -> (Option<Offer>, Vec<(DropReason, u32)>) {
    let usual = ask::changed("offer.json", &[("/id", json!("off_usual"))]);
    // The text is kept, because an object may repeat keys.
    let items = [offer, &usual].map(|document| {
        let (_, data) = document.trim().split_once(':').unwrap();
        data.strip_suffix('}').unwrap().to_owned()
    });
    let page = format!(r#"{{"data": [{}], "meta": null}}"#, items.join(","));
    let gateway = ask::fixtures(&["offer-request.json"]).respond_with(200, page);
    let mut offers = ask::price(&gateway).unwrap().offers;
    assert_eq!(offers.pop().unwrap().supplier_offer, "off_usual");
    (offers.pop(), gateway.dropped_items())
}

#[test]
fn class_comes_from_passenger_or_cabin() {
    for (class, cabin, expected) in [
        (json!("business"), json!(null), Cabin::Business),
        (
            json!("business"),
            json!({ "name": "economy" }),
            Cabin::Business,
        ),
        (json!(null), json!({ "name": "business" }), Cabin::Business),
        (json!(""), json!({ "name": "first" }), Cabin::First),
        (json!("economy"), json!(7), Cabin::Economy),
    ] {
        let of_first = passengers("offer.json", Some(&class), &cabin);
        let offer = ask::changed("offer.json", &[(PASSENGERS, of_first)]);
        let (found, dropped) = searched(&offer);
        let segment = &found.unwrap().journeys[0].segments[0];
        assert_eq!(segment.cabin, expected, "{class} {cabin}");
        let mut of_segment = segment.passengers.iter();
        assert!(of_segment.all(|passenger| passenger.cabin == expected));
        assert_eq!(dropped, [], "{class} {cabin}");
    }
}

#[test]
fn offer_without_class_is_neither_offered_nor_prebooked() {
    let check = |passengers: Value| {
        let values = [(PASSENGERS, passengers)];
        let offer = ask::changed("offer.json", &values);
        let (found, dropped) = searched(&offer);
        assert_eq!(found, None, "{values:?}");
        assert_eq!(dropped, [(DropReason::MissingValue, 1)], "{values:?}");
        let prebook = ask::prebook(&MockGateway::new().respond_with(200, offer));
        assert_eq!(outcome(&prebook), NotSent, "{values:?}: {prebook:?}");
    };
    for class in no_classes() {
        for cabin in no_cabins() {
            check(passengers("offer.json", class.as_ref(), &cabin));
        }
    }
    // One passenger without a class is enough.
    let mut one = passengers("offer.json", Some(&json!("economy")), &json!(null));
    one[2]["cabin_class"] = json!(null);
    check(one);
    check(json!([]));
}

#[test]
fn order_of_repeated_classes_decides_nothing() {
    let offer = ask::fixture("offer.json");
    let class = r#""cabin_class": "economy""#;
    for (first, second) in [("economy", "business"), ("business", "economy")] {
        let classes = format!(r#""cabin_class": "{first}", "cabin_class": "{second}""#);
        let (found, dropped) = searched(&offer.replacen(class, &classes, 1));
        assert_eq!(found, None, "{classes}");
        assert_eq!(dropped, [(DropReason::MissingValue, 1)], "{classes}");
    }
}

/// The gateway keeps the journeys of the prebook if a booking has none.
#[test]
fn order_without_class_is_booked_without_journeys() {
    for class in no_classes() {
        let of_first = passengers("order.json", class.as_ref(), &json!(null));
        let order = ask::changed("order.json", &[(PASSENGERS, of_first)]);
        let gateway = MockGateway::new().respond_with(201, order);
        let booked = ask::book(&gateway).unwrap();
        assert_eq!(booked.status, BookingStatus::Confirmed, "{class:?}");
        assert_eq!(booked.journeys, [], "{class:?}");
        assert_eq!(booked.services.len(), 2, "{class:?}");
        let dropped = gateway.dropped_items();
        assert_eq!(dropped, [(DropReason::MissingValue, 1)], "{class:?}");
    }
}

/// A change sells nothing, and a traveller must hear of it.
#[test]
fn airline_change_without_class_is_kept() {
    const ADDED: &str = "/airline_initiated_changes/0/added/0/segments/0/passengers";
    for class in no_classes() {
        let of_added = passengers("order.json", class.as_ref(), &json!(null));
        for added in [of_added, json!([])] {
            let order = ask::changed("order.json", &[(ADDED, added.clone())]);
            let gateway = MockGateway::new().respond_with(201, order);
            let booked = ask::book(&gateway).unwrap();
            assert_eq!(booked.journeys.len(), 2, "{added}");
            assert_eq!(booked.changes.len(), 1, "{added}");
            assert_eq!(gateway.dropped_items(), [], "{added}");
        }
    }
}
