//! Tests of operation: commands, signals, reloading and metrics.

use serde_json::{Value, json};
use std::process::Output;
use tests::{
    Client, Database, HotelBookingBuilder, Server, ServerOptions, binary, offers_request,
    target_dir,
};
use tokio::process::Command;

#[tokio::test]
async fn sigterm_lets_running_requests_finish() {
    let mut server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let slow = async move { client.hotel_offers(&offers_request("SLOW_2000")).await };
    let slow = tokio::spawn(slow);
    let busy = Client::new(&server.api, &server.key);
    tests::eventually("the slow call to be in progress", async || {
        let metrics = Client::new(&server.admin, "").get("/metrics").await.body;
        let _answers = busy.get("/v1/suppliers").await;
        metrics
            .as_str()
            .is_some_and(|text| !text.is_empty())
            .then_some(())
    })
    .await;
    let status = server.terminate().await;
    assert_eq!(status.code(), Some(0));
    // A running request is finished before the server stops.
    slow.await.unwrap().expect(200);
}

#[tokio::test]
async fn command_line_exits_2_on_wrong_usage_and_0_on_help() {
    for (arguments, code) in [
        (vec!["--help"], 0),
        (vec!["serve", "--help"], 0),
        (vec!["keys", "create", "--help"], 0),
        (vec!["nonsense"], 2),
        (vec!["keys", "create"], 2),
        (vec!["serve", "--listen", "nowhere"], 2),
    ] {
        let output = run(Command::new(binary()).args(&arguments)).await;
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {complaint}"
        );
    }
}

async fn run(command: &mut Command) -> Output {
    command.output().await.unwrap()
}

#[tokio::test]
async fn server_without_master_key_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = Command::new(binary());
    let output = run(serve.arg("serve").current_dir(folder.path())).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("master key"));
}

#[tokio::test]
async fn config_check_rejects_unknown_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stopover.toml");
    std::fs::write(&file, "[limits]\nburts = 3\n").unwrap();
    let mut check = Command::new(binary());
    check.args(["config", "check", "--config"]).arg(&file);
    let output = run(&mut check).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("burts"));
}

#[tokio::test]
async fn plugin_reload_during_calls_fails_no_call() {
    let limits = "[limits]\nrequests_per_s = 10000\nburst = 10000\n";
    let options = ServerOptions::on(Database::Sqlite).config(limits);
    let server = Server::start_with(options).await;
    let admin = Client::new(&server.admin, "");
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let client = server.client();
        calls.spawn(async move {
            for _ in 0..20 {
                let priced = client.hotel_offers(&offers_request("OK")).await;
                priced.expect(200);
            }
        });
    }
    for _ in 0..5 {
        let path = "/plugins/SANDBOX_HOTELS/reload";
        let reloaded = admin.post_bytes(path, Vec::new()).await;
        assert!(reloaded.status < 300, "{:#}", reloaded.body);
    }
    calls.join_all().await;
    let unknown = admin.post_bytes("/plugins/NOBODY/reload", Vec::new()).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn metrics_are_served_only_by_the_admin_listener() {
    let server = Server::start(Database::Sqlite).await;
    let open = server.client().without("x-api-key");
    for (path, status) in [("/healthz", 200), ("/readyz", 200), ("/metrics", 404)] {
        assert_eq!(open.get(path).await.status, status, "{path}");
    }
    let metrics = Client::new(&server.admin, "").get("/metrics").await;
    let metrics = metrics.expect(200);
    assert!(metrics.body.as_str().unwrap().contains("# TYPE"));
}

#[tokio::test]
async fn log_contains_no_secret_and_no_personal_data() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let _booking = HotelBookingBuilder::at("OK").book_confirmed(&client).await;
    let log = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
    let (name, email, phone) = ("Lovelace", "ada@example.org", "+442079460000");
    for canary in [name, email, phone, "tok_visa", &server.key] {
        assert!(!log.contains(canary), "the log contains {canary}");
    }
    let requests = log.lines().filter(|line| line.contains("/v1/"));
    assert!(requests.count() >= 4, "each request is logged");
}

#[tokio::test]
async fn bookings_survive_a_restart() {
    for database in Database::BOTH {
        let server = Server::start(database).await;
        let hotel = HotelBookingBuilder::at("OK");
        let booking = hotel.book_confirmed(&server.client()).await;
        let before = server.client().hotel_booking(&booking).await;
        let server = server.restart(ServerOptions::on(database)).await;
        let after: Value = server.client().hotel_booking(&booking).await;
        assert_eq!(before["id"], after["id"]);
        assert_eq!(after["status"], "CONFIRMED");
    }
}

#[tokio::test]
async fn later_demo_start_prints_the_command_that_creates_a_key() {
    let server = Server::start(Database::Sqlite).await;
    let server = server.restart(ServerOptions::on(Database::Sqlite)).await;
    let line = server.wait_for_log_line(" keys create ").await;
    let mut shell = Command::new("sh");
    let made = shell.args(["-c", &line]).current_dir("/").output().await;
    let key = String::from_utf8(made.unwrap().stdout).unwrap();
    assert_ne!(key.trim(), server.key);
    let client = Client::new(&server.api, key.trim());
    client.get("/v1/suppliers").await.expect(200);
}

/// Checks that an operator sees what an adapter promises before its bookings rely on it.
#[tokio::test]
async fn plugin_commands_show_the_promises_of_an_adapter() {
    let plugins = target_dir().join("plugins");
    let mut inspect = Command::new(binary());
    inspect.args(["plugin", "inspect", "--json"]);
    let output = run(inspect.arg(plugins.join("fake-hotels.wasm"))).await;
    let inspected: Value = serde_json::from_slice(&output.stdout).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stopover.toml");
    let supplier = "[[suppliers]]\nid = \"S\"\nkind = \"hotel\"\nmodes = [\"test\"]\ncomponent = \"fake-hotels.wasm\"\nsettings = { base_url = \"http://127.0.0.1:1\" }\n";
    std::fs::write(&file, supplier).unwrap();
    let list = |format: &'static [&'static str]| {
        let mut list = Command::new(binary());
        list.args(["plugin", "list"]).args(format);
        list.env("STOPOVER_PLUGINS_DIR", &plugins);
        list.arg("--config").arg(&file);
        list
    };
    let output = run(&mut list(&["--json"])).await;
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    for shown in [&inspected, &listed[0]] {
        for (name, promised) in [
            ("collects_payment", json!(false)),
            ("one_booking_per_offer", json!(false)),
            ("supports_partial_cancellation", json!(true)),
            ("reads_consistent_after_ms", json!(1000)),
            ("supports_idempotent_resend", json!(false)),
        ] {
            assert_eq!(shown[name], promised, "{name} of {shown:#}");
        }
    }
    let output = run(&mut list(&[])).await;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .find(|line| line.starts_with("reads_consistent_after_ms"));
    assert_eq!(line.unwrap().split_whitespace().last(), Some("1000"));
}

/// Checks the defaults of the times that the interface or the contract specifies and that other
/// tests shorten.
#[tokio::test]
async fn default_config_has_the_specified_times() {
    let mut show = Command::new(binary());
    let output = run(show.args(["config", "show", "--json"])).await;
    let config: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (minute, hour, day) = (60, 3600, 24 * 3600);
    let promised = json!({
        "webhooks": {
            "watch_retry_s": [minute, 5 * minute, 30 * minute, 2 * hour, 12 * hour, day],
            "subscription_retry_s": [minute, 5 * minute, 30 * minute, 90 * minute],
            "timeout_s": 10,
            "replay_pending_after_s": minute,
            "replay_published_after_s": 2 * hour + 15 * minute,
            "dual_signature_s": day,
            "disable_after_s": 5 * day,
        },
        "reconcile": {
            "schedule_s": [5, 15, minute, 5 * minute, 15 * minute, hour, 6 * hour, day],
            "absence_recheck_s": [10 * minute, hour, day],
            "undeclared_reads_s": 15 * minute,
        },
        "payments": {"capture_retry_s": [5, 30, 5 * minute, hour, 6 * hour]},
        "watches": {"interval_s": 15 * minute},
        "jobs": {"poll_s": 1},
        "limits": {"requests_per_s": 100, "burst": 200},
        "content": {"details_fresh_s": day, "reviews_fresh_s": 6 * hour},
    });
    for (section, settings) in promised.as_object().unwrap() {
        for (name, promised) in settings.as_object().unwrap() {
            assert_eq!(config[section][name], *promised, "{section}.{name}");
        }
    }
}
