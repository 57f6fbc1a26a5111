//! Operating it: commands, signals, reloading, metrics.

use serde_json::{Value, json};
use tests::{HotelBookingBuilder, Client, Database, Server, ServerOptions, binary, offers_request};
use tokio::process::Command;

#[tokio::test]
async fn it_ends_in_order_when_told_to() {
    let mut server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let mut calls = tokio::task::JoinSet::new();
    calls.spawn(async move {
        client
            .post("/v1/hotel/offers", &offers_request("SLOW_2000"))
            .await
    });
    let busy = Client::new(&server.api, &server.key);
    tests::eventually("the slow call to be under way", async || {
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
    let finished = calls.join_next().await.unwrap().unwrap();
    assert!(
        finished.status == 200,
        "what runs is finished: {:#}",
        finished.body
    );
}

#[tokio::test]
async fn wrong_usage_is_exit_code_two_and_help_is_zero() {
    for (arguments, code) in [
        (vec!["--help"], 0),
        (vec!["serve", "--help"], 0),
        (vec!["keys", "create", "--help"], 0),
        (vec!["nonsense"], 2),
        (vec!["keys", "create"], 2),
        (vec!["serve", "--listen", "nowhere"], 2),
    ] {
        let output = Command::new(binary())
            .args(&arguments)
            .output()
            .await
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[tokio::test]
async fn it_does_not_start_without_a_master_key() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(binary())
        .arg("serve")
        .current_dir(folder.path())
        .output()
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("master key"));
}

#[tokio::test]
async fn unknown_settings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stopover.toml");
    std::fs::write(&file, "[limits]\nburts = 3\n").unwrap();
    let output = Command::new(binary())
        .args(["config", "check", "--config"])
        .arg(&file)
        .output()
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("burts"));
}

#[tokio::test]
async fn a_plugin_is_replaced_while_it_is_called() {
    let server = Server::start_with(
        ServerOptions::on(Database::Sqlite)
            .config("[limits]\nrequests_per_s = 10000\nburst = 10000\n"),
    )
    .await;
    let admin = Client::new(&server.admin, "");
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let client = server.client();
        calls.spawn(async move {
            for _ in 0..20 {
                let _priced = client
                    .post("/v1/hotel/offers", &offers_request("OK"))
                    .await
                    .expect(200);
            }
        });
    }
    for _ in 0..5 {
        let reloaded = admin
            .post_bytes("/plugins/SANDBOX_HOTELS/reload", Vec::new())
            .await;
        assert!(reloaded.status < 300, "{:#}", reloaded.body);
    }
    while let Some(call) = calls.join_next().await {
        call.unwrap();
    }
    let unknown = admin.post_bytes("/plugins/NOBODY/reload", Vec::new()).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn health_and_metrics_are_where_they_belong() {
    let server = Server::start(Database::Sqlite).await;
    let open = server.client().without("x-api-key");
    assert_eq!(open.get("/healthz").await.status, 200);
    assert_eq!(open.get("/readyz").await.status, 200);
    assert_eq!(
        open.get("/metrics").await.status,
        404,
        "only on the admin listener"
    );
    let metrics = Client::new(&server.admin, "")
        .get("/metrics")
        .await
        .expect(200);
    assert!(metrics.body.as_str().unwrap().contains("# TYPE"));
}

#[tokio::test]
async fn no_secret_and_no_name_is_logged() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let _booking = HotelBookingBuilder::at("OK").book_confirmed(&client).await;
    let log = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
    for canary in [
        "Lovelace",
        "ada@example.org",
        "+442079460000",
        "tok_visa",
        server.key.as_str(),
    ] {
        assert!(!log.contains(canary), "the log holds {canary}");
    }
    assert!(
        log.lines().filter(|line| line.contains("/v1/")).count() >= 4,
        "a line a request"
    );
}

#[tokio::test]
async fn the_state_survives_a_restart() {
    for database in Database::BOTH {
        let server = Server::start(database).await;
        let booking = HotelBookingBuilder::at("OK").book_confirmed(&server.client()).await;
        let before = server.client().hotel_booking(&booking).await;
        let server = server.restart(ServerOptions::on(database)).await;
        let after: Value = server.client().hotel_booking(&booking).await;
        assert_eq!(before["id"], after["id"]);
        assert_eq!(after["status"], "CONFIRMED");
    }
}

#[tokio::test]
async fn a_later_start_of_the_demo_says_how_another_key_is_made() {
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

/// What tests shorten, and the interface or the contract puts a number to.
#[tokio::test]
async fn promised_times_are_the_defaults() {
    let output = Command::new(binary())
        .args(["config", "show", "--json"])
        .output()
        .await
        .unwrap();
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
        "reconcile": {"schedule_s": [5, 15, minute, 5 * minute, 15 * minute, hour, 6 * hour, day]},
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
