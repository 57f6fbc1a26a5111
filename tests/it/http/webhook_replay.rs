//! Tests of replaying a delivery: each status in which a replay is allowed or refused. A late
//! response to an earlier send does not change the replayed delivery.

use serde_json::{Value, json};
use tests::{
    Client, Database, Server, ServerOptions, Subscriber, Subscription, eventually,
    on_both_databases, unresponsive_server, verify_signatures,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

on_both_databases!(
    delivered_delivery_can_always_be_replayed,
    failed_delivery_can_always_be_replayed,
    pending_delivery_can_be_replayed_after_the_delay,
    published_delivery_can_be_replayed_after_the_delay,
    replay_of_paused_subscription_returns_409,
    late_failure_response_does_not_change_replayed_delivery,
    late_success_response_does_not_change_replayed_delivery,
    recover_replays_deliveries_that_failed_since,
);

/// Replay delays that are long enough for a request before them to be refused.
const SHORT: &str = "[webhooks]\nsubscription_retry_s = [1]\ntimeout_s = 60\n\
    replay_pending_after_s = 3\nreplay_published_after_s = 3";

async fn start(database: Database) -> Server {
    Server::start_with(ServerOptions::on(database).config(SHORT)).await
}

/// A receiver that responds only when the test says so.
struct Patient {
    url: String,
    calls: mpsc::UnboundedReceiver<Call>,
}

/// A request that waits for its response.
struct Call {
    stream: BufReader<TcpStream>,
    signature: String,
    body: Value,
}

impl Patient {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (call, calls) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let call = call.clone();
                tokio::spawn(async move { call.send(Call::read(stream).await) });
            }
        });
        Self { url, calls }
    }

    async fn call(&mut self) -> Call {
        self.calls.recv().await.unwrap()
    }
}

impl Call {
    async fn read(stream: TcpStream) -> Self {
        let mut stream = BufReader::new(stream);
        let (mut signature, mut length, mut line) = (String::new(), 0, String::new());
        while stream.read_line(&mut line).await.unwrap() > 2 {
            if let Some((name, value)) = line.trim_end().split_once(": ") {
                match name.to_ascii_lowercase().as_str() {
                    "svc-signature" => value.clone_into(&mut signature),
                    "content-length" => length = value.parse().unwrap(),
                    _ => {}
                }
            }
            line.clear();
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let body = serde_json::from_slice(&body).unwrap();
        Self {
            stream,
            signature,
            body,
        }
    }

    async fn answer(mut self, status: u16) {
        let head = format!("HTTP/1.1 {status} \r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        self.stream.write_all(head.as_bytes()).await.unwrap();
    }
}

/// Checks that a replay is refused at first, then repeats it until it is accepted.
async fn replay_in_time(client: &Client, subscription: &Subscription, id: &str) -> Value {
    let early = subscription.replay(client, id).await;
    early.expect_problem(409, "replay_not_allowed");
    eventually("the replay to be accepted", async || {
        let reply = subscription.replay(client, id).await;
        (reply.status == 200).then(|| reply.data().clone())
    })
    .await
}

/// Checks that a delivery is pending and has no trace of an earlier attempt.
fn is_new(delivery: &Value, replays: u32) {
    assert_eq!(delivery["status"], "PENDING");
    assert_eq!(delivery["replay_count"], replays);
    assert_eq!(delivery["attempts"], json!([]));
    for time in [
        "published_at",
        "delivered_at",
        "failed_at",
        "failure_reason",
    ] {
        assert_eq!(delivery[time], Value::Null, "{time}");
    }
}

fn statuses(delivery: &Value) -> Vec<Option<u64>> {
    let attempts = delivery["attempts"].as_array().unwrap().iter();
    attempts
        .map(|one| one["response_status"].as_u64())
        .collect()
}

async fn delivered_delivery_can_always_be_replayed(database: Database) {
    let server = start(database).await;
    for product in ["hotel", "flight"] {
        check_delivered(&server.client(), product).await;
    }
}

async fn check_delivered(client: &Client, product: &str) {
    let subscriber = Subscriber::of(product, client).await;
    let subscription = &subscriber.subscription;
    let id = subscription.ping(client).await;
    let first = subscription
        .wait_for_delivery_status(client, &id, "DELIVERED")
        .await;
    for replays in 1..=2 {
        let replayed = subscription.replay(client, &id).await.expect(200);
        is_new(replayed.data(), replays);
        assert_eq!(replayed.data()["event"], first["event"]);
        assert_eq!(replayed.data()["created_at"], first["created_at"]);
        let again = subscription
            .wait_for_delivery_status(client, &id, "DELIVERED")
            .await;
        assert_eq!(
            statuses(&again),
            [Some(204)],
            "only the attempt of this replay is listed"
        );
    }
    let received = subscriber.upstream.received();
    assert_eq!(received.len(), 3);
    for request in &received {
        assert_eq!(
            request.text, received[0].text,
            "the body is identical byte for byte"
        );
        assert_eq!(verify_signatures(request, &[&subscription.secret]), [true]);
    }
    let keyed = client.header("x-idempotency-key", product);
    for _ in 0..2 {
        let replayed = subscription.replay(&keyed, &id).await.expect(200);
        assert_eq!(replayed.data()["replay_count"], 3, "a key replays once");
    }
}

async fn failed_delivery_can_always_be_replayed(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| tests::MockResponse::empty(500));
    let id = subscription.ping(&client).await;
    let failed = subscription
        .wait_for_delivery_status(&client, &id, "FAILED")
        .await;
    assert_eq!(statuses(&failed), [Some(500); 2]);
    let replayed = subscription.replay(&client, &id).await.expect(200);
    is_new(replayed.data(), 1);
    let failed = subscription
        .wait_for_delivery_status(&client, &id, "FAILED")
        .await;
    assert_eq!(
        statuses(&failed),
        [Some(500); 2],
        "the replay runs the whole schedule"
    );
    assert_eq!(failed["failure_reason"], "retries_exhausted");
}

async fn pending_delivery_can_be_replayed_after_the_delay(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let (_silence, url) = unresponsive_server();
    let subscription = Subscription::create(&client, &url).await;
    // More deliveries than are sent concurrently to a receiver that does not respond.
    let mut last = String::new();
    for _ in 0..20 {
        last = subscription.ping(&client).await;
    }
    assert_eq!(
        subscription.delivery(&client, &last).await["status"],
        "PENDING"
    );
    is_new(&replay_in_time(&client, &subscription, &last).await, 1);
    is_new(&replay_in_time(&client, &subscription, &last).await, 2);
}

async fn published_delivery_can_be_replayed_after_the_delay(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let mut receiver = Patient::start().await;
    let subscription = Subscription::create(&client, &receiver.url).await;
    let id = subscription.ping(&client).await;
    let first = receiver.call().await;
    let published = subscription.delivery(&client, &id).await;
    assert_eq!(published["status"], "PUBLISHED");
    assert!(published["published_at"].is_string());
    is_new(&replay_in_time(&client, &subscription, &id).await, 1);
    let second = receiver.call().await;
    assert_eq!(second.body, first.body);
    assert_ne!(
        second.signature, first.signature,
        "the replay has a new signature"
    );
    second.answer(200).await;
    subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
}

async fn replay_of_paused_subscription_returns_409(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    let delivered = subscription.ping(&client).await;
    subscription
        .wait_for_delivery_status(&client, &delivered, "DELIVERED")
        .await;
    subscriber.respond_with(|_| tests::MockResponse::empty(500));
    let failed = subscription.ping(&client).await;
    subscription
        .wait_for_delivery_status(&client, &failed, "FAILED")
        .await;
    client
        .post(&subscription.path("/pause"), &json!({}))
        .await
        .expect(200);
    let pending = subscription.ping(&client).await;
    for id in [&delivered, &failed, &pending] {
        let refused = subscription.replay(&client, id).await;
        refused.expect_problem(409, "subscription_paused");
    }
    let mut receiver = Patient::start().await;
    let waiting = Subscription::create(&client, &receiver.url).await;
    let published = waiting.ping(&client).await;
    let call = receiver.call().await;
    let paused = client.post(&waiting.path("/pause"), &json!({})).await;
    paused.expect(200);
    let delivery = waiting.delivery(&client, &published).await;
    assert_eq!(delivery["status"], "PUBLISHED");
    let refused = waiting.replay(&client, &published).await;
    refused.expect_problem(409, "subscription_paused");
    call.answer(200).await;
    let since = json!({"since": "2026-01-01"});
    let refused = client.post(&subscription.path("/recover"), &since).await;
    refused.expect_problem(409, "subscription_paused");
}

/// Returns a delivery that was sent and replayed. Both requests wait for their responses.
async fn sent_twice(client: &Client, receiver: &mut Patient) -> (Subscription, String, Call, Call) {
    let subscription = Subscription::create(client, &receiver.url).await;
    let id = subscription.ping(client).await;
    let first = receiver.call().await;
    replay_in_time(client, &subscription, &id).await;
    let second = receiver.call().await;
    (subscription, id, first, second)
}

/// Waits until every response that was given before is stored: completes one more delivery.
async fn settle(client: &Client, subscription: &Subscription, receiver: &mut Patient) {
    let id = subscription.ping(client).await;
    receiver.call().await.answer(200).await;
    subscription
        .wait_for_delivery_status(client, &id, "DELIVERED")
        .await;
}

async fn late_failure_response_does_not_change_replayed_delivery(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let mut receiver = Patient::start().await;
    let (subscription, id, first, second) = sent_twice(&client, &mut receiver).await;
    second.answer(200).await;
    let delivered = subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
    first.answer(410).await;
    let refused = async || {
        let labels = [("product", "hotel"), ("outcome", "4xx")];
        let counted = server.metric("stopover_webhook_attempts_total", &labels);
        (counted.await == 1).then_some(())
    };
    eventually("the late response to be recorded", refused).await;
    let still = subscription.delivery(&client, &id).await;
    assert_eq!(still, delivered);
}

async fn late_success_response_does_not_change_replayed_delivery(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let mut receiver = Patient::start().await;
    let (subscription, id, first, second) = sent_twice(&client, &mut receiver).await;
    let published = subscription.delivery(&client, &id).await;
    first.answer(200).await;
    settle(&client, &subscription, &mut receiver).await;
    assert_eq!(subscription.delivery(&client, &id).await, published);
    second.answer(500).await;
    receiver.call().await.answer(202).await;
    let delivered = subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
    assert_eq!(statuses(&delivered), [Some(500), Some(202)]);
}

async fn recover_replays_deliveries_that_failed_since(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    let fine = subscription.ping(&client).await;
    subscription
        .wait_for_delivery_status(&client, &fine, "DELIVERED")
        .await;
    subscriber.respond_with(|_| tests::MockResponse::empty(500));
    let old = subscription.ping(&client).await;
    subscription
        .wait_for_delivery_status(&client, &old, "FAILED")
        .await;
    let new = subscription.ping(&client).await;
    let failed = subscription
        .wait_for_delivery_status(&client, &new, "FAILED")
        .await;
    subscriber.respond_with(|_| tests::MockResponse::empty(200));
    let recover = async |client: &Client, since: &Value| {
        let body = json!({"since": since});
        let reply = client.post(&subscription.path("/recover"), &body).await;
        reply.expect(202).data()["queued"].clone()
    };
    let keyed = client.header("x-idempotency-key", "after-the-outage");
    assert_eq!(
        recover(&keyed, &failed["failed_at"]).await,
        1,
        "`since` is inclusive"
    );
    subscription
        .wait_for_delivery_status(&client, &new, "DELIVERED")
        .await;
    assert_eq!(recover(&keyed, &failed["failed_at"]).await, 0);
    assert_eq!(
        subscription.delivery(&client, &old).await["status"],
        "FAILED"
    );
    assert_eq!(
        recover(&client, &failed["event"]["created_at"]).await,
        0,
        "the delivery failed before `since`"
    );
    assert_eq!(recover(&client, &json!("2026-01-01")).await, 1);
    subscription
        .wait_for_delivery_status(&client, &old, "DELIVERED")
        .await;
    assert_eq!(
        subscription.delivery(&client, &fine).await["replay_count"],
        0
    );
}
