//! Tests of several processes on one PostgreSQL database. The processes share all work, do nothing twice,
//! and lose nothing when one of them stops.

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

const HOSTS: usize = 3;

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
    let mut hosts = vec![Server::start_with_own_sandbox(options()).await];
    while hosts.len() < HOSTS {
        hosts.push(hosts[0].start_another_host(&options()).await);
    }
    hosts
}

/// Waits until no delivery to a subscriber is pending or published.
async fn all_sent(subscriber: &Subscriber, client: &Client) {
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
async fn bought_once(host: &Server, bookings: &[String]) {
    for booking in bookings {
        eventually(&format!("{booking} to be confirmed and paid"), async || {
            let read = host.client().hotel_booking(booking).await;
            let paid = read["payments"][0]["status"] == "CAPTURED";
            (paid && read["status"] == "CONFIRMED").then_some(())
        })
        .await;
        let ledger = host.ledger().await;
        let mut kinds = ledger.kinds_of(booking);
        kinds.sort_unstable();
        assert_eq!(kinds, ["authorization", "booking", "capture"], "{booking}");
    }
}

/// Creates bookings on one process after the other. A browser pays each booking, and no caller
/// completes it.
async fn begin_expiring(hosts: &[Server]) -> Vec<String> {
    let mut bookings = Vec::new();
    for number in 0..6 {
        let client = hosts[number % HOSTS].client();
        let hotel = HotelBookingBuilder::at("EXPIRES_SOON").in_browser();
        let bound = hotel.prebook(&client).await.expect(201);
        let token = &bound.body["meta"]["payment_sdk"]["token"];
        complete_payment(&hosts[0].sandbox_url, token.as_str().unwrap()).await;
        bookings.push(bound.data()["id"].as_str().unwrap().to_owned());
    }
    bookings
}

/// Waits until the bookings have expired and their authorizations are voided. Checks that each was
/// voided exactly once.
async fn expired_once(host: &Server, bookings: &[String]) {
    for booking in bookings {
        let effects = ["authorization", "void"];
        host.wait_for_ledger(booking, &effects).await;
        let expired = host.client().hotel_booking(booking).await;
        assert_eq!(expired["status"], "EXPIRED", "{booking}");
        let events = host.outbox(booking).await;
        let expected = ["hotel.booking.created", "hotel.booking.expired"];
        assert_eq!(events, expected, "{booking}");
    }
}

#[tokio::test]
async fn work_on_several_hosts_is_shared_and_done_once() {
    const PINGS: usize = 300;
    let hosts = start().await;
    let client = hosts[0].client();
    let subscriber = Subscriber::start(&client).await;
    // The responses to these bookings are lost, so any host may claim their jobs.
    let mut bookings = Vec::new();
    for number in 0..6 {
        let client = hosts[number % HOSTS].client();
        let lost = HotelBookingBuilder::at("BOOK_LOST_ANSWER");
        let (booking, _unknown) = lost.book(&client).await;
        bookings.push(booking);
    }
    let expiring = begin_expiring(&hosts).await;
    set_price(&hosts[0].sandbox_url, "OK", 50.0).await;
    for cap in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] {
        client.watch_hotel("OK", 150.0 + cap, json!({})).await;
    }
    let subscription = &subscriber.subscription;
    subscription.post(&client, "/pause").await.expect(200);
    for number in 0..PINGS {
        subscription.ping(&hosts[number % HOSTS].client()).await;
    }
    subscription.post(&client, "/resume").await.expect(200);
    bought_once(&hosts[1], &bookings).await;
    expired_once(&hosts[2], &expiring).await;
    all_sent(&subscriber, &client).await;
    let received = subscriber.upstream.received();
    let events = received.iter().map(|one| one.header("webhook-id"));
    let events: BTreeSet<_> = events.collect();
    assert_eq!(events.len(), received.len(), "each event is delivered once");
    assert!(events.len() > PINGS + 2 * bookings.len());
    let mut senders = 0;
    for host in &hosts {
        let (name, labels) = ("stopover_webhook_attempts_total", [("product", "hotel")]);
        let sent = host.metric(name, &labels).await;
        senders += usize::from(sent > 0);
    }
    assert!(senders > 1, "more than one process sends deliveries");
    let events = eventually("the watches to report", async || {
        let logged = watch_events(&client, None).await;
        (logged.len() >= 6).then_some(logged)
    })
    .await;
    let watches: BTreeSet<_> = events.iter().filter_map(of_watch).collect();
    assert_eq!([watches.len(), events.len()], [6, 6], "each reports once");
}

fn of_watch(event: &Value) -> Option<&str> {
    event["payload"]["data"]["watch"]["id"].as_str()
}

/// Runs `stopover keys …` on the processes' database and returns its standard output.
async fn keys(host: &Server, arguments: &[&str]) -> String {
    host.command("keys", arguments).await
}

#[tokio::test]
async fn revoked_key_is_refused_by_every_host() {
    let hosts = start().await;
    let key = hosts[0].client_for("acme").await;
    let on_each: Vec<Client> = hosts.iter().map(|host| key.at(&host.api)).collect();
    for client in &on_each {
        let _known_now = client.get("/v1/suppliers").await.expect(200);
    }
    let listed = keys(&hosts[0], &["list", "--json"]).await;
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let mut rows = listed.iter();
    let row = rows.find(|row| row["organization"] == "acme").unwrap();
    let _revoked = keys(&hosts[1], &["revoke", row["id"].as_str().unwrap()]).await;
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
async fn killed_host_loses_no_booking_and_no_delivery() {
    const PINGS: usize = 20;
    let mut hosts = start().await;
    let (killed, other) = (hosts[0].client(), hosts[1].client());
    let subscriber = Subscriber::start(&other).await;
    let (booking, booked) = begin_slow(&hosts[1], &killed).await;
    let mut sent = BTreeSet::new();
    for _ in 0..PINGS {
        sent.insert(subscriber.subscription.ping(&killed).await);
    }
    has_begun(&hosts[1], &booking).await;
    hosts[0].kill().await;
    let reply = booked.await.unwrap();
    assert_eq!(reply, None, "the killed host sends no response");
    bought_once(&hosts[1], &[booking]).await;
    eventually("all deliveries to arrive", async || {
        let received = subscriber.upstream.received();
        let arrived = received.iter().map(|one| one.header("svc-delivery-id"));
        let arrived: BTreeSet<_> = arrived.flatten().map(str::to_owned).collect();
        sent.is_subset(&arrived).then_some(())
    })
    .await;
    all_sent(&subscriber, &other).await;
}

type BookingTask = JoinHandle<Option<u16>>;

/// Starts a booking that takes a process some seconds to complete. The task returns the response
/// status, or `None` if the process was killed.
async fn begin_slow(ready_at: &Server, on: &Client) -> (String, BookingTask) {
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
async fn has_begun(host: &Server, booking: &str) {
    eventually(&format!("{booking} to be in progress"), async || {
        let ledger = host.ledger().await;
        (ledger.count(booking, "authorization") == 1).then_some(())
    })
    .await;
}

/// Callers that book in a loop until `stopped` is set, and the processes that they can reach.
struct Callers {
    known: RefCell<Vec<Client>>,
    stopped: Cell<bool>,
}

impl Callers {
    /// Sends the same call to one process after the other until one responds.
    async fn call(&self, first: usize, key: &str, path: &str, body: &Value) -> Value {
        let mut number = first;
        eventually(path, async || {
            number += 1;
            let client = {
                let known = self.known.borrow();
                known[number % known.len()].header("x-idempotency-key", key)
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

/// Stops each process in turn and starts a replacement. Returns the bookings that were in progress on
/// the stopped hosts.
async fn roll(hosts: &mut [Server], callers: &Callers) -> Vec<String> {
    let mut bookings = Vec::new();
    for number in 0..HOSTS {
        let next = (number + 1) % HOSTS;
        let (booking, booked) = begin_slow(&hosts[next], &hosts[number].client()).await;
        has_begun(&hosts[next], &booking).await;
        let ended = hosts[number].terminate().await;
        assert_eq!(ended.code(), Some(0));
        let reply = booked.await.unwrap();
        assert_eq!(reply, Some(200), "a process finishes its requests first");
        bookings.push(booking);
        hosts[number] = hosts[next].start_another_host(&options()).await;
        callers.known.borrow_mut()[number] = hosts[number].client();
    }
    callers.stopped.set(true);
    bookings
}

#[tokio::test]
async fn rolling_restart_loses_no_request() {
    let mut hosts = start().await;
    let callers = Callers {
        known: RefCell::new(hosts.iter().map(Server::client).collect()),
        stopped: Cell::new(false),
    };
    let rolled = roll(&mut hosts, &callers);
    let (slow, first, second) = tokio::join!(rolled, callers.book(0), callers.book(1));
    assert!(!first.is_empty() && !second.is_empty());
    bought_once(&hosts[0], &[slow, first, second].concat()).await;
}
