//! Something to see on every page: bookings, an unknown outcome, deliveries, a watch, a mandate.

use serde_json::{Value, json};
use tests::{AdminClient, BookingBuilder, Server, Subscriber, Subscription, eventually, money};

/// Request id of a call that failed.
pub(crate) const FAILED_REQUEST: &str = "req-unknown-hotel";

/// Ids of what a server has.
pub(crate) struct Traffic {
    pub(crate) booking: String,
    pub(crate) unresolved: String,
    pub(crate) webhook: String,
    pub(crate) delivery: String,
    pub(crate) event: String,
    pub(crate) watch: String,
    pub(crate) mandate: String,
}

/// Uses the API as a client does. The server must retry fast.
pub(crate) async fn make_traffic(server: &Server) -> Traffic {
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    // Nobody listens at this address.
    Subscription::create(&client, "https://127.0.0.1:9/hooks").await;
    let [hotel, flight] = BookingBuilder::of_each_kind();
    let booking = hotel.book_captured(server).await;
    flight.book_confirmed(server).await;
    for (scenario, card) in [("BOOK_REFUSED", "tok_visa"), ("OK", "tok_declined")] {
        BookingBuilder::new("SANDBOX_HOTELS", scenario)
            .card(card)
            .book(server)
            .await;
    }
    let cancelled = hotel.book_captured(server).await;
    cancelled.cancel().await;
    let never_known = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let (unresolved, _) = never_known.book(server).await;
    let operator = AdminClient::of(server);
    eventually("an unknown outcome", async || {
        let is_listed = operator.has_unresolved_call(&unresolved.id, "book").await;
        is_listed.then_some(())
    })
    .await;
    let failing = client.header("x-request-id", FAILED_REQUEST);
    failing.get("/v1/hotel/bookings/unknown").await;
    let watch = client.watch_hotel("OK", 1.0, json!({})).await;
    let card = client.store_card("tok_visa").await;
    let mandate = json!({
        "user_id": "user_1",
        "payment_amount": money(250.5, "EUR"),
        "payment_instrument": { "id": card, "type": "CARD" },
    });
    let mandate = client.post("/v1/mandate", &mandate).await.expect(201);
    let (delivery, event) = delivered(&subscriber, server).await;
    Traffic {
        booking: booking.id,
        unresolved: unresolved.id,
        webhook: subscriber.subscription.id.clone(),
        delivery,
        event,
        watch: text(&watch["id"]),
        mandate: text(&mandate.data()["id"]),
    }
}

/// Returns the ids of a delivery that has arrived and of its event.
async fn delivered(subscriber: &Subscriber, server: &Server) -> (String, String) {
    let (client, subscription) = (server.client(), &subscriber.subscription);
    eventually("a delivery", async || {
        let listed = subscription.deliveries(&client, "?status=DELIVERED").await;
        let delivery = listed.expect(200).list().first()?.clone();
        Some((text(&delivery["id"]), text(&delivery["event"]["id"])))
    })
    .await
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
