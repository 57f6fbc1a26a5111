//! Tests of optional values, which never cost the offer, prebook or booking that has them.

use super::*;

/// Returns the conditions of a fare with this penalty of a refund.
fn with_penalty(amount: i64, currency: &str) -> wire::FareConditions {
    let mut conditions = conditions();
    conditions.refund.penalty = Some(types::Money {
        amount,
        currency: currency.to_owned(),
    });
    conditions
}

/// Reads a prebook and returns the fields of what is left out of it.
fn read_bound(
    change: impl FnOnce(&mut flight_booking::PrebookResponse),
) -> (FlightPrebookResponse, Vec<(&'static str, u64)>) {
    let mut bound = bound();
    change(&mut bound);
    let mut dropped = DroppedItems::default();
    let read = prebook_response(bound, prebook_expectation(), 3, &mut dropped).unwrap();
    (read, dropped.count_by_field())
}

#[test]
fn invalid_penalty_of_a_prebook_becomes_unknown() {
    let field = "fare-conditions.refund.penalty";
    for (amount, currency) in [
        (5_000, "euro"),
        (5_000, ""),
        (5_000, "XXX"),
        (-1, "EUR"),
        (1_000_000_000_000_000, "EUR"),
        (i64::MAX, "EUR"),
    ] {
        let (read, dropped) = read_bound(|bound| {
            bound.fare_conditions = with_penalty(amount, currency);
        });
        let refund = read.fare_conditions.refund;
        assert_eq!((refund.allowed, refund.penalty), (Some(true), None));
        assert_eq!(dropped, [(field, 1)], "{amount} {currency}");
        assert_eq!(read.total, Money::new(52_300, euros()));
    }
    // A penalty may be in another currency than the fare.
    let (read, dropped) = read_bound(|bound| {
        bound.fare_conditions = with_penalty(5_000, "GBP");
    });
    let penalty = read.fare_conditions.refund.penalty.unwrap();
    assert_eq!(
        (penalty.to_string().as_str(), dropped),
        ("50.00 GBP", vec![])
    );
}

#[test]
fn invalid_penalty_of_an_offer_becomes_unknown() {
    let mut odd = offer();
    odd.fare_conditions = with_penalty(5_000, "euro");
    let mut dropped = DroppedItems::default();
    let read = price_response(response(vec![odd.clone()]), &request(), NOW, &mut dropped);
    let read = read.unwrap().offers.remove(0);
    assert_eq!(read.fare_conditions.refund.penalty, None);
    let field = "fare-conditions.refund.penalty";
    assert_eq!(dropped.count_by_field(), [(field, 1)]);
    // What is left out of an offer is not the reason why the offer is left out.
    odd.total = 0;
    let mut dropped = DroppedItems::default();
    let read = price_response(response(vec![odd]), &request(), NOW, &mut dropped);
    assert_eq!(rejected(read), "offers.total");
    assert_eq!(dropped.count_by_field(), [("offers.total", 1)]);
}

/// Makes the ids of the first journey and its first segment invalid.
fn spoil_ids(journeys: &mut [wire::Journey], id: &str) {
    journeys[0].supplier_journey_id = id.to_owned();
    journeys[0].segments[0].supplier_segment_id = id.to_owned();
}

#[test]
fn invalid_ids_of_journeys_and_segments_become_empty() {
    let expected = [
        ("journeys.supplier-journey-id", 1),
        ("segments.supplier-segment-id", 1),
    ];
    for id in ["a\nb", "a\0", &"x".repeat(257)] {
        let (read, dropped) = read_bound(|bound| spoil_ids(&mut bound.journeys, id));
        let journey = &read.journeys[0];
        let segments = journey.segments.iter();
        let ids: Vec<&str> = segments
            .map(|segment| segment.supplier_segment_id.as_str())
            .collect();
        assert_eq!(
            (journey.supplier_journey_id.as_str(), ids),
            ("", vec!["", "s2"])
        );
        assert_eq!(dropped, expected, "{id}");

        // A booking keeps the journey, and a change by the airline its segments.
        let mut state = state();
        spoil_ids(&mut state.journeys, id);
        state.changes[0].added_segments[0].supplier_segment_id = id.to_owned();
        let mut dropped = DroppedItems::default();
        let read = supplier_booking(state, &asked(Some("order")), &mut dropped).unwrap();
        let journey = read.journeys[0].as_ref().unwrap();
        assert_eq!(journey.segments[0].supplier_segment_id, "");
        assert_eq!(read.changes[0].added_segments[0].supplier_segment_id, "");
        let counts = [expected[0], ("segments.supplier-segment-id", 2)];
        assert_eq!(dropped.count_by_field(), counts, "{id}");
    }
}

#[test]
fn segments_of_a_prebook_with_invalid_ids_are_not_the_same() {
    let (read, dropped) = read_bound(|bound| {
        bound.journeys = vec![journey(&["a\n", "a\n"])];
    });
    assert_eq!(read.journeys[0].segments.len(), 2);
    assert_eq!(dropped, [("segments.supplier-segment-id", 2)]);
}
