//! The webhook of watches, and the log of what they told.

use crate::client::Client;
use crate::upstream::{MockResponse, ReceivedRequest, MockServer};
use serde_json::{Value, json};

/// Where the webhook is.
const PATH: &str = "/v1/watcher/webhooks";
/// Where it is told.
const ROUTE: &str = "POST /watches";

/// The webhook of an organization's watches, and the server that it is.
pub struct WatcherWebhook {
    /// The server.
    pub upstream: MockServer,
    /// Its id.
    pub id: String,
    /// What signs for it.
    pub secret: String,
}

impl WatcherWebhook {
    /// A server that takes everything, registered in place of whatever was.
    pub async fn register(client: &Client) -> Self {
        let upstream = MockServer::start().await;
        upstream.on(ROUTE, |_| MockResponse::empty(204));
        let url = json!({"url": format!("{}/watches", upstream.url)});
        let made = client.post(PATH, &url).await.expect(200);
        let text = |name: &str| made.data()[name].as_str().unwrap().to_owned();
        Self {
            id: text("id"),
            secret: text("signing_secret"),
            upstream,
        }
    }

    /// Answers otherwise from now on.
    pub fn respond_with(&self, answer: impl Fn(&ReceivedRequest) -> MockResponse + Send + Sync + 'static) {
        self.upstream.on(ROUTE, answer);
    }

    /// What came, once it is so many.
    pub async fn wait_for_events(&self, count: usize) -> Vec<ReceivedRequest> {
        let what = format!("{count} events of watches");
        crate::eventually(&what, async || {
            let received = self.upstream.received();
            (received.len() >= count).then_some(received)
        })
        .await
    }
}

/// The organization's log behind an event, or all of it.
pub async fn watch_events(client: &Client, after: Option<&str>) -> Vec<Value> {
    let after = after.map(|id| format!("&after={id}")).unwrap_or_default();
    let path = format!("/v1/watcher/events?limit=200{after}");
    let listed = client.get(&path).await.expect(200);
    listed.data().as_array().unwrap().clone()
}

/// The only event of the log, once it is there and has a status.
pub async fn wait_for_watch_event(client: &Client, status: &str) -> Value {
    crate::eventually(&format!("an event to be {status}"), async || {
        let mut logged = watch_events(client, None).await;
        let event = logged.pop().filter(|event| event["status"] == status)?;
        assert!(logged.is_empty(), "{logged:#?}");
        Some(event)
    })
    .await
}
