//! Tests of a PostgreSQL outage under load. Callers get clear errors, nothing is bought twice, and
//! work continues without intervention.

use reqwest::Method;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tests::{
    Client, HotelBookingBuilder, PostgresCluster, Reply, Server, ServerOptions, Subscriber,
    drop_connections, eventually, offers_request, prebook_request,
};

/// Maximum time for a response. It is far longer than a request waits for an unavailable database
/// and shorter than the request's own deadline.
const ANSWER_MAX: Duration = Duration::from_secs(15);

/// Maximum number of bookings whose call was marked as sent but never left, because the database
/// stopped while the mark was stored: one for each of the three callers, and the interrupted one.
const UNSENT_MAX: usize = 4;

/// Returns options with immediate reconciliation, short leases and a request limit that the tests
/// never reach.
fn options(cluster: &PostgresCluster) -> ServerOptions {
    let config = "[webhooks]\nsubscription_retry_s = [1, 1, 1, 1]\n[jobs]\nlease_s = 3\n\
                  [limits]\nrequests_per_s = 10000\nburst = 10000";
    ServerOptions::on_cluster(cluster)
        .with_short_retries()
        .config(config)
}

/// Counts of successful and refused calls so far, by kind of call.
#[derive(Default)]
struct Load {
    stopped: Cell<bool>,
    succeeded: RefCell<BTreeMap<&'static str, usize>>,
    refused: RefCell<BTreeMap<&'static str, usize>>,
}

/// Kinds of calls: `read` and `search` change nothing; `prebook` and `book` do.
const KINDS: [&str; 4] = ["read", "search", "prebook", "book"];

impl Load {
    /// Sends a call and repeats it until it succeeds. Checks every response.
    async fn call(&self, client: &Client, kind: &'static str, path: &str, body: &Value) -> Value {
        let method = if body.is_null() {
            Method::GET
        } else {
            Method::POST
        };
        eventually(path, async || {
            let body = (!body.is_null()).then(|| body.to_string().into_bytes());
            let begun = Instant::now();
            let reply = client.send(method.clone(), path, body).await;
            let took = begun.elapsed();
            assert!(took < ANSWER_MAX, "{path}: {took:?}");
            // The call was marked as sent but never left, so the supplier has no booking.
            let is_over = kind == "book" && reply.body["booking_status"] == "FAILED";
            if is_over {
                reply.expect_problem(422, "supplier_rejected");
                return Some(Value::Null);
            }
            if reply.status < 300 {
                *self.succeeded.borrow_mut().entry(kind).or_default() += 1;
                return Some(reply.data().clone());
            }
            *self.refused.borrow_mut().entry(kind).or_default() += 1;
            refused_clearly(kind, reply);
            None
        })
        .await
    }

    /// Waits until `more` further calls of each kind succeed.
    async fn wait_for_more(&self, more: usize) {
        let count = |kind| {
            let succeeded = self.succeeded.borrow();
            succeeded.get(kind).copied().unwrap_or_default()
        };
        for (kind, before) in KINDS.map(|kind| (kind, count(kind))) {
            eventually(&format!("more calls to {kind}"), async || {
                (count(kind) >= before + more).then_some(())
            })
            .await;
        }
    }

    /// Books in a loop until stopped. Returns the bookings that were prebooked.
    async fn book(&self, client: &Client, caller: usize) -> Vec<String> {
        let payment = client.card_payment("tok_visa").await;
        let mut bookings = Vec::new();
        for number in 0.. {
            if self.stopped.get() {
                break;
            }
            let client = client.header("x-idempotency-key", &format!("{caller}-{number}"));
            let call = async |kind, path: &str, body| self.call(&client, kind, path, &body).await;
            let offers = call("search", "/v1/hotel/offers", offers_request("OK")).await;
            let offer = offers[0]["offers"][0]["offer_reference"].as_str().unwrap();
            let booking = call("prebook", "/v1/hotel/prebook", prebook_request(offer, 1)).await;
            if booking["status"] != "READY_FOR_COMPLETE" {
                // The supplier's response was lost. Nothing is owed, so the booking is given up.
                continue;
            }
            let id = booking["id"].as_str().unwrap().to_owned();
            let path = format!("/v1/hotel/bookings/{id}/book");
            call("book", &path, payment.clone()).await;
            bookings.push(id);
        }
        bookings
    }

    /// Lists bookings in a loop until stopped.
    async fn read(&self, client: &Client) {
        while !self.stopped.get() {
            self.call(client, "read", "/v1/hotel/bookings?limit=5", &Value::Null)
                .await;
        }
    }

    /// Runs one reader and three bookers at once. Returns the bookings that were prebooked.
    async fn run(&self, client: &Client) -> Vec<String> {
        let ((), first, second, third) = tokio::join!(
            self.read(client),
            self.book(client, 0),
            self.book(client, 1),
            self.book(client, 2),
        );
        [first, second, third].concat()
    }
}

/// Checks that a refusal tells the caller what to do: retry, or, where a change may have been made,
/// repeat the call to get its outcome.
fn refused_clearly(kind: &str, reply: Reply) {
    let code = reply.body["code"].as_str().unwrap_or_default().to_owned();
    let is_change = matches!(kind, "prebook" | "book");
    match (reply.status, code.as_str()) {
        (503, "overloaded") => {
            assert_eq!(reply.body["retryable"], true);
            assert!(reply.header("retry-after").is_some());
        }
        (409, "idempotency_in_progress") if kind == "prebook" => {}
        // Only a prebook costs nothing if it is made twice.
        (500, "result_unknown") if is_change => {
            assert_eq!(reply.body["retryable"], kind == "prebook");
        }
        _ => panic!("{kind}: {} {:#}", reply.status, reply.body),
    }
    reply.clone().expect_problem(reply.status, &code);
}

/// Waits until every booking is final: bought exactly once, or not at all if its call was marked as
/// sent and never left. Returns the bookings that were bought.
async fn settled(server: &Server, bookings: &[String]) -> Vec<String> {
    let client = server.client();
    let mut bought = Vec::new();
    for id in bookings {
        let is_bought = eventually(&format!("{id} to be final"), async || {
            let booking = client.hotel_booking(id).await;
            let ledger = server.ledger().await;
            let mut kinds = ledger.kinds_of(id);
            kinds.sort_unstable();
            let state = (booking["status"].as_str().unwrap(), kinds.as_slice());
            match state {
                ("CONFIRMED", ["authorization", "booking", "capture"]) => Some(true),
                ("FAILED" | "READY_FOR_COMPLETE", [] | ["authorization", "void"]) => Some(false),
                _ => None,
            }
        })
        .await;
        if is_bought {
            bought.push(id.clone());
        }
    }
    assert!(bought.len() + UNSENT_MAX >= bookings.len(), "{bookings:?}");
    bought
}

async fn confirmations_arrive(subscriber: &Subscriber, bookings: &[String]) {
    for booking in bookings {
        let what = format!("the event of {booking} to be delivered");
        eventually(&what, async || {
            let told = subscriber.upstream.received().into_iter().any(|event| {
                event.body["type"] == "hotel.booking.confirmed"
                    && event.body["data"]["booking"]["id"] == booking.as_str()
            });
            told.then_some(())
        })
        .await;
    }
}

/// Stops the database while the supplier processes a booking for one second. Returns the id of the
/// booking.
async fn interrupt(server: &Server, cluster: &mut PostgresCluster) -> String {
    let (client, slow) = (server.client(), HotelBookingBuilder::at("SLOW_1000"));
    let id = slow.prebooked(&client).await;
    let payment = slow.payment(&client).await;
    let cut_off = async {
        server.wait_for_entries(&id, ["authorization"], [1]).await;
        cluster.stop().await;
    };
    let (reply, ()) = tokio::join!(client.book_hotel(&id, &payment), cut_off);
    reply.expect_problem(500, "result_unknown");
    id
}

/// Calls of each kind that are sent while the database is down.
struct OutageCalls {
    ready: String,
    payment: Value,
    prebook: Value,
}

impl OutageCalls {
    async fn prepare(client: &Client) -> Self {
        let way = HotelBookingBuilder::at("OK");
        Self {
            ready: way.prebooked(client).await,
            payment: way.payment(client).await,
            prebook: prebook_request(&way.offer(client).await, 1),
        }
    }

    /// Checks that each call is refused with a clear error.
    async fn are_refused(&self, client: &Client) {
        let booking = format!("/v1/hotel/bookings/{}", self.ready);
        let open = client.without("x-api-key");
        let (unready, alive, read, prebooked, booked) = tokio::join!(
            open.get("/readyz"),
            open.get("/healthz"),
            client.get(&booking),
            client.prebook_hotel("late", &self.prebook),
            client.book_hotel(&self.ready, &self.payment),
        );
        let _alive = alive.expect(200);
        for reply in [unready, read, prebooked, booked] {
            refused_clearly("late", reply);
        }
    }

    /// Repeats the same calls and checks that they succeed. Returns the bookings.
    async fn succeed(&self, client: &Client) -> [String; 2] {
        let prebooked = client.prebook_hotel("late", &self.prebook).await;
        let prebooked = prebooked.expect(201).data()["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let bookings = [self.ready.clone(), prebooked];
        for id in &bookings {
            let booked = client.book_hotel(id, &self.payment).await;
            assert_eq!(booked.outcome(), (200, "CONFIRMED"));
        }
        bookings
    }
}

#[tokio::test]
async fn postgresql_outage_returns_clear_errors_and_loses_nothing() {
    let mut cluster = PostgresCluster::start().await;
    let server = Server::start_with_own_sandbox(options(&cluster)).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let late = OutageCalls::prepare(&client).await;
    let load = Load::default();
    let outage = async {
        load.wait_for_more(2).await;
        let interrupted = interrupt(&server, &mut cluster).await;
        late.are_refused(&client).await;
        cluster.restart().await;
        let mut bookings = late.succeed(&client).await.to_vec();
        load.wait_for_more(2).await;
        eventually("the server to be ready", async || {
            (client.get("/readyz").await.status == 200).then_some(())
        })
        .await;
        load.stopped.set(true);
        bookings.push(interrupted);
        bookings
    };
    let (loaded, bookings) = tokio::join!(load.run(&client), outage);
    let bookings = [loaded, bookings].concat();
    let confirmed = settled(&server, &bookings).await;
    confirmations_arrive(&subscriber, &confirmed).await;
}

#[tokio::test]
async fn dropped_postgresql_connections_are_reopened_without_failed_reads() {
    const CUTS: usize = 5;
    let cluster = PostgresCluster::start().await;
    let server = Server::start_with_own_sandbox(options(&cluster)).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let load = Load::default();
    let cuts = async {
        for _ in 0..CUTS {
            load.wait_for_more(2).await;
            drop_connections(server.database_url()).await;
        }
        load.wait_for_more(2).await;
        load.stopped.set(true);
    };
    let (bookings, ()) = tokio::join!(load.run(&client), cuts);
    for kind in ["read", "search"] {
        assert_eq!(load.refused.borrow().get(kind), None, "{kind} is refused");
    }
    let confirmed = settled(&server, &bookings).await;
    confirmations_arrive(&subscriber, &confirmed).await;
}
