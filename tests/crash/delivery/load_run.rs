//! A run of the load test: callers that retry until they succeed, receivers with temporary faults,
//! and gateway processes that are killed.

use super::{FAULTY_RECEIVERS, LEASE_S, TIMEOUT_S};
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
const CALLS_PER_BOOKING: usize = 10;
/// Number of events of a booking: created, confirmed and captured.
const EVENTS_PER_BOOKING: usize = 3;
/// Minimum number of kills of any run, and the maximum of a short one.
const KILLS_MIN: usize = 3;
/// Shortest and longest pause between two kills.
const KILL_PAUSE_MS: (u64, u64) = (500, 1500);
/// Shortest and longest pause between two kills of a long run.
const KILL_PAUSE_LONG_RUN_MS: (u64, u64) = (2_000, 20_000);
/// Number of events from which a run is long.
const LONG_RUN_EVENTS_MIN: usize = 5_000;
/// Shortest and longest pause between two changes of receivers' behaviour.
const BEHAVIOUR_CHANGE_PAUSE_MS: (u64, u64) = (100, 500);

/// A receiver and its subscription.
pub(super) type Recipient = (Receiver, Subscription);

/// Times at which a recipient accepted each event: one, unless it was sent twice.
pub(super) type AcceptedEvents = HashMap<String, Vec<Timestamp>>;

/// The plan of a run and its progress.
pub(super) struct LoadRun {
    seed: u64,
    events: usize,
    processes: RefCell<Vec<Client>>,
    recorded: Cell<usize>,
    callers: Cell<usize>,
    bookings: RefCell<HashSet<String>>,
    kills: RefCell<Vec<Timestamp>>,
    accepted: RefCell<Vec<AcceptedEvents>>,
    requests: Cell<usize>,
}

/// The result of a run.
pub(super) struct LoadResult {
    pub(super) processes: Vec<Server>,
    pub(super) recipients: Vec<Recipient>,
    /// Accepted events of each recipient.
    pub(super) accepted: Vec<AcceptedEvents>,
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

impl LoadRun {
    pub(super) fn new(seed: u64, events: usize, recipients: usize) -> Self {
        Self {
            seed,
            events,
            processes: RefCell::default(),
            recorded: Cell::new(0),
            callers: Cell::new(CALLERS),
            bookings: RefCell::default(),
            kills: RefCell::default(),
            accepted: RefCell::new(vec![AcceptedEvents::new(); recipients]),
            requests: Cell::new(0),
        }
    }

    /// Runs to the end and waits until every recorded event has arrived.
    pub(super) async fn execute(
        self,
        processes: Vec<Server>,
        mut recipients: Vec<Recipient>,
        options: &ServerOptions,
    ) -> LoadResult {
        *self.processes.borrow_mut() = processes.iter().map(Server::client).collect();
        let subscriptions = recipients.iter().map(|(_, subscription)| subscription);
        let subscriptions: Vec<Subscription> = subscriptions.cloned().collect();
        let callers = (0..CALLERS).map(|caller| self.call_repeatedly(caller, &subscriptions));
        let (processes, (), _) = tokio::join!(
            self.kill(processes, options),
            self.change_receivers(&mut recipients),
            futures::future::join_all(callers),
        );
        let client = processes[0].client();
        self.wait_for_final_bookings(&client).await;
        let events = processes[0].events().await;
        let events: Vec<_> = events.iter().map(event_and_subscription).collect();
        self.wait_for_events(&events, &recipients).await;
        for (_, subscription) in &recipients {
            wait_until_sent(&client, subscription).await;
        }
        self.record_arrivals(&recipients);
        LoadResult {
            processes,
            recipients,
            accepted: self.accepted.into_inner(),
            kills: self.kills.into_inner(),
            events,
            bookings: self.bookings.borrow().len(),
            requests: self.requests.get(),
        }
    }

    fn has_ended(&self) -> bool {
        self.callers.get() == 0 && self.kills.borrow().len() >= KILLS_MIN
    }

    /// Calls until enough events are recorded.
    async fn call_repeatedly(&self, caller: usize, subscriptions: &[Subscription]) {
        let mut turn = caller;
        while self.recorded.get() < self.events {
            let key = format!("{caller}-{turn}");
            let recorded = if turn.is_multiple_of(CALLS_PER_BOOKING) {
                self.book(&key).await;
                EVENTS_PER_BOOKING
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
        self.call_until(key, &path, &body, |status| status < 500)
            .await;
        self.bookings.borrow_mut().insert(id);
    }

    /// Sends a call until it succeeds and returns its data.
    async fn call(&self, key: &str, path: &str, body: &Value) -> Value {
        // Work that a kill interrupted may be leased by another process for a while.
        let reply = self.call_until(key, path, body, |status| status < 300);
        reply.await.data().clone()
    }

    /// Sends the same call to one process after the other until `is_final` accepts the status.
    async fn call_until(
        &self,
        key: &str,
        path: &str,
        body: &Value,
        is_final: impl Fn(u16) -> bool,
    ) -> Reply {
        let mut number = key.len();
        eventually(path, async || {
            number += 1;
            let client = {
                let processes = self.processes.borrow();
                processes[number % processes.len()].header("x-idempotency-key", key)
            };
            let body = Some(body.to_string().into_bytes());
            let reply = client.try_send(reqwest::Method::POST, path, body);
            let reply = reply.await.ok()?;
            is_final(reply.status).then_some(reply)
        })
        .await
    }

    /// Kills one process after the other and restarts each.
    async fn kill(&self, mut processes: Vec<Server>, options: &ServerOptions) -> Vec<Server> {
        let random = Random::new(self.seed);
        let (pauses, most) = if self.events < LONG_RUN_EVENTS_MIN {
            (KILL_PAUSE_MS, KILLS_MIN)
        } else {
            (KILL_PAUSE_LONG_RUN_MS, usize::MAX)
        };
        while !self.has_ended() && self.kills.borrow().len() < most {
            random.pause(pauses).await;
            let number = random.below(processes.len());
            let mut process = processes.remove(number);
            process.kill().await;
            self.kills.borrow_mut().push(Timestamp::now());
            let process = process.restart(options.clone()).await;
            self.processes.borrow_mut()[number] = process.client();
            processes.insert(number, process);
        }
        processes
    }

    /// Gives the faulty receivers a fault at the start, changes or removes it repeatedly, and
    /// removes it at the end.
    async fn change_receivers(&self, recipients: &mut [Recipient]) {
        let random = Random::new(!self.seed);
        let begin = random.below(ReceiverFault::ALL.len());
        let faults = ReceiverFault::ALL.iter().cycle().skip(begin);
        for ((receiver, _), fault) in recipients.iter_mut().take(FAULTY_RECEIVERS).zip(faults) {
            receiver.set_fault(Some(*fault)).await;
        }
        while !self.has_ended() {
            random.pause(BEHAVIOUR_CHANGE_PAUSE_MS).await;
            // Without a fault if the number is beyond the list.
            let index = random.below(10);
            let (receiver, _) = &mut recipients[random.below(FAULTY_RECEIVERS)];
            let fault = ReceiverFault::ALL.get(index).copied();
            receiver.set_fault(fault).await;
            self.record_arrivals(recipients);
        }
        for (receiver, _) in recipients {
            receiver.set_fault(None).await;
        }
    }

    /// Records the arrived deliveries. Checks that every request is signed for its recipient.
    fn record_arrivals(&self, recipients: &[Recipient]) {
        let mut accepted = self.accepted.borrow_mut();
        for ((receiver, subscription), accepted) in recipients.iter().zip(&mut *accepted) {
            for arrival in receiver.take_deliveries() {
                let signed = verify_signatures(&arrival.request, &[&subscription.secret]);
                assert_eq!(signed, [true]);
                self.requests.set(self.requests.get() + 1);
                if arrival.accepted {
                    let event = arrival.request.body["id"].as_str().unwrap();
                    accepted
                        .entry(event.to_owned())
                        .or_default()
                        .push(arrival.at);
                }
            }
        }
    }

    /// Waits until every booking is final: it is paid, has failed, or is still ready to be
    /// completed because a process was killed before it called the processor or supplier.
    async fn wait_for_final_bookings(&self, client: &Client) {
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
    async fn wait_for_events(&self, events: &[(String, Option<String>)], recipients: &[Recipient]) {
        let mut missing: Vec<(usize, &str)> = Vec::new();
        for (number, (_, subscription)) in recipients.iter().enumerate() {
            let own = events.iter();
            let own =
                own.filter(|(_, subscription_id)| is_for(subscription_id.as_deref(), subscription));
            missing.extend(own.map(|(event, _)| (number, event.as_str())));
        }
        while let count @ 1.. = missing.len() {
            eventually(&format!("{count} events to arrive"), async || {
                self.record_arrivals(recipients);
                let accepted = self.accepted.borrow();
                missing.retain(|(number, event)| !accepted[*number].contains_key(*event));
                (missing.len() < count).then_some(())
            })
            .await;
        }
    }
}

/// Returns an event's id and, if it is for one subscription only, that subscription's id.
fn event_and_subscription(event: &Value) -> (String, Option<String>) {
    let (id, subscription_id) = (&event["id"], &event["data"]["subscription_id"]);
    (
        id.as_str().unwrap().to_owned(),
        subscription_id.as_str().map(str::to_owned),
    )
}

/// Returns whether an event is for a subscription.
pub(super) fn is_for(subscription_id: Option<&str>, subscription: &Subscription) -> bool {
    subscription_id.is_none_or(|subscription_id| subscription_id == subscription.id)
}

/// Waits until no delivery is pending or published.
async fn wait_until_sent(client: &Client, subscription: &Subscription) {
    for status in ["PENDING", "PUBLISHED"] {
        let query = format!("?limit=1&status={status}");
        eventually(&format!("no delivery to be {status}"), async || {
            let listed = subscription.deliveries(client, &query).await;
            listed.list().is_empty().then_some(())
        })
        .await;
    }
}

impl LoadResult {
    /// Returns whether a process was killed while the outcome of a response at `at` may not have been
    /// stored yet.
    pub(super) fn was_killed_around(&self, at: Timestamp) -> bool {
        let sent = SignedDuration::from_secs(TIMEOUT_S);
        let stored = SignedDuration::from_secs(LEASE_S);
        self.was_killed_within(at - sent, at + stored)
    }

    pub(super) fn was_killed_within(&self, from: Timestamp, to: Timestamp) -> bool {
        let mut kills = self.kills.iter();
        kills.any(|kill| from <= *kill && *kill <= to)
    }
}
