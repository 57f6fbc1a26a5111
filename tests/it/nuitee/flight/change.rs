//! Tests of each kind of Nuitee response to a flight booking and to a cancellation, with the final
//! status of the ticket.

use crate::nuitee::flight::service::{BOOK, CANCEL, Flights, ID, LIST, READ};
use crate::nuitee::service::refusal;
use crate::trip::{FlightSupplier, Scene};
use serde_json::{Value, json};
use tests::{MockResponse, count, money, routes};

#[tokio::test]
async fn booking_after_each_response_ends_as_nuitee_shows() {
    let scene = Scene::<Flights>::begin().await;
    let refused = |status, code| refusal(status, code, "an explanation");
    for (name, answer, is_made) in [
        ("a failure", refused(500, 55_015), true),
        ("a duplicate", refused(409, 45_036), true),
        ("expired", refused(404, 45_029), false),
    ] {
        let (outcome, end) = match is_made {
            true => ((500, "result_unknown"), "CONFIRMED"),
            false => ((422, "supplier_rejected"), "FAILED"),
        };
        let booking = scene.ready().await;
        scene.mock.answer_with(BOOK, answer, is_made);
        assert_eq!(scene.book(&booking).await.outcome(), outcome, "{name}");
        let ended = scene.client.wait_for_flight_booking(&booking, end).await;
        let received = scene.mock.take_received();
        if is_made {
            assert_eq!(routes(&received), [BOOK, LIST], "{name}: it is sent once");
            let label = format!("customTags=GW_REF:{booking}");
            assert_eq!(received[1].query.replace("%3A", ":"), label, "{name}");
            assert_eq!(ended["supplier_reference"], ID, "{name}");
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
    let scene = Scene::<Flights>::begin().await;
    for (first, last, end) in [
        ("PENDING_CONFIRMATION", "CONFIRMED", "CONFIRMED"),
        ("PENDING", "CANCELLED", "FAILED"),
    ] {
        scene.mock.change(|flights| flights.status = first);
        let booking = scene.ready().await;
        for _ in 0..2 {
            let reply = scene.book(&booking).await;
            let expected = (202, "COMPLETE_IN_PROGRESS");
            assert_eq!(reply.outcome(), expected, "{first}");
            assert_eq!(reply.data()["supplier_reference"], ID);
        }
        scene
            .mock
            .change(|flights| flights.set("status", json!(last)));
        let ended = scene.client.wait_for_flight_booking(&booking, end).await;
        assert_eq!(ended["supplier_reference"], ID, "{last}");
        let received = scene.mock.take_received();
        assert_eq!(count(&received, BOOK), 1, "{first}: it is sent once");
        assert!(count(&received, READ) >= 1, "{first}: it is read by its id");
        scene.usual();
    }
}

/// Nuitee specifies no time after which a booking must be found, and makes one booking per prebook.
/// A booking that is not found is therefore resent with the same request.
#[tokio::test]
async fn booking_that_is_not_found_is_resent_unchanged() {
    let scene = Scene::<Flights>::begin().await;
    let booking = scene.ready().await;
    scene
        .mock
        .answer_with(BOOK, refusal(500, 55_015, ""), false);
    let reply = scene.book(&booking).await;
    reply.expect_problem(500, "result_unknown");
    Flights::serve(&scene.mock);
    let client = &scene.client;
    let ended = client.wait_for_flight_booking(&booking, "CONFIRMED").await;
    assert_eq!(ended["supplier_reference"], ID);
    let received = scene.mock.take_received();
    let of_booking = received.iter().filter(|request| request.route == BOOK);
    let bodies: Vec<&str> = of_booking.map(|request| request.text.as_str()).collect();
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], bodies[1]);
    // It is searched before it is resent.
    assert_eq!(received[1].route, LIST);
    scene.leaves_nothing("a resent booking", &booking).await;
}

#[tokio::test]
async fn empty_record_locator_is_omitted() {
    let scene = Scene::<Flights>::begin().await;
    let locators = json!([{"airlineCode": "XO", "airlinePnr": "", "pnr": ""}]);
    scene.mock.change(|flights| {
        let booking = &mut flights.documents["booking"]["data"][0]["booking"];
        booking["order"]["reference"]["airlineBookings"] = locators;
    });
    let booking = scene.confirmed().await;
    let shown = scene.client.flight_booking(&booking).await;
    assert_eq!(shown.get("airline_pnr"), None::<&Value>);
}

#[tokio::test]
async fn pending_cancellation_is_reconciled_until_the_airline_decides() {
    let scene = Scene::<Flights>::begin().await;
    for is_granted in [true, false] {
        let booking = scene.confirmed().await;
        let accepted = json!({"data": {"bookingId": ID, "status": "CONFIRMED"}});
        let mock = &scene.mock;
        mock.answer_with(CANCEL, MockResponse::json(202, &accepted), false);
        let asked_at = json!("2026-01-01T00:00:00Z");
        mock.change(|flights| flights.set("cancelIntentAt", asked_at));
        scene.client.cancel_flight(&booking).await.expect(202);
        mock.wait_for_requests(READ, 2).await;
        let waiting = scene.client.flight_booking(&booking).await;
        assert_eq!(waiting["status"], "CANCEL_IN_PROGRESS");
        let (end, field, value) = match is_granted {
            true => ("CANCELED", "status", json!("CANCELLED")),
            false => ("CONFIRMED", "cancelIntentAt", Value::Null),
        };
        mock.change(|flights| flights.set(field, value));
        let ended = scene.client.wait_for_flight_booking(&booking, end).await;
        if is_granted {
            let cancellation = &ended["cancellation"];
            assert_eq!(cancellation["refunded_by"], "SUPPLIER");
            assert_eq!(cancellation["fee"], money(120.0, "EUR"));
            assert_eq!(cancellation["refund_amount"], money(1070.4, "EUR"));
        } else {
            assert_eq!(ended["failure"]["code"], "cancel_refused");
        }
        let received = mock.take_received();
        assert_eq!(count(&received, CANCEL), 1, "it is sent only once");
        scene.leaves_nothing(end, &booking).await;
        scene.usual();
    }
}
