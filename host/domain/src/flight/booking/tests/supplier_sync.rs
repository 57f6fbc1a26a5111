//! Values of a ticket that a later response does not state again.

use super::*;
use crate::flight::itinerary::Segment;
use crate::flight::service::BaggageType;

/// Returns the first segment of a booking whose supplier reports these segments one after the
/// other.
fn merged_segment(reports: impl IntoIterator<Item = serde_json::Value>) -> Segment {
    let mut booking = Flight::captured();
    for report in reports {
        let mut stored = serde_json::to_value(&journey(&["seg-1"]).segments[0]).unwrap();
        let members = report.as_object().unwrap().clone();
        stored.as_object_mut().unwrap().extend(members);
        let mut stated = journey(&["seg-1"]);
        stated.segments[0] = serde_json::from_value(stored).unwrap();
        let mut read = Flight::reported(SupplierBookingStatus::Confirmed);
        read.journeys = vec![Some(stated)];
        booking = after(change_reported(booking), [Flight::refreshed(read, NOW)]);
    }
    booking.details.journeys[0].journey.segments[0].clone()
}

#[test]
fn bags_and_cabin_name_are_kept_if_not_stated_again() {
    let passenger = |cabin: &str, members: serde_json::Value| {
        let mut passenger = json!({ "passenger": 0, "cabin": cabin });
        let members = members.as_object().unwrap().clone();
        passenger.as_object_mut().unwrap().extend(members);
        json!({ "passengers": [passenger] })
    };
    let checked = json!({ "baggage_type": "checked", "pieces": 1, "max_weight_kg": 23 });
    let carry_on = json!({ "baggage_type": "carry_on", "pieces": 2 });
    let bags = |list: serde_json::Value| json!({ "baggage": list });
    let prebooked = passenger(
        "economy",
        json!({ "cabin_name": "Light", "checked_bags": 1, "details": bags(json!([checked])) }),
    );
    let merged = |cabin: &str, members| {
        let stated = passenger(cabin, members);
        merged_segment([prebooked.clone(), stated])
            .passengers
            .remove(0)
    };
    let kinds = |passenger: &SegmentPassenger| {
        let bags = passenger.details.baggage.iter();
        bags.map(|bag| (bag.baggage_type, bag.pieces))
            .collect::<Vec<_>>()
    };
    let (one_checked, two_carry_on) = (
        (BaggageType::Checked, Some(1)),
        (BaggageType::CarryOn, Some(2)),
    );

    let silent = merged("economy", json!({}));
    assert_eq!((silent.checked_bags, silent.carry_on_bags), (Some(1), None));
    assert_eq!(silent.cabin_name.as_deref(), Some("Light"));
    assert_eq!(kinds(&silent), [one_checked]);

    let added = merged(
        "economy",
        json!({ "carry_on_bags": 2, "details": bags(json!([carry_on])) }),
    );
    assert_eq!(
        (added.checked_bags, added.carry_on_bags),
        (Some(1), Some(2))
    );
    assert_eq!(kinds(&added), [two_carry_on, one_checked]);

    let removed = merged("economy", json!({ "checked_bags": 0 }));
    assert_eq!(removed.checked_bags, Some(0));
    assert_eq!(kinds(&removed), []);

    let listed = merged("economy", json!({ "details": bags(json!([checked])) }));
    assert_eq!(listed.checked_bags, None, "the list states the pieces");

    let other_cabin = merged("business", json!({}));
    assert_eq!(
        (other_cabin.cabin_name.as_ref(), other_cabin.checked_bags),
        (None, None)
    );
    assert_eq!(kinds(&other_cabin), []);
}

/// A segment as a prebook states it.
fn prebooked_segment() -> serde_json::Value {
    json!({
        "origin_time_zone": "Europe/London",
        "duration_minutes": 480,
        "operating_carrier": "American Airlines",
        "passengers": [{
            "passenger": 0,
            "cabin": "economy",
            "details": { "fare_basis_code": "KLX0", "seat": { "designator": "14B", "disclosures": [] }, "baggage": [] },
        }],
        "details": {
            "origin_terminal": "5",
            "destination_terminal": "8",
            "operating_flight": "AA6132",
            "aircraft": "Airbus A380",
            "technical_stops": [{ "airport": "KEF" }],
        },
    })
}

#[test]
fn each_detail_of_a_segment_is_kept_if_not_stated_again() {
    let prebooked = prebooked_segment();
    let stated = json!({
        "passengers": [{
            "passenger": 0,
            "cabin": "economy",
            "details": { "baggage": [{ "baggage_type": "checked", "pieces": 1 }] },
        }],
        "details": {
            "destination_terminal": "7",
            "operating_carrier_code": "AA",
            "technical_stops": [],
        },
    });
    let segment = merged_segment([prebooked, stated]);
    assert_eq!(segment.origin_time_zone.as_deref(), Some("Europe/London"));
    assert_eq!(segment.duration_minutes, Some(480));
    let operator = segment.operating_carrier.as_deref();
    assert_eq!(operator, Some("American Airlines"));
    let details = &segment.details;
    assert_eq!(details.origin_terminal.as_deref(), Some("5"));
    assert_eq!(details.destination_terminal.as_deref(), Some("7"));
    assert_eq!(details.operating_carrier_code.as_deref(), Some("AA"));
    assert_eq!(details.operating_flight.as_deref(), Some("AA6132"));
    assert_eq!(details.aircraft.as_deref(), Some("Airbus A380"));
    assert_eq!(details.technical_stops[0].airport, "KEF");
    let passenger = &segment.passengers[0].details;
    assert_eq!(passenger.fare_basis_code.as_deref(), Some("KLX0"));
    assert_eq!(passenger.baggage[0].pieces, Some(1));
    assert!(passenger.seat.is_some());
}

#[test]
fn value_of_another_airport_airline_or_aircraft_is_not_kept() {
    let prebooked = prebooked_segment();
    let moved = json!({
        "origin": "LGW",
        "operating_carrier": "Iberia",
        "details": { "aircraft": "Airbus A320", "aircraft_code": "320", "technical_stops": [] },
    });
    let segment = merged_segment([prebooked.clone(), moved]);
    let details = &segment.details;
    assert_eq!(
        (&segment.origin_time_zone, segment.duration_minutes),
        (&None, None)
    );
    assert_eq!(
        (&details.origin_terminal, &details.operating_flight),
        (&None, &None)
    );
    assert_eq!(segment.operating_carrier.as_deref(), Some("Iberia"));
    assert_eq!(details.aircraft.as_deref(), Some("Airbus A320"));
    assert_eq!(details.destination_terminal.as_deref(), Some("8"));
    assert!(
        details.technical_stops.is_empty(),
        "the route is another one"
    );
    assert_eq!(segment.passengers[0].details.seat, None);
    let other_operator =
        json!({ "details": { "operating_carrier_code": "IB", "technical_stops": [] } });
    let segment = merged_segment([prebooked, other_operator]);
    assert_eq!(segment.operating_carrier, None);
    assert_eq!(segment.details.operating_flight, None);
}

#[test]
fn condition_of_a_journey_is_kept_if_only_the_other_one_is_stated_again() {
    let known = FareCondition {
        allowed: Some(true),
        penalty: Some(euros(7_500)),
    };
    let denied = FareCondition {
        allowed: Some(false),
        penalty: None,
    };
    let (refund, change) = (FareCondition::default(), known);
    let mut booking = Flight::captured();
    for conditions in [
        FareConditions { refund, change },
        FareConditions {
            refund: denied,
            change: FareCondition::default(),
        },
    ] {
        let mut stated = journey(&["seg-1"]);
        stated.fare_conditions = Some(conditions);
        let mut read = Flight::reported(SupplierBookingStatus::Confirmed);
        read.journeys = vec![Some(stated)];
        booking = after(change_reported(booking), [Flight::refreshed(read, NOW)]);
    }
    let merged = booking.details.journeys[0].journey.fare_conditions;
    let (refund, change) = (denied, known);
    assert_eq!(merged, Some(FareConditions { refund, change }));
}
