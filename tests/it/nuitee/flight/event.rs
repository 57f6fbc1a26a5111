//! Tests of Nuitee's flight webhooks. They are not signed; only Nuitee has the path that accepts
//! them.

use crate::nuitee::flight::service::{BOOK, Flights};
use crate::nuitee::service::{EVENTS_TOKEN, refusal, with_events_token};
use crate::trip::{FlightSupplier, QUIET, Scene, start_mock};
use serde_json::{Value, json};
use tests::{Database, HotelBookingBuilder, Reply, Server, count, eventually};

const PATH: &str = "/v1/suppliers/NUITEE_FLIGHTS/events";

/// Returns a webhook body in Nuitee's format: documents as text.
fn event(id: &str, client_reference: &str) -> Value {
    let request = json!({"prebookId": "p", "customTags": {"GW_REF": client_reference}});
    json!({"event_id": id, "event_name": "flights.booking.confirmed", "request": request.to_string(),
        "response": "{}", "sandbox": true})
}

impl Scene<Flights> {
    /// Starts a gateway that accepts webhooks and reconciles nothing else for an hour.
    async fn quiet() -> Self {
        let mock = start_mock().await;
        let options = Flights::options(&mock, Database::Sqlite, QUIET);
        let server = Server::start_with(with_events_token(options)).await;
        Self::at(mock, server)
    }

    async fn deliver(&self, path: &str, event: &Value) -> Reply {
        let stranger = self.client.without("x-api-key");
        stranger.post(path, event).await
    }
}

#[tokio::test]
async fn event_on_the_secret_path_completes_booking_early() {
    let scene = Scene::<Flights>::quiet().await;
    let booking = scene.ready().await;
    let lost = refusal(500, 5000, "lost");
    scene.mock.answer_with(BOOK, lost, true);
    let reply = scene.book(&booking).await;
    reply.expect_problem(500, "result_unknown");
    let _booked = scene.mock.take_received();
    let told = event("evt_1", &booking);
    for path in [
        PATH.to_owned(),
        format!("{PATH}/"),
        format!("{PATH}/{}", EVENTS_TOKEN.replace('f', "e")),
        format!("{PATH}/{}", &EVENTS_TOKEN[1..]),
        format!("{PATH}/{EVENTS_TOKEN}/x"),
    ] {
        let reply = scene.deliver(&path, &told).await;
        reply.expect_problem(404, "not_found");
    }
    scene.expect_no_call();

    let path = format!("{PATH}/{EVENTS_TOKEN}");
    for _ in 0..2 {
        let kept = scene.deliver(&path, &told).await.expect(200);
        assert_eq!(kept.body, json!({"data": {"received": 1}}));
    }
    scene
        .client
        .wait_for_flight_booking(&booking, "CONFIRMED")
        .await;
    let read = scene.mock.take_received();
    assert_eq!(count(&read, BOOK), 0, "the booking is sent only once");
    assert_eq!(scene.events("duplicate").await, 1);
    let log = std::fs::read_to_string(scene.server.data_dir().join("server.log")).unwrap();
    assert!(!log.contains("canary"), "the path is logged");
}

/// Events of one supplier do not affect the bookings of other suppliers.
#[tokio::test]
async fn event_about_another_suppliers_booking_is_ignored() {
    let scene = Scene::<Flights>::quiet().await;
    let stay = HotelBookingBuilder::at("OK")
        .book_confirmed(&scene.client)
        .await;
    let path = format!("{PATH}/{EVENTS_TOKEN}");
    scene
        .deliver(&path, &event("evt_1", &stay))
        .await
        .expect(200);
    eventually("the event to be ignored", async || {
        (scene.events("ignored").await == 1).then_some(())
    })
    .await;
    assert_eq!(scene.events("applied").await, 0);
    scene.expect_no_call();
}

#[tokio::test]
async fn missing_events_token_refuses_events_and_logs_a_warning() {
    let scene = Scene::<Flights>::begin().await;
    for path in [PATH.to_owned(), format!("{PATH}/{EVENTS_TOKEN}")] {
        let reply = scene.deliver(&path, &event("evt_1", "bkg_1")).await;
        reply.expect_problem(404, "not_found");
    }
    let log = std::fs::read_to_string(scene.server.data_dir().join("server.log")).unwrap();
    let lines = log.lines().filter(|line| line.contains("events_token"));
    let lines: Vec<_> = lines.collect();
    for supplier in ["NUITEE", "NUITEE_FLIGHTS"] {
        let is_told = |line: &&&str| line.contains(&format!("\"{supplier}\""));
        let told: Vec<_> = lines.iter().filter(is_told).collect();
        assert!(told.len() == 1 && told[0].contains("WARN"), "{lines:#?}");
    }
    assert_eq!(lines.len(), 2, "no other supplier is named: {lines:#?}");
}
