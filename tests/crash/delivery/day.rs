//! A run of the load test: callers that retry until they succeed, receivers with temporary faults,
//! and hosts that are killed.

use super::{BAD, LEASE_S, TIMEOUT_S};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tests::{
    Client, Receiver, ReceiverFault, Reply, Server, ServerOptions, Subscription, eventually,
    offers_request, prebook_request, verify_signatures,
};

/// Number of concurrent callers.
const CALLERS: usize = 8;
/// One call in this many is a booking, whose events go to every subscription. The others request an
/// event for one subscription.
const CALLS_A_BOOKING: usize = 10;
/// Number of events of a booking: created, confirmed and captured.
const EVENTS_A_BOOKING: usize = 3;
/// Minimum number of kills of any run, and the maximum of a short one.
const KILLS_MIN: usize = 3;
/// Pause between two kills in milliseconds, followed by the one of a long run.
const KILLS: (u64, u64) = (500, 1500);
const KILLS_OF_A_LONG_DAY: (u64, u64) = (2_000, 20_000);
/// Number of events from which a run is long.
const LONG: usize = 5_000;
/// Pause between two changes of receivers in milliseconds.
const SPELLS: (u64, u64) = (100, 500);

/// A receiver and its subscription.
pub(super) type Recipient = (Receiver, Subscription);

/// Times at which a recipient accepted each event: one, unless it was sent twice.
pub(super) type Taken = HashMap<String, Vec<Timestamp>>;

/// The plan of a run and its progress.
pub(super) struct Day {
    seed: u64,
    events: usize,
    hosts: RefCell<Vec<Client>>,
    recorded: Cell<usize>,
    callers: Cell<usize>,
    bookings: RefCell<HashSet<String>>,
    kills: RefCell<Vec<Timestamp>>,
    taken: RefCell<Vec<Taken>>,
    requests: Cell<usize>,
}

/// The result of a run.
pub(super) struct End {
    pub(super) hosts: Vec<Server>,
    pub(super) recipients: Vec<Recipient>,
    /// Accepted events of each recipient.
    pub(super) taken: Vec<Taken>,
    pub(super) kills: Vec<Timestamp>,
    /// Ids of the recorded events. The second value is the id of the subscription if the event is
    /// for only one.
    pub(super) events: Vec<(String, Option<String>)>,
    /// Number of bookings.
    pub(super) bookings: usize,
    /// Number of requests.
    pub(super) requests: usize,
}

/// A repeatable source of random numbers.
struct Random(fuzz::Random);

impl Random {
    const fn new(seed: u64) -> Self {
        Self(fuzz::Random::new(seed))
    }

    fn below(&self, limit: usize) -> usize {
        usize::try_from(self.0.bits64() >> 33).unwrap() % limit
    }

    /// Waits for a random number of milliseconds in the range.
    async fn pause(&self, (least, most): (u64, u64)) {
        let span = usize::try_from(most - least).unwrap();
        let more = u64::try_from(self.below(span)).unwrap();
        tokio::time::sleep(Duration::from_millis(least + more)).await;
    }
}

impl Day {
    pub(super) fn new(seed: u64, events: usize, recipients: usize) -> Self {
        Self {
            seed,
            events,
            hosts: RefCell::default(),
            recorded: Cell::new(0),
            callers: Cell::new(CALLERS),
            bookings: RefCell::default(),
            kills: RefCell::default(),
            taken: RefCell::new(vec![Taken::new(); recipients]),
            requests: Cell::new(0),
        }
    }

    /// Runs to the end and waits until every recorded event has arrived.
    pub(super) async fn pass(
        self,
        hosts: Vec<Server>,
        mut recipients: Vec<Recipient>,
        options: &ServerOptions,
    ) -> End {
        *self.hosts.borrow_mut() = hosts.iter().map(Server::client).collect();
        let subscriptions = recipients.iter().map(|(_, subscription)| subscription);
        let subscriptions: Vec<Subscription> = subscriptions.cloned().collect();
        let callers = (0..CALLERS).map(|caller| self.call_all_day(caller, &subscriptions));
        let (hosts, (), _) = tokio::join!(
            self.kill(hosts, options),
            self.spells(&mut recipients),
            futures::future::join_all(callers),
        );
        let client = hosts[0].client();
        self.settle(&client).await;
        let events = hosts[0].events().await;
        let events: Vec<_> = events.iter().map(addressed).collect();
        self.wait_for(&events, &recipients).await;
        for (_, subscription) in &recipients {
            all_sent(&client, subscription).await;
        }
        self.note_arrivals(&recipients);
        End {
            hosts,
            recipients,
            taken: self.taken.into_inner(),
            kills: self.kills.into_inner(),
            events,
            bookings: self.bookings.borrow().len(),
            requests: self.requests.get(),
        }
    }

    fn is_over(&self) -> bool {
        self.callers.get() == 0 && self.kills.borrow().len() >= KILLS_MIN
    }

    /// Calls until enough events are recorded.
    async fn call_all_day(&self, caller: usize, subscriptions: &[Subscription]) {
        let mut turn = caller;
        while self.recorded.get() < self.events {
            let key = format!("{caller}-{turn}");
            let recorded = if turn.is_multiple_of(CALLS_A_BOOKING) {
                self.book(&key).await;
                EVENTS_A_BOOKING
            } else {
                let path = subscriptions[turn % subscriptions.len()].path("/test");
                let sent = self.call(&key, &path, &json!({})).await;
                assert_eq!(sent["event"]["type"], "ping");
                1
            };
            self.recorded.set(self.recorded.get() + recorded);
            turn += 1;
        }
        self.callers.set(self.callers.get() - 1);
    }

    async fn book(&self, key: &str) {
        let card = json!({"type": "CARD", "token": "tok_visa"});
        let card = self.call(key, "/v1/payment-instruments", &card).await;
        let offers = offers_request("OK");
        let offers = self.call(key, "/v1/hotel/offers", &offers).await;
        let offer = offers[0]["offers"][0]["offer_reference"].as_str().unwrap();
        let request = prebook_request(offer, 1);
        let booking = self.call(key, "/v1/hotel/prebook", &request).await;
        let id = booking["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/hotel/bookings/{id}/book");
        let body = json!({"payment_instrument_id": card["id"]});
        // A response that the call was already made is accepted, too.
        self.answer(key, &path, &body, |status| status < 500).await;
        self.bookings.borrow_mut().insert(id);
    }

    /// Sends a call until it succeeds and returns its data.
    async fn call(&self, key: &str, path: &str, body: &Value) -> Value {
        // Work that a kill interrupted may be leased by another process for a while.
        let made = self.answer(key, path, body, |status| status < 300);
        made.await.data().clone()
    }

    /// Sends the same call to one process after the other until `is_answer` accepts a status.
    async fn answer(
        &self,
        key: &str,
        path: &str,
        body: &Value,
        is_answer: impl Fn(u16) -> bool,
    ) -> Reply {
        let mut number = key.len();
        eventually(path, async || {
            number += 1;
            let client = {
                let hosts = self.hosts.borrow();
                hosts[number % hosts.len()].header("x-idempotency-key", key)
            };
            let body = Some(body.to_string().into_bytes());
            let reply = client.try_send(reqwest::Method::POST, path, body);
            let reply = reply.await.ok()?;
            is_answer(reply.status).then_some(reply)
        })
        .await
    }

    /// Kills one process after the other and restarts each.
    async fn kill(&self, mut hosts: Vec<Server>, options: &ServerOptions) -> Vec<Server> {
        let random = Random::new(self.seed);
        let (pauses, most) = if self.events < LONG {
            (KILLS, KILLS_MIN)
        } else {
            (KILLS_OF_A_LONG_DAY, usize::MAX)
        };
        while !self.is_over() && self.kills.borrow().len() < most {
            random.pause(pauses).await;
            let number = random.below(hosts.len());
            let mut host = hosts.remove(number);
            host.kill().await;
            self.kills.borrow_mut().push(Timestamp::now());
            let host = host.restart(options.clone()).await;
            self.hosts.borrow_mut()[number] = host.client();
            hosts.insert(number, host);
        }
        hosts
    }

    /// Gives the failing receivers a fault at the start, changes or removes it repeatedly, and
    /// removes it at the end.
    async fn spells(&self, recipients: &mut [Recipient]) {
        let random = Random::new(!self.seed);
        let begin = random.below(ReceiverFault::ALL.len());
        let troubles = ReceiverFault::ALL.iter().cycle().skip(begin);
        for ((receiver, _), trouble) in recipients.iter_mut().take(BAD).zip(troubles) {
            receiver.set_fault(Some(*trouble)).await;
        }
        while !self.is_over() {
            random.pause(SPELLS).await;
            let of_ten = random.below(10);
            let (receiver, _) = &mut recipients[random.below(BAD)];
            let fault = ReceiverFault::ALL.get(of_ten).copied();
            receiver.set_fault(fault).await;
            self.note_arrivals(recipients);
        }
        for (receiver, _) in recipients {
            receiver.set_fault(None).await;
        }
    }

    /// Records the arrived deliveries. Checks that every request is signed for its recipient.
    fn note_arrivals(&self, recipients: &[Recipient]) {
        let mut taken = self.taken.borrow_mut();
        for ((receiver, subscription), taken) in recipients.iter().zip(&mut *taken) {
            for arrival in receiver.take_deliveries() {
                let signed = verify_signatures(&arrival.request, &[&subscription.secret]);
                assert_eq!(signed, [true]);
                self.requests.set(self.requests.get() + 1);
                if arrival.accepted {
                    let event = arrival.request.body["id"].as_str().unwrap();
                    taken.entry(event.to_owned()).or_default().push(arrival.at);
                }
            }
        }
    }

    /// Waits until every booking is final: it is paid, has failed, or is still ready to be
    /// completed because a process was killed before it called the processor or supplier.
    async fn settle(&self, client: &Client) {
        let bookings = self.bookings.borrow().clone();
        for booking in &bookings {
            eventually(&format!("{booking} to be final"), async || {
                let read = client.hotel_booking(booking).await;
                let mut payments = read["payments"].as_array()?.iter();
                let is_settled = match read["status"].as_str()? {
                    "CONFIRMED" => payments.any(|one| one["status"] == "CAPTURED"),
                    "PREBOOK_IN_PROGRESS" | "READY_FOR_COMPLETE" => {
                        payments.all(|one| one["status"] == "FAILED")
                    }
                    status => status == "FAILED",
                };
                is_settled.then_some(())
            })
            .await;
        }
    }

    /// Waits until each recipient has accepted all of its events. The wait continues as long as
    /// events keep arriving.
    async fn wait_for(&self, events: &[(String, Option<String>)], recipients: &[Recipient]) {
        let mut lacking: Vec<(usize, &str)> = Vec::new();
        for (number, (_, subscription)) in recipients.iter().enumerate() {
            let of_it = events.iter();
            let of_it = of_it.filter(|(_, only)| is_for(only.as_deref(), subscription));
            lacking.extend(of_it.map(|(event, _)| (number, event.as_str())));
        }
        while let before @ 1.. = lacking.len() {
            eventually(&format!("{before} events to arrive"), async || {
                self.note_arrivals(recipients);
                let taken = self.taken.borrow();
                lacking.retain(|(number, event)| !taken[*number].contains_key(*event));
                (lacking.len() < before).then_some(())
            })
            .await;
        }
    }
}

/// Returns an event's id and, if it is for one subscription only, that subscription's id.
fn addressed(event: &Value) -> (String, Option<String>) {
    let (id, only) = (&event["id"], &event["data"]["subscription_id"]);
    (
        id.as_str().unwrap().to_owned(),
        only.as_str().map(str::to_owned),
    )
}

/// Returns whether an event is for a subscription.
pub(super) fn is_for(only: Option<&str>, subscription: &Subscription) -> bool {
    only.is_none_or(|only| only == subscription.id)
}

/// Waits until no delivery is pending or published.
async fn all_sent(client: &Client, subscription: &Subscription) {
    for status in ["PENDING", "PUBLISHED"] {
        let query = format!("?limit=1&status={status}");
        eventually(&format!("no delivery to be {status}"), async || {
            let listed = subscription.deliveries(client, &query).await;
            listed.list().is_empty().then_some(())
        })
        .await;
    }
}

impl End {
    /// Returns whether a process was killed while the outcome of a response at `at` may not have been
    /// stored yet.
    pub(super) fn killed_about(&self, at: Timestamp) -> bool {
        let sent = SignedDuration::from_secs(TIMEOUT_S);
        let stored = SignedDuration::from_secs(LEASE_S);
        self.killed_within(at - sent, at + stored)
    }

    pub(super) fn killed_within(&self, from: Timestamp, to: Timestamp) -> bool {
        let mut kills = self.kills.iter();
        kills.any(|kill| from <= *kill && *kill <= to)
    }
}
