//! Tests of an organization's watch webhook. There is one; a new one replaces it. Events are
//! retried until it accepts them, and the log shows those that failed.

use super::resource_assertions::{check_names, check_refused_get, violations};
use serde_json::{Value, json};
use tests::{
    Client, Database, MockResponse, Server, ServerOptions, WATCHER_WEBHOOK, WatcherWebhook,
    eventually, on_both_databases, set_price, verify_signatures, wait_for_watch_event,
    watch_events,
};

on_both_databases! {
    new_watch_webhook_replaces_the_only_one,
    triggered_watch_event_is_delivered_signed_and_logged,
    rejected_watch_event_fails_and_stays_in_the_log,
    undelivered_watch_event_goes_to_the_new_webhook,
}

/// A watch interval and retry delays of one second.
const SOON: &str = "[watches]\ninterval_s = 1\n[webhooks]\nwatch_retry_s = [1, 1]\ntimeout_s = 2";

async fn start(database: Database) -> (Server, Client) {
    let server = Server::start_with(ServerOptions::on(database).config(SOON)).await;
    let client = server.client();
    (server, client)
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
    let (server, client) = start(database).await;
    let check_missing = async |client: &Client| {
        check_refused_get(client, WATCHER_WEBHOOK, 404, "subscription_not_found").await;
        let deleted = client.delete(WATCHER_WEBHOOK).await;
        deleted.expect_problem(404, "subscription_not_found");
    };
    check_missing(&client).await;
    let mut made = Vec::new();
    for user in ["ada", "eve"] {
        let url = body(&format!("https://93.184.215.14/{user}"));
        let user = client.user(user).header("x-idempotency-key", "mine");
        let first = user.post(WATCHER_WEBHOOK, &url).await.expect(200);
        let again = user.post(WATCHER_WEBHOOK, &url).await.expect(200);
        let mut data = first.data().clone();
        let secret = data.as_object_mut().unwrap().remove("signing_secret");
        let secret = secret.unwrap().as_str().unwrap().to_owned();
        assert!(secret.starts_with("whsec_"));
        assert_eq!(*again.data(), data, "the secret is shown once");
        let read = client.get(WATCHER_WEBHOOK).await.expect(200);
        assert_eq!(*read.data(), data);
        check_names("webhook", &data, &["created_at", "id", "url"], &[]);
        let other = body("https://93.184.215.14/other");
        let reused = user.post(WATCHER_WEBHOOK, &other).await;
        reused.expect_problem(422, "idempotency_key_reused");
        made.push((data["id"].clone(), secret));
    }
    assert!(made[0].0 != made[1].0 && made[0].1 != made[1].1);
    check_missing(&server.client_for("acme").await).await;
    client.delete(WATCHER_WEBHOOK).await.expect(204);
    check_missing(&client).await;
}

#[tokio::test]
async fn invalid_watch_webhook_is_refused() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let typo = json!({"url": "https://a.example", "secret": "x"});
    for (body, violation) in [
        (json!({}), "/url required"),
        (json!({"url": ""}), "/url too_short"),
        (json!({"url": 1}), "/url type"),
        (typo, "/secret unknown_field"),
    ] {
        let refused = client.post(WATCHER_WEBHOOK, &body).await;
        assert_eq!(violations(refused), violation);
    }
    for url in ["https://10.0.0.1/", "ftp://example.com/", "nonsense"] {
        let refused = client.post(WATCHER_WEBHOOK, &body(url)).await;
        refused.expect_problem(422, "url_not_allowed");
    }
    check_refused_get(&client, WATCHER_WEBHOOK, 404, "subscription_not_found").await;
}

async fn triggered_watch_event_is_delivered_signed_and_logged(database: Database) {
    let (server, client) = start(database).await;
    let replaced = WatcherWebhook::register(&client).await;
    let webhook = WatcherWebhook::register(&client).await;
    let watch = trigger(&server, &client.user("ada")).await;
    let told = webhook.wait_for_events(1).await;
    let secrets = [webhook.secret.as_str(), replaced.secret.as_str()];
    assert_eq!(verify_signatures(&told[0], &secrets), [true, false]);
    assert_eq!(told[0].header("content-type"), Some("application/json"));
    let event = wait_for_watch_event(&client, "delivered").await;
    assert_eq!(event["payload"], told[0].body, "as it was sent");
    let data = &told[0].body["data"];
    assert_eq!(data["watch"]["id"], watch["id"]);
    assert_eq!(data["watch"]["status"], "triggered");
    assert_eq!(data["user_id"], "ada");
    assert!(replaced.upstream.received().is_empty());
    let stored = server.dump_database().await;
    assert!(!stored.contains("whsec_"), "secrets are stored encrypted");
}

async fn rejected_watch_event_fails_and_stays_in_the_log(database: Database) {
    // A webhook that responds 410 gets further events too.
    for status in [500, 410] {
        let (server, client) = start(database).await;
        let webhook = WatcherWebhook::register(&client).await;
        webhook.respond_with(move |_| MockResponse::empty(status));
        trigger(&server, &client).await;
        let failed = wait_for_watch_event(&client, "failed").await;
        let attempts = webhook.upstream.received();
        assert_eq!(attempts.len(), 3, "one at once and one after each delay");
        for request in &attempts {
            assert_eq!(verify_signatures(request, &[&webhook.secret]), [true]);
            assert_eq!(request.body, failed["payload"]);
        }
        // Later events are read after earlier ones, and a failed event stays failed.
        webhook.respond_with(|_| MockResponse::empty(200));
        client.watch_hotel("OK", 151.0, json!({})).await;
        let next = eventually("the next event to be delivered", async || {
            let mut logged = watch_events(&client, failed["id"].as_str()).await;
            logged.pop().filter(|event| event["status"] == "delivered")
        })
        .await;
        assert_eq!(watch_events(&client, None).await, [failed, next]);
    }
}

async fn undelivered_watch_event_goes_to_the_new_webhook(database: Database) {
    let (server, client) = start(database).await;
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
    // A delivered event is not sent to a new webhook.
    assert!(told.iter().all(|one| one.body["id"] != unsent["id"]));
}
