//! The commands that talk to a running gateway: `listen`, `trigger` and `deliveries replay`.

use reqwest::Method;
use serde_json::{Value, json};
use std::process::Stdio;
use tests::{
    Client, DashboardClient, Database, MockResponse, MockServer, Server, Subscriber, binary,
    eventually, on_both_databases, verify_signatures,
};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

on_both_databases!(
    events_are_forwarded_signed_until_the_command_ends,
    sessions_are_limited_and_read_no_old_events,
    delivery_is_replayed_by_its_id,
);

/// A running `stopover listen`.
struct Listen {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    secret: String,
}

impl Listen {
    async fn start(server: &Server, forward_to: &str, options: &[&str]) -> Self {
        let mut process = Command::new(binary())
            .args(["listen", "--url", &server.api, "--forward-to", forward_to])
            .args(options)
            .env("STOPOVER_API_KEY", &server.key)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let output = process.stdout.take().unwrap();
        let mut lines = BufReader::new(output).lines();
        let first = lines.next_line().await.unwrap().unwrap();
        let secret = first
            .strip_prefix("signing secret")
            .unwrap()
            .trim()
            .to_owned();
        lines.next_line().await.unwrap();
        Self {
            process,
            lines,
            secret,
        }
    }

    async fn end(mut self) {
        let id = self.process.id().unwrap().to_string();
        let kill = Command::new("kill").args(["-TERM", &id]).status();
        assert!(kill.await.unwrap().success());
        assert!(self.process.wait().await.unwrap().success());
    }
}

async fn events_are_forwarded_signed_until_the_command_ends(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let operator = DashboardClient::set_up(&server, "ada@example.com").await;
    let subscriber = Subscriber::start(&client).await;
    subscriber
        .subscription
        .ping_until(&client, "DELIVERED")
        .await;
    let receiver = MockServer::start().await;
    receiver.on("POST /events", |_| MockResponse::empty(204));
    let url = format!("{}/events", receiver.url);
    let mut listen = Listen::start(&server, &url, &["--events", "ping,hotel.booking.failed"]).await;
    let list = operator.get("/webhooks").await;
    assert!(list.body.contains("<b>listen</b>"), "{}", list.body);
    let foreign = server.client_for("acme").await;
    Subscriber::start(&foreign)
        .await
        .subscription
        .ping(&foreign)
        .await;
    let expected = subscriber
        .subscription
        .ping_until(&client, "DELIVERED")
        .await;
    let received = eventually("the event", async || receiver.received().pop()).await;
    assert_eq!(verify_signatures(&received, &[&listen.secret]), [true]);
    assert_eq!(received.body, expected["event"]);
    let line = listen.lines.next_line().await.unwrap().unwrap();
    assert!(line.contains("ping") && line.contains("204"), "{line}");
    assert_eq!(
        receiver.received().len(),
        1,
        "neither earlier nor foreign events"
    );
    listen.end().await;
    let list = operator.get("/webhooks").await;
    assert!(!list.body.contains("<b>listen</b>"), "{}", list.body);
    let refused = client.get("/v1/cli/listen/lsn_1/events?after=evt_1").await;
    refused.expect(404);
    let unknown_type = json!({"event_types": ["x"]});
    let wrong = client.post("/v1/cli/listen", &unknown_type).await;
    wrong.expect_problem(400, "validation_failed");
}

async fn sessions_are_limited_and_read_no_old_events(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    subscriber
        .subscription
        .ping_until(&client, "DELIVERED")
        .await;
    let all = json!({"event_types": []});
    let session = client.post("/v1/cli/listen", &all).await.expect(201);
    let session = format!(
        "/v1/cli/listen/{}",
        session.body["data"]["id"].as_str().unwrap()
    );
    let fetch = async |after: &str, wait_s: u64| {
        let path = format!("{session}/events?after={after}&wait_s={wait_s}");
        client.get(&path).await
    };
    for after in ["evt_-", "evt_0", "evt_-0000000000a", "evt_zzzzzzzzzzzz"] {
        let fetched = fetch(after, 0).await.expect(200);
        assert_eq!(fetched.body["data"]["events"], json!([]), "{after}");
    }
    // The position of an earlier session.
    let fetched = fetch("evt_000000000000", 0).await.expect(200);
    assert_eq!(fetched.body["data"]["events"][0]["type"], "ping");
    let (one, other) = tokio::join!(fetch("evt_-", 2), fetch("evt_-", 2));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 429], "one call at a time");
    for _ in 1..10 {
        client.post("/v1/cli/listen", &all).await.expect(201);
    }
    let refused = client.post("/v1/cli/listen", &all).await;
    refused.expect_problem(429, "rate_limited");
    let foreign = server.client_for("acme").await;
    foreign.post("/v1/cli/listen", &all).await.expect(201);
    client.delete(&session).await.expect(204);
    client.post("/v1/cli/listen", &all).await.expect(201);
}

async fn delivery_is_replayed_by_its_id(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let delivery = subscriber
        .subscription
        .ping_until(&client, "DELIVERED")
        .await;
    let id = delivery["id"].as_str().unwrap();
    let replay = |key: &str| {
        let mut command = Command::new(binary());
        let arguments = ["deliveries", "replay", id, "--url", &server.api];
        command.args(arguments).env("STOPOVER_API_KEY", key);
        command
    };
    let output = replay(&server.key).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, format!("{id} PENDING\n"));
    eventually("the replay", async || {
        (subscriber.upstream.received().len() == 2).then_some(())
    })
    .await;
    let options = ["create", "--organization", "acme", "--mode", "test"];
    let foreign = server.command("keys", &options).await;
    let output = replay(foreign.trim()).output().await.unwrap();
    assert!(!output.status.success());
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.contains("error:"), "{printed}");
}

/// An organization needs no webhook to try `listen`, and one that is paused gets no event.
#[tokio::test]
async fn ping_is_triggered_with_and_without_a_webhook() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let receiver = MockServer::start().await;
    receiver.on("POST /events", |_| MockResponse::empty(204));
    let url = format!("{}/events", receiver.url);
    let listen = Listen::start(&server, &url, &["--events", "ping"]).await;
    let trigger = async || {
        let mut command = Command::new(binary());
        let arguments = ["trigger", "ping", "--url", &server.api];
        command.args(arguments).env("STOPOVER_API_KEY", &server.key);
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        printed.trim().strip_prefix("ping  ").unwrap().to_owned()
    };
    let forwarded = async |id: &str| {
        let is_it = |body: &Value| body["id"] == id;
        let find = async || {
            let received = receiver.received().into_iter();
            received.map(|request| request.body).find(is_it)
        };
        eventually("the forwarded event", find).await
    };
    let event = forwarded(&trigger().await).await;
    assert_eq!(event["type"], "ping");
    let paused = Subscriber::start(&client).await;
    let pause = paused.subscription.post(&client, "/pause").await;
    pause.expect(200);
    forwarded(&trigger().await).await;
    let active = Subscriber::of("flight", &client).await;
    let event = forwarded(&trigger().await).await;
    assert_eq!(event["data"]["subscription_id"], active.subscription.id);
    eventually("the delivery", async || {
        (active.upstream.received().len() == 1).then_some(())
    })
    .await;
    let of_paused = async || {
        let listed = paused.subscription.deliveries(&client, "").await;
        listed.data().as_array().unwrap().len()
    };
    assert_eq!(
        of_paused().await,
        0,
        "the pings are not sent at the resumption"
    );
    let resume = paused.subscription.post(&client, "/resume").await;
    resume.expect(200);
    paused.subscription.ping_until(&client, "DELIVERED").await;
    assert_eq!(of_paused().await, 1);
    assert_eq!(paused.upstream.received().len(), 1);
    listen.end().await;
    let options = ["create", "--organization", "demo", "--mode", "live"];
    let live = server.command("keys", &options).await;
    let live = Client::new(&server.api, live.trim());
    let refused = live.send(Method::POST, "/v1/cli/ping", None).await;
    refused.expect_problem(403, "insufficient_scope");
}

#[tokio::test]
async fn each_event_can_be_triggered() {
    let server = Server::start_with_fast_retries(Database::Sqlite).await;
    let client = server.client();
    Subscriber::start(&client).await;
    let trigger = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.arg("trigger").args(arguments);
        command.env("STOPOVER_API_KEY", &server.key);
        command
    };
    let listed = trigger(&["--list"]).output().await.unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let events: Vec<&str> = listed.lines().collect();
    assert!(events.len() > 20, "{events:?}");
    for event in &events {
        let made = trigger(&[event, "--url", &server.api]).output().await;
        let made = made.unwrap();
        assert!(made.status.success(), "{event}: {made:?}");
    }
    eventually("all events", async || {
        let made = server.events().await;
        let is_made = |event: &&&str| made.iter().any(|known| known["type"] == **event);
        let missing: Vec<_> = events.iter().filter(|event| !is_made(event)).collect();
        missing.is_empty().then_some(())
    })
    .await;
    let output = trigger(&["ping", "--api-key", "sk_live_1", "--url", &server.api]).output();
    let output = output.await.unwrap();
    assert!(!output.status.success());
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("live key")
    );
}
