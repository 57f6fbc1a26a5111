//! The commands that use the admin listener.

use super::{HURRIED, Operator, issue_mandate, recorded_actions, recovered_receiver, text};
use serde_json::{Value, json};
use tests::{
    BookingBuilder, DashboardClient, Database, HotelBookingBuilder, Server, ServerOptions,
    admin_command, eventually, on_both_databases,
};

on_both_databases!(
    supplier_is_shown_and_changed_by_commands,
    refused_changes_of_a_supplier_are_explained,
    deliveries_are_replayed_by_a_command,
    webhook_is_changed_by_commands,
    unknown_outcomes_are_settled_by_commands,
    refused_decisions_are_explained,
    waiting_decision_is_withdrawn_by_a_command,
    parked_jobs_are_retried_by_commands,
    watch_and_mandate_are_ended_by_commands,
    overview_checklist_bookings_and_search_are_shown_by_commands,
);

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
        let (is_done, printed) =
            admin_command(&server, &[&["suppliers"], arguments].concat()).await;
        assert!(
            is_done && printed.contains(expected),
            "{arguments:?}: {printed}"
        );
        assert_eq!(hotel.price(&client).await.status, status, "{arguments:?}");
    }
    let (_, listed) = admin_command(&server, &["suppliers", "list", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed, Operator::of(&server).read("/suppliers").await);
    eventually("the calls of the supplier", async || {
        let (_, shown) = admin_command(&server, &["suppliers", "show", "SANDBOX_HOTELS"]).await;
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
        let (is_done, printed) =
            admin_command(&server, &[&["suppliers"], arguments].concat()).await;
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
    let (_, listed) =
        admin_command(&server, &[&["deliveries", "list"], &filter[..]].concat()).await;
    assert_eq!(
        listed.matches("FAILED  ping  demo  dlv_").count(),
        2,
        "{listed}"
    );
    let replay = [&["deliveries", "replay-all"], &filter[..]].concat();
    let replayed = (true, "2 of 2 replayed, 0 skipped\n".to_owned());
    assert_eq!(admin_command(&server, &replay).await, replayed);
    let list = ["deliveries", "list", "--status", "DELIVERED", "--json"];
    eventually("the replayed events", async || {
        let (_, listed) = admin_command(&server, &list).await;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        (listed.as_array().unwrap().len() == 2).then_some(())
    })
    .await;
    let (is_done, printed) = admin_command(&server, &replay).await;
    assert!(
        !is_done && printed.contains("no delivery matches"),
        "{printed}"
    );
}

async fn webhook_is_changed_by_commands(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).config(HURRIED)).await;
    let broken = recovered_receiver(&server.client()).await;
    let id = broken.subscription.id.as_str();
    let recover = &["recover", id, "--since", "2026-01-01T00:00:00Z"][..];
    let paused = &["list", "--status", "PAUSED", "--organization", "demo"][..];
    for (arguments, is_done, expected) in [
        (&["list"][..], true, "  ACTIVE  hotel  demo  "),
        (&["list"], true, "  0 waiting  2 failed\n"),
        (&["list", "--mode", "live"], true, ""),
        (&["show", id], true, "\"failed_last_day\": 2"),
        (&["pause", id], true, "  PAUSED  "),
        (&["test", id], true, " PENDING\n"),
        (paused, true, id),
        (recover, false, "The subscription is paused"),
        (&["resume", id], true, "  ACTIVE  "),
        (recover, true, "2 deliveries are sent again\n"),
        (recover, true, "0 deliveries are sent again\n"),
        (&["rotate-secret", id], true, "whsec_"),
        (&["delete", id], true, "is deleted\n"),
        (&["show", id], false, "The subscription does not exist"),
        (&["delete", id], false, "The subscription does not exist"),
    ] {
        let result = admin_command(&server, &[&["webhooks"], arguments].concat()).await;
        assert_eq!(result.0, is_done, "{arguments:?}: {}", result.1);
        assert!(result.1.contains(expected), "{arguments:?}: {}", result.1);
    }
    let listed = admin_command(&server, &["webhooks", "list", "--json"]).await;
    assert_eq!(listed, (true, "[]\n".to_owned()));
    let expected = [
        "deleted",
        "secret_rotated",
        "recovered",
        "recovered",
        "resumed",
        "tested",
        "paused",
    ];
    let expected = expected.map(|action| format!("webhook.{action}"));
    assert_eq!(recorded_actions(&server).await, expected);
}

/// Books at a supplier that never answers and returns the booking's id.
async fn unknown_booking(server: &Server, builder: &BookingBuilder) -> String {
    let (booking, reply) = builder.book(server).await;
    reply.expect_problem(500, "result_unknown");
    booking.id
}

/// Runs `stopover unresolved` until it does not meet a lookup of the outcome.
async fn unresolved_when_idle(server: &Server, arguments: &[&str]) -> (bool, String) {
    let arguments = [&["unresolved"], arguments].concat();
    eventually("no lookup to be in progress", async || {
        let result = admin_command(server, &arguments).await;
        (!result.1.contains("is reconciling")).then_some(result)
    })
    .await
}

async fn unknown_outcomes_are_settled_by_commands(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let hotel = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let flight = BookingBuilder::new("SUPPLIER_A", "LTN-STN");
    let reference = &["--supplier-reference", "FLT-9"][..];
    for (builder, decision, options, status, money) in [
        (&hotel, "not-done", &[][..], "FAILED", "void"),
        (&flight, "done", reference, "CONFIRMED", "capture"),
    ] {
        let id = &unknown_booking(&server, builder).await;
        let (_, listed) = admin_command(&server, &["unresolved", "list"]).await;
        assert!(listed.contains(&format!("  {id}  book  ")), "{listed}");
        let (_, shown) = admin_command(&server, &["unresolved", "show", id]).await;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let client_reference = text(&shown[0]["client_reference"]);
        let call = ["--client-reference", client_reference, "--note", "Asked"];
        let settle = [&["settle", decision, id], &call[..], options].concat();
        let settled = (true, format!("{id}  {status}\n"));
        assert_eq!(unresolved_when_idle(&server, &settle).await, settled);
        let ledger = ["authorization", "booking", money];
        server.wait_for_ledger(id, &ledger).await;
        let (is_done, printed) = unresolved_when_idle(&server, &settle).await;
        assert!(!is_done && printed.contains(status), "{printed}");
        let shown = admin_command(&server, &["unresolved", "show", id]).await;
        assert_eq!(shown, (true, "[]\n".to_owned()));
    }
    let listed = admin_command(&server, &["unresolved", "list", "--json"]).await;
    assert_eq!(listed, (true, "[]\n".to_owned()));
    assert_eq!(recorded_actions(&server).await, ["booking.settled"; 2]);
}

async fn refused_decisions_are_explained(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let hotel = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let id = &unknown_booking(&server, &hotel).await;
    let refund = ["settle", "refund", id, "--currency", "EUR", "--note", "Why"];
    for (arguments, says) in [
        (&["settle", "done", id][..], "--note"),
        (
            &["settle", "done", id, "--note", "Why"],
            "reference is required",
        ),
        (
            &[&refund[..], &["--amount", "1.001"]].concat(),
            "the refund must be between",
        ),
        (
            &[&refund[..], &["--amount", "10"]].concat(),
            "The booking's status does not allow this",
        ),
        (&["withdraw", id], "no decision about the booking waits"),
        (&["show", "bkg_1"], "The booking does not exist"),
        (&["show", "whs_1"], "bkg_"),
    ] {
        let (is_done, printed) = unresolved_when_idle(&server, arguments).await;
        assert!(
            !is_done && printed.contains(says),
            "{arguments:?}: {printed}"
        );
    }
}

async fn waiting_decision_is_withdrawn_by_a_command(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let options = ["--role", "operator"];
    let ada = DashboardClient::with_account(&server, "ada@example.com", &options).await;
    let hotel = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let id = unknown_booking(&server, &hotel).await;
    let page = ada.get(&format!("/unresolved?booking={id}")).await;
    server.hold_job(&id).await;
    let decision = [
        ("booking", id.as_str()),
        ("call", page.hidden_field("call")),
        ("seen_state", page.hidden_field("seen_state")),
        ("choice", "not_done"),
        ("note", "They have no order"),
    ];
    let kept = ada.post("/unresolved/settle", &decision).await;
    assert_eq!(kept.header("location"), "/unresolved?done=decision-kept");
    let (_, shown) = admin_command(&server, &["unresolved", "show", &id]).await;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let waiting = &shown[0]["waiting_decision"];
    assert_eq!(waiting["decided_by"], "ada@example.com");
    let late = ["unresolved", "settle", "not-done", &id, "--note", "Why"];
    let (is_done, printed) = admin_command(&server, &late).await;
    assert!(!is_done && printed.contains("is reconciling"), "{printed}");
    for (is_done, says) in [(true, "is withdrawn"), (false, "no decision")] {
        let withdraw = ["unresolved", "withdraw", &id];
        let result = admin_command(&server, &withdraw).await;
        assert_eq!(result.0, is_done, "{}", result.1);
        assert!(result.1.contains(says), "{}", result.1);
    }
    let actions = recorded_actions(&server).await;
    assert_eq!(actions, ["booking.settlement_withdrawn"]);
}

async fn parked_jobs_are_retried_by_commands(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut bookings = Vec::new();
    for _ in 0..2 {
        let way = HotelBookingBuilder::at("BOOK_LOST_ANSWER");
        let (booking, reply) = way.book(&client).await;
        reply.expect_problem(500, "result_unknown");
        server.exhaust_attempts(&booking).await;
        eventually("the parked job", async || {
            let (_, listed) = admin_command(&server, &["parked-jobs", "list"]).await;
            let line = format!("  hotel_booking  {booking}");
            listed.contains(&line).then_some(())
        })
        .await;
        bookings.push(booking);
    }
    for (organization, count) in [("demo", bookings.len()), ("other", 0)] {
        let options = ["overview", "--organization", organization];
        let (_, shown) = admin_command(&server, &options).await;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["parked_jobs"], count, "{shown:#}");
    }
    let retry = ["parked-jobs", "retry"];
    for (options, booking) in [
        ([bookings[0].as_str()], &bookings[0]),
        (["--all"], &bookings[1]),
    ] {
        let retry = [&retry[..], &options].concat();
        let restarted = (true, format!("hotel_booking  {booking}\n"));
        assert_eq!(admin_command(&server, &retry).await, restarted);
        client.wait_for_hotel_booking(booking, "CONFIRMED").await;
        let (is_done, printed) = admin_command(&server, &retry).await;
        assert!(
            !is_done && printed.contains("no parked job matches"),
            "{printed}"
        );
    }
    let listed = admin_command(&server, &["parked-jobs", "list", "--json"]).await;
    assert_eq!(listed, (true, "[]\n".to_owned()));
    assert_eq!(recorded_actions(&server).await, ["job.retried"; 2]);
}

async fn watch_and_mandate_are_ended_by_commands(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().user("ada");
    let watch = client.watch_hotel("OK", 100.0, json!({})).await;
    let mandate = issue_mandate(&client).await;
    for (command, end, id, before, after) in [
        (
            "watches",
            "cancel",
            text(&watch["id"]),
            "active",
            "canceled",
        ),
        ("mandates", "revoke", &mandate, "ACTIVE", "REVOKED"),
    ] {
        let (_, shown) = admin_command(&server, &[command, "show", id]).await;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["status"], before, "{shown:#}");
        let ended = admin_command(&server, &[command, end, id]).await;
        assert_eq!(ended, (true, format!("{id}  {after}\n")));
        for (status, line) in [
            (after, format!("{id}  {after}  demo\n")),
            (before, String::new()),
        ] {
            let list = [command, "list", "--status", status, "--user", "ada"];
            assert_eq!(admin_command(&server, &list).await, (true, line));
        }
    }
    let actions = recorded_actions(&server).await;
    assert_eq!(actions, ["mandate.revoked", "watch.canceled"]);
}

async fn overview_checklist_bookings_and_search_are_shown_by_commands(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().user("ada@example.com");
    let hotel = HotelBookingBuilder::at("OK");
    let id = &hotel.book_confirmed(&client).await;
    eventually("the figures of the booking", async || {
        let overview = ["overview", "--window", "day", "--organization", "demo"];
        let (_, shown) = admin_command(&server, &overview).await;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        (shown["bookings"][0]["hotels"] == 1 && shown["window"] == "day").then_some(())
    })
    .await;
    eventually("the steps of the organization", async || {
        let go_live = ["go-live", "--organization", "demo"];
        let (_, steps) = admin_command(&server, &go_live).await;
        let is_shown = steps.contains("done  booking\n") && steps.contains("open  cancellation\n");
        is_shown.then_some(())
    })
    .await;
    let line = format!("  {id}  hotel  CONFIRMED  SANDBOX_HOTELS  demo\n");
    let filter = ["--status", "CONFIRMED", "--user", "ada@example.com"];
    let listed = admin_command(&server, &[&["bookings", "list"], &filter[..]].concat()).await;
    assert!(listed.0 && listed.1.ends_with(&line), "{}", listed.1);
    let none = admin_command(&server, &["bookings", "list", "--kind", "flight"]).await;
    assert_eq!(none, (true, String::new()));
    let (_, shown) = admin_command(&server, &["bookings", "show", id]).await;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert!(
        !shown["timeline"].as_array().unwrap().is_empty(),
        "{shown:#}"
    );
    let reference = text(&shown["supplier_reference"]);
    let found = (true, format!("booking  {id}\n"));
    for searched in [id, reference] {
        assert_eq!(admin_command(&server, &["search", searched]).await, found);
    }
    let (is_done, printed) = admin_command(&server, &["search", "nothing & more"]).await;
    assert!(!is_done && printed.contains("nothing has"), "{printed}");
}
