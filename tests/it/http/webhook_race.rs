//! Tests of concurrent changes to one subscription: each is applied, one after the other.

use reqwest::Method;
use serde_json::json;
use std::collections::BTreeSet;
use tests::{Client, Database, Reply, Server, Subscription, concurrently, on_both_databases};

on_both_databases!(
    concurrent_changes_of_a_subscription_are_all_applied,
    concurrent_registrations_leave_one_watch_webhook,
);

/// Number of concurrent changes.
const CROWD: usize = 64;
const URL: &str = "https://shop.example/webhooks";

/// Sends all calls concurrently and returns their responses.
async fn crowd<F: Future<Output = Reply> + Send + 'static>(
    call: impl Fn(Client, usize) -> F,
    client: &Client,
) -> Vec<Reply> {
    concurrently((0..CROWD).map(|number| call(client.clone(), number))).await
}

/// Returns the values of a field in all responses. Checks that they are distinct.
fn distinct(replies: &[Reply], name: &str) -> BTreeSet<String> {
    let all = replies
        .iter()
        .filter_map(|reply| reply.data()[name].as_str());
    let all: Vec<String> = all.map(str::to_owned).collect();
    let distinct: BTreeSet<String> = all.iter().cloned().collect();
    assert_eq!(distinct.len(), all.len(), "{name}");
    distinct
}

async fn concurrent_changes_of_a_subscription_are_all_applied(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscription = Subscription::create(&client, URL).await;
    let (own, rotate) = (subscription.path(""), subscription.path("/rotate-secret"));
    let change = |client: Client, number: usize| {
        let (own, rotate) = (own.clone(), rotate.clone());
        async move {
            let reply = if number.is_multiple_of(2) {
                client.send(Method::POST, &rotate, None).await
            } else {
                let body = json!({ "description": number.to_string() }).to_string();
                client.send(Method::PATCH, &own, Some(body.into())).await
            };
            reply.expect(200)
        }
    };
    let replies = crowd(change, &client).await;
    assert_eq!(distinct(&replies, "signing_secret").len(), CROWD / 2);
    let is_change = |reply: &&Reply| reply.data().get("signing_secret").is_none();
    let described = replies.iter().filter(is_change);
    let described: BTreeSet<&str> = described
        .filter_map(|reply| reply.data()["description"].as_str())
        .collect();
    assert_eq!(
        described.len(),
        CROWD / 2,
        "each response shows its own change"
    );
    let left = subscription.read(&client).await;
    assert!(
        described.contains(left["description"].as_str().unwrap()),
        "{left:#}"
    );
}

async fn concurrent_registrations_leave_one_watch_webhook(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let register = |client: Client, number: usize| async move {
        let url = json!({ "url": format!("https://93.184.215.14/{number}") });
        client.post("/v1/watcher/webhooks", &url).await.expect(200)
    };
    let replies = crowd(register, &client).await;
    assert_eq!(distinct(&replies, "signing_secret").len(), CROWD);
    let ids = distinct(&replies, "id");
    let left = client.get("/v1/watcher/webhooks").await.expect(200);
    assert!(ids.contains(left.data()["id"].as_str().unwrap()));
    client.delete("/v1/watcher/webhooks").await.expect(204);
    let none = client.get("/v1/watcher/webhooks").await;
    none.expect_problem(404, "subscription_not_found");
}
