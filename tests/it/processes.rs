//! Tests of several gateway processes on one PostgreSQL database. The processes share all work, do
//! nothing twice, and lose nothing when one of them stops.

use reqwest::Method;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tests::{
    Client, Database, HotelBookingBuilder, Server, ServerOptions, Subscriber, complete_payment,
    eventually, offers_request, prebook_request, set_price, watch_events,
};
use tokio::task::JoinHandle;

/// Number of gateway processes.
const PROCESSES: usize = 3;

/// Returns options with short leases, immediate reconciliation, a watch interval of one second and
/// a request limit that the tests never reach.
fn options() -> ServerOptions {
    let config = "[webhooks]\nsubscription_retry_s = [1, 1, 1, 1]\ntimeout_s = 2\n\
                  [jobs]\nlease_s = 3\n[watches]\ninterval_s = 1\n\
                  [limits]\nrequests_per_s = 1000\nburst = 1000";
    let options = ServerOptions::on(Database::Postgres).with_short_retries();
    options.config(config)
}

async fn start() -> Vec<Server> {
    let mut processes = vec![Server::start_with_own_sandbox(options()).await];
    while processes.len() < PROCESSES {
        processes.push(processes[0].start_another_process(&options()).await);
    }
    processes
}

/// Waits until no delivery to a subscriber is pending or published.
async fn wait_until_sent(subscriber: &Subscriber, client: &Client) {
    for status in ["PENDING", "PUBLISHED"] {
        let query = format!("?limit=1&status={status}");
        eventually(&format!("no delivery to be {status}"), async || {
            let listed = subscriber.subscription.deliveries(client, &query).await;
            listed.list().is_empty().then_some(())
        })
        .await;
    }
}

/// Waits until the bookings are confirmed and paid. Checks that each was booked and charged exactly
/// once.
async fn check_bought_once(process: &Server, bookings: &[String]) {
    for booking in bookings {
        eventually(&format!("{booking} to be confirmed and paid"), async || {
            let read = process.client().hotel_booking(booking).await;
            let paid = read["payments"][0]["status"] == "CAPTURED";
            (paid && read["status"] == "CONFIRMED").then_some(())
        })
        .await;
        let ledger = process.ledger().await;
        let mut kinds = ledger.kinds_of(booking);
        kinds.sort_unstable();
        assert_eq!(kinds, ["authorization", "booking", "capture"], "{booking}");
    }
}

/// Creates bookings on one process after the other. A browser pays each booking, and no caller
/// completes it.
async fn start_expiring_bookings(processes: &[Server]) -> Vec<String> {
    let mut bookings = Vec::new();
    for number in 0..6 {
        let client = processes[number % PROCESSES].client();
        let hotel = HotelBookingBuilder::at("EXPIRES_SOON").in_browser();
        let bound = hotel.prebook(&client).await.expect(201);
        let token = &bound.body["meta"]["payment_sdk"]["token"];
        complete_payment(&processes[0].sandbox_url, token.as_str().unwrap()).await;
        bookings.push(bound.data()["id"].as_str().unwrap().to_owned());
    }
    bookings
}

/// Waits until the bookings have expired and their authorizations are voided. Checks that each was
/// voided exactly once.
async fn check_expired_once(process: &Server, bookings: &[String]) {
    for booking in bookings {
        let effects = ["authorization", "void"];
        process.wait_for_ledger(booking, &effects).await;
        let expired = process.client().hotel_booking(booking).await;
        assert_eq!(expired["status"], "EXPIRED", "{booking}");
        let events = process.outbox(booking).await;
        let expected = ["hotel.booking.created", "hotel.booking.expired"];
        assert_eq!(events, expected, "{booking}");
    }
}

#[tokio::test]
async fn work_of_several_processes_is_shared_and_done_once() {
    const PINGS: usize = 300;
    let processes = start().await;
    let client = processes[0].client();
    let subscriber = Subscriber::start(&client).await;
    // The responses to these bookings are lost, so any process may claim their jobs.
    let mut bookings = Vec::new();
    for number in 0..6 {
        let client = processes[number % PROCESSES].client();
        let lost = HotelBookingBuilder::at("BOOK_LOST_ANSWER");
        let (booking, _unknown) = lost.book(&client).await;
        bookings.push(booking);
    }
    let expiring = start_expiring_bookings(&processes).await;
    set_price(&processes[0].sandbox_url, "OK", 50.0).await;
    for cap in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] {
        client.watch_hotel("OK", 150.0 + cap, json!({})).await;
    }
    let subscription = &subscriber.subscription;
    subscription.post(&client, "/pause").await.expect(200);
    for number in 0..PINGS {
        subscription
            .ping(&processes[number % PROCESSES].client())
            .await;
    }
    subscription.post(&client, "/resume").await.expect(200);
    check_bought_once(&processes[1], &bookings).await;
    check_expired_once(&processes[2], &expiring).await;
    wait_until_sent(&subscriber, &client).await;
    let received = subscriber.upstream.received();
    let events = received.iter().map(|one| one.header("webhook-id"));
    let events: BTreeSet<_> = events.collect();
    assert_eq!(events.len(), received.len(), "each event is delivered once");
    assert!(events.len() > PINGS + 2 * bookings.len());
    let mut senders = 0;
    for process in &processes {
        let (name, labels) = ("stopover_webhook_attempts_total", [("product", "hotel")]);
        let sent = process.metric(name, &labels).await;
        senders += usize::from(sent > 0);
    }
    assert!(senders > 1, "more than one process sends deliveries");
    let events = eventually("the watches to report", async || {
        let logged = watch_events(&client, None).await;
        (logged.len() >= 6).then_some(logged)
    })
    .await;
    let watches: BTreeSet<_> = events.iter().filter_map(watch_id).collect();
    assert_eq!([watches.len(), events.len()], [6, 6], "each reports once");
}

fn watch_id(event: &Value) -> Option<&str> {
    event["payload"]["data"]["watch"]["id"].as_str()
}

/// Runs `stopover keys …` on the processes' database and returns its standard output.
async fn run_keys_command(process: &Server, arguments: &[&str]) -> String {
    process.command("keys", arguments).await
}

#[tokio::test]
async fn revoked_key_is_refused_by_every_process() {
    let processes = start().await;
    let key = processes[0].client_for("acme").await;
    let on_each: Vec<Client> = processes
        .iter()
        .map(|process| key.at(&process.api))
        .collect();
    for client in &on_each {
        let _known_now = client.get("/v1/suppliers").await.expect(200);
    }
    let listed = run_keys_command(&processes[0], &["list", "--json"]).await;
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let mut rows = listed.iter();
    let row = rows.find(|row| row["organization"] == "acme").unwrap();
    let _revoked = run_keys_command(&processes[1], &["revoke", row["id"].as_str().unwrap()]).await;
    let revoked_at = Instant::now();
    for client in &on_each {
        let refused = eventually("the revocation to take effect", async || {
            let reply = client.get("/v1/suppliers").await;
            (reply.status != 200).then_some(reply)
        })
        .await;
        refused.expect_problem(401, "invalid_api_key");
    }
    assert!(revoked_at.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn killed_process_loses_no_booking_and_no_delivery() {
    const PINGS: usize = 20;
    let mut processes = start().await;
    let (killed, other) = (processes[0].client(), processes[1].client());
    let subscriber = Subscriber::start(&other).await;
    let (booking, booked) = start_slow_booking(&processes[1], &killed).await;
    let mut sent = BTreeSet::new();
    for _ in 0..PINGS {
        sent.insert(subscriber.subscription.ping(&killed).await);
    }
    wait_until_authorized(&processes[1], &booking).await;
    processes[0].kill().await;
    let reply = booked.await.unwrap();
    assert_eq!(reply, None, "the killed process sends no response");
    check_bought_once(&processes[1], &[booking]).await;
    eventually("all deliveries to arrive", async || {
        let received = subscriber.upstream.received();
        let arrived = received.iter().map(|one| one.header("svc-delivery-id"));
        let arrived: BTreeSet<_> = arrived.flatten().map(str::to_owned).collect();
        sent.is_subset(&arrived).then_some(())
    })
    .await;
    wait_until_sent(&subscriber, &other).await;
}

type BookingTask = JoinHandle<Option<u16>>;

/// Starts a booking that takes a process some seconds to complete. The task returns the response
/// status, or `None` if the process was killed.
async fn start_slow_booking(ready_at: &Server, on: &Client) -> (String, BookingTask) {
    let slow = HotelBookingBuilder::at("SLOW_2000");
    let booking = slow.prebooked(&ready_at.client()).await;
    let body = slow.payment(&ready_at.client()).await.to_string();
    let path = format!("/v1/hotel/bookings/{booking}/book");
    let on = on.clone();
    let task = tokio::spawn(async move {
        let reply = on.try_send(Method::POST, &path, Some(body.into_bytes()));
        reply.await.ok().map(|reply| reply.status)
    });
    (booking, task)
}

/// Waits until a booking's card is authorized. The call to the supplier follows.
async fn wait_until_authorized(process: &Server, booking: &str) {
    eventually(&format!("{booking} to be in progress"), async || {
        let ledger = process.ledger().await;
        (ledger.count(booking, "authorization") == 1).then_some(())
    })
    .await;
}

/// Callers that book in a loop until `stopped` is set, and the processes that they can reach.
struct Callers {
    clients: RefCell<Vec<Client>>,
    stopped: Cell<bool>,
}

impl Callers {
    /// Sends the same call to one process after the other until one responds.
    async fn call(&self, first: usize, key: &str, path: &str, body: &Value) -> Value {
        let mut number = first;
        eventually(path, async || {
            number += 1;
            let client = {
                let clients = self.clients.borrow();
                clients[number % clients.len()].header("x-idempotency-key", key)
            };
            let body = Some(body.to_string().into_bytes());
            let reply = client.try_send(Method::POST, path, body).await.ok()?;
            assert!(reply.status < 300, "{path}: {:#}", reply.body);
            Some(reply.data().clone())
        })
        .await
    }

    /// Books in a loop until stopped. Returns the ids of the bookings.
    async fn book(&self, caller: usize) -> Vec<String> {
        let mut bookings = Vec::new();
        while !self.stopped.get() {
            let key = format!("{caller}-{}", bookings.len());
            let call = async |path: &str, body: Value| self.call(caller, &key, path, &body).await;
            let card = json!({"type": "CARD", "token": "tok_visa"});
            let card = call("/v1/payment-instruments", card).await;
            let offers = call("/v1/hotel/offers", offers_request("OK")).await;
            let offer = offers[0]["offers"][0]["offer_reference"].as_str().unwrap();
            let booking = call("/v1/hotel/prebook", prebook_request(offer, 1)).await;
            let id = booking["id"].as_str().unwrap().to_owned();
            let body = json!({"payment_instrument_id": card["id"]});
            call(&format!("/v1/hotel/bookings/{id}/book"), body).await;
            bookings.push(id);
        }
        bookings
    }
}

/// Stops each process in turn and starts a replacement. Returns the bookings that were in progress
/// on the stopped processes.
async fn restart_each(processes: &mut [Server], callers: &Callers) -> Vec<String> {
    let mut bookings = Vec::new();
    for number in 0..PROCESSES {
        let next = (number + 1) % PROCESSES;
        let (booking, booked) =
            start_slow_booking(&processes[next], &processes[number].client()).await;
        wait_until_authorized(&processes[next], &booking).await;
        let ended = processes[number].terminate().await;
        assert_eq!(ended.code(), Some(0));
        let reply = booked.await.unwrap();
        assert_eq!(reply, Some(200), "a process finishes its requests first");
        bookings.push(booking);
        processes[number] = processes[next].start_another_process(&options()).await;
        callers.clients.borrow_mut()[number] = processes[number].client();
    }
    callers.stopped.set(true);
    bookings
}

#[tokio::test]
async fn rolling_restart_loses_no_request() {
    let mut processes = start().await;
    let callers = Callers {
        clients: RefCell::new(processes.iter().map(Server::client).collect()),
        stopped: Cell::new(false),
    };
    let restarted = restart_each(&mut processes, &callers);
    let (slow, first, second) = tokio::join!(restarted, callers.book(0), callers.book(1));
    assert!(!first.is_empty() && !second.is_empty());
    check_bought_once(&processes[0], &[slow, first, second].concat()).await;
}
