//! Tests of event contents. The body matches the OpenAPI document's schema for the event type. It
//! shows the booking as it could be read at that time. Subscriptions get events of their product
//! only.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{
    Booking, BookingBuilder, Client, Database, FlightBookingBuilder, HotelBookingBuilder,
    ReceivedRequest, Server, ServerOptions, Subscriber, TRIP_WATCHES, WatcherWebhook, eventually,
    on_both_databases, set_price, trip_watch_request,
};

on_both_databases!(
    event_contains_the_booking_as_it_could_be_read,
    booking_events_match_the_openapi_document,
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
    let errors = validator.iter_errors(&received.body);
    let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0], "{:#}", received.body);
    for header in webhook["parameters"].as_array().unwrap() {
        let pointer = &header["$ref"].as_str().unwrap()[1..];
        let header = document.pointer(pointer).unwrap();
        let name = header["name"].as_str().unwrap();
        let value = received.header(name);
        let validator = jsonschema::draft202012::new(&header["schema"]).unwrap();
        assert!(validator.is_valid(&json!(value)), "{name}: {value:?}");
    }
    assert_eq!(received.header("content-type"), Some("application/json"));
    // The request has the documented headers and these five: host, content-type, content-length,
    // accept and user-agent.
    let names: BTreeSet<&String> = received.headers.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 6 + 5, "no other header is sent: {names:?}");
}

/// Cancels a confirmed booking and checks each of its events.
async fn check_events(server: &Server, product: &str, booking: &Booking, subscriber: &Subscriber) {
    let document = server.client().get("/openapi.json").await.expect(200);
    subscriber.wait_for_events("payment.captured", 1).await;
    booking.cancel().await.expect(202);
    let received = eventually("every event to arrive", async || {
        let mut recorded = server.outbox(&booking.id).await;
        let received = subscriber.upstream.received();
        let types = received.iter().filter_map(|one| one.body["type"].as_str());
        let mut sent: Vec<&str> = types.collect();
        recorded.sort();
        sent.sort_unstable();
        let is_canceled = sent.contains(&format!("{product}.booking.canceled").as_str());
        (is_canceled && sent == recorded).then_some(received)
    })
    .await;
    // Each event shows the booking's status at its time.
    for (change, status) in [
        ("created", "READY_FOR_COMPLETE"),
        ("confirmed", "CONFIRMED"),
        ("cancellation_started", "CANCEL_IN_PROGRESS"),
        ("canceled", "CANCELED"),
    ] {
        let event_type = format!("{product}.booking.{change}");
        let events = subscriber.wait_for_events(&event_type, 1).await;
        assert_eq!(events.len(), 1, "{event_type}");
        let booking = &events[0].body["data"]["booking"];
        assert_eq!(booking["status"], status, "{event_type}");
    }
    let captured = subscriber.wait_for_events("payment.captured", 1).await;
    assert_eq!(captured.len(), 1);
    assert_eq!(captured[0].body["data"]["booking_id"], booking.id);
    for request in &received {
        check(&document.body, request);
    }
}

async fn event_contains_the_booking_as_it_could_be_read(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let builders = BookingBuilder::of_each_kind();
    for (builder, product) in builders.iter().zip(["hotel", "flight"]) {
        let subscriber = Subscriber::of(product, &client).await;
        let booking = builder.prebooked(&server).await;
        let event_type = format!("{product}.booking.created");
        let created = subscriber.wait_for_events(&event_type, 1).await;
        assert_eq!(created[0].body["data"]["booking"], booking.read().await);
    }
}

async fn booking_events_match_the_openapi_document(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let hotels = Subscriber::start(&client).await;
    let flights = Subscriber::of("flight", &client).await;
    let some = Subscriber::start(&client).await;
    let fields = json!({"event_types": ["hotel.booking.canceled"]});
    some.subscription.change(&client, &fields).await.expect(200);
    let [hotel, flight] = BookingBuilder::of_each_kind();
    let flight = flight.book_confirmed(&server).await;
    check_events(&server, "flight", &flight, &flights).await;
    flights.subscription.ping(&client).await;
    let document = client.get("/openapi.json").await.expect(200).body;
    check(&document, &flights.wait_for_events("ping", 1).await[0]);
    let hotel = hotel.book_confirmed(&server).await;
    check_events(&server, "hotel", &hotel, &hotels).await;
    some.wait_for_events("hotel.booking.canceled", 1).await;
    assert_eq!(some.upstream.received().len(), 1);
    let to_flights = flights.upstream.received();
    assert!(to_flights.iter().all(|one| !one.text.contains(&hotel.id)));
}

async fn events_of_failed_and_changed_bookings_match_the_openapi_document(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let document = client.get("/openapi.json").await.expect(200).body;
    let hotels = Subscriber::start(&client).await;
    let flights = Subscriber::of("flight", &client).await;
    rooms_end_otherwise(&client).await;
    tickets_end_otherwise(&server).await;
    for (subscriber, event_type) in [
        (&hotels, "hotel.booking.failed"),
        (&hotels, "hotel.booking.expired"),
        (&hotels, "hotel.booking.partially_canceled"),
        (&hotels, "hotel.booking.cancellation_refused"),
        (&hotels, "payment.refunded"),
        (&hotels, "payment.failed"),
        (&flights, "flight.booking.failed"),
        (&flights, "flight.booking.cancellation_refused"),
        (&flights, "flight.booking.services_added"),
        (&flights, "flight.booking.airline_change"),
        (&flights, "payment.refunded"),
        (&flights, "payment.failed"),
    ] {
        subscriber.wait_for_events(event_type, 1).await;
    }
    for subscriber in [hotels, flights] {
        for one in &subscriber.upstream.received() {
            check(&document, one);
        }
    }
}

/// Makes hotel bookings that fail, expire, are declined or change.
async fn rooms_end_otherwise(client: &Client) {
    let at = HotelBookingBuilder::at;
    at("EXPIRES_SOON").prebooked(client).await;
    let (_, refused) = at("BOOK_REFUSED").book(client).await;
    refused.expect_problem(422, "supplier_rejected");
    let (_, declined) = at("OK").card("tok_declined").book(client).await;
    declined.expect_problem(422, "payment_failed");
    let two = at("OK").rooms(2).book_confirmed(client).await;
    let room = client.hotel_booking(&two).await["rooms"][0]["id"].clone();
    let kept = at("CANCEL_REFUSED").book_confirmed(client).await;
    for (booking, body) in [(two, json!({"room_ids": [room]})), (kept, json!({}))] {
        client.cancel_hotel(&booking, &body).await.expect(202);
    }
}

/// Makes flight bookings that fail, are declined or change.
async fn tickets_end_otherwise(server: &Server) {
    let client = server.client();
    let on = FlightBookingBuilder::on;
    let (_, refused) = on("LHR-LGW").book(server).await;
    refused.expect_problem(422, "supplier_rejected");
    let (_, declined) = on("LHR-JFK").card("tok_declined").book(server).await;
    declined.expect_problem(422, "payment_failed");
    on("LHR-DXB").book_confirmed(server).await;
    let carried = on("LHR-JFK").book_confirmed(server).await;
    let bags = client.bag_request(&carried, "tok_visa").await;
    let purchased = client.purchase_bags(&carried, "bags", &bags).await;
    purchased.expect(200);
    let kept = on("DXB-AMS").book_confirmed(server).await;
    for booking in [carried, kept] {
        client.cancel_flight(&booking).await.expect(202);
    }
}

/// The events come from four watches: of a hotel, of a trip, with a purchase, and with a failed
/// purchase.
async fn watch_events_match_the_openapi_document(database: Database) {
    let options = ServerOptions::on(database).with_short_retries();
    let server = Server::start_with(options.config("[watches]\ninterval_s = 1")).await;
    let client = server.client();
    let document = client.get("/openapi.json").await.expect(200).body;
    let webhook = WatcherWebhook::register(&client).await;
    set_price(&server.sandbox_url, "OK", 50.0).await;
    client.watch_hotel("OK", 150.0, json!({})).await;
    let mut trip = trip_watch_request(150.0);
    trip["place_id"] = client.find_place("Testville").await["id"].clone();
    client.post(TRIP_WATCHES, &trip).await.expect(201);
    set_price(&server.sandbox_url, "MANY", 500.0).await;
    client.armed_watch("MANY", 150.0, "tok_visa").await;
    client.armed_watch("MANY", 150.0, "tok_declined").await;
    set_price(&server.sandbox_url, "MANY", 50.0).await;
    let told = webhook.wait_for_events(4).await;
    let types: BTreeSet<_> = told.iter().map(|one| one.body["type"].as_str()).collect();
    let all = document["webhooks"].as_object().unwrap().keys();
    let all = all.filter(|name| name.starts_with("travel."));
    let documented: BTreeSet<_> = all.map(|name| Some(name.as_str())).collect();
    assert_eq!(types, documented);
    for one in &told {
        check(&document, one);
    }
}
