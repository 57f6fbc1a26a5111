//! What the log of calls keeps of the messages with which Nuitee refuses a booking.

use crate::nuitee::service::{BOOK, Scene};
use serde_json::json;
use tests::{Database, MockResponse, eventually};

/// Suppliers quote the request, and not as it was written.
#[tokio::test]
async fn message_of_supplier_is_recorded_without_personal_data_of_guests() {
    let message = "no room for ada lovelace and byron, reached at ada@example.org or 020 7946 0000";
    let scene = Scene::begin(Database::Sqlite).await;
    let booking = scene.ready().await;
    let error = json!({"code": 2010, "message": message, "description": message});
    let refusal = MockResponse::json(400, &json!({ "error": error }));
    scene.book.respond_with(BOOK, refusal, None);
    let refused = scene.book(&booking).await;
    refused.expect_problem(422, "supplier_rejected");
    eventually("the recorded call", async || {
        let rows = scene.server.dump_tables(&["call_log"]).await;
        rows.contains("no room for").then_some(())
    })
    .await;
    let tables = [
        "call_log",
        "request_log_body",
        "remote_call_attempt",
        "booking_history",
    ];
    let rows = scene.server.dump_tables(&tables).await;
    let log = std::fs::read_to_string(scene.server.data_dir().join("server.log")).unwrap();
    let recorded = [rows, log].join("\n").to_lowercase();
    for text in ["lovelace", "byron", "example.org", "020 7946"] {
        let found = recorded.lines().find(|line| line.contains(text));
        assert_eq!(found, None, "{text}");
    }
}
