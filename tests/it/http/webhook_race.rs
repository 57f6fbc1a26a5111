//! Tests of concurrent changes to one subscription: each is applied, one after the other.

use super::resource_assertions::check_refused_get;
use serde_json::json;
use std::collections::BTreeSet;
use tests::{
    Database, Reply, Server, Subscription, WATCHER_WEBHOOK, concurrently, on_both_databases,
};

on_both_databases!(
    concurrent_changes_of_a_subscription_are_all_applied,
    concurrent_registrations_leave_one_watch_webhook,
);

/// Number of concurrent changes.
const CROWD: usize = 64;
const URL: &str = "https://shop.example/webhooks";

/// Returns the values of a field in all responses. Checks that they are distinct.
fn distinct(replies: &[Reply], name: &str) -> BTreeSet<String> {
    let values = replies.iter().map(|reply| reply.data()[name].as_str());
    let mut distinct = BTreeSet::new();
    for value in values.flatten() {
        assert!(distinct.insert(value.to_owned()), "{name}: {value}");
    }
    distinct
}

async fn concurrent_changes_of_a_subscription_are_all_applied(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscription = Subscription::create(&client, URL).await;
    let changes = (0..CROWD).map(|number| {
        let (client, subscription) = (client.clone(), subscription.clone());
        async move {
            let reply = if number.is_multiple_of(2) {
                subscription.post(&client, "/rotate-secret").await
            } else {
                let fields = json!({ "description": number.to_string() });
                subscription.change(&client, &fields).await
            };
            reply.expect(200)
        }
    });
    let mut replies = concurrently(changes).await;
    assert_eq!(distinct(&replies, "signing_secret").len(), CROWD / 2);
    // Each response shows its own change.
    replies.retain(|reply| reply.data().get("signing_secret").is_none());
    let described = distinct(&replies, "description");
    assert_eq!(described.len(), CROWD / 2);
    let left = subscription.read(&client).await;
    let left = left["description"].as_str().unwrap();
    assert!(described.contains(left), "{left}");
}

async fn concurrent_registrations_leave_one_watch_webhook(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    // All registrations replace one row, so each waits for those before it.
    let registrations = (0..CROWD / 2).map(|number| {
        let client = client.clone();
        async move {
            let url = json!({ "url": format!("https://93.184.215.14/{number}") });
            client.post(WATCHER_WEBHOOK, &url).await.expect(200)
        }
    });
    let replies = concurrently(registrations).await;
    assert_eq!(distinct(&replies, "signing_secret").len(), CROWD / 2);
    let ids = distinct(&replies, "id");
    let left = client.get(WATCHER_WEBHOOK).await.expect(200);
    assert!(ids.contains(left.data()["id"].as_str().unwrap()));
    client.delete(WATCHER_WEBHOOK).await.expect(204);
    check_refused_get(&client, WATCHER_WEBHOOK, 404, "subscription_not_found").await;
}
