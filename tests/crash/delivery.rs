//! A load test of deliveries: three of ten receivers refuse, hang, disconnect and fail by turns,
//! and hosts are killed at random. No event is lost, every retry is on schedule, and a duplicate
//! was being sent when a process was killed.
//!
//! `STOPOVER_TEST_EVENTS` sets the number of events, and `STOPOVER_TEST_SEED` repeats the kills and
//! faults of an earlier run.

mod day;
mod past;

use crate::SOON;
use day::{Day, End, is_for};
use jiff::SignedDuration;
use past::Past;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use tests::{Database, Receiver, Server, ServerOptions, Subscription, on_both_databases};

/// Number of receivers, each with a subscription to all events.
const RECEIVERS: usize = 10;
/// Number of receivers that have faults.
const BAD: usize = 3;
/// Default number of events.
const EVENTS: usize = 200;
/// Timeout of a delivery attempt.
const TIMEOUT_S: i64 = 2;
/// Time by which a lease outlasts the timeout.
const LEASE_S: i64 = 3;
/// Maximum number of deliveries that a process leases for one subscription. Their outcomes are lost if
/// the process is killed.
const HELD_MAX: usize = 128;
/// Maximum delay of a retry after its due time. On an idle machine the delay is much shorter.
const LATE_MAX: SignedDuration = SignedDuration::from_secs(20);

/// Retry delays after the first attempt. They are more than any series of faults needs.
fn steps_s() -> Vec<i64> {
    let mut steps = vec![1, 1, 2, 2];
    steps.resize(40, 3);
    steps
}

fn options(database: Database) -> ServerOptions {
    let steps = steps_s();
    let config = format!(
        "[webhooks]\nsubscription_retry_s = {steps:?}\ntimeout_s = {TIMEOUT_S}\n\
         [limits]\nrequests_per_s = 100000\nburst = 100000",
    );
    let soon = SOON.replace("lease_s = 1", &format!("lease_s = {LEASE_S}"));
    ServerOptions::on(database).config(&soon).config(&config)
}

async fn start(options: &ServerOptions) -> Vec<Server> {
    let mut hosts = vec![Server::start_with_own_sandbox(options.clone()).await];
    if options.database == Database::Postgres {
        hosts.push(hosts[0].start_another_host(options).await);
    }
    hosts
}

fn environment<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

async fn every_event_arrives_despite_failing_receivers_and_killed_hosts(database: Database) {
    let seed = environment("STOPOVER_TEST_SEED");
    let seed = seed.unwrap_or_else(|| uuid::Uuid::now_v7().as_u64_pair().1);
    let events = environment("STOPOVER_TEST_EVENTS").unwrap_or(EVENTS);
    say(&format!("{database:?}: {events} events, seed {seed}"));
    let options = options(database);
    let hosts = start(&options).await;
    let client = hosts[0].client();
    let mut recipients = Vec::new();
    for _ in 0..RECEIVERS {
        let receiver = Receiver::start();
        let subscription = Subscription::create(&client, &receiver.url).await;
        recipients.push((receiver, subscription));
    }
    let began = Instant::now();
    let day = Day::new(seed, events, RECEIVERS);
    let end = day.pass(hosts, recipients, &options).await;
    let took = began.elapsed().as_secs_f64();
    let mut count = Count::default();
    for number in 0..RECEIVERS {
        count.check(&end, number).await;
    }
    let lateness = count.lateness();
    let Count {
        deliveries,
        retries,
        duplicates,
        failures,
        ..
    } = count;
    assert!(retries > 0, "the run had no retries, so it tested nothing");
    assert!(duplicates <= end.kills.len() * RECEIVERS * HELD_MAX);
    let a_second = f64::from(u32::try_from(deliveries).unwrap()) / took;
    say(&format!(
        "{database:?}: {} events ({} bookings), {deliveries} deliveries in {took:.1} s, {a_second:.0}/s; \
         {} requests, {retries} retries, {failures:?}; {} kills; {duplicates} duplicates; 0 lost; {lateness}",
        end.events.len(),
        end.bookings,
        end.requests,
        end.kills.len(),
    ));
}

/// Counts of what was checked.
#[derive(Default)]
struct Count {
    deliveries: usize,
    retries: usize,
    duplicates: usize,
    failures: BTreeMap<String, usize>,
    late: Vec<SignedDuration>,
}

impl Count {
    /// Checks that a recipient got all events that it was to get.
    async fn check(&mut self, end: &End, number: usize) {
        let ((_, subscription), taken) = (&end.recipients[number], &end.taken[number]);
        let pasts = Past::all(&end.hosts[0].client(), subscription).await;
        let pasts = pasts.iter().map(|past| (past.event.as_str(), past));
        let pasts: HashMap<&str, &Past> = pasts.collect();
        for (event, only) in &end.events {
            if is_for(only.as_deref(), subscription) {
                let is_recorded = pasts.contains_key(event.as_str());
                assert!(is_recorded, "{event} was not recorded");
                assert!(taken.contains_key(event), "{event} did not arrive");
            }
        }
        for (event, past) in &pasts {
            self.deliveries += 1;
            self.check_schedule(end, past);
            for pair in taken[*event].windows(2) {
                self.duplicates += 1;
                let is_excused = end.killed_about(pair[0]) || past.has_missed(pair[0]);
                assert!(is_excused, "{} arrived again: {pair:?}", past.id);
            }
        }
    }

    fn check_schedule(&mut self, end: &End, past: &Past) {
        for (from, to) in past.waits(&steps_s()) {
            let late = to.duration_since(from);
            self.retries += 1;
            assert!(!late.is_negative(), "{} came {late:?} too early", past.id);
            if !end.killed_within(from, to) {
                assert!(late < LATE_MAX, "{} was attempted {late:?} late", past.id);
                self.late.push(late);
            }
        }
        for attempt in &past.attempts {
            if let Some(failure) = attempt.failure() {
                *self.failures.entry(failure).or_default() += 1;
            }
        }
    }

    fn lateness(&mut self) -> String {
        self.late.sort_unstable();
        let at = |percent: usize| {
            let index = (self.late.len() * percent / 100).min(self.late.len().saturating_sub(1));
            self.late.get(index).map_or(0, |late| late.as_millis())
        };
        let count = self.late.len();
        format!(
            "delay of {count} retries not affected by a kill, ms: p50 {}, p90 {}, p99 {}, max {}",
            at(50),
            at(90),
            at(99),
            at(100)
        )
    }
}

#[expect(
    clippy::print_stderr,
    reason = "numbers and seeds are printed for the reader of a test's output"
)]
fn say(what: &str) {
    eprintln!("{what}");
}

on_both_databases! {
    every_event_arrives_despite_failing_receivers_and_killed_hosts,
}
