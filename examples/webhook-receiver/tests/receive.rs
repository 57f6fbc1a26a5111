//! Tests of the receiver as a process, with a gateway that sends events to it.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

use std::process::Stdio;
use tempfile::TempDir;
use tests::{Client, Database, Server, ServerOptions, Subscription, sign_supplier_webhook};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A receiver process, killed when dropped.
struct Receiver {
    process: Child,
    url: String,
}

impl Receiver {
    /// Starts a receiver at an address with these secrets.
    async fn start(address: &str, folder: &TempDir, secrets: &str) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), secrets).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_webhook-receiver"));
        command.arg(address).args([file.path(), folder.path()]);
        let mut process = command
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = output.next_line().await.unwrap().unwrap();
        Self { process, url }
    }

    /// Kills the receiver, as a power failure would, and restarts it at the same address.
    async fn restart(mut self, folder: &TempDir, secrets: &str) -> Self {
        self.process.kill().await.unwrap();
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        Self::start(address, folder, secrets).await
    }

    async fn answer(&self, signature: Option<&str>, body: &str) -> u16 {
        let mut client = Client::new(&self.url, "");
        if let Some(signature) = signature {
            client = client.header("svc-signature", signature);
        }
        client.post_bytes("", body.into()).await.status
    }
}

/// Returns the names of the stored events.
fn kept(folder: &TempDir) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn repeated_event_is_stored_once() {
    let config = "[webhooks]\nsubscription_retry_s = [1]";
    let server = Server::start_with(ServerOptions::on(Database::Sqlite).config(config)).await;
    let client = server.client();
    let folder = tempfile::tempdir().unwrap();
    let stranger = Receiver::start("127.0.0.1:0", &folder, "whsec_another").await;
    let subscription = Subscription::create(&client, &stranger.url).await;
    let id = subscription.ping(&client).await;
    let refused = subscription
        .wait_for_delivery_status(&client, &id, "FAILED")
        .await;
    assert_eq!(refused["attempts"][0]["response_status"], 401);
    assert_eq!(kept(&folder), [""; 0]);

    let secrets = format!("whsec_another {}", subscription.secret);
    let mut receiver = stranger.restart(&folder, &secrets).await;
    let event = refused["event"]["id"].as_str().unwrap();
    for _ in 0..3 {
        subscription.replay(&client, &id).await.expect(200);
        let taken = subscription
            .wait_for_delivery_status(&client, &id, "DELIVERED")
            .await;
        assert_eq!(taken["attempts"][0]["response_status"], 204);
        assert_eq!(kept(&folder), [event]);
        receiver = receiver.restart(&folder, &secrets).await;
    }
    let bytes = std::fs::read(folder.path().join(event)).unwrap();
    let stored: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(stored, refused["event"]);

    // A crash may have left a partial file of another event.
    std::fs::write(folder.path().join("half-written"), "{\"id\":").unwrap();
    let another = subscription.ping(&client).await;
    let taken = subscription
        .wait_for_delivery_status(&client, &another, "DELIVERED")
        .await;
    let mut both = [event, taken["event"]["id"].as_str().unwrap()];
    both.sort_unstable();
    assert_eq!(kept(&folder), both);
}

#[tokio::test]
async fn unsigned_or_invalid_event_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start("127.0.0.1:0", &folder, "whsec_ours").await;
    let event = r#"{"id": "evt_1"}"#;
    let signed = |secret, ahead_s| sign_supplier_webhook(secret, event.as_bytes(), ahead_s);
    for (signature, status) in [
        (None, 401),
        (Some(signed("whsec_ours", -400)), 401),
        (Some(signed("whsec_ours", 400)), 401),
        (Some(signed("whsec_theirs", 0)), 401),
        (Some(signed("whsec_ours", 0).replace("v1=", "v1=00")), 401),
    ] {
        let answer = receiver.answer(signature.as_deref(), event).await;
        assert_eq!(answer, status, "{signature:?}");
    }
    let nameless = sign_supplier_webhook("whsec_ours", b"{}", 0);
    assert_eq!(receiver.answer(Some(&nameless), "{}").await, 400);
    assert_eq!(kept(&folder), [""; 0]);
    // An event that cannot be stored is not acknowledged, and is accepted when it is sent again.
    let away = folder.path().with_extension("away");
    std::fs::rename(folder.path(), &away).unwrap();
    let good = signed("whsec_ours", 0);
    assert_eq!(receiver.answer(Some(&good), event).await, 500);
    std::fs::rename(away, folder.path()).unwrap();
    assert_eq!(receiver.answer(Some(&good), event).await, 204);
    assert_eq!(kept(&folder), ["evt_1"]);
}
