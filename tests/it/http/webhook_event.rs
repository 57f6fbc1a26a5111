//! Tests of event contents. The body matches the OpenAPI document's schema for the event type. It
//! shows the booking as it could be read at that time. Subscriptions get events of their product
//! only.

use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{
    Client, Database, FlightBookingBuilder, HotelBookingBuilder, ReceivedRequest, Server,
    ServerOptions, Subscriber, WatcherWebhook, eventually, on_both_databases, set_price,
    watch_request,
};

on_both_databases!(
    event_contains_the_booking_as_it_could_be_read,
    hotel_events_match_the_openapi_document,
    flight_events_match_the_openapi_document,
    events_of_failed_and_changed_bookings_match_the_openapi_document,
    watch_events_match_the_openapi_document,
);

/// Checks body and headers against the `webhooks` section of the OpenAPI document.
fn check(document: &Value, received: &ReceivedRequest) {
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
    assert_eq!(others.len(), 6, "no other header is sent: {others:?}");
}

/// Returns the events of one type.
fn told<'a>(received: &'a [ReceivedRequest], event_type: &str) -> Vec<&'a ReceivedRequest> {
    let all = received.iter();
    all.filter(|one| one.body["type"] == event_type).collect()
}

/// Waits until every outbox event of a booking has arrived and returns all received events.
async fn all(server: &Server, subscriber: &Subscriber, booking: &str) -> Vec<ReceivedRequest> {
    eventually("every event to arrive", async || {
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

async fn event_contains_the_booking_as_it_could_be_read(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let hotels = Subscriber::start(&client).await;
    let flights = Subscriber::of("flight", &client).await;
    let hotel = HotelBookingBuilder::at("OK").prebooked(&client).await;
    let flight = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    for (product, subscriber, booking) in [("hotel", hotels, hotel), ("flight", flights, flight)] {
        let read = client
            .get(&format!("/v1/{product}/bookings/{booking}"))
            .await
            .expect(200);
        let created = subscriber
            .wait_for_events(&format!("{product}.booking.created"), 1)
            .await;
        assert_eq!(&created[0].body["data"]["booking"], read.data());
    }
}

async fn hotel_events_match_the_openapi_document(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let document = client.get("/openapi.json").await.expect(200).body;
    let hotels = Subscriber::start(&client).await;
    let flights = Subscriber::of("flight", &client).await;
    let some = Subscriber::start(&client).await;
    let body = json!({"event_types": ["hotel.booking.canceled"]}).to_string();
    let path = some.subscription.path("");
    let patched = client.send(Method::PATCH, &path, Some(body.into_bytes()));
    patched.await.expect(200);
    let (booking, booked) = HotelBookingBuilder::at("OK").book(&client).await;
    booked.expect(200);
    hotels.wait_for_events("payment.captured", 1).await;
    let path = format!("/v1/hotel/bookings/{booking}");
    let _begun = client.post(&format!("{path}/cancel"), &json!({})).await;
    hotels.wait_for_events("hotel.booking.canceled", 1).await;
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
            "the booking's status at the time of the event"
        );
    }
    assert_eq!(
        told(&received, "payment.captured")[0].body["data"]["booking_id"],
        booking.as_str()
    );
    for one in &received {
        check(&document, one);
    }
    assert_eq!(
        some.wait_for_events("hotel.booking.canceled", 1)
            .await
            .len(),
        1
    );
    assert_eq!(
        some.upstream.received().len(),
        1,
        "only subscribed event types are delivered"
    );
    assert!(flights.upstream.received().is_empty());
}

async fn flight_events_match_the_openapi_document(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let document = client.get("/openapi.json").await.expect(200).body;
    let flights = Subscriber::of("flight", &client).await;
    let hotels = Subscriber::start(&client).await;
    let booking = FlightBookingBuilder::on("LHR-JFK")
        .book_confirmed(&server)
        .await;
    flights.wait_for_events("payment.captured", 1).await;
    let path = format!("/v1/flight/bookings/{booking}");
    let _begun = client.post(&format!("{path}/cancel"), &json!({})).await;
    flights.wait_for_events("flight.booking.canceled", 1).await;
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
        .wait_for_delivery_status(&client, &ping, "DELIVERED")
        .await;
    check(&document, &flights.wait_for_events("ping", 1).await[0]);
}

/// Event types of bookings that fail, expire, are declined or change.
const OTHERWISE: [(&str, &[&str]); 2] = [
    (
        "hotel",
        &[
            "hotel.booking.failed",
            "hotel.booking.expired",
            "hotel.booking.partially_canceled",
            "hotel.booking.cancellation_refused",
            "payment.refunded",
            "payment.failed",
        ],
    ),
    (
        "flight",
        &[
            "flight.booking.failed",
            "flight.booking.cancellation_refused",
            "flight.booking.services_added",
            "flight.booking.airline_change",
            "payment.refunded",
            "payment.failed",
        ],
    ),
];

async fn events_of_failed_and_changed_bookings_match_the_openapi_document(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let document = client.get("/openapi.json").await.expect(200).body;
    let mut subscribers = Vec::new();
    for (product, event_types) in OTHERWISE {
        subscribers.push((Subscriber::of(product, &client).await, event_types));
    }
    rooms_end_otherwise(&client).await;
    tickets_end_otherwise(&server).await;
    for (subscriber, event_types) in &subscribers {
        for event_type in *event_types {
            subscriber.wait_for_events(event_type, 1).await;
        }
        for one in &subscriber.upstream.received() {
            check(&document, one);
        }
    }
}

async fn rooms_end_otherwise(client: &Client) {
    let _expires = HotelBookingBuilder::at("EXPIRES_SOON")
        .prebooked(client)
        .await;
    let (_, refused) = HotelBookingBuilder::at("BOOK_REFUSED").book(client).await;
    refused.expect_problem(422, "supplier_rejected");
    let (_, declined) = HotelBookingBuilder::at("OK")
        .card("tok_declined")
        .book(client)
        .await;
    declined.expect_problem(422, "payment_failed");
    let two = HotelBookingBuilder::at("OK")
        .rooms(2)
        .book_confirmed(client)
        .await;
    let room = client.hotel_booking(&two).await["rooms"][0]["id"].clone();
    let kept = HotelBookingBuilder::at("CANCEL_REFUSED")
        .book_confirmed(client)
        .await;
    for (booking, body) in [(two, json!({"room_ids": [room]})), (kept, json!({}))] {
        let path = format!("/v1/hotel/bookings/{booking}/cancel");
        let _begun = client.post(&path, &body).await.expect(202);
    }
}

async fn tickets_end_otherwise(server: &Server) {
    let client = server.client();
    let (_, refused) = FlightBookingBuilder::on("LHR-LGW").book(server).await;
    refused.expect_problem(422, "supplier_rejected");
    let (_, declined) = FlightBookingBuilder::on("LHR-JFK")
        .card("tok_declined")
        .book(server)
        .await;
    declined.expect_problem(422, "payment_failed");
    let _changed = FlightBookingBuilder::on("LHR-DXB")
        .book_confirmed(server)
        .await;
    let carried = FlightBookingBuilder::on("LHR-JFK")
        .book_confirmed(server)
        .await;
    let wanted = client.bag_request(&carried, "tok_visa").await;
    client
        .purchase_bags(&carried, "bags", &wanted)
        .await
        .expect(200);
    let kept = FlightBookingBuilder::on("DXB-AMS")
        .book_confirmed(server)
        .await;
    for booking in [carried, kept] {
        let _begun = client.cancel_flight(&booking).await.expect(202);
    }
}

/// The events come from four watches: of a hotel, of a trip, with a purchase, and with a failed
/// purchase.
async fn watch_events_match_the_openapi_document(database: Database) {
    let options = ServerOptions::on(database).hurried();
    let server = Server::start_with(options.config("[watches]\ninterval_s = 1")).await;
    let client = server.client();
    let document = client.get("/openapi.json").await.expect(200).body;
    let webhook = WatcherWebhook::register(&client).await;
    set_price(&server.sandbox_url, "OK", 50.0).await;
    client.watch_hotel("OK", 150.0, json!({})).await;
    let places = json!({"query": "Testville"});
    let places = client.post("/v1/hotel/places", &places).await.expect(200);
    let mut trip = watch_request("", 150.0);
    trip.as_object_mut().unwrap().remove("hotel_id");
    trip["place_id"] = places.data()[0]["id"].clone();
    let path = "/v1/watcher/travel/hotel/trip-watches";
    client.post(path, &trip).await.expect(201);
    set_price(&server.sandbox_url, "MANY", 500.0).await;
    client.armed_watch("MANY", 150.0, "tok_visa").await;
    client.armed_watch("MANY", 150.0, "tok_declined").await;
    set_price(&server.sandbox_url, "MANY", 50.0).await;
    let told = webhook.wait_for_events(4).await;
    let types: BTreeSet<_> = told.iter().map(|one| one.body["type"].as_str()).collect();
    let all = document["webhooks"].as_object().unwrap().keys();
    let documented: BTreeSet<_> = all
        .filter(|name| name.starts_with("travel."))
        .map(|name| Some(name.as_str()))
        .collect();
    assert_eq!(types, documented);
    for one in &told {
        check(&document, one);
    }
}
