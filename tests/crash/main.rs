//! What survives: the real process is aborted at every named point of every
//! step and started again. The sandbox, in a process of its own, is the proof
//! that nothing was booked, charged or given back twice, and nothing was lost.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails by panicking"
)]

use serde_json::{Value, json};
use tests::{Booked, Client, Database, Ledger, Server, ServerOptions, eventually, prebook_request};

/// Read-backs and claims within a second, so that nothing has to be waited for.
const SOON: &str = "[reconcile]\nschedule_s = [1, 1, 2, 3]\n[payments]\ncapture_retry_s = [1]\n[jobs]\nlease_s = 1\n";

/// What the process is in the middle of, and how it must end.
struct Flow {
    hotel: &'static str,
    card: &'static str,
    cancels: bool,
    end: &'static str,
    /// Kinds of effects and how often each must stand in the ledger at the end.
    ledger: &'static [(&'static str, usize)],
}

const BOOKED: Flow = Flow {
    hotel: "OK",
    card: "tok_visa",
    cancels: false,
    end: "CONFIRMED",
    ledger: &[
        ("authorization", 1),
        ("booking", 1),
        ("capture", 1),
        ("void", 0),
    ],
};

const LOST_ANSWER: Flow = Flow {
    hotel: "BOOK_LOST_ANSWER",
    ..BOOKED
};

const LOST_AUTHORIZATION: Flow = Flow {
    card: "tok_timeout",
    ..BOOKED
};

const REFUSED: Flow = Flow {
    hotel: "BOOK_REFUSED",
    end: "FAILED",
    ledger: &[
        ("authorization", 1),
        ("booking", 0),
        ("capture", 0),
        ("void", 1),
    ],
    ..BOOKED
};

/// The mark says sent, nothing was: the supplier's reads prove it, and nothing is owed.
const NEVER_SENT: Flow = Flow {
    hotel: "OK",
    ..REFUSED
};

const CANCELED: Flow = Flow {
    cancels: true,
    end: "CANCELED",
    ledger: &[
        ("authorization", 1),
        ("booking", 1),
        ("capture", 1),
        ("cancellation", 1),
        ("refund", 1),
    ],
    ..BOOKED
};

const CANCEL_LOST_ANSWER: Flow = Flow {
    hotel: "CANCEL_LOST_ANSWER",
    ..CANCELED
};

const EVERYWHERE: &[&str] = &["chosen", "marked", "answered", "recorded"];
const OF_A_READ: &[&str] = &["answered", "recorded"];

/// Every named step that calls somebody, with the flow that reaches it.
const STEPS: &[(&str, &[&str], Flow)] = &[
    ("authorize", EVERYWHERE, BOOKED),
    ("book", &["chosen", "answered", "recorded"], BOOKED),
    ("book", &["marked"], NEVER_SENT),
    ("capture", EVERYWHERE, BOOKED),
    ("find_payment", OF_A_READ, LOST_AUTHORIZATION),
    ("find_booking", OF_A_READ, LOST_ANSWER),
    ("void", EVERYWHERE, REFUSED),
    ("cancel", EVERYWHERE, CANCELED),
    ("refund", EVERYWHERE, CANCELED),
    ("find_cancellation", OF_A_READ, CANCEL_LOST_ANSWER),
];

async fn survives(database: Database, point: &str, flow: &Flow) {
    let armed = ServerOptions::on(database)
        .config(SOON)
        .environment("STOPOVER_JOBS_ABORT_AT", point);
    let mut server = Server::start_beside_sandbox(armed).await;
    let client = server.client();
    let way = Booked::at(flow.hotel).card(flow.card);
    let booking = way.ready(&client).await;
    let instrument = way.instrument(&client).await;
    let died_booking = try_post(
        &client,
        &booking,
        "book",
        &json!({"payment_instrument_id": instrument}),
    )
    .await
    .is_none();
    if !died_booking && flow.cancels {
        let _may_die_before_it_answers = try_post(&client, &booking, "cancel", &json!({})).await;
    }
    let status = server.wait_for_exit().await;
    assert!(!status.success(), "{point}: the process ended by itself");

    let server = server
        .restart(ServerOptions::on(database).config(SOON))
        .await;
    let client = server.client();
    let what = format!("{point}: {} with ledger {:?}", flow.end, flow.ledger);
    eventually(&what, async || {
        // As a caller would: look, and ask again for what did not happen.
        match client.hotel_booking(&booking).await["status"].as_str() {
            Some(status) if status == flow.end => {
                is(&server.ledger().await, &booking, flow.ledger).then_some(())
            }
            Some("READY_FOR_COMPLETE") => {
                let _settled_later = try_post(
                    &client,
                    &booking,
                    "book",
                    &json!({"payment_instrument_id": instrument}),
                )
                .await;
                None
            }
            Some("CONFIRMED") if flow.cancels => {
                let _settled_later = try_post(&client, &booking, "cancel", &json!({})).await;
                None
            }
            _ => None,
        }
    })
    .await;
    assert_money_matches(
        &client.hotel_booking(&booking).await,
        &server.ledger().await,
        &booking,
        point,
    );
}

fn is(ledger: &Ledger, booking: &str, wanted: &[(&str, usize)]) -> bool {
    wanted
        .iter()
        .all(|(kind, count)| ledger.count(booking, kind) == *count)
}

fn assert_money_matches(booking: &Value, ledger: &Ledger, id: &str, point: &str) {
    let total = booking["total"]["amount"].as_f64().unwrap();
    for kind in ["authorization", "capture", "booking"] {
        let count = ledger.count(id, kind);
        assert!(count <= 1, "{point}: {count} times {kind}");
        if count == 1 && kind != "booking" {
            assert!(
                (ledger.sum(id, kind) - total).abs() < 0.001,
                "{point}: {kind} of another amount"
            );
        }
    }
    assert!(
        ledger.sum(id, "refund") <= ledger.sum(id, "capture"),
        "{point}: more given back than taken"
    );
}

async fn try_post(client: &Client, booking: &str, verb: &str, body: &Value) -> Option<u16> {
    let path = format!("/v1/hotel/bookings/{booking}/{verb}");
    let sent = client
        .try_send(
            reqwest::Method::POST,
            &path,
            Some(body.to_string().into_bytes()),
        )
        .await;
    sent.ok().map(|reply| reply.status)
}

async fn every_point_survives(database: Database) {
    for (step, phases, flow) in STEPS {
        for phase in *phases {
            survives(database, &format!("{step}:{phase}"), flow).await;
        }
    }
}

#[tokio::test]
async fn a_crash_at_any_point_loses_nothing_and_repeats_nothing_on_sqlite() {
    every_point_survives(Database::Sqlite).await;
}

#[tokio::test]
async fn a_crash_at_any_point_loses_nothing_and_repeats_nothing_on_postgres() {
    every_point_survives(Database::Postgres).await;
}

/// Nothing is owed after a prebook: the key tells what there is, and nothing is in the ledger.
#[tokio::test]
async fn a_crash_during_a_prebook_owes_nothing() {
    for phase in OF_A_READ {
        let armed = ServerOptions::on(Database::Sqlite)
            .config(SOON)
            .environment("STOPOVER_JOBS_ABORT_AT", &format!("prebook:{phase}"));
        let mut server = Server::start_beside_sandbox(armed).await;
        let client = server.client().header("x-idempotency-key", "crash-1");
        let offer = Booked::at("OK").offer(&server.client()).await;
        let request = prebook_request(&offer, 1);
        let body = Some(request.to_string().into_bytes());
        assert!(
            client
                .try_send(reqwest::Method::POST, "/v1/hotel/prebook", body)
                .await
                .is_err()
        );
        let _killed = server.wait_for_exit().await;
        let server = server
            .restart(ServerOptions::on(Database::Sqlite).config(SOON))
            .await;
        let client = server.client().header("x-idempotency-key", "crash-1");
        let status = if *phase == "recorded" {
            "READY_FOR_COMPLETE"
        } else {
            "PREBOOK_IN_PROGRESS"
        };
        let again = eventually("the first call's claim to lapse", async || {
            Some(client.post("/v1/hotel/prebook", &request).await)
                .filter(|reply| reply.status == 200)
        })
        .await;
        assert_eq!(again.data()["status"], status);
        let id = again.data()["id"].as_str().unwrap().to_owned();
        assert_eq!(server.ledger().await.of(&id).count(), 0);
    }
}

/// A kill from outside, at random moments of many bookings at once.
#[tokio::test]
async fn kills_under_load_lose_nothing_and_repeat_nothing() {
    let options = ServerOptions::on(Database::Sqlite).config(SOON);
    let mut server = Server::start_beside_sandbox(options.clone()).await;
    let mut bookings = Vec::new();
    for round in 0..4_u64 {
        let client = server.client();
        let instrument = Booked::at("OK").instrument(&client).await;
        let mut ready = Vec::new();
        for _ in 0..12 {
            ready.push(Booked::at("OK").ready(&client).await);
        }
        let mut calls = tokio::task::JoinSet::new();
        for booking in ready.clone() {
            let (client, body) = (client.clone(), json!({"payment_instrument_id": instrument}));
            calls.spawn(async move { try_post(&client, &booking, "book", &body).await });
        }
        // After some of them are answered, whichever those are.
        for _ in 0..(round * 3) {
            let _whichever = calls.join_next().await;
        }
        server.kill().await;
        bookings.extend(ready);
        server = server.restart(options.clone()).await;
    }
    let client = server.client();
    for booking in &bookings {
        let what = format!("booking {booking} to be settled");
        eventually(&what, async || {
            let found = client.hotel_booking(booking).await;
            let ledger = server.ledger().await;
            match found["status"].as_str().unwrap() {
                "CONFIRMED" => is(&ledger, booking, BOOKED.ledger).then_some(()),
                "READY_FOR_COMPLETE" => (ledger.count(booking, "booking") == 0).then_some(()),
                _ => None,
            }
        })
        .await;
        assert_money_matches(
            &client.hotel_booking(booking).await,
            &server.ledger().await,
            booking,
            "kill",
        );
    }
}
