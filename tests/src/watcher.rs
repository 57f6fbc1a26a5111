//! The watch webhook and the log of watch events.

use crate::client::Client;
use crate::upstream::{MockResponse, MockServer, ReceivedRequest};
use serde_json::{Value, json};

/// Path of the webhook.
pub const WATCHER_WEBHOOK: &str = "/v1/watcher/webhooks";
/// Route on which it receives events.
const ROUTE: &str = "POST /watches";

/// The webhook of an organization's watches, and its server.
pub struct WatcherWebhook {
    /// Server that receives the events.
    pub upstream: MockServer,
    /// Id of the webhook.
    pub id: String,
    /// Signing secret.
    pub secret: String,
}

impl WatcherWebhook {
    /// Starts a server that accepts every event and registers it as the only webhook.
    pub async fn register(client: &Client) -> Self {
        let upstream = MockServer::start().await;
        upstream.on(ROUTE, |_| MockResponse::empty(204));
        let url = json!({"url": format!("{}/watches", upstream.url)});
        let made = client.post(WATCHER_WEBHOOK, &url).await.expect(200);
        let text = |name: &str| made.data()[name].as_str().unwrap().to_owned();
        Self {
            id: text("id"),
            secret: text("signing_secret"),
            upstream,
        }
    }

    /// Sets the response to all further events.
    pub fn respond_with(
        &self,
        answer: impl Fn(&ReceivedRequest) -> MockResponse + Send + Sync + 'static,
    ) {
        self.upstream.on(ROUTE, answer);
    }

    /// Waits for at least `count` events and returns them.
    pub async fn wait_for_events(&self, count: usize) -> Vec<ReceivedRequest> {
        let what = format!("{count} events of watches");
        crate::eventually(&what, async || {
            let received = self.upstream.received();
            (received.len() >= count).then_some(received)
        })
        .await
    }
}

/// Returns the organization's log after an event, or all of it.
pub async fn watch_events(client: &Client, after: Option<&str>) -> Vec<Value> {
    let after = after.map(|id| format!("&after={id}")).unwrap_or_default();
    let path = format!("/v1/watcher/events?limit=200{after}");
    let listed = client.get(&path).await.expect(200);
    listed.list().to_vec()
}

/// Waits until the log's only event has a status and returns it.
pub async fn wait_for_watch_event(client: &Client, status: &str) -> Value {
    crate::eventually(&format!("an event to be {status}"), async || {
        let mut logged = watch_events(client, None).await;
        let event = logged.pop().filter(|event| event["status"] == status)?;
        assert!(logged.is_empty(), "{logged:#?}");
        Some(event)
    })
    .await
}
