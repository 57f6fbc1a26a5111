//! What events hold: the body that the document promises for their type, for the
//! subscriptions of their product, and the booking as it could be read then.

use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{Booked, Database, Flown, Received, Server, Subscriber, eventually, on_both_databases};

on_both_databases!(
    an_event_shows_what_could_be_read,
    events_of_hotels_are_as_documented,
    events_of_flights_are_as_documented,
);

/// Checks body and headers against the section about webhooks.
fn check(document: &Value, received: &Received) {
    let event_type = received.body["type"].as_str().unwrap();
    let webhook = &document["webhooks"][event_type]["post"];
    assert!(webhook.is_object(), "{event_type} is documented");
    let pointer =
        format!("#/webhooks/{event_type}/post/requestBody/content/application~1json/schema");
    let schema = json!({"$ref": pointer, "webhooks": document["webhooks"], "components": document["components"]});
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&received.body)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0], "{:#}", received.body);
    for header in webhook["parameters"].as_array().unwrap() {
        let header = document
            .pointer(&header["$ref"].as_str().unwrap()[1..])
            .unwrap();
        let name = header["name"].as_str().unwrap();
        let value = received.header(name);
        let validator = jsonschema::draft202012::new(&header["schema"]).unwrap();
        assert!(validator.is_valid(&json!(value)), "{name}: {value:?}");
    }
    assert_eq!(received.header("content-type"), Some("application/json"));
    let known = [
        "host",
        "content-type",
        "content-length",
        "accept",
        "user-agent",
    ];
    let others = received.headers.iter().map(|(name, _)| name.as_str());
    let others: BTreeSet<&str> = others.filter(|name| !known.contains(name)).collect();
    assert_eq!(others.len(), 6, "and nothing else is sent: {others:?}");
}

/// Events of one type.
fn told<'a>(received: &'a [Received], event_type: &str) -> Vec<&'a Received> {
    let all = received.iter();
    all.filter(|one| one.body["type"] == event_type).collect()
}

/// Every type of a booking's events, once they are all there.
async fn all(server: &Server, subscriber: &Subscriber, booking: &str) -> Vec<Received> {
    eventually("every event", async || {
        let mut laid_out = server.outbox(booking).await;
        let received = subscriber.upstream.received();
        let mut sent: Vec<&str> = received
            .iter()
            .filter_map(|one| one.body["type"].as_str())
            .collect();
        laid_out.sort();
        sent.sort_unstable();
        (sent == laid_out).then_some(received)
    })
    .await
}

async fn an_event_shows_what_could_be_read(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let hotels = Subscriber::start(&client).await;
    let flights = Subscriber::of("flight", &client).await;
    let hotel = Booked::at("OK").ready(&client).await;
    let flight = Flown::on("LHR-JFK").ready(&server).await;
    for (product, subscriber, booking) in [("hotel", hotels, hotel), ("flight", flights, flight)] {
        let read = client
            .get(&format!("/v1/{product}/bookings/{booking}"))
            .await
            .expect(200);
        let created = subscriber
            .told(&format!("{product}.booking.created"), 1)
            .await;
        assert_eq!(&created[0].body["data"]["booking"], read.data());
    }
}

async fn events_of_hotels_are_as_documented(database: Database) {
    let server = Server::start_hurried(database).await;
    let client = server.client();
    let document = client.get("/openapi.json").await.expect(200).body;
    let hotels = Subscriber::start(&client).await;
    let flights = Subscriber::of("flight", &client).await;
    let some = Subscriber::start(&client).await;
    let body = json!({"event_types": ["hotel.booking.canceled"]}).to_string();
    let path = some.subscription.path("");
    let patched = client.send(Method::PATCH, &path, Some(body.into_bytes()));
    patched.await.expect(200);
    let (booking, booked) = Booked::at("OK").book(&client).await;
    booked.expect(200);
    hotels.told("payment.captured", 1).await;
    let path = format!("/v1/hotel/bookings/{booking}");
    let _begun = client.post(&format!("{path}/cancel"), &json!({})).await;
    hotels.told("hotel.booking.canceled", 1).await;
    let received = all(&server, &hotels, &booking).await;
    for (event_type, status) in [
        ("hotel.booking.created", "READY_FOR_COMPLETE"),
        ("hotel.booking.confirmed", "CONFIRMED"),
        ("hotel.booking.cancellation_started", "CANCEL_IN_PROGRESS"),
        ("hotel.booking.canceled", "CANCELED"),
    ] {
        let told = told(&received, event_type);
        assert_eq!(told.len(), 1, "{event_type}");
        assert_eq!(
            told[0].body["data"]["booking"]["status"], status,
            "as it was then"
        );
    }
    assert_eq!(
        told(&received, "payment.captured")[0].body["data"]["booking_id"],
        booking.as_str()
    );
    for one in &received {
        check(&document, one);
    }
    assert_eq!(some.told("hotel.booking.canceled", 1).await.len(), 1);
    assert_eq!(some.upstream.received().len(), 1, "only what it asks for");
    assert!(flights.upstream.received().is_empty());
}

async fn events_of_flights_are_as_documented(database: Database) {
    let server = Server::start_hurried(database).await;
    let client = server.client();
    let document = client.get("/openapi.json").await.expect(200).body;
    let flights = Subscriber::of("flight", &client).await;
    let hotels = Subscriber::start(&client).await;
    let booking = Flown::on("LHR-JFK").confirmed(&server).await;
    flights.told("payment.captured", 1).await;
    let path = format!("/v1/flight/bookings/{booking}");
    let _begun = client.post(&format!("{path}/cancel"), &json!({})).await;
    flights.told("flight.booking.canceled", 1).await;
    let received = all(&server, &flights, &booking).await;
    for event_type in [
        "flight.booking.created",
        "flight.booking.confirmed",
        "flight.booking.cancellation_started",
        "flight.booking.canceled",
        "payment.captured",
    ] {
        assert_eq!(told(&received, event_type).len(), 1, "{event_type}");
    }
    for one in &received {
        check(&document, one);
    }
    assert!(hotels.upstream.received().is_empty());
    let ping = flights.subscription.ping(&client).await;
    flights
        .subscription
        .delivery_in(&client, &ping, "DELIVERED")
        .await;
    check(&document, &flights.told("ping", 1).await[0]);
}
