//! A subscriber: a server that receives events, its subscription, and a receiver's checks of a
//! delivery.

use crate::client::{Client, Reply};
use crate::upstream::{MockResponse, MockServer, ReceivedRequest};
use crate::webhook::hmac_sha256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use std::net::TcpListener;

/// Route on which a subscriber receives events.
const ROUTE: &str = "POST /hook";

/// A subscription to events of a product.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// Id of the subscription.
    pub id: String,
    /// Signing secret.
    pub secret: String,
    /// Path of the product's subscriptions.
    route: String,
}

/// Returns the path of a product's subscriptions. `product` is `hotel` or `flight`.
pub fn subscriptions(product: &str) -> String {
    format!("/v1/{product}/webhook-subscriptions")
}

impl Subscription {
    /// Subscribes a URL to every hotel event.
    pub async fn create(client: &Client, url: &str) -> Self {
        Self::of("hotel", client, url).await
    }

    /// Subscribes a URL to every event of a product.
    pub async fn of(product: &str, client: &Client, url: &str) -> Self {
        let route = subscriptions(product);
        let body = json!({"url": url, "event_types": ["*"]});
        let reply = client.post(&route, &body).await.expect(201);
        let text = |name: &str| reply.data()[name].as_str().unwrap().to_owned();
        Self {
            id: text("id"),
            secret: text("signing_secret"),
            route,
        }
    }

    /// Returns a path below the subscription, e.g. for `/pause`; an empty `rest` gives its own
    /// path.
    pub fn path(&self, rest: &str) -> String {
        format!("{}/{}{rest}", self.route, self.id)
    }

    /// Posts without a body to a path below the subscription and returns the response.
    pub async fn post(&self, client: &Client, rest: &str) -> Reply {
        client.send(Method::POST, &self.path(rest), None).await
    }

    /// Changes fields of the subscription and returns the response.
    pub async fn change(&self, client: &Client, fields: &Value) -> Reply {
        let body = Some(fields.to_string().into_bytes());
        client.send(Method::PATCH, &self.path(""), body).await
    }

    /// Replays a delivery and returns the response.
    pub async fn replay(&self, client: &Client, delivery: &str) -> Reply {
        let rest = format!("/deliveries/{delivery}/replay");
        self.post(client, &rest).await
    }

    /// Replays the deliveries that failed since a time and returns the response.
    pub async fn recover(&self, client: &Client, since: &Value) -> Reply {
        let body = json!({ "since": since });
        client.post(&self.path("/recover"), &body).await
    }

    /// Requests a `ping` event and returns the delivery's id.
    pub async fn ping(&self, client: &Client) -> String {
        let reply = self.post(client, "/test").await.expect(202);
        reply.data()["id"].as_str().unwrap().to_owned()
    }

    /// Requests a `ping` event, waits until its delivery has a status and returns the delivery.
    pub async fn ping_until(&self, client: &Client, status: &str) -> Value {
        let id = self.ping(client).await;
        self.wait_for_delivery_status(client, &id, status).await
    }

    /// Returns the subscription as its owner sees it.
    pub async fn read(&self, client: &Client) -> Value {
        let reply = client.get(&self.path("")).await.expect(200);
        reply.data().clone()
    }

    /// Returns a delivery as its owner sees it.
    pub async fn delivery(&self, client: &Client, id: &str) -> Value {
        let path = self.path(&format!("/deliveries/{id}"));
        client.get(&path).await.expect(200).data().clone()
    }

    /// Lists deliveries and returns the response. `query` is empty or begins with `?`.
    pub async fn deliveries(&self, client: &Client, query: &str) -> Reply {
        let path = self.path(&format!("/deliveries{query}"));
        client.get(&path).await.expect(200)
    }

    /// Waits until the subscription has a status.
    pub async fn wait_for_status(&self, client: &Client, status: &str) {
        crate::eventually(&format!("the subscription to be {status}"), async || {
            (self.read(client).await["status"] == status).then_some(())
        })
        .await;
    }

    /// Waits until a delivery has a status and returns it.
    pub async fn wait_for_delivery_status(&self, client: &Client, id: &str, status: &str) -> Value {
        let what = format!("{id} to be {status}");
        crate::eventually(&what, async || {
            let delivery = self.delivery(client, id).await;
            (delivery["status"] == status).then_some(delivery)
        })
        .await
    }
}

/// Returns the status of the response to each attempt of a delivery, if there was one.
pub fn response_statuses(delivery: &Value) -> Vec<Option<u64>> {
    let attempts = delivery["attempts"].as_array().unwrap().iter();
    let statuses = attempts.map(|attempt| attempt["response_status"].as_u64());
    statuses.collect()
}

/// A server that accepts events, and its subscription.
pub struct Subscriber {
    /// Server that receives the events.
    pub upstream: MockServer,
    /// Subscription that names the server.
    pub subscription: Subscription,
}

impl Subscriber {
    /// Starts a server that accepts every event and subscribes it to hotel events.
    pub async fn start(client: &Client) -> Self {
        Self::of("hotel", client).await
    }

    /// Starts a server that accepts every event and subscribes it to a product.
    pub async fn of(product: &str, client: &Client) -> Self {
        let upstream = MockServer::start().await;
        upstream.on(ROUTE, |_| MockResponse::empty(204));
        let url = format!("{}/hook", upstream.url);
        Self {
            subscription: Subscription::of(product, client, &url).await,
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

    /// Waits for at least `count` events of a type and returns them.
    pub async fn wait_for_events(&self, event_type: &str, count: usize) -> Vec<ReceivedRequest> {
        let what = format!("{count} of {event_type}");
        crate::eventually(&what, async || {
            let mut received = self.upstream.received();
            received.retain(|request| request.body["type"] == event_type);
            (received.len() >= count).then_some(received)
        })
        .await
    }
}

/// Returns a server that accepts connections but never responds, and a URL of it.
pub fn unresponsive_server() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    (listener, url)
}

/// Returns for each secret whether it signed the request. Checks the headers, and that both
/// signature schemes agree.
pub fn verify_signatures(received: &ReceivedRequest, secrets: &[&str]) -> Vec<bool> {
    let header = |name: &str| {
        let found = received.header(name);
        found.unwrap_or_else(|| panic!("one {name}: {:?}", received.headers))
    };
    let (time, own) = header("svc-signature").split_once(",v1=").unwrap();
    let time = time.strip_prefix("t=").unwrap();
    let own: Vec<&str> = own.split(",v1=").collect();
    assert_eq!(header("webhook-timestamp"), time);
    let now = jiff::Timestamp::now().as_second();
    let signed_at: i64 = time.parse().unwrap();
    assert!((now - signed_at).abs() <= 300, "signed at {signed_at}");
    let event = header("svc-event-id");
    assert_eq!(header("webhook-id"), event);
    assert_eq!(received.body["id"], event);
    let standard: Vec<&str> = header("webhook-signature").split(' ').collect();
    let signed = secrets.iter().map(|secret| {
        let message = format!("{time}.{}", received.text);
        let by_own =
            own.contains(&hex::encode(hmac_sha256(secret.as_bytes(), message.as_bytes())).as_str());
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap());
        let digest = hmac_sha256(&key.unwrap(), format!("{event}.{message}").as_bytes());
        let expected = format!("v1,{}", STANDARD.encode(digest));
        assert_eq!(standard.contains(&expected.as_str()), by_own);
        by_own
    });
    let signed = signed.collect();
    assert_eq!(own.len(), standard.len());
    signed
}
