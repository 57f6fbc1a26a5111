//! Tests of each Nuitee response to a flight booking as a table of cases, with the final status of
//! the ticket.

use crate::nuitee::flight::scene::{BOOK, Scene};
use crate::nuitee::service::refusal;
use serde_json::{Value, json};
use tests::{MockResponse, count, routes};

/// A response to the booking, whether the booking was made, and the outcome.
struct Case {
    name: &'static str,
    answer: MockResponse,
    is_made: bool,
    reply: (u16, &'static str),
    end: &'static str,
}

fn cases() -> [Case; 16] {
    let unknown = |name, answer| Case {
        name,
        answer,
        is_made: true,
        reply: (500, "result_unknown"),
        end: "CONFIRMED",
    };
    let refused = |name, status, code| Case {
        name,
        answer: refusal(status, code, "an explanation"),
        is_made: false,
        reply: (422, "supplier_rejected"),
        end: "FAILED",
    };
    let failed = |name, status, code| unknown(name, refusal(status, code, "an explanation"));
    [
        failed("a failure", 500, 55_015),
        failed("ticketing failed", 502, 55_014),
        failed("not available", 503, 55_016),
        failed("in progress", 409, 45_035),
        failed("a duplicate", 409, 45_036),
        failed("ticketed already", 409, 45_087),
        failed("a limit", 429, 4290),
        failed("an unknown code", 400, 45_999),
        unknown(
            "a truncated response",
            MockResponse::new(200, r#"{"data": [{"booking""#),
        ),
        unknown("a proxy's failure", MockResponse::new(502, "<html>")),
        unknown(
            "an empty response",
            MockResponse::json(200, &json!({"data": []})),
        ),
        refused("expired", 404, 45_029),
        refused("a rejected card", 400, 45_040),
        refused("no ticketing", 400, 45_081),
        refused("a wrong key", 401, 45_028),
        refused("an expired session", 400, 45_063),
    ]
}

#[tokio::test]
async fn booking_after_each_response_ends_as_nuitee_shows() {
    let scene = Scene::begin().await;
    for case in cases() {
        let name = case.name;
        let booking = scene.ready().await;
        scene.flights.answer_with(BOOK, case.answer, case.is_made);
        let reply = scene.book(&booking).await;
        let word = reply.body["code"].as_str().unwrap();
        assert_eq!((reply.status, word), case.reply, "{name}: {:#}", reply.body);
        let ended = scene
            .client
            .wait_for_flight_booking(&booking, case.end)
            .await;
        let received = scene.flights.take_received();
        assert_eq!(
            count(&received, BOOK),
            1,
            "{name}: the booking is sent only once"
        );
        if case.is_made {
            assert_eq!(
                routes(&received),
                [BOOK, "GET /v3.0/flights/bookings"],
                "{name}"
            );
            let label = format!("customTags=GW_REF:{booking}");
            assert_eq!(received[1].query.replace("%3A", ":"), label, "{name}");
            assert_eq!(
                ended["supplier_reference"], scene.story.booking_id,
                "{name}"
            );
            assert_eq!(ended["payments"][0]["collected_by"], "SUPPLIER", "{name}");
        } else {
            assert_eq!(received.len(), 1, "{name}");
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
            let reply = scene.book(&booking).await.expect(202);
            assert_eq!(reply.data()["status"], "COMPLETE_IN_PROGRESS", "{first}");
            assert_eq!(reply.data()["supplier_reference"], scene.story.booking_id);
        }
        scene
            .flights
            .change(|world| world.set("status", json!(last)));
        let ended = scene.client.wait_for_flight_booking(&booking, end).await;
        assert_eq!(
            ended["supplier_reference"], scene.story.booking_id,
            "{last}"
        );
        let received = scene.flights.take_received();
        assert_eq!(
            count(&received, BOOK),
            1,
            "{first}: the booking is sent only once"
        );
        let read = format!("GET /v3.0/flights/bookings/{}", scene.story.booking_id);
        assert!(
            count(&received, &read) >= 1,
            "{first}: the booking is read by its id"
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
    let ended = scene
        .client
        .wait_for_flight_booking(&booking, "CONFIRMED")
        .await;
    assert_eq!(ended["supplier_reference"], scene.story.booking_id);
    let received = scene.flights.take_received();
    let of_booking = received.iter().filter(|request| request.route == BOOK);
    let bodies: Vec<&str> = of_booking.map(|request| request.text.as_str()).collect();
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], bodies[1]);
    let list = "GET /v3.0/flights/bookings";
    assert_eq!(
        received[1].route, list,
        "the booking is searched before it is resent"
    );
    scene.leaves_nothing("a resent booking", &booking).await;
}

#[tokio::test]
async fn empty_record_locator_is_omitted() {
    let scene = Scene::begin().await;
    let locators = json!([{"airlineCode": "XO", "airlinePnr": "", "pnr": ""}]);
    scene.flights.change(|world| {
        let booking = &mut world.story.documents.booking["data"][0]["booking"];
        booking["order"]["reference"]["airlineBookings"] = locators;
    });
    let booking = scene.confirmed().await;
    let shown = scene.client.flight_booking(&booking).await;
    assert_eq!(shown.get("airline_pnr"), None::<&Value>);
}
