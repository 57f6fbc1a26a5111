//! Tests of each Nuitee response to a flight booking as a table of cases, with the final status of
//! the ticket.

use crate::nuitee::flight::scene::{BOOK, Scene};
use crate::nuitee::mock::refusal;
use serde_json::{Value, json};
use tests::{MockResponse, count, routes};

/// Returns responses to the booking, with whether the booking was made.
fn cases() -> [(&'static str, MockResponse, bool); 5] {
    let refused = |status, code| refusal(status, code, "an explanation");
    [
        ("a failure", refused(500, 55_015), true),
        ("a duplicate", refused(409, 45_036), true),
        ("expired", refused(404, 45_029), false),
        ("a rejected card", refused(400, 45_040), false),
        ("no ticketing", refused(400, 45_081), false),
    ]
}

#[tokio::test]
async fn booking_after_each_response_ends_as_nuitee_shows() {
    let scene = Scene::begin().await;
    for (name, answer, is_made) in cases() {
        let (outcome, end) = match is_made {
            true => ((500, "result_unknown"), "CONFIRMED"),
            false => ((422, "supplier_rejected"), "FAILED"),
        };
        let booking = scene.ready().await;
        scene.flights.answer_with(BOOK, answer, is_made);
        assert_eq!(scene.book(&booking).await.outcome(), outcome, "{name}");
        let ended = scene.client.wait_for_flight_booking(&booking, end).await;
        let received = scene.flights.take_received();
        if is_made {
            let find = "GET /v3.0/flights/bookings";
            assert_eq!(routes(&received), [BOOK, find], "{name}: it is sent once");
            let label = format!("customTags=GW_REF:{booking}");
            assert_eq!(received[1].query.replace("%3A", ":"), label, "{name}");
            let id = &scene.story.booking_id;
            assert_eq!(ended["supplier_reference"], *id, "{name}");
            assert_eq!(ended["payments"][0]["collected_by"], "SUPPLIER", "{name}");
        } else {
            assert_eq!(routes(&received), [BOOK], "{name}: it is sent once");
            assert_eq!(ended["failure"]["code"], "book_failed", "{name}");
            assert_eq!(ended["payments"], json!([]), "{name}");
        }
        scene.leaves_nothing(name, &booking).await;
        scene.usual();
    }
}

#[tokio::test]
async fn pending_booking_is_reconciled_until_the_airline_decides() {
    let scene = Scene::begin().await;
    for (first, last, end) in [
        ("PENDING_CONFIRMATION", "CONFIRMED", "CONFIRMED"),
        ("CREATED", "TICKETED", "CONFIRMED"),
        ("PENDING", "CANCELLED", "FAILED"),
    ] {
        scene.flights.change(|world| world.status = first);
        let booking = scene.ready().await;
        for _ in 0..2 {
            let reply = scene.book(&booking).await;
            let expected = (202, "COMPLETE_IN_PROGRESS");
            assert_eq!(reply.outcome(), expected, "{first}");
            assert_eq!(reply.data()["supplier_reference"], scene.story.booking_id);
        }
        let flights = &scene.flights;
        flights.change(|world| world.set("status", json!(last)));
        let ended = scene.client.wait_for_flight_booking(&booking, end).await;
        let id = &scene.story.booking_id;
        assert_eq!(ended["supplier_reference"], *id, "{last}");
        let received = flights.take_received();
        assert_eq!(count(&received, BOOK), 1, "{first}: it is sent once");
        let read = format!("GET /v3.0/flights/bookings/{id}");
        assert!(
            count(&received, &read) >= 1,
            "{first}: it is read by its id"
        );
        scene.usual();
    }
}

/// Nuitee specifies no time after which a booking must be found, and makes one booking per prebook.
/// A booking that is not found is therefore resent with the same request.
#[tokio::test]
async fn booking_that_is_not_found_is_resent_unchanged() {
    let scene = Scene::begin().await;
    let booking = scene.ready().await;
    let lost = refusal(500, 55_015, "");
    scene.flights.answer_with(BOOK, lost, false);
    let reply = scene.book(&booking).await;
    reply.expect_problem(500, "result_unknown");
    scene.flights.usual(&scene.story);
    let client = &scene.client;
    let ended = client.wait_for_flight_booking(&booking, "CONFIRMED").await;
    assert_eq!(ended["supplier_reference"], scene.story.booking_id);
    let received = scene.flights.take_received();
    let of_booking = received.iter().filter(|request| request.route == BOOK);
    let bodies: Vec<&str> = of_booking.map(|request| request.text.as_str()).collect();
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], bodies[1]);
    let list = "GET /v3.0/flights/bookings";
    assert_eq!(
        received[1].route, list,
        "it is searched before it is resent"
    );
    scene.leaves_nothing("a resent booking", &booking).await;
}

#[tokio::test]
async fn empty_record_locator_is_omitted() {
    let scene = Scene::begin().await;
    let locators = json!([{"airlineCode": "XO", "airlinePnr": "", "pnr": ""}]);
    scene.flights.change(|world| {
        let booking = &mut world.story.documents["booking"]["data"][0]["booking"];
        booking["order"]["reference"]["airlineBookings"] = locators;
    });
    let booking = scene.confirmed().await;
    let shown = scene.client.flight_booking(&booking).await;
    assert_eq!(shown.get("airline_pnr"), None::<&Value>);
}
