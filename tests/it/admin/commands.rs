//! The commands that use the admin listener.

use super::{HURRIED, Operator, recorded_actions, recovered_receiver};
use serde_json::Value;
use tests::{
    Database, HotelBookingBuilder, Server, ServerOptions, binary, eventually, on_both_databases,
};
use tokio::process::Command;

on_both_databases!(
    supplier_is_shown_and_changed_by_commands,
    refused_changes_of_a_supplier_are_explained,
    deliveries_are_replayed_by_a_command,
);

/// Runs a command against a server's admin listener and returns whether it succeeds and what it
/// prints.
async fn run(server: &Server, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(binary());
    command.args(arguments).args(["--admin-url", &server.admin]);
    let output = command.output().await.unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).unwrap())
}

async fn supplier_is_shown_and_changed_by_commands(database: Database) {
    let server = Server::start(database).await;
    let (client, hotel) = (server.client(), HotelBookingBuilder::at("OK"));
    hotel.price(&client).await.expect(200);
    for (arguments, expected, status) in [
        (&["drain", "SANDBOX_HOTELS"][..], "drained", 503),
        (&["undrain", "SANDBOX_HOTELS"], "priority 10  weight 1", 200),
        (
            &[
                "rank",
                "SANDBOX_HOTELS",
                "--priority",
                "-7",
                "--weight",
                "3",
            ],
            "priority -7  weight 3",
            200,
        ),
        (
            &["rank", "SANDBOX_HOTELS", "--reset"],
            "priority 10  weight 1",
            200,
        ),
        (&["reload", "SANDBOX_HOTELS"], "SANDBOX_HOTELS  ", 200),
        (&["list"], "SANDBOX_HOTELS  hotel  test", 200),
    ] {
        let (is_done, printed) = run(&server, &[&["suppliers"], arguments].concat()).await;
        assert!(
            is_done && printed.contains(expected),
            "{arguments:?}: {printed}"
        );
        assert_eq!(hotel.price(&client).await.status, status, "{arguments:?}");
    }
    let (_, listed) = run(&server, &["suppliers", "list", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed, Operator::of(&server).read("/suppliers").await);
    eventually("the calls of the supplier", async || {
        let (_, shown) = run(&server, &["suppliers", "show", "SANDBOX_HOTELS"]).await;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["plugin"]["id"], "SANDBOX_HOTELS");
        let calls = shown["calls_last_day"].as_array().unwrap();
        calls
            .iter()
            .any(|call| call["calls"].as_u64() > Some(0))
            .then_some(())
    })
    .await;
    let actions = recorded_actions(&server).await;
    let expected = ["reloaded", "ranked", "ranked", "drained", "drained"];
    assert_eq!(actions, expected.map(|action| format!("supplier.{action}")));
}

async fn refused_changes_of_a_supplier_are_explained(database: Database) {
    let server = Server::start(database).await;
    for (arguments, says) in [
        (&["drain", "UNKNOWN"][..], "no plugin with this id"),
        (&["show", "UNKNOWN"], "no plugin with this id"),
        (
            &[
                "rank",
                "SANDBOX_HOTELS",
                "--priority",
                "1000001",
                "--weight",
                "1",
            ],
            "the priority must be between",
        ),
        (&["rank", "SANDBOX_HOTELS"], "--reset"),
        (&["rank", "SANDBOX_HOTELS", "--priority", "1"], "--weight"),
    ] {
        let (is_done, printed) = run(&server, &[&["suppliers"], arguments].concat()).await;
        assert!(
            !is_done && printed.contains(says),
            "{arguments:?}: {printed}"
        );
    }
}

async fn deliveries_are_replayed_by_a_command(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).config(HURRIED)).await;
    let client = server.client();
    let broken = recovered_receiver(&client).await;
    let webhook = ["--webhook", &broken.subscription.id];
    let filter = [&webhook[..], &["--status", "FAILED"]].concat();
    let (_, listed) = run(&server, &[&["deliveries", "list"], &filter[..]].concat()).await;
    assert_eq!(
        listed.matches("FAILED  ping  demo  dlv_").count(),
        2,
        "{listed}"
    );
    let replay = [&["deliveries", "replay-all"], &filter[..]].concat();
    let replayed = (true, "2 of 2 replayed, 0 skipped\n".to_owned());
    assert_eq!(run(&server, &replay).await, replayed);
    let list = ["deliveries", "list", "--status", "DELIVERED", "--json"];
    eventually("the replayed events", async || {
        let (_, listed) = run(&server, &list).await;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        (listed.as_array().unwrap().len() == 2).then_some(())
    })
    .await;
    let (is_done, printed) = run(&server, &replay).await;
    assert!(
        !is_done && printed.contains("no delivery matches"),
        "{printed}"
    );
}
