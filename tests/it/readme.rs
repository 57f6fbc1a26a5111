//! Tests that run the shell blocks of the README as they are written.

use serde_json::Value;
use tests::{Database, Server};
use tokio::process::Command;

/// Returns the first shell block under a heading.
fn block_under<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, below) = text.split_once(heading).unwrap();
    let (_, block) = below.split_once("```sh\n").unwrap();
    block.split_once("```").unwrap().0
}

/// Runs a script, checks that it succeeds, and returns the JSON documents on its standard output.
async fn answers(server: &Server, script: &str) -> Vec<Value> {
    let output = Command::new("bash")
        .args(["-c", &format!("set -e\n{script}")])
        .env("BASE", &server.api)
        .env("KEY", &server.key)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::Deserializer::from_str(&said)
        .into_iter()
        .map(Result::unwrap)
        .collect()
}

#[tokio::test]
async fn readme_booking_commands_work_as_pasted() {
    let server = Server::start(Database::Sqlite).await;
    let readme = include_str!("../../README.md");
    let hotel = block_under(readme, "## A first booking");
    let (exports, hotel) = hotel.split_once('\n').unwrap();
    assert!(exports.starts_with("export BASE="), "{exports}");
    // The flight is paid with the card that the hotel block stores.
    let flight = block_under(readme, "## A first flight");
    let answers = answers(&server, &format!("{hotel}\n{flight}")).await;
    let statuses = answers
        .iter()
        .map(|answer| answer["data"]["status"].as_str());
    assert_eq!(
        statuses.collect::<Vec<_>>(),
        [
            Some("CONFIRMED"),
            Some("CONFIRMED"),
            Some("CANCEL_IN_PROGRESS"),
            Some("CONFIRMED"),
            None
        ]
    );
    let (ticket, quote) = (&answers[3]["data"], &answers[4]["data"]);
    assert!(ticket["airline_pnr"].is_string());
    assert_eq!(quote["source"], "SUPPLIER_QUOTE");
}
