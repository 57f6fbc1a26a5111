//! What the README says works as it is pasted.

use serde_json::Value;
use tests::{Database, Server};
use tokio::process::Command;

/// The first shell block under a heading.
fn block_under<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, below) = text.split_once(heading).unwrap();
    let (_, block) = below.split_once("```sh\n").unwrap();
    block.split_once("```").unwrap().0
}

#[tokio::test]
async fn the_first_booking_works_as_pasted() {
    let server = Server::start(Database::Sqlite).await;
    let readme = include_str!("../../README.md");
    let block = block_under(readme, "## A first booking");
    let (exports, commands) = block.split_once('\n').unwrap();
    assert!(exports.starts_with("export BASE="), "{exports}");
    let script = format!("set -e\n{commands}");
    let output = Command::new("bash")
        .args(["-c", &script])
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
    let answers: Vec<Value> = serde_json::Deserializer::from_str(&said)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let statuses: Vec<&str> = answers
        .iter()
        .map(|answer| answer["data"]["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["CONFIRMED", "CONFIRMED", "CANCEL_IN_PROGRESS"]);
}
