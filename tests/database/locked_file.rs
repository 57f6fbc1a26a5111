//! A SQLite file whose write lock another process holds for longer than a write waits for it.

use crate::{wait_until_not_ready, wait_until_ready};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::process::Stdio;
use tests::{Client, Database, HotelBookingBuilder, Reply, Server, eventually};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// Takes the lock, says so, and holds it for ten seconds and until it is told to release it.
const HOLD_LOCK: &str = r#"
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(10)
sys.stdin.readline()
database.execute("ROLLBACK")
"#;

/// A process that holds the lock. It is killed when dropped.
struct LockHolder(Child);

impl LockHolder {
    /// Starts the process and waits until it has the lock.
    async fn start(database_url: &str) -> Self {
        let file = database_url.strip_prefix("sqlite:").unwrap();
        let mut process = Command::new("python3")
            .args(["-c", HOLD_LOCK, file])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "locked");
        Self(process)
    }

    /// Waits until the process has released the lock and ended.
    async fn release(mut self) {
        let mut input = self.0.stdin.take().unwrap();
        input.write_all(b"\n").await.unwrap();
        assert!(self.0.wait().await.unwrap().success());
    }
}

/// Changes that are sent while the file is locked.
struct Changes {
    ready: String,
    payment: Value,
    prebook: Value,
    /// The changes that were refused.
    refused: RefCell<BTreeSet<&'static str>>,
}

impl Changes {
    async fn prepare(client: &Client) -> Self {
        let way = HotelBookingBuilder::at("OK");
        Self {
            ready: way.prebooked(client).await,
            payment: way.payment(client).await,
            prebook: way.request(&way.offer(client).await),
            refused: RefCell::default(),
        }
    }

    /// Repeats a change until it is made, and checks every refusal.
    async fn repeat(&self, what: &'static str, mut send: impl AsyncFnMut() -> Reply) -> Reply {
        eventually(what, async || {
            let reply = send().await;
            if reply.status < 300 {
                return Some(reply);
            }
            let refused = reply.expect_problem(503, "overloaded");
            assert_eq!(refused.body["retryable"], true, "{what}");
            assert!(refused.header("retry-after").is_some(), "{what}");
            self.refused.borrow_mut().insert(what);
            None
        })
        .await
    }

    /// Waits until each kind of change was refused.
    async fn are_refused(&self) {
        eventually("every change to be refused", async || {
            (self.refused.borrow().len() == 3).then_some(())
        })
        .await;
    }

    /// Makes all changes as soon as they can be made. Returns the bookings.
    async fn make(&self, client: &Client) -> [String; 2] {
        let keyed = client.header("x-idempotency-key", "late");
        let card = json!({"type": "CARD", "token": "tok_visa"});
        let (prebooked, booked, stored) = tokio::join!(
            self.repeat("a prebook", async || {
                client.prebook_hotel("late", &self.prebook).await
            }),
            self.repeat("a booking", async || {
                keyed.book_hotel(&self.ready, &self.payment).await
            }),
            self.repeat("an instrument", async || {
                keyed.post("/v1/payment-instruments", &card).await
            }),
        );
        assert_eq!(booked.outcome(), (200, "CONFIRMED"));
        stored.expect(201);
        let id = prebooked.expect(201).data()["id"].clone();
        let id = id.as_str().unwrap().to_owned();
        let booked = client.book_hotel(&id, &self.payment).await;
        assert_eq!(booked.outcome(), (200, "CONFIRMED"));
        [self.ready.clone(), id]
    }
}

#[tokio::test]
async fn file_locked_by_another_process_for_ten_seconds_refuses_changes_and_loses_nothing() {
    let server = Server::start_with_fast_retries(Database::Sqlite).await;
    let client = server.client();
    let before = HotelBookingBuilder::at("OK").book_confirmed(&client).await;
    let changes = Changes::prepare(&client).await;
    let slow = HotelBookingBuilder::at("SLOW_3000");
    let interrupted = slow.prebooked(&client).await;
    let payment = slow.payment(&client).await;

    let lock = async {
        // The supplier processes the booking when the lock begins.
        eventually("the booking to be sent", async || {
            let outcomes = server.attempt_outcomes(&interrupted).await;
            let is_authorized = outcomes.len() > 1;
            (is_authorized && outcomes.last()? == "sent").then_some(())
        })
        .await;
        server
            .wait_for_entries(&interrupted, ["authorization"], [1])
            .await;
        let holder = LockHolder::start(server.database_url()).await;
        let meanwhile = async {
            wait_until_not_ready(&client).await;
            client.get("/healthz").await.expect(200);
            let read = client.hotel_booking(&before).await;
            assert_eq!(read["status"], "CONFIRMED");
            changes.are_refused().await;
            holder.release().await;
        };
        let (bookings, ()) = tokio::join!(changes.make(&client), meanwhile);
        bookings
    };
    let (reply, bookings) = tokio::join!(client.book_hotel(&interrupted, &payment), lock);
    // The supplier's response could not be stored in time.
    if reply.status != 200 {
        reply.expect_problem(500, "result_unknown");
    }

    wait_until_ready(&client).await;
    for id in bookings.iter().chain([&before, &interrupted]) {
        client.wait_for_hotel_booking(id, "CONFIRMED").await;
        let once = ["authorization", "booking", "capture"];
        server.wait_for_ledger(id, &once).await;
        let events = server.outbox(id).await;
        let confirmed = events
            .iter()
            .filter(|event| *event == "hotel.booking.confirmed");
        assert_eq!(confirmed.count(), 1, "{id}: {events:?}");
    }
}
