//! Tests of webhook deliveries: they are signed, retried until accepted, and never lost.

use jiff::{Timestamp, Unit};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{
    Client, Database, HotelBookingBuilder, MockResponse, Server, ServerOptions, Subscriber,
    Subscription, eventually, on_both_databases, response_statuses, unresponsive_server,
    verify_signatures,
};

on_both_databases!(
    booking_events_are_delivered_signed,
    failed_delivery_is_retried_on_schedule,
    unreachable_silent_or_redirecting_receiver_fails_delivery,
    both_secrets_sign_for_a_time_after_rotation,
    second_rotation_ends_the_first_secret,
    response_410_pauses_the_subscription,
    events_during_pause_are_delivered_after_resume,
    subscription_without_any_success_is_disabled,
    silent_receiver_does_not_delay_others,
    killed_process_loses_no_delivery,
);

/// Retry delays of one second and a short lease.
const SOON: &str = "[webhooks]\nsubscription_retry_s = [1, 1]\ntimeout_s = 2\n[jobs]\nlease_s = 3";

/// Starts a server and a subscriber to its hotel events.
async fn start(database: Database, config: &str) -> (Server, Client, Subscriber) {
    let server = Server::start_with(ServerOptions::on(database).config(config)).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    (server, client, subscriber)
}

/// Returns the seconds between two times.
fn seconds(from: &Value, to: &Value) -> f64 {
    let instant = |time: &Value| -> Timestamp { time.as_str().unwrap().parse().unwrap() };
    (instant(to) - instant(from)).total(Unit::Second).unwrap()
}

async fn booking_events_are_delivered_signed(database: Database) {
    let (server, client, subscriber) = start(database, "").await;
    let subscription = &subscriber.subscription;
    let other = Subscriber::start(&server.client_for("somebody-else").await).await;
    let (booking, booked) = HotelBookingBuilder::at("OK").book(&client).await;
    booked.expect(200);
    for event_type in [
        "hotel.booking.created",
        "hotel.booking.confirmed",
        "payment.captured",
    ] {
        let request = &subscriber.wait_for_events(event_type, 1).await[0];
        let secrets = [subscription.secret.as_str(), "whsec_AAAA"];
        assert_eq!(verify_signatures(request, &secrets), [true, false]);
        assert_eq!(request.header("content-type"), Some("application/json"));
        let data = &request.body["data"];
        let payment_of = data["booking_id"].as_str();
        let about = data["booking"]["id"].as_str().or(payment_of);
        assert_eq!(about, Some(booking.as_str()), "{event_type}");
        let id = request.header("svc-delivery-id").unwrap();
        for (id, prefix) in [
            (id, "dlv_"),
            (request.header("svc-event-id").unwrap(), "evt_"),
            (&subscription.id, "whs_"),
        ] {
            assert!(id.starts_with(prefix), "{id}");
        }
        let delivery = subscription
            .wait_for_delivery_status(&client, id, "DELIVERED")
            .await;
        assert_eq!(delivery["event"], request.body, "as it was sent");
        assert_eq!(response_statuses(&delivery), [Some(204)]);
    }
    let received = subscriber.upstream.received();
    let ids = received.iter().filter_map(|one| one.body["id"].as_str());
    let ids: BTreeSet<&str> = ids.collect();
    assert_eq!(ids.len(), received.len(), "each event was delivered once");
    assert!(other.upstream.received().is_empty());
}

async fn failed_delivery_is_retried_on_schedule(database: Database) {
    let (_server, client, subscriber) = start(database, SOON).await;
    let long = "ä".repeat(2000);
    subscriber.respond_with(move |_| MockResponse::new(500, long.clone()));
    let subscription = &subscriber.subscription;
    let id = subscription.ping(&client).await;
    subscriber.wait_for_events("ping", 2).await;
    subscriber.respond_with(|_| MockResponse::json(200, &json!({"thanks": true})));
    let delivery = subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
    let statuses = response_statuses(&delivery);
    assert_eq!(statuses, [Some(500), Some(500), Some(200)]);
    let attempts = delivery["attempts"].as_array().unwrap();
    let numbers: Vec<_> = attempts.iter().map(|one| &one["attempt_number"]).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let kept = attempts[0]["response_body"].as_str().unwrap();
    assert_eq!(kept.len(), 1024, "the first KiB is kept");
    assert_eq!(attempts[2]["response_body"], r#"{"thanks":true}"#);
    for pair in attempts.windows(2) {
        let waited_s = seconds(&pair[0]["created_at"], &pair[1]["created_at"]);
        assert!(waited_s >= 1.0, "{delivery:#}");
    }
    let requests = subscriber.upstream.received();
    let signatures = requests.iter().map(|one| one.header("svc-signature"));
    let signatures: BTreeSet<_> = signatures.collect();
    assert_eq!(signatures.len(), 3, "each attempt has a new signature");
    for request in &requests {
        assert_eq!(verify_signatures(request, &[&subscription.secret]), [true]);
        assert_eq!(request.text, requests[0].text);
    }
}

#[tokio::test]
async fn retry_after_beyond_total_time_delays_only_to_its_end() {
    let config = "[jobs]\nlease_s = 3\n\
                  [webhooks]\nsubscription_retry_s = [1]\ntimeout_s = 2\nreplay_published_after_s = 8";
    let (_server, client, subscriber) = start(Database::Sqlite, config).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(503).header("retry-after", "3600"));
    let failed = subscription.ping_until(&client, "FAILED").await;
    assert_eq!(response_statuses(&failed), [Some(503), Some(503)]);
    let took_s = seconds(&failed["published_at"], &failed["failed_at"]);
    // The last attempt starts early enough that it would still end in time even if it took its full
    // timeout and had to wait for its turn.
    assert!((3.5..=8.0).contains(&took_s), "{failed:#}");
}

async fn unreachable_silent_or_redirecting_receiver_fails_delivery(database: Database) {
    let (server, client, redirecting) = start(database, SOON).await;
    let (_silence, url) = unresponsive_server();
    let silent = Subscription::create(&client, &url).await;
    let refusing = Subscription::create(&client, "http://127.0.0.1:1/").await;
    let trap = Subscriber::start(&client).await;
    let elsewhere = format!("{}/hook", trap.upstream.url);
    redirecting.respond_with(move |_| MockResponse::empty(307).header("location", &elsewhere));
    let redirected = &redirecting.subscription;
    for (subscription, status) in [(&silent, None), (&refusing, None), (redirected, Some(307))] {
        let failed = subscription.ping_until(&client, "FAILED").await;
        assert_eq!(response_statuses(&failed), [status; 3], "{failed:#}");
        assert_eq!(failed["failure_reason"], "retries_exhausted");
    }
    let followed = trap.upstream.received();
    assert!(followed.is_empty(), "redirects are not followed");
    for outcome in ["timeout", "connect", "3xx"] {
        let labels = [("product", "hotel"), ("outcome", outcome)];
        let counted = server.metric("stopover_webhook_attempts_total", &labels);
        let counted = counted.await;
        assert!(counted >= 3, "{outcome}: {counted}");
    }
}

async fn both_secrets_sign_for_a_time_after_rotation(database: Database) {
    let (server, client, subscriber) = start(database, "[webhooks]\ndual_signature_s = 3").await;
    let subscription = &subscriber.subscription;
    let rotated = subscription.post(&client, "/rotate-secret").await;
    let rotated = rotated.expect(200);
    let new = rotated.data()["signing_secret"].as_str().unwrap();
    assert_ne!(new, subscription.secret);
    let secrets = [new, subscription.secret.as_str()];
    let sign = async || {
        subscription.ping_until(&client, "DELIVERED").await;
        verify_signatures(&subscriber.upstream.take_received()[0], &secrets)
    };
    assert_eq!(sign().await, [true, true]);
    eventually("the old secret to expire", async || {
        let signed = sign().await;
        assert!(signed[0]);
        (!signed[1]).then_some(())
    })
    .await;
    let stored = server.dump_database().await;
    assert!(!stored.contains("whsec_"), "secrets are stored encrypted");
}

async fn second_rotation_ends_the_first_secret(database: Database) {
    let (_server, client, subscriber) = start(database, "").await;
    let subscription = &subscriber.subscription;
    let before = subscription.read(&client).await;
    let mut secrets = vec![subscription.secret.clone()];
    for _ in 0..2 {
        let rotated = subscription.post(&client, "/rotate-secret").await;
        let mut shown = rotated.expect(200).data().clone();
        let secret = shown.as_object_mut().unwrap().remove("signing_secret");
        secrets.insert(0, secret.unwrap().as_str().unwrap().to_owned());
        let read = subscription.read(&client).await;
        assert_eq!(shown, read, "only this response shows the secret");
        let valid_s = seconds(&shown["updated_at"], &shown["previous_secret_expires_at"]);
        assert!((valid_s - 86_400.0).abs() < 3.6, "{shown:#}");
        for same in ["id", "url", "event_types", "status", "created_at"] {
            assert_eq!(shown[same], before[same], "{same}");
        }
    }
    subscription.ping(&client).await;
    let told = subscriber.wait_for_events("ping", 1).await;
    let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
    assert_eq!(verify_signatures(&told[0], &secrets), [true, true, false]);
}

async fn response_410_pauses_the_subscription(database: Database) {
    let (_server, client, subscriber) = start(database, SOON).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(410));
    let failed = subscription.ping_until(&client, "FAILED").await;
    assert_eq!(failed["failure_reason"], "gone");
    subscription.wait_for_status(&client, "PAUSED").await;
}

async fn events_during_pause_are_delivered_after_resume(database: Database) {
    let (_server, client, paused) = start(database, SOON).await;
    let running = Subscriber::start(&client).await;
    let subscription = &paused.subscription;
    subscription.post(&client, "/pause").await.expect(200);
    let (_, booked) = HotelBookingBuilder::at("OK").book(&client).await;
    booked.expect(200);
    running.wait_for_events("payment.captured", 1).await;
    let listed = subscription.deliveries(&client, "").await;
    let waiting = listed.list();
    assert!(waiting.len() >= 3, "{waiting:#?}");
    assert!(waiting.iter().all(|one| one["status"] == "PENDING"));
    assert!(paused.upstream.received().is_empty());
    subscription.post(&client, "/resume").await.expect(200);
    paused.wait_for_events("payment.captured", 1).await;
    let events = |subscriber: &Subscriber| -> BTreeSet<String> {
        let received = subscriber.upstream.received();
        received.iter().map(|one| one.text.clone()).collect()
    };
    eventually("both subscribers to have the same events", async || {
        (events(&paused) == events(&running)).then_some(())
    })
    .await;
}

async fn subscription_without_any_success_is_disabled(database: Database) {
    let config = "[webhooks]\nsubscription_retry_s = [1, 1]\ndisable_after_s = 1";
    let (server, client, subscriber) = start(database, config).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(500));
    for _ in 0..PINGS {
        subscription.ping(&client).await;
    }
    subscription.wait_for_status(&client, "DISABLED").await;
    subscriber.respond_with(|_| MockResponse::empty(200));
    let waiting = subscription.ping(&client).await;
    let pending = subscription.delivery(&client, &waiting).await;
    assert_eq!(pending["status"], "PENDING");
    let paused = subscription.post(&client, "/pause").await;
    paused.expect_problem(409, "subscription_paused");
    let resumed = subscription.post(&client, "/resume").await.expect(200);
    assert_eq!(resumed.data()["status"], "ACTIVE");
    subscription
        .wait_for_delivery_status(&client, &waiting, "DELIVERED")
        .await;
    // The subscription is counted once, however many attempts failed.
    let metrics = Client::new(&server.admin, "").get("/metrics").await.body;
    let line = "stopover_webhook_subscriptions_disabled_total 1\n";
    assert!(metrics.as_str().unwrap().contains(line));
}

/// Number of pings to each of two subscriptions.
const PINGS: usize = 40;

async fn silent_receiver_does_not_delay_others(database: Database) {
    // The timeout is so long that no attempt to the silent receiver ends before all deliveries to
    // the other one have arrived.
    let config = "[webhooks]\ntimeout_s = 120\n[limits]\nrequests_per_s = 1000";
    let (_server, client, quick) = start(database, config).await;
    let (_silence, url) = unresponsive_server();
    let silent = Subscription::create(&client, &url).await;
    for _ in 0..PINGS {
        silent.ping(&client).await;
        quick.subscription.ping(&client).await;
    }
    quick.wait_for_events("ping", PINGS).await;
    let to_silent = silent.deliveries(&client, "?status=DELIVERED").await;
    assert_eq!(*to_silent.data(), json!([]));
    let path = "?limit=100&status=DELIVERED";
    let all = eventually("all events to be delivered", async || {
        let listed = quick.subscription.deliveries(&client, path).await;
        let all = listed.list().to_vec();
        (all.len() == PINGS).then_some(all)
    })
    .await;
    for delivery in all {
        let took_s = seconds(&delivery["created_at"], &delivery["delivered_at"]);
        assert!(took_s < 30.0, "{delivery:#}");
    }
}

async fn killed_process_loses_no_delivery(database: Database) {
    let config =
        "[webhooks]\nsubscription_retry_s = [1, 1, 1, 1]\ntimeout_s = 2\n[jobs]\nlease_s = 3";
    let options = ServerOptions::on(database).config(config);
    let mut server = Server::start_with(options.clone()).await;
    let subscriber = Subscriber::start(&server.client()).await;
    let subscription = subscriber.subscription.clone();
    let mut sent = BTreeSet::new();
    for round in 1..=3 {
        let client = server.client();
        for _ in 0..PINGS {
            sent.insert(subscription.ping(&client).await);
        }
        // At this point some deliveries have arrived, some are being sent, and some are pending.
        subscriber.wait_for_events("ping", round * PINGS / 2).await;
        server = server.restart(options.clone()).await;
    }
    let client = server.client();
    eventually("all deliveries to arrive", async || {
        let received = subscriber.upstream.received();
        let ids = received
            .iter()
            .filter_map(|one| one.header("svc-delivery-id"));
        let arrived: BTreeSet<String> = ids.map(str::to_owned).collect();
        sent.is_subset(&arrived).then_some(())
    })
    .await;
    for id in &sent {
        let delivery = subscription
            .wait_for_delivery_status(&client, id, "DELIVERED")
            .await;
        assert_eq!(delivery["failure_reason"], Value::Null, "{delivery:#}");
    }
}
