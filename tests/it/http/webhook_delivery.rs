//! Tests of webhook deliveries: they are signed, retried until accepted, and never lost.

use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tests::{
    Client, Database, HotelBookingBuilder, MockResponse, ReceivedRequest, Server, ServerOptions,
    Subscriber, Subscription, eventually, on_both_databases, unresponsive_server,
    verify_signatures,
};

on_both_databases!(
    booking_events_are_delivered_signed,
    failed_delivery_is_retried_on_schedule,
    exhausted_delivery_fails_and_can_be_replayed_or_recovered,
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

async fn start(database: Database, config: &str) -> Server {
    Server::start_with(ServerOptions::on(database).config(config)).await
}

fn statuses(delivery: &Value) -> Vec<Option<u64>> {
    let attempts = delivery["attempts"].as_array().unwrap().iter();
    attempts
        .map(|one| one["response_status"].as_u64())
        .collect()
}

fn instant(value: &Value) -> jiff::Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

fn delivered_ids(received: &[ReceivedRequest]) -> BTreeSet<String> {
    let ids = received.iter().map(|one| one.header("svc-delivery-id"));
    ids.map(|id| id.unwrap().to_owned()).collect()
}

async fn booking_events_are_delivered_signed(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let nobody = server.client_for("somebody-else").await;
    let other = Subscriber::start(&nobody).await;
    let (booking, booked) = HotelBookingBuilder::at("OK").book(&client).await;
    booked.expect(200);
    for event_type in [
        "hotel.booking.created",
        "hotel.booking.confirmed",
        "payment.captured",
    ] {
        let told = subscriber.wait_for_events(event_type, 1).await;
        let request = &told[0];
        let secret = subscriber.subscription.secret.as_str();
        assert_eq!(
            verify_signatures(request, &[secret, "whsec_AAAA"]),
            [true, false]
        );
        assert_eq!(request.header("content-type"), Some("application/json"));
        let data = &request.body["data"];
        let about = data["booking"]["id"]
            .as_str()
            .or(data["booking_id"].as_str());
        assert_eq!(about, Some(booking.as_str()), "{event_type}");
        let delivery = request.header("svc-delivery-id").unwrap();
        for (id, prefix) in [
            (delivery, "dlv_"),
            (request.header("svc-event-id").unwrap(), "evt_"),
            (&subscriber.subscription.id, "whs_"),
        ] {
            assert!(id.starts_with(prefix), "{id}");
        }
        let delivery =
            subscriber
                .subscription
                .wait_for_delivery_status(&client, delivery, "DELIVERED");
        let delivery = delivery.await;
        assert_eq!(
            delivery["event"], request.body,
            "the recorded event equals the sent one"
        );
        assert_eq!(statuses(&delivery), [Some(204)]);
    }
    let told = subscriber.upstream.received();
    let events: BTreeSet<&str> = told
        .iter()
        .filter_map(|one| one.body["id"].as_str())
        .collect();
    assert_eq!(events.len(), told.len(), "each event was delivered once");
    assert!(
        other.upstream.received().is_empty(),
        "other organizations get no events"
    );
}

async fn failed_delivery_is_retried_on_schedule(database: Database) {
    let server = start(database, SOON).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let long = "ä".repeat(2000);
    subscriber.respond_with(move |_| MockResponse::new(500, long.clone()));
    let subscription = &subscriber.subscription;
    let id = subscription.ping(&client).await;
    eventually("two delivery attempts", async || {
        (subscriber.upstream.received().len() >= 2).then_some(())
    })
    .await;
    subscriber.respond_with(|_| MockResponse::json(200, &json!({"thanks": true})));
    let delivery = subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
    let attempts = delivery["attempts"].as_array().unwrap();
    assert_eq!(statuses(&delivery), [Some(500), Some(500), Some(200)]);
    let numbers: Vec<_> = attempts.iter().map(|one| &one["attempt_number"]).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let kept = attempts[0]["response_body"].as_str().unwrap();
    assert_eq!(kept.len(), 1024, "the first KiB is kept");
    assert_eq!(attempts[2]["response_body"], r#"{"thanks":true}"#);
    for pair in attempts.windows(2) {
        let waited = instant(&pair[1]["created_at"]) - instant(&pair[0]["created_at"]);
        assert!(
            waited.total(jiff::Unit::Second).unwrap() >= 1.0,
            "{delivery:#}"
        );
    }
    let requests = subscriber.upstream.received();
    let signatures: BTreeSet<_> = requests
        .iter()
        .map(|one| one.header("svc-signature"))
        .collect();
    assert_eq!(signatures.len(), 3, "each attempt has a new signature");
    for request in &requests {
        assert_eq!(verify_signatures(request, &[&subscription.secret]), [true]);
        assert_eq!(request.text, requests[0].text);
    }
}

async fn exhausted_delivery_fails_and_can_be_replayed_or_recovered(database: Database) {
    let server = start(database, SOON).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(503));
    let begin = jiff::Timestamp::now();
    let first = subscription.ping(&client).await;
    let second = subscription.ping(&client).await;
    for id in [&first, &second] {
        let failed = subscription
            .wait_for_delivery_status(&client, id, "FAILED")
            .await;
        assert_eq!(failed["failure_reason"], "retries_exhausted");
        assert_eq!(statuses(&failed), [Some(503), Some(503), Some(503)]);
    }
    subscriber.respond_with(|_| MockResponse::empty(200));
    let replay = subscription.path(&format!("/deliveries/{first}/replay"));
    let again = client.post(&replay, &json!({})).await.expect(200);
    assert_eq!(again.data()["status"], "PENDING");
    assert_eq!(again.data()["replay_count"], 1);
    let delivered = subscription
        .wait_for_delivery_status(&client, &first, "DELIVERED")
        .await;
    assert_eq!(
        statuses(&delivered),
        [Some(200)],
        "only attempts of the current replay are listed"
    );
    let recover = subscription.path("/recover");
    let since = json!({"since": begin.to_string()});
    let recovered = client.post(&recover, &since).await.expect(202);
    assert_eq!(
        recovered.data()["queued"],
        1,
        "only failed deliveries are recovered"
    );
    let delivered = subscription
        .wait_for_delivery_status(&client, &second, "DELIVERED")
        .await;
    assert_eq!(delivered["replay_count"], 1);
}

#[tokio::test]
async fn retry_after_beyond_total_time_delays_only_to_its_end() {
    let config = "[jobs]\nlease_s = 3\n\
                  [webhooks]\nsubscription_retry_s = [1]\ntimeout_s = 2\nreplay_published_after_s = 8";
    let server = start(Database::Sqlite, config).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(503).header("retry-after", "3600"));
    let id = subscription.ping(&client).await;
    let failed = subscription
        .wait_for_delivery_status(&client, &id, "FAILED")
        .await;
    assert_eq!(statuses(&failed), [Some(503), Some(503)]);
    let took = instant(&failed["failed_at"]) - instant(&failed["published_at"]);
    let took_s = took.total(jiff::Unit::Second).unwrap();
    // The last attempt starts early enough that it would still end in time even if it took its full
    // timeout and had to wait for its turn.
    assert!((3.5..=8.0).contains(&took_s), "{failed:#}");
}

async fn unreachable_silent_or_redirecting_receiver_fails_delivery(database: Database) {
    let server = start(database, SOON).await;
    let client = server.client();
    let (_silence, url) = unresponsive_server();
    let silent = Subscription::create(&client, &url).await;
    let refusing = Subscription::create(&client, "http://127.0.0.1:1/").await;
    let redirecting = Subscriber::start(&client).await;
    let trap = Subscriber::start(&client).await;
    let elsewhere = format!("{}/hook", trap.upstream.url);
    redirecting.respond_with(move |_| MockResponse::empty(307).header("location", &elsewhere));
    let redirected = &redirecting.subscription;
    for (subscription, status) in [(&silent, None), (&refusing, None), (redirected, Some(307))] {
        let id = subscription.ping(&client).await;
        let failed = subscription
            .wait_for_delivery_status(&client, &id, "FAILED")
            .await;
        assert_eq!(statuses(&failed), [status; 3], "{failed:#}");
    }
    assert!(
        trap.upstream.received().is_empty(),
        "redirects are not followed"
    );
    for (outcome, at_least) in [("timeout", 3), ("connect", 3), ("3xx", 3)] {
        let labels = [("product", "hotel"), ("outcome", outcome)];
        let counted = server
            .metric("stopover_webhook_attempts_total", &labels)
            .await;
        assert!(counted >= at_least, "{outcome}: {counted}");
    }
}

async fn both_secrets_sign_for_a_time_after_rotation(database: Database) {
    let server = start(database, "[webhooks]\ndual_signature_s = 3").await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    let rotate = subscription.path("/rotate-secret");
    let rotated = client.post(&rotate, &json!({})).await.expect(200);
    let new = rotated.data()["signing_secret"].as_str().unwrap();
    assert_ne!(new, subscription.secret);
    let secrets = [new, subscription.secret.as_str()];
    let id = subscription.ping(&client).await;
    subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
    let received = subscriber.upstream.take_received();
    assert_eq!(verify_signatures(&received[0], &secrets), [true, true]);
    eventually("the old secret to expire", async || {
        let id = subscription.ping(&client).await;
        subscription
            .wait_for_delivery_status(&client, &id, "DELIVERED")
            .await;
        let received = subscriber.upstream.take_received();
        let signed = verify_signatures(&received[0], &secrets);
        assert!(signed[0]);
        (!signed[1]).then_some(())
    })
    .await;
    let stored = server.dump_database().await;
    assert!(!stored.contains("whsec_"), "secrets are stored encrypted");
}

async fn second_rotation_ends_the_first_secret(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    let before = subscription.read(&client).await;
    let mut secrets = vec![subscription.secret.clone()];
    let rotate = subscription.path("/rotate-secret");
    for _ in 0..2 {
        let rotated = client.send(Method::POST, &rotate, None).await.expect(200);
        let mut shown = rotated.data().clone();
        let secret = shown.as_object_mut().unwrap().remove("signing_secret");
        secrets.insert(0, secret.unwrap().as_str().unwrap().to_owned());
        assert_eq!(
            shown,
            subscription.read(&client).await,
            "only this response shows the secret"
        );
        let end = instant(&shown["previous_secret_expires_at"]);
        let hours = (end - instant(&shown["updated_at"])).total(jiff::Unit::Hour);
        assert!((hours.unwrap() - 24.0).abs() < 0.001, "{shown:#}");
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
    let server = start(database, SOON).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(410));
    let id = subscription.ping(&client).await;
    let failed = subscription
        .wait_for_delivery_status(&client, &id, "FAILED")
        .await;
    assert_eq!(failed["failure_reason"], "gone");
    eventually("the subscription to pause", async || {
        (subscription.read(&client).await["status"] == "PAUSED").then_some(())
    })
    .await;
    let replay = subscription.path(&format!("/deliveries/{id}/replay"));
    let refused = client.post(&replay, &json!({})).await;
    refused.expect_problem(409, "subscription_paused");
}

async fn events_during_pause_are_delivered_after_resume(database: Database) {
    let server = start(database, SOON).await;
    let client = server.client();
    let paused = Subscriber::start(&client).await;
    let running = Subscriber::start(&client).await;
    let subscription = &paused.subscription;
    let pause = client.post(&subscription.path("/pause"), &json!({})).await;
    assert_eq!(pause.expect(200).data()["status"], "PAUSED");
    let (_, booked) = HotelBookingBuilder::at("OK").book(&client).await;
    booked.expect(200);
    running.wait_for_events("payment.captured", 1).await;
    let listed = client
        .get(&subscription.path("/deliveries"))
        .await
        .expect(200);
    let waiting = listed.data().as_array().unwrap();
    assert!(waiting.len() >= 3, "{waiting:#?}");
    assert!(waiting.iter().all(|one| one["status"] == "PENDING"));
    assert!(paused.upstream.received().is_empty());
    client
        .post(&subscription.path("/resume"), &json!({}))
        .await
        .expect(200);
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
    let server = start(database, config).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(500));
    for _ in 0..PINGS {
        subscription.ping(&client).await;
    }
    eventually("the subscription to be disabled", async || {
        (subscription.read(&client).await["status"] == "DISABLED").then_some(())
    })
    .await;
    subscriber.respond_with(|_| MockResponse::empty(200));
    let waiting = subscription.ping(&client).await;
    assert_eq!(
        subscription.delivery(&client, &waiting).await["status"],
        "PENDING"
    );
    let resumed = client.post(&subscription.path("/resume"), &json!({})).await;
    assert_eq!(resumed.expect(200).data()["status"], "ACTIVE");
    subscription
        .wait_for_delivery_status(&client, &waiting, "DELIVERED")
        .await;
    let metrics = Client::new(&server.admin, "").get("/metrics").await.body;
    let line = "stopover_webhook_subscriptions_disabled_total 1\n";
    assert!(
        metrics.as_str().unwrap().contains(line),
        "the subscription is counted once, however many attempts failed"
    );
}

/// Number of pings to each of two subscriptions.
const PINGS: usize = 40;

async fn silent_receiver_does_not_delay_others(database: Database) {
    // The timeout is so long that no attempt to the silent receiver ends before all deliveries to
    // the other one have arrived.
    let server = start(
        database,
        "[webhooks]\ntimeout_s = 120\n[limits]\nrequests_per_s = 1000",
    )
    .await;
    let client = server.client();
    let (_silence, url) = unresponsive_server();
    let silent = Subscription::create(&client, &url).await;
    let quick = Subscriber::start(&client).await;
    for _ in 0..PINGS {
        silent.ping(&client).await;
        quick.subscription.ping(&client).await;
    }
    quick.wait_for_events("ping", PINGS).await;
    let path = silent.path("/deliveries?status=DELIVERED");
    let delivered = client.get(&path).await.expect(200);
    assert_eq!(delivered.data().as_array().unwrap().len(), 0);
    let path = quick.subscription.path("/deliveries?limit=100");
    let all = eventually("all events to be delivered", async || {
        let listed = client.get(&path).await.expect(200);
        let all = listed.data().as_array().unwrap().clone();
        let is_done = all.iter().all(|one| one["status"] == "DELIVERED");
        is_done.then_some(all)
    })
    .await;
    assert_eq!(all.len(), PINGS);
    for delivery in all {
        let took = instant(&delivery["delivered_at"]) - instant(&delivery["created_at"]);
        let took = Duration::try_from(took).unwrap();
        assert!(took < Duration::from_secs(30), "{delivery:#}");
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
        let arrived = delivered_ids(&subscriber.upstream.received());
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
