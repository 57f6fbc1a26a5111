//! What operators read and do on the admin listener.

mod commands;
mod people;

use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    Booking, BookingBuilder, Client, Database, HotelBookingBuilder, MockResponse, MockServer,
    Reply, Server, ServerOptions, Subscriber, WatcherWebhook, eventually, money, on_both_databases,
};

on_both_databases!(
    deliveries_are_listed_and_replayed_in_bulk,
    delivery_and_event_are_shown_without_personal_data,
    webhook_is_paused_and_resumed,
    disabled_webhook_of_watches_is_resumed_but_not_changed,
    webhook_is_created_and_changed_and_its_secret_rotated,
    webhook_is_tested_recovered_and_deleted,
    unknown_outcome_is_shown_with_its_evidence,
    overview_counts_calls_and_bookings,
    go_live_steps_are_those_of_the_organization,
    request_is_shown_with_the_calls_beneath_it,
    booking_is_found_and_shown_with_its_timeline,
    watch_is_canceled,
    mandate_is_revoked,
);

/// Deliveries fail after one retry.
const HURRIED: &str = "[webhooks]\nsubscription_retry_s = [1]\ntimeout_s = 5";

/// A client of the admin listener.
struct Operator(Client);

impl Operator {
    fn of(server: &Server) -> Self {
        Self(Client::new(&server.admin, ""))
    }

    /// Returns the data of a successful read.
    async fn read(&self, path: &str) -> Value {
        self.0.get(path).await.expect(200).data().clone()
    }

    /// Returns the ids of a list.
    async fn ids(&self, path: &str) -> Vec<String> {
        let listed = self.read(path).await;
        let rows = listed.as_array().unwrap().iter();
        rows.map(|row| text(&row["id"]).to_owned()).collect()
    }

    /// Posts without a body.
    async fn act(&self, path: &str) -> Reply {
        self.0.send(Method::POST, path, None).await
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Returns the names of the actions that callers of the admin listener caused.
async fn recorded_actions(server: &Server) -> Vec<String> {
    let log = server.command("audit", &["list", "--json"]).await;
    let entries = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let own = entries.filter(|entry: &Value| entry["actor"]["type"] == "admin_token");
    own.map(|entry| text(&entry["action"]).to_owned()).collect()
}

/// Starts a receiver that refuses two events, and then accepts all.
async fn recovered_receiver(client: &Client) -> Subscriber {
    let subscriber = Subscriber::start(client).await;
    subscriber.respond_with(|_| MockResponse::empty(500));
    for _ in 0..2 {
        subscriber.subscription.ping_until(client, "FAILED").await;
    }
    subscriber.respond_with(|_| MockResponse::empty(204));
    subscriber
}

async fn deliveries_are_listed_and_replayed_in_bulk(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).config(HURRIED)).await;
    let (client, operator) = (server.client(), Operator::of(&server));
    let broken = recovered_receiver(&client).await;
    let good = Subscriber::start(&client).await;
    good.subscription.ping_until(&client, "DELIVERED").await;
    let webhook = &broken.subscription.id;
    for (query, count) in [
        ("", 3),
        ("status=FAILED", 2),
        ("status=DELIVERED&organization=demo", 1),
        (&format!("webhook={webhook}"), 2),
        ("event=ping&from=2026-01-01T00:00:00Z", 3),
        ("event=payment.failed", 0),
        ("to=2026-01-01T00:00:00Z", 0),
        ("organization=other", 0),
        ("mode=live", 0),
        ("limit=1", 1),
    ] {
        let ids = operator.ids(&format!("/deliveries?{query}")).await;
        assert_eq!(ids.len(), count, "{query}: {ids:?}");
    }
    for query in ["status=failed", "webhook=x", "event=x", "from=x", "mode=x"] {
        let refused = operator.0.get(&format!("/deliveries?{query}")).await;
        refused.expect_problem(400, "validation_failed");
    }
    let first = operator.0.get("/deliveries?limit=2").await.expect(200);
    let next = format!("/deliveries?after={}", text(&first.body["next"]));
    assert_eq!(operator.ids(&next).await.len(), 1, "the second page");

    let replays = "/deliveries/replays";
    let nothing = json!({"event": "payment.failed"});
    let refused = operator.0.post(replays, &nothing).await;
    refused.expect_problem(409, "replay_not_allowed");
    let filter = json!({"status": "FAILED", "organization": "demo"});
    let begun = operator.0.post(replays, &filter).await.expect(202);
    assert_eq!(begun.data()["deliveries"], 2);
    assert_eq!(begun.data()["filter"]["status"], "FAILED");
    let path = format!("{replays}/{}", text(&begun.data()["id"]));
    let ended = eventually("the replay to end", async || {
        let replay = operator.read(&path).await;
        (replay["state"] != "running").then_some(replay)
    })
    .await;
    let numbers = (&ended["state"], &ended["replayed"], &ended["skipped"]);
    assert_eq!(numbers, (&json!("finished"), &json!(2), &json!(0)));
    eventually("the replayed events", async || {
        let ids = operator.ids("/deliveries?status=DELIVERED").await;
        (ids.len() == 3).then_some(())
    })
    .await;
    let stopped = operator.act(&format!("{path}/stop")).await.expect(200);
    assert_eq!(stopped.data()["state"], "finished", "it had ended");
    let unknown = operator.0.get(&format!("{replays}/blk_1")).await;
    unknown.expect_problem(404, "not_found");
    let actions = recorded_actions(&server).await;
    assert_eq!(actions, ["bulk_replay.started"]);
}

async fn delivery_and_event_are_shown_without_personal_data(database: Database) {
    let server = Server::start(database).await;
    let (client, operator) = (server.client(), Operator::of(&server));
    let subscriber = Subscriber::start(&client).await;
    // The receiver sends back what it receives.
    subscriber.respond_with(|request| MockResponse::json(200, &request.body));
    HotelBookingBuilder::at("OK").book_confirmed(&client).await;
    let received = subscriber.wait_for_events("hotel.booking.confirmed", 1);
    let received = received.await.remove(0);
    assert!(received.text.contains("Lovelace"));
    let event = received.header("webhook-id").unwrap();
    let id = received.header("svc-delivery-id").unwrap();
    let path = format!("/deliveries/{id}");
    let delivery = eventually("the attempt", async || {
        let delivery = operator.read(&path).await;
        (delivery["status"] == "DELIVERED").then_some(delivery)
    })
    .await;
    assert_eq!(delivery["event"], event);
    assert_eq!(delivery["attempts"][0]["response_status"], 200);
    let signature = &delivery["attempts"][0]["request_headers"]["webhook-signature"];
    assert_eq!(signature, received.header("webhook-signature").unwrap());
    let shown = operator.read(&format!("/events/{event}")).await;
    assert_eq!(shown["deliveries"][0]["id"], id);
    for document in [&delivery, &shown] {
        assert_eq!(document["payload"]["type"], "hotel.booking.confirmed");
        for personal in ["Lovelace", "ada@example.org", "2079460000"] {
            assert!(!document.to_string().contains(personal), "{document:#}");
        }
    }
    let replayed = operator.act(&format!("{path}/replay")).await.expect(200);
    assert_eq!(replayed.data()["status"], "PENDING");
    subscriber
        .wait_for_events("hotel.booking.confirmed", 2)
        .await;
    assert_eq!(recorded_actions(&server).await, ["delivery.replayed"]);
    for (path, code) in [
        ("/deliveries/dlv_1-1", "delivery_not_found"),
        ("/deliveries/x", "delivery_not_found"),
        ("/events/evt_1", "event_not_found"),
    ] {
        operator.0.get(path).await.expect_problem(404, code);
    }
}

async fn webhook_is_paused_and_resumed(database: Database) {
    let server = Server::start(database).await;
    let (client, operator) = (server.client(), Operator::of(&server));
    let subscriber = Subscriber::start(&client).await;
    let id = &subscriber.subscription.id;
    let path = format!("/webhooks/{id}");
    for (change, status) in [("pause", "PAUSED"), ("resume", "ACTIVE")] {
        let changed = operator.act(&format!("{path}/{change}")).await.expect(200);
        assert_eq!(changed.data()["status"], status);
        assert_eq!(operator.read(&path).await["status"], status);
        let listed = operator.ids(&format!("/webhooks?status={status}")).await;
        assert_eq!(listed, [id.as_str()]);
        assert_eq!(
            subscriber.subscription.read(&client).await["status"],
            status
        );
    }
    let actions = recorded_actions(&server).await;
    assert_eq!(actions, ["webhook.resumed", "webhook.paused"]);
    let unknown = operator.act("/webhooks/whs_1/pause").await;
    unknown.expect_problem(404, "subscription_not_found");
}

/// Checks the endpoint of watches, whose other properties only programs change.
async fn disabled_webhook_of_watches_is_resumed_but_not_changed(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    let webhook = WatcherWebhook::register(&server.client()).await;
    let path = format!("/webhooks/{}", webhook.id);
    let disable = "UPDATE webhook_subscription SET status = 'DISABLED' WHERE product = 'watch'";
    server.try_edit(disable).await.unwrap();
    assert_eq!(operator.read(&path).await["status"], "DISABLED");
    for change in ["pause", "rotate-secret"] {
        let refused = operator.act(&format!("{path}/{change}")).await;
        refused.expect_problem(404, "subscription_not_found");
    }
    let resumed = operator.act(&format!("{path}/resume")).await.expect(200);
    assert_eq!(resumed.data()["status"], "ACTIVE");
    assert_eq!(operator.read(&path).await["status"], "ACTIVE");
    assert_eq!(recorded_actions(&server).await, ["webhook.resumed"]);
}

async fn webhook_is_created_and_changed_and_its_secret_rotated(database: Database) {
    let server = Server::start(database).await;
    let (client, operator) = (server.client(), Operator::of(&server));
    let receiver = MockServer::start().await;
    let valid = json!({
        "organization": "demo",
        "product": "hotel",
        "url": format!("{}/hook", receiver.url),
        "event_types": ["hotel.booking.confirmed"],
        "description": "orders",
    });
    for (field, value) in [
        ("organization", json!("a b")),
        ("mode", json!("x")),
        ("product", json!("watch")),
        ("url", json!("")),
        ("event_types", json!([])),
        ("event_types", json!(["flight.booking.confirmed"])),
        ("description", json!("\u{1}")),
    ] {
        let mut body = valid.clone();
        body[field] = value;
        let refused = operator.0.post("/webhooks", &body).await;
        refused.expect_problem(400, "validation_failed");
    }
    let created = operator.0.post("/webhooks", &valid).await.expect(201);
    let (id, secret) = (
        created.data()["id"].clone(),
        &created.data()["signing_secret"],
    );
    assert!(text(secret).starts_with("whsec_"));
    let path = format!("/webhooks/{}", text(&id));
    let own = format!("/v1/hotel/webhook-subscriptions/{}", text(&id));
    for (change, description) in [
        (json!({"event_types": ["*"]}), json!("orders")),
        (json!({"description": null}), Value::Null),
    ] {
        let body = Some(change.to_string().into_bytes());
        let changed = operator
            .0
            .send(Method::PATCH, &path, body)
            .await
            .expect(200);
        assert_eq!(changed.data()["event_types"], json!(["*"]));
        let read = client.get(&own).await.expect(200);
        assert_eq!(read.data()["description"], description);
    }
    let body = Some(json!({"event_types": ["ping?"]}).to_string().into_bytes());
    let refused = operator.0.send(Method::PATCH, &path, body).await;
    refused.expect_problem(400, "validation_failed");
    let rotated = operator
        .act(&format!("{path}/rotate-secret"))
        .await
        .expect(200);
    assert_ne!(&rotated.data()["signing_secret"], secret);
    assert!(rotated.data()["previous_secret_expires_at"].is_string());
    let actions = ["secret_rotated", "changed", "changed", "created"];
    let actions = actions.map(|action| format!("webhook.{action}"));
    assert_eq!(recorded_actions(&server).await, actions);
    let unknown = operator.act("/webhooks/whs_1/rotate-secret").await;
    unknown.expect_problem(404, "subscription_not_found");
}

async fn webhook_is_tested_recovered_and_deleted(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).config(HURRIED)).await;
    let (client, operator) = (server.client(), Operator::of(&server));
    let Subscriber { subscription, .. } = &recovered_receiver(&client).await;
    let path = format!("/webhooks/{}", subscription.id);
    let recover = format!("{path}/recover");
    let sent = operator.act(&format!("{path}/test")).await.expect(202);
    subscription
        .wait_for_delivery_status(&client, text(&sent.data()["id"]), "DELIVERED")
        .await;
    for (since, queued) in [
        ("2099-01-01", 0),
        ("2026-01-01", 2),
        ("2026-01-01T00:00:00Z", 0),
    ] {
        let body = json!({ "since": since });
        let recovered = operator.0.post(&recover, &body).await.expect(202);
        assert_eq!(*recovered.data(), json!({ "queued": queued }), "{since}");
    }
    operator.act(&format!("{path}/pause")).await.expect(200);
    let since = json!({ "since": "2026-01-01" });
    let refused = operator.0.post(&recover, &since).await;
    refused.expect_problem(409, "subscription_paused");
    operator.0.delete(&path).await.expect(204);
    let deleted = client.get(&subscription.path("")).await;
    deleted.expect_problem(404, "subscription_not_found");
    for unknown in [
        operator.0.delete(&path).await,
        operator.act(&format!("{path}/test")).await,
        operator.0.post(&recover, &since).await,
        operator.0.delete("/webhooks/x").await,
    ] {
        unknown.expect_problem(404, "subscription_not_found");
    }
    let actions = [
        "deleted",
        "paused",
        "recovered",
        "recovered",
        "recovered",
        "tested",
    ];
    let actions = actions.map(|action| format!("webhook.{action}"));
    assert_eq!(recorded_actions(&server).await, actions);
}

async fn unknown_outcome_is_shown_with_its_evidence(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let operator = Operator::of(&server);
    let hotel = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let (booking, reply) = hotel.book(&server).await;
    reply.expect_problem(500, "result_unknown");
    let path = format!("/unresolved/{}", booking.id);
    let shown = eventually("the logged call", async || {
        let shown = operator.read(&path).await;
        shown[0]["sent_call"].is_object().then_some(shown)
    })
    .await;
    assert_eq!(shown.as_array().unwrap().len(), 1, "{shown:#}");
    for (pointer, expected) in [
        ("/booking_id", json!(booking.id)),
        ("/organization", json!("demo")),
        ("/step", json!("book")),
        ("/target", json!("SANDBOX_HOTELS")),
        ("/sent_call/function", json!("book")),
        ("/waiting_decision", Value::Null),
        ("/choices/0/outcome", json!("done")),
        ("/choices/0/needs_supplier_reference", json!(true)),
        ("/choices/0/consequence/booking_status", json!("CONFIRMED")),
        ("/choices/0/consequence/money/0/effect", json!("capture")),
        ("/choices/1/outcome", json!("not_done")),
        ("/choices/1/consequence/booking_status", json!("FAILED")),
        ("/choices/1/consequence/money/0/effect", json!("release")),
    ] {
        assert_eq!(shown[0].pointer(pointer), Some(&expected), "{pointer}");
    }
    for name in ["client_reference", "evidence", "next_lookup_at"] {
        assert!(shown[0][name].is_string(), "{name}: {shown:#}");
    }
    let confirmed = BookingBuilder::new("SANDBOX_HOTELS", "OK");
    let confirmed = confirmed.book_captured(&server).await;
    let path = format!("/unresolved/{}", confirmed.id);
    assert_eq!(operator.read(&path).await, json!([]));
    let unknown = operator.0.get("/unresolved/bkg_1").await;
    unknown.expect_problem(404, "booking_not_found");
}

async fn overview_counts_calls_and_bookings(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    let hotel = HotelBookingBuilder::at("OK");
    hotel.book_confirmed(&server.client()).await;
    let confirmed = json!([{"status": "CONFIRMED", "hotels": 1, "flights": 0}]);
    for (query, calls_min, bookings, jobs) in [
        ("", 1, &confirmed, json!(0)),
        ("window=day&organization=demo", 1, &confirmed, json!(0)),
        ("window=week&organization=demo", 1, &confirmed, json!(0)),
        ("window=hour&mode=live", 0, &json!([]), json!(0)),
        ("organization=other", 0, &json!([]), json!(0)),
    ] {
        let path = format!("/overview?{query}");
        let overview = eventually(&format!("the figures of {path}"), async || {
            let overview = operator.read(&path).await;
            let calls = overview["traffic"]["total"]["calls"].as_u64()?;
            let is_counted = calls >= calls_min
                && overview["bookings"] == *bookings
                && overview["booked"].as_array()?.len() == bookings.as_array()?.len();
            is_counted.then_some(overview)
        })
        .await;
        assert_eq!(overview["parked_jobs"], jobs, "{overview:#}");
        if calls_min > 0 {
            let by_time = overview["traffic"]["by_time"].as_array().unwrap();
            assert!(!by_time.is_empty(), "{overview:#}");
            assert_eq!(overview["booked"][0]["bookings"], 1);
        }
    }
    for query in ["window=month", "mode=x", "organization=a%00"] {
        let refused = operator.0.get(&format!("/overview?{query}")).await;
        refused.expect_problem(400, "validation_failed");
    }
}

async fn go_live_steps_are_those_of_the_organization(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    let hotel = HotelBookingBuilder::at("OK");
    hotel.book_confirmed(&server.client()).await;
    let is_done = async |organization: &str, name: &str| {
        let path = format!("/go-live?organization={organization}");
        let steps = operator.read(&path).await;
        let mut steps = steps.as_array().unwrap().iter();
        steps.find(|step| step["step"] == name).unwrap()["done"] == true
    };
    for step in ["test_key", "first_call", "booking"] {
        eventually(&format!("the step {step}"), async || {
            is_done("demo", step).await.then_some(())
        })
        .await;
        assert!(!is_done("other", step).await, "{step}");
    }
    assert!(!is_done("demo", "cancellation").await);
}

async fn request_is_shown_with_the_calls_beneath_it(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    let client = server.client().header("x-request-id", "for-operators");
    let hotel = HotelBookingBuilder::at("OK");
    for _ in 0..2 {
        hotel.price(&client).await.expect(200);
    }
    let path = "/requests/for-operators";
    let call = eventually("both calls", async || {
        let found = operator.0.get(path).await;
        let others = found.data()["others"].as_array()?.len();
        (others == 1).then(|| found.data().clone())
    })
    .await;
    assert_eq!(call["route"], "/v1/hotel/offers");
    assert_eq!(
        (&call["status"], &call["mode"]),
        (&json!(200), &json!("test"))
    );
    assert_eq!(call["calls"][0]["supplier"], "SANDBOX_HOTELS");
    let earlier = text(&call["others"][0]);
    let found = operator.read(&format!("{path}?call={earlier}")).await;
    assert_eq!(found["id"], earlier);
    for path in [
        "/requests/unknown",
        "/requests/for-operators?mode=live",
        "/requests/for-operators?organization=other",
    ] {
        operator.0.get(path).await.expect_problem(404, "not_found");
    }
}

async fn booking_is_found_and_shown_with_its_timeline(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    for (kind, builder) in ["hotel", "flight"]
        .into_iter()
        .zip(BookingBuilder::of_each_kind())
    {
        let booking: Booking = builder.book_captured(&server).await;
        let path = format!("/bookings/{}", booking.id);
        let shown = eventually("the whole timeline", async || {
            let shown = operator.read(&path).await;
            let entries = shown["timeline"].as_array()?.iter();
            let kinds: Vec<&str> = entries.map(|entry| text(&entry["kind"])).collect();
            let expected = ["request", "transition", "call", "event"];
            let is_whole = expected.iter().all(|kind| kinds.contains(kind));
            is_whole.then_some(shown)
        })
        .await;
        assert_eq!(
            (&shown["kind"], &shown["organization"]),
            (&json!(kind), &json!("demo"))
        );
        for personal in ["Lovelace", "ada@example.org"] {
            assert!(!shown.to_string().contains(personal), "{shown:#}");
        }
        let payment = text(&booking.read().await["payments"][0]["id"]).to_owned();
        assert_eq!(shown["payments"][0]["id"], payment);
        let reference = text(&shown["supplier_reference"]);
        for searched in [&booking.id, reference, &payment] {
            let found = operator.read(&format!("/search?q={searched}")).await;
            assert_eq!(found, json!({"type": "booking", "id": booking.id}));
        }
        let query = format!("/bookings?kind={kind}&status=CONFIRMED&q={reference}");
        assert_eq!(operator.ids(&query).await, [booking.id.as_str()]);
    }
    assert_eq!(operator.read("/search?q=nothing").await, Value::Null);
    let unknown = operator.0.get("/bookings/bkg_1").await;
    unknown.expect_problem(404, "booking_not_found");
}

async fn watch_is_canceled(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    let client = server.client().user("ada");
    let watch = client.watch_hotel("OK", 100.0, json!({})).await;
    let id = text(&watch["id"]);
    let path = format!("/watches/{id}");
    let listed = operator.ids("/watches?status=active&user=ada").await;
    assert_eq!(listed, [id]);
    let shown = operator.read(&path).await;
    assert_eq!(
        (&shown["organization"], &shown["mode"]),
        (&json!("demo"), &json!("test"))
    );
    assert!(shown["next_check_at"].is_string(), "{shown:#}");
    let canceled = operator.act(&format!("{path}/cancel")).await.expect(200);
    assert_eq!(canceled.data()["status"], "canceled");
    assert_eq!(client.read_watch(&watch["id"]).await["status"], "canceled");
    let again = operator.act(&format!("{path}/cancel")).await;
    again.expect_problem(409, "watch_state_conflict");
    assert_eq!(recorded_actions(&server).await, ["watch.canceled"]);
    let unknown = operator.0.get("/watches/wtc_1").await;
    unknown.expect_problem(404, "watch_not_found");
}

/// Issues a mandate for 250.50 euros to the user `ada` and returns its id.
async fn issue_mandate(client: &Client) -> String {
    let card = client.store_card("tok_visa").await;
    let body = json!({
        "user_id": "ada",
        "payment_amount": money(250.5, "EUR"),
        "payment_instrument": {"id": card, "type": "CARD"},
    });
    let issued = client.post("/v1/mandate", &body).await.expect(201);
    text(&issued.data()["id"]).to_owned()
}

async fn mandate_is_revoked(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    let client = server.client().user("ada");
    let id = issue_mandate(&client).await;
    let path = format!("/mandates/{id}");
    assert_eq!(operator.ids("/mandates?status=ACTIVE").await, [id.as_str()]);
    let shown = operator.read(&path).await;
    assert_eq!(shown["payment_amount"], money(250.5, "EUR"));
    assert_eq!(
        (&shown["organization"], &shown["used"]),
        (&json!("demo"), &Value::Null)
    );
    let revoked = operator.act(&format!("{path}/revoke")).await.expect(200);
    assert_eq!(revoked.data()["status"], "REVOKED");
    assert_eq!(recorded_actions(&server).await, ["mandate.revoked"]);
    let unknown = operator.0.get("/mandates/mnd_1").await;
    unknown.expect_problem(404, "mandate_not_found");
}
