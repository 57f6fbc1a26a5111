//! Tests of replaying a delivery: each status in which a replay is allowed or refused. A late
//! response to an earlier send does not change the replayed delivery.

use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::{Json, Router};
use serde_json::{Value, json};
use tests::{
    Client, Database, MockResponse, Server, ServerOptions, Subscriber, Subscription, eventually,
    on_both_databases, response_statuses, unresponsive_server, verify_signatures,
};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

on_both_databases!(
    delivered_delivery_can_always_be_replayed,
    failed_delivery_can_always_be_replayed,
    pending_delivery_can_be_replayed_after_the_delay,
    published_delivery_can_be_replayed_after_the_delay,
    replay_of_paused_subscription_returns_409,
    late_failure_response_does_not_change_replayed_delivery,
    late_success_response_does_not_change_replayed_delivery,
    recover_replays_deliveries_that_failed_since,
    recover_of_many_deliveries_continues_after_the_response,
);

/// Replay delays that are long enough for a request before them to be refused.
const SHORT: &str = "[webhooks]\nsubscription_retry_s = [1]\ntimeout_s = 60\n\
    replay_pending_after_s = 3\nreplay_published_after_s = 3";

async fn start(database: Database) -> (Server, Client) {
    let server = Server::start_with(ServerOptions::on(database).config(SHORT)).await;
    let client = server.client();
    (server, client)
}

/// A receiver that responds only when the test says so.
struct HeldReceiver {
    url: String,
    calls: mpsc::UnboundedReceiver<Call>,
}

/// A request that waits for its response.
struct Call {
    signature: HeaderValue,
    body: Value,
    response: oneshot::Sender<StatusCode>,
}

impl HeldReceiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (received, calls) = mpsc::unbounded_channel();
        let receive = async move |headers: HeaderMap, Json(body): Json<Value>| {
            let (response, answer) = oneshot::channel();
            let signature = headers["svc-signature"].clone();
            let call = Call {
                signature,
                body,
                response,
            };
            drop(received.send(call));
            answer.await.unwrap()
        };
        let router = Router::new().fallback(receive);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, calls }
    }

    async fn call(&mut self) -> Call {
        self.calls.recv().await.unwrap()
    }
}

impl Call {
    fn answer(self, status: StatusCode) {
        self.response.send(status).unwrap();
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
    for time in ["published_at", "delivered_at", "failed_at"] {
        assert_eq!(delivery[time], Value::Null, "{time}");
    }
    assert_eq!(delivery["failure_reason"], Value::Null);
}

async fn delivered_delivery_can_always_be_replayed(database: Database) {
    let (_server, client) = start(database).await;
    for product in ["hotel", "flight"] {
        check_delivered(&client, product).await;
    }
}

async fn check_delivered(client: &Client, product: &str) {
    let subscriber = Subscriber::of(product, client).await;
    let subscription = &subscriber.subscription;
    let first = subscription.ping_until(client, "DELIVERED").await;
    let id = first["id"].as_str().unwrap();
    for replays in 1..=2 {
        let replayed = subscription.replay(client, id).await.expect(200);
        is_new(replayed.data(), replays);
        assert_eq!(replayed.data()["event"], first["event"]);
        assert_eq!(replayed.data()["created_at"], first["created_at"]);
        let again = subscription
            .wait_for_delivery_status(client, id, "DELIVERED")
            .await;
        // Only the attempt of this replay is listed.
        assert_eq!(response_statuses(&again), [Some(204)]);
    }
    let received = subscriber.upstream.received();
    assert_eq!(received.len(), 3);
    for request in &received {
        assert_eq!(request.text, received[0].text, "byte for byte");
        assert_eq!(verify_signatures(request, &[&subscription.secret]), [true]);
    }
    let keyed = client.header("x-idempotency-key", product);
    for _ in 0..2 {
        let replayed = subscription.replay(&keyed, id).await.expect(200);
        assert_eq!(replayed.data()["replay_count"], 3, "a key replays once");
    }
}

async fn failed_delivery_can_always_be_replayed(database: Database) {
    let (_server, client) = start(database).await;
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(500));
    let id = subscription.ping(&client).await;
    // The replay runs the whole schedule.
    for replays in 1..=2 {
        let failed = subscription
            .wait_for_delivery_status(&client, &id, "FAILED")
            .await;
        assert_eq!(failed["failure_reason"], "retries_exhausted");
        assert_eq!(response_statuses(&failed), [Some(500); 2]);
        if replays == 2 {
            subscriber.respond_with(|_| MockResponse::empty(200));
        }
        let replayed = subscription.replay(&client, &id).await.expect(200);
        is_new(replayed.data(), replays);
    }
    let delivered = subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
    assert_eq!(response_statuses(&delivered), [Some(200)]);
}

async fn pending_delivery_can_be_replayed_after_the_delay(database: Database) {
    let (_server, client) = start(database).await;
    let (_silence, url) = unresponsive_server();
    let subscription = Subscription::create(&client, &url).await;
    // More deliveries than are sent concurrently to a receiver that does not respond.
    let mut last = String::new();
    for _ in 0..20 {
        last = subscription.ping(&client).await;
    }
    let pending = subscription.delivery(&client, &last).await;
    assert_eq!(pending["status"], "PENDING");
    is_new(&replay_in_time(&client, &subscription, &last).await, 1);
    is_new(&replay_in_time(&client, &subscription, &last).await, 2);
}

async fn published_delivery_can_be_replayed_after_the_delay(database: Database) {
    let (_server, client) = start(database).await;
    let mut receiver = HeldReceiver::start().await;
    let subscription = Subscription::create(&client, &receiver.url).await;
    let id = subscription.ping(&client).await;
    let first = receiver.call().await;
    let published = subscription.delivery(&client, &id).await;
    assert_eq!(published["status"], "PUBLISHED");
    assert!(published["published_at"].is_string());
    is_new(&replay_in_time(&client, &subscription, &id).await, 1);
    let second = receiver.call().await;
    assert_eq!(second.body, first.body);
    assert_ne!(second.signature, first.signature);
    second.answer(StatusCode::OK);
    subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
}

async fn replay_of_paused_subscription_returns_409(database: Database) {
    let (_server, client) = start(database).await;
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    let delivered = subscription.ping_until(&client, "DELIVERED").await;
    subscriber.respond_with(|_| MockResponse::empty(500));
    let failed = subscription.ping_until(&client, "FAILED").await;
    subscription.post(&client, "/pause").await.expect(200);
    let pending = subscription.ping(&client).await;
    let pending = subscription.delivery(&client, &pending).await;
    for delivery in [delivered, failed, pending] {
        let id = delivery["id"].as_str().unwrap();
        let refused = subscription.replay(&client, id).await;
        refused.expect_problem(409, "subscription_paused");
    }
    let mut receiver = HeldReceiver::start().await;
    let waiting = Subscription::create(&client, &receiver.url).await;
    let published = waiting.ping(&client).await;
    let call = receiver.call().await;
    waiting.post(&client, "/pause").await.expect(200);
    let delivery = waiting.delivery(&client, &published).await;
    assert_eq!(delivery["status"], "PUBLISHED");
    let refused = waiting.replay(&client, &published).await;
    refused.expect_problem(409, "subscription_paused");
    call.answer(StatusCode::OK);
    let refused = subscription.recover(&client, &json!("2026-01-01")).await;
    refused.expect_problem(409, "subscription_paused");
}

/// Returns a delivery that was sent and replayed. Both requests wait for their responses.
async fn sent_twice(
    client: &Client,
    receiver: &mut HeldReceiver,
) -> (Subscription, String, Call, Call) {
    let subscription = Subscription::create(client, &receiver.url).await;
    let id = subscription.ping(client).await;
    let first = receiver.call().await;
    replay_in_time(client, &subscription, &id).await;
    let second = receiver.call().await;
    (subscription, id, first, second)
}

async fn late_failure_response_does_not_change_replayed_delivery(database: Database) {
    let (server, client) = start(database).await;
    let mut receiver = HeldReceiver::start().await;
    let (subscription, id, first, second) = sent_twice(&client, &mut receiver).await;
    second.answer(StatusCode::OK);
    let delivered = subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
    first.answer(StatusCode::GONE);
    let labels = [("product", "hotel"), ("outcome", "4xx")];
    eventually("the late response to be recorded", async || {
        let counted = server.metric("stopover_webhook_attempts_total", &labels);
        (counted.await == 1).then_some(())
    })
    .await;
    assert_eq!(subscription.delivery(&client, &id).await, delivered);
}

async fn late_success_response_does_not_change_replayed_delivery(database: Database) {
    let (_server, client) = start(database).await;
    let mut receiver = HeldReceiver::start().await;
    let (subscription, id, first, second) = sent_twice(&client, &mut receiver).await;
    let published = subscription.delivery(&client, &id).await;
    first.answer(StatusCode::OK);
    // Another delivery completes, so the response is stored.
    let next = subscription.ping(&client).await;
    receiver.call().await.answer(StatusCode::OK);
    subscription
        .wait_for_delivery_status(&client, &next, "DELIVERED")
        .await;
    assert_eq!(subscription.delivery(&client, &id).await, published);
    second.answer(StatusCode::INTERNAL_SERVER_ERROR);
    receiver.call().await.answer(StatusCode::ACCEPTED);
    let delivered = subscription
        .wait_for_delivery_status(&client, &id, "DELIVERED")
        .await;
    let statuses = response_statuses(&delivered);
    assert_eq!(statuses, [Some(500), Some(202)]);
}

/// Deliveries of a long outage, many more than a request replays.
const MANY: usize = 2500;

/// Copies a failed delivery [`MANY`] times.
async fn copy_failed(server: &Server, delivery: &Value) {
    let columns = "status, generation, attempt_count, created_at, pending_since, published_at, \
         failed_at, failure_reason, event_type";
    let copy = format!(
        "INSERT INTO webhook_delivery (organization, mode, id, subscription_id, event_id, {columns}) \
         WITH RECURSIVE numbers (number) AS \
           (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {MANY}) \
         SELECT organization, mode, 'dlv_' || number || '-' || substr(subscription_id, 5), \
           subscription_id, event_id, {columns} FROM webhook_delivery, numbers WHERE id = {}",
        delivery["id"].to_string().replace('"', "'"),
    );
    server.try_edit(&copy).await.unwrap();
}

/// Waits until no delivery is failed, and checks that each was replayed once.
async fn all_are_replayed_once(client: &Client, subscription: &Subscription) {
    eventually("all deliveries to be replayed", async || {
        let failed = subscription
            .deliveries(client, "?status=FAILED&limit=1")
            .await;
        (failed.body["meta"]["pagination"]["total"] == 0).then_some(())
    })
    .await;
    for offset in (0..=MANY).step_by(100) {
        let query = format!("?limit=100&offset={offset}");
        let listed = subscription.deliveries(client, &query).await;
        let counts = listed.list().iter().map(|one| one["replay_count"].as_u64());
        assert!(counts.into_iter().all(|count| count == Some(1)), "{offset}");
    }
}

async fn recover_of_many_deliveries_continues_after_the_response(database: Database) {
    let (server, client) = start(database).await;
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(500));
    let failed = subscription.ping_until(&client, "FAILED").await;
    subscriber.respond_with(|_| MockResponse::empty(200));
    copy_failed(&server, &failed).await;
    let since = json!("2026-01-01");
    let keyed = client.header("x-idempotency-key", "after-the-outage");
    let first = subscription.recover(&keyed, &since).await.expect(202);
    assert_eq!(first.data()["queued"], MANY + 1);
    // A repeat finds those that are left, and none is sent twice.
    let again = subscription.recover(&keyed, &since).await.expect(202);
    assert!(again.data()["queued"].as_u64().unwrap() <= MANY as u64 - 1000);
    all_are_replayed_once(&client, subscription).await;
}

/// Each replay takes so long that the request has no time for all.
#[tokio::test]
async fn recover_responds_in_time_while_the_database_is_slow() {
    let config = "[webhooks]\nsubscription_retry_s = [1]\n[limits]\nrequest_s = 2";
    let options = ServerOptions::on(Database::Postgres).config(config);
    let server = Server::start_with(options).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    subscriber.respond_with(|_| MockResponse::empty(500));
    let failed = subscription.ping_until(&client, "FAILED").await;
    subscriber.respond_with(|_| MockResponse::empty(200));
    copy_failed(&server, &failed).await;
    let slow = "CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS \
                'BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END'; \
                CREATE TRIGGER slow BEFORE UPDATE ON webhook_delivery FOR EACH ROW \
                WHEN (OLD.status = 'FAILED') EXECUTE FUNCTION be_slow()";
    server.try_edit(slow).await.unwrap();
    let replied = subscription.recover(&client, &json!("2026-01-01")).await;
    assert_eq!(replied.expect(202).data()["queued"], MANY + 1);
    let quick = "DROP TRIGGER slow ON webhook_delivery";
    server.try_edit(quick).await.unwrap();
    all_are_replayed_once(&client, subscription).await;
}

async fn recover_replays_deliveries_that_failed_since(database: Database) {
    let (_server, client) = start(database).await;
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    let fine = subscription.ping_until(&client, "DELIVERED").await;
    subscriber.respond_with(|_| MockResponse::empty(500));
    let old = subscription.ping_until(&client, "FAILED").await;
    let new = subscription.ping_until(&client, "FAILED").await;
    subscriber.respond_with(|_| MockResponse::empty(200));
    let recover = async |client: &Client, since: &Value| {
        let reply = subscription.recover(client, since).await.expect(202);
        reply.data()["queued"].clone()
    };
    let has_status = async |delivery: &Value, status: &str| {
        let id = delivery["id"].as_str().unwrap();
        subscription
            .wait_for_delivery_status(&client, id, status)
            .await
    };
    let keyed = client.header("x-idempotency-key", "after-the-outage");
    // `since` is inclusive.
    assert_eq!(recover(&keyed, &new["failed_at"]).await, 1);
    assert_eq!(has_status(&new, "DELIVERED").await["replay_count"], 1);
    assert_eq!(recover(&keyed, &new["failed_at"]).await, 0);
    assert_eq!(has_status(&old, "FAILED").await, old);
    // The delivery failed before `since`.
    assert_eq!(recover(&client, &new["event"]["created_at"]).await, 0);
    assert_eq!(recover(&client, &json!("2026-01-01")).await, 1);
    assert_eq!(has_status(&old, "DELIVERED").await["replay_count"], 1);
    assert_eq!(has_status(&fine, "DELIVERED").await, fine);
}
