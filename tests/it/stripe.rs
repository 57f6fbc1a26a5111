//! Tests of the shipped Stripe adapter in the real server with the example configuration: a stored
//! card pays a booking or is declined.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use tests::{
    Client, Database, HotelBookingBuilder, MockResponse, MockServer, ReceivedRequest, Server,
    ServerOptions, count, eventually, example_at, routes, set_price, sign_supplier_webhook,
};

const KEY: &str = "sk_test_canary";
const WEBHOOK_SECRET: &str = "whsec_canary";
const AUTHORIZE: &str = "POST /v1/payment_intents";
const CAPTURE: &str = "POST /v1/payment_intents/pi_1/capture";

/// Starts the demo with this Stripe mock in place of the real Stripe and with additional
/// configuration.
async fn gateway(stripe: &MockServer, config: &str) -> Server {
    let example = example_at("stripe.toml", &[("api.stripe.com", stripe)]);
    let settings = format!(
        "settings = {{ base_url = \"{}\" }}\nlimits = {{ call_ms_max = 5000 }}\n",
        stripe.url
    );
    assert!(example.contains("# secrets = "));
    let example = example.replace("# secrets = ", "secrets = ");
    let options = ServerOptions::on(Database::Sqlite)
        .config(config)
        .config(&(example + &settings))
        .environment("STRIPE_SECRET_KEY", KEY)
        .environment("STRIPE_WEBHOOK_SECRET", WEBHOOK_SECRET);
    Server::start_with(options).await
}

/// Returns the value of a form parameter. Its name must need no decoding.
fn parameter(request: &ReceivedRequest, name: &str) -> Value {
    let mut fields = request.text.split('&');
    let value = fields.find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    json!(value.unwrap())
}

/// Returns a Stripe payment in its state after a request.
fn payment(request: &ReceivedRequest, status: &str, received: i64) -> Value {
    let client_reference = request.header("idempotency-key").unwrap();
    let amount = parameter(request, "amount");
    let amount: i64 = amount.as_str().unwrap().parse().unwrap();
    json!({
        "id": "pi_1", "object": "payment_intent", "status": status, "currency": "eur",
        "amount": amount, "amount_received": received, "client_secret": "pi_1_secret_1",
        "metadata": {"client_reference": client_reference, "made_for": "instrument"},
        "latest_charge": {"status": "succeeded", "amount": amount, "amount_refunded": 0,
            "payment_method_details": {"card": card()}},
        "last_payment_error": null,
    })
}

fn card() -> Value {
    json!({"brand": "visa", "last4": "4242", "funding": "credit", "exp_month": 12, "exp_year": 2034})
}

async fn stripe() -> MockServer {
    let stripe = MockServer::start().await;
    let customer = json!({"id": "cus_1", "object": "customer"});
    stripe.on("POST /v1/customers", move |_| {
        MockResponse::json(200, &customer)
    });
    let kept = json!({"data": [{"id": "pm_1", "card": card()}], "has_more": false});
    stripe.on("GET /v1/payment_methods", move |_| {
        MockResponse::json(200, &kept)
    });
    stripe
}

/// Returns a booking that the stored card pays.
fn booking() -> HotelBookingBuilder {
    HotelBookingBuilder::at("OK").card("pm_1")
}

async fn wait_for_capture(client: &Client, booking: &str) {
    eventually("the payment to be captured", async || {
        let booking = client.hotel_booking(booking).await;
        (booking["payments"][0]["status"] == "CAPTURED").then_some(())
    })
    .await;
}

#[tokio::test]
async fn stored_card_pays_a_booking() {
    let stripe = stripe().await;
    let held = std::sync::Arc::new(std::sync::Mutex::new(Value::Null));
    let made = held.clone();
    stripe.on(AUTHORIZE, move |request| {
        let payment = payment(request, "requires_capture", 0);
        *made.lock().unwrap() = payment.clone();
        MockResponse::json(200, &payment)
    });
    stripe.on(CAPTURE, move |_| {
        let mut payment = held.lock().unwrap().clone();
        payment["status"] = json!("succeeded");
        payment["amount_received"] = payment["amount"].clone();
        MockResponse::json(200, &payment)
    });
    let server = gateway(&stripe, "").await;
    let client = server.client();

    let (booking, reply) = booking().book(&client).await;
    assert_eq!(reply.outcome(), (200, "CONFIRMED"));
    assert!(!reply.body.to_string().contains("pm_1"));
    wait_for_capture(&client, &booking).await;

    let received = stripe.take_received();
    let expected = [
        "POST /v1/customers",
        "GET /v1/payment_methods",
        AUTHORIZE,
        CAPTURE,
    ];
    assert_eq!(routes(&received), expected);
    for request in &received {
        let authorization = request.header("authorization").unwrap();
        assert_eq!(authorization, format!("Bearer {KEY}"));
        assert!(request.header("stripe-version").is_some());
    }
    for request in &received[2..] {
        let key = request.header("idempotency-key").unwrap();
        assert!(key.starts_with(&booking), "{key}");
    }
    assert_eq!(parameter(&received[2], "customer"), "cus_1");
    assert_eq!(parameter(&received[2], "payment_method"), "pm_1");
    // The sandbox processor charged nothing.
    let ledger = server.ledger().await;
    assert_eq!(ledger.kinds_of(&booking), ["booking"]);
}

/// Reconciliation starts after an hour, so only Stripe's event can settle the capture in this test.
#[tokio::test]
async fn capture_with_lost_response_is_settled_by_stripe_event() {
    let stripe = stripe().await;
    let held = std::sync::Arc::new(std::sync::Mutex::new(Value::Null));
    let (made, taken) = (held.clone(), held.clone());
    stripe.on(AUTHORIZE, move |request| {
        *made.lock().unwrap() = payment(request, "requires_capture", 0);
        MockResponse::json(200, &made.lock().unwrap())
    });
    stripe.on(CAPTURE, move |_| {
        let mut payment = taken.lock().unwrap();
        payment["status"] = json!("succeeded");
        payment["amount_received"] = payment["amount"].clone();
        MockResponse::new(502, "<html>")
    });
    let read = held.clone();
    stripe.on("GET /v1/payment_intents/pi_1", move |_| {
        MockResponse::json(200, &read.lock().unwrap())
    });
    let server = gateway(&stripe, "[reconcile]\nschedule_s = [3600]").await;
    let client = server.client();
    let booking = booking().book_confirmed(&client).await;
    eventually("the capture to be attempted", async || {
        (count(&stripe.received(), CAPTURE) > 0).then_some(())
    })
    .await;

    let payment = held.lock().unwrap().clone();
    let event = json!({"id": "evt_1", "object": "event", "type": "payment_intent.succeeded",
        "created": 1_800_000_000, "data": {"object": payment}});
    let body = event.to_string().into_bytes();
    let path = "/v1/suppliers/STRIPE/events";
    let forged = sign_supplier_webhook("whsec_other", &body, 0);
    let stranger = client.without("x-api-key");
    let forger = stranger.header("stripe-signature", &forged);
    let refused = forger.post_bytes(path, body.clone()).await;
    refused.expect_problem(401, "invalid_signature");
    let signature = sign_supplier_webhook(WEBHOOK_SECRET, &body, 0);
    let stripe_itself = stranger.header("stripe-signature", &signature);
    stripe_itself.post_bytes(path, body).await.expect(200);
    wait_for_capture(&client, &booking).await;
    let received = stripe.take_received();
    assert_eq!(
        count(&received, CAPTURE),
        1,
        "the capture is sent only once"
    );
}

fn card_declined() -> MockResponse {
    let error = json!({"type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds"});
    MockResponse::json(402, &json!({ "error": error }))
}

#[tokio::test]
async fn declined_card_books_nothing() {
    let stripe = stripe().await;
    stripe.on(AUTHORIZE, |_| card_declined());
    let server = gateway(&stripe, "").await;
    let (booking, reply) = booking().book(&server.client()).await;
    reply.expect_problem(422, "payment_failed");
    assert!(server.ledger().await.kinds_of(&booking).is_empty());
}

/// Another card does not help if Stripe does not accept the gateway's key.
#[tokio::test]
async fn rejected_key_is_no_declined_card() {
    let stripe = stripe().await;
    stripe.on(AUTHORIZE, |_| {
        let error = json!({"type": "invalid_request_error", "code": "api_key_expired"});
        MockResponse::json(401, &json!({ "error": error }))
    });
    let server = gateway(&stripe, "").await;
    let (booking, reply) = booking().book(&server.client()).await;
    let reply = reply.expect_problem(503, "supplier_unavailable");
    assert_eq!(reply.body["retryable"], false);
    assert_eq!(reply.body["booking_status"], "READY_FOR_COMPLETE");
    assert!(server.ledger().await.kinds_of(&booking).is_empty());
}

/// The response to the first authorization is lost, its resend is declined, and no lookup finds it.
#[tokio::test]
async fn watch_does_not_try_a_card_again_that_is_declined_at_a_resend() {
    let stripe = stripe().await;
    let is_lost = AtomicBool::new(true);
    stripe.on(AUTHORIZE, move |_| {
        match is_lost.swap(false, Ordering::Relaxed) {
            true => MockResponse::new(502, "<html>"),
            false => card_declined(),
        }
    });
    for route in ["GET /v1/payment_intents", "GET /v1/payment_intents/search"] {
        let none = json!({"data": [], "has_more": false});
        stripe.on(route, move |_| MockResponse::json(200, &none));
    }
    let config = "[reconcile]\nschedule_s = [1, 1, 2, 3]\n[watches]\ninterval_s = 1";
    let server = gateway(&stripe, config).await;
    let client = server.client();
    set_price(&server.sandbox_url, "OK", 500.0).await;
    let watch = client.armed_watch("OK", 200.0, "pm_1").await;
    set_price(&server.sandbox_url, "OK", 90.0).await;

    let failed = client.wait_for_watch_status(&watch["id"], "purchase_failed");
    let booking = failed.await["booking_id"].as_str().unwrap().to_owned();
    let event_type = "travel.hotel.watch.purchase_failed";
    let event = client.only_watch_event(event_type).await;
    assert_eq!(event["reason"], "payment_failed");
    let booking = client.hotel_booking(&booking).await;
    assert_eq!(booking["status"], "EXPIRED");
    assert_eq!(booking["payments"][0]["status"], "FAILED");
    let received = stripe.take_received();
    let authorizations = received.iter().filter(|request| request.route == AUTHORIZE);
    let keys: Vec<_> = authorizations
        .map(|request| request.header("idempotency-key").unwrap())
        .collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert_eq!(keys[0], keys[1], "the second one is the resend");
}
