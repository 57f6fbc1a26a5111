//! Tests of an organization's watch webhook. There is one; a new one replaces it. Events are
//! retried until it accepts them, and the log shows those that failed.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{
    Client, Database, MockResponse, Server, ServerOptions, WatcherWebhook, eventually,
    on_both_databases, set_price, verify_signatures, wait_for_watch_event, watch_events,
};

const PATH: &str = "/v1/watcher/webhooks";

on_both_databases! {
    new_watch_webhook_replaces_the_only_one,
    triggered_watch_event_is_delivered_signed_and_logged,
    rejected_watch_event_fails_and_stays_in_the_log,
    undelivered_watch_event_goes_to_the_new_webhook,
    watch_webhook_that_responds_410_still_gets_events,
}

/// A watch interval and retry delays of one second.
const SOON: &str = "[watches]\ninterval_s = 1\n[webhooks]\nwatch_retry_s = [1, 1]\ntimeout_s = 2";

async fn start(database: Database) -> Server {
    Server::start_with(ServerOptions::on(database).config(SOON)).await
}

/// Makes the price fall so that a new watch triggers. Returns the watch.
async fn trigger(server: &Server, client: &Client) -> Value {
    set_price(&server.sandbox_url, "OK", 50.0).await;
    client.watch_hotel("OK", 150.0, json!({})).await
}

fn body(url: &str) -> Value {
    json!({ "url": url })
}

async fn new_watch_webhook_replaces_the_only_one(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let missing = async |client: &Client| {
        let read = client.get(PATH).await;
        read.expect_problem(404, "subscription_not_found");
        let deleted = client.delete(PATH).await;
        deleted.expect_problem(404, "subscription_not_found");
    };
    missing(&client).await;
    let mut made = Vec::new();
    for user in ["ada", "eve"] {
        let url = body(&format!("https://93.184.215.14/{user}"));
        let user = client.user(user).header("x-idempotency-key", "mine");
        let first = user.post(PATH, &url).await.expect(200);
        let again = user.post(PATH, &url).await.expect(200);
        let mut data = first.data().clone();
        let secret = data.as_object_mut().unwrap().remove("signing_secret");
        assert!(
            secret
                .as_ref()
                .unwrap()
                .as_str()
                .unwrap()
                .starts_with("whsec_")
        );
        assert_eq!(*again.data(), data, "the secret is shown once");
        assert_eq!(*client.get(PATH).await.expect(200).data(), data);
        let members: Vec<&String> = data.as_object().unwrap().keys().collect();
        assert_eq!(members, ["created_at", "id", "url"]);
        let reused = user.post(PATH, &body("https://93.184.215.14/other")).await;
        reused.expect_problem(422, "idempotency_key_reused");
        made.push((data["id"].clone(), secret));
    }
    assert!(made[0].0 != made[1].0 && made[0].1 != made[1].1);
    missing(&server.client_for("acme").await).await;
    client.delete(PATH).await.expect(204);
    missing(&client).await;
}

#[tokio::test]
async fn invalid_watch_webhook_is_refused() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    for (body, pointer) in [
        (json!({}), "/url"),
        (json!({"url": ""}), "/url"),
        (json!({"url": 1}), "/url"),
        (
            json!({"url": "https://a.example", "secret": "x"}),
            "/secret",
        ),
    ] {
        let refused = client.post(PATH, &body).await;
        let refused = refused.expect_problem(400, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer);
    }
    for url in ["https://10.0.0.1/", "ftp://example.com/", "nonsense"] {
        let refused = client.post(PATH, &body(url)).await;
        refused.expect_problem(422, "url_not_allowed");
    }
    let read = client.get(PATH).await;
    read.expect_problem(404, "subscription_not_found");
}

async fn triggered_watch_event_is_delivered_signed_and_logged(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let replaced = WatcherWebhook::register(&client).await;
    let webhook = WatcherWebhook::register(&client).await;
    let watch = trigger(&server, &client.user("ada")).await;
    let told = webhook.wait_for_events(1).await;
    let secrets = [webhook.secret.as_str(), replaced.secret.as_str()];
    assert_eq!(verify_signatures(&told[0], &secrets), [true, false]);
    assert_eq!(told[0].header("content-type"), Some("application/json"));
    let event = wait_for_watch_event(&client, "delivered").await;
    assert_eq!(
        event["payload"], told[0].body,
        "the recorded event equals the sent one"
    );
    let data = &told[0].body["data"];
    assert_eq!(data["watch"]["id"], watch["id"]);
    assert_eq!(data["watch"]["status"], "triggered");
    assert_eq!(data["user_id"], "ada");
    assert!(replaced.upstream.received().is_empty());
    assert!(
        !server.dump_database().await.contains("whsec_"),
        "secrets are stored encrypted"
    );
}

async fn rejected_watch_event_fails_and_stays_in_the_log(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let webhook = WatcherWebhook::register(&client).await;
    webhook.respond_with(|_| MockResponse::empty(500));
    trigger(&server, &client).await;
    let failed = wait_for_watch_event(&client, "failed").await;
    let tries = webhook.upstream.received();
    assert_eq!(
        tries.len(),
        3,
        "one attempt at once and one after each delay"
    );
    for request in &tries {
        assert_eq!(verify_signatures(request, &[&webhook.secret]), [true]);
        assert_eq!(request.body, failed["payload"]);
    }
    // Later events are read after earlier ones, and a failed event stays failed.
    webhook.respond_with(|_| MockResponse::empty(200));
    client.watch_hotel("OK", 151.0, json!({})).await;
    let after = failed["id"].as_str();
    let next = eventually("the next event to be delivered", async || {
        let logged = watch_events(&client, after).await;
        logged
            .into_iter()
            .find(|event| event["status"] == "delivered")
    })
    .await;
    let all = watch_events(&client, None).await;
    assert_eq!(all, [failed, next]);
}

async fn undelivered_watch_event_goes_to_the_new_webhook(database: Database) {
    let server = start(database).await;
    let client = server.client();
    trigger(&server, &client).await;
    let unsent = wait_for_watch_event(&client, "pending").await;
    let first = WatcherWebhook::register(&client).await;
    first.respond_with(|_| MockResponse::empty(500));
    assert_eq!(first.wait_for_events(1).await[0].body, unsent["payload"]);
    let second = WatcherWebhook::register(&client).await;
    second.wait_for_events(1).await;
    let delivered = wait_for_watch_event(&client, "delivered").await;
    assert_eq!(delivered["payload"], unsent["payload"]);
    let third = WatcherWebhook::register(&client).await;
    client.watch_hotel("OK", 151.0, json!({})).await;
    let told = third.wait_for_events(1).await;
    let told: BTreeSet<_> = told
        .iter()
        .filter_map(|one| one.body["id"].as_str())
        .collect();
    assert!(
        !told.contains(unsent["id"].as_str().unwrap()),
        "a delivered event is not sent to a new webhook"
    );
}

async fn watch_webhook_that_responds_410_still_gets_events(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let webhook = WatcherWebhook::register(&client).await;
    webhook.respond_with(|_| MockResponse::empty(410));
    trigger(&server, &client).await;
    let failed = wait_for_watch_event(&client, "failed").await;
    let tries = webhook.upstream.take_received();
    assert_eq!(
        tries.len(),
        3,
        "one attempt at once and one after each delay"
    );
    webhook.respond_with(|_| MockResponse::empty(200));
    client.watch_hotel("OK", 151.0, json!({})).await;
    let next = webhook.wait_for_events(1).await;
    assert_ne!(next[0].body["id"], failed["id"]);
}
