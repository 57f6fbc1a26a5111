//! Tests of prebooks that fail at Nuitee, with what becomes of the idempotency key. The end user would
//! pay Nuitee, so that a prebook that may exist is kept.

use crate::nuitee::flight::service::{Flights, PREBOOK, VERIFY};
use crate::nuitee::service::refusal;
use crate::trip::{FlightSupplier, Scene};
use tests::{MockResponse, prebook_flight_request, routes};

/// Verifying an offer changes nothing at Nuitee. Its failure ends the booking, and the same key is free.
#[tokio::test]
async fn failed_verification_fails_the_prebook_and_frees_its_key() {
    let scene = Scene::<Flights>::begin().await;
    for (name, answer) in [
        ("no connection", refusal(502, 52_011, "connection failed")),
        ("a failure", refusal(503, 5_000, "an explanation")),
        ("a page", MockResponse::new(503, "<html>maintenance</html>")),
        ("no JSON", MockResponse::new(200, "<html>welcome</html>")),
        ("no data", MockResponse::new(200, "{}")),
    ] {
        let request = prebook_flight_request(&scene.offer().await, &Flights::passengers());
        let _searched = scene.mock.take_received();
        scene.mock.respond_with(VERIFY, answer, None);
        let failed = scene.client.prebook_flight(name, &request).await;
        let failed = failed.expect_problem(503, "supplier_unavailable");
        assert_eq!(failed.body.get("booking_id"), None, "{name}");
        assert_eq!(routes(&scene.mock.take_received()), [VERIFY], "{name}");

        Flights::serve(&scene.mock);
        let bound = scene.client.prebook_flight(name, &request).await;
        let bound = bound.expect(201);
        assert_eq!(bound.data()["status"], "READY_FOR_COMPLETE", "{name}");
        let received = scene.mock.take_received();
        assert_eq!(routes(&received), [VERIFY, PREBOOK], "{name}");
    }
}

#[tokio::test]
async fn prebook_that_may_have_a_checkout_is_kept_with_its_key() {
    let scene = Scene::<Flights>::begin().await;
    for (name, answer) in [
        ("no connection", refusal(502, 53_011, "connection failed")),
        ("a page", MockResponse::new(503, "<html>maintenance</html>")),
        ("no JSON", MockResponse::new(200, "<html>welcome</html>")),
    ] {
        let request = prebook_flight_request(&scene.offer().await, &Flights::passengers());
        scene.mock.respond_with(PREBOOK, answer, None);
        let failed = scene.client.prebook_flight(name, &request).await;
        let failed = failed.expect_problem(502, "supplier_error");
        let booking = failed.body["booking_id"].as_str().unwrap();
        let kept = scene.client.flight_booking(booking).await;
        assert_eq!(kept["status"], "PREBOOK_IN_PROGRESS", "{name}");
        scene.usual();
    }
}
