//! Secrets of subscriptions whose creation or rotation was stored, but not answered.

use super::*;
use host_domain::owner::Owner;
use host_storage::{IdempotencyKey, UnitOfWork};

const SUBSCRIPTIONS: &str = "/v1/hotel/webhook-subscriptions";

/// Forgets that a response contained the secret, as if the process had ended, or the database had
/// lost its response to the commit, before there was one.
async fn forget_response(server: &Server, operation: &str, key: &str) {
    let owner = Owner {
        tenant: acme(),
        user: Owner::ORGANIZATION_USER.to_owned(),
    };
    let operation = format!("{operation}_secret_disclosed");
    let mut write = UnitOfWork::new(server.clock.now());
    write.delete_idempotency_key(&IdempotencyKey::new(&owner, &operation, key));
    server.app.store.commit(write).await.unwrap();
}

/// Sends a request with a key, and returns the secret of the response.
async fn secret(server: &Server, path: &str, key: &str, body: &Value) -> Option<String> {
    let headers = [("x-idempotency-key", key)];
    let reply = server.post_with(path, &headers, body.to_string()).await;
    assert!(reply.status.is_success(), "{}", reply.body);
    let secret = reply.body["data"]["signing_secret"].as_str();
    secret.map(str::to_owned)
}

#[tokio::test]
async fn secret_that_no_response_contained_is_returned_once_by_a_replay() {
    let server = Server::start().await;
    let url = json!("https://93.184.216.34/events");
    let subscribe = json!({ "url": url, "event_types": ["*"] });
    let register = json!({ "url": url });
    for (path, operation, body) in [
        (SUBSCRIPTIONS, "hotel_webhook_create", &subscribe),
        ("/v1/watcher/webhooks", "watcher_webhook", &register),
    ] {
        let first = secret(&server, path, "k-1", body).await;
        assert!(first.as_ref().unwrap().starts_with("whsec_"), "{path}");
        assert_eq!(secret(&server, path, "k-1", body).await, None, "{path}");
        forget_response(&server, operation, "k-1").await;
        assert_eq!(secret(&server, path, "k-1", body).await, first, "{path}");
        assert_eq!(secret(&server, path, "k-1", body).await, None, "{path}");
    }
}

#[tokio::test]
async fn replay_returns_only_the_secret_of_its_own_request() {
    let server = Server::start().await;
    let body = json!({ "url": "https://93.184.216.34/events", "event_types": ["*"] });
    let created = secret(&server, SUBSCRIPTIONS, "k-1", &body).await;
    let listed = server.get(SUBSCRIPTIONS).await;
    let id = listed.body["data"][0]["id"].as_str().unwrap().to_owned();
    let rotate = format!("{SUBSCRIPTIONS}/{id}/rotate-secret");
    server.clock.advance_ms(1_000);
    let rotated = secret(&server, &rotate, "k-1", &json!({})).await;
    assert!(rotated.is_some() && rotated != created);
    forget_response(&server, "hotel_webhook_rotate", "k-1").await;
    let replayed = secret(&server, &rotate, "k-1", &json!({})).await;
    assert_eq!(replayed, rotated);
    assert_eq!(secret(&server, &rotate, "k-1", &json!({})).await, None);
    // The first secret is no longer the current one.
    forget_response(&server, "hotel_webhook_create", "k-1").await;
    assert_eq!(secret(&server, SUBSCRIPTIONS, "k-1", &body).await, None);
    server.clock.advance_ms(1_000);
    secret(&server, &rotate, "k-2", &json!({})).await;
    forget_response(&server, "hotel_webhook_rotate", "k-1").await;
    assert_eq!(secret(&server, &rotate, "k-1", &json!({})).await, None);
}
