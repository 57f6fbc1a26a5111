//! Counted deliveries on a bad day: three of ten receivers refuse, hang, cut and fail by
//! turns, and hosts are killed at random. Nothing is lost, every retry is on schedule,
//! and what comes twice was on its way when a host was killed.
//!
//! `STOPOVER_TEST_EVENTS` makes the day longer, `STOPOVER_TEST_SEED` has its kills
//! and spells again.

mod day;
mod past;

use crate::SOON;
use day::{Day, End, is_for};
use jiff::SignedDuration;
use past::Past;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use tests::{Database, Receiver, Server, ServerOptions, Subscription, on_both_databases};

/// Receivers, each with a subscription to everything.
const RECEIVERS: usize = 10;
/// Of those, the first so many have bad spells.
const BAD: usize = 3;
/// Unless the environment says otherwise.
const EVENTS: usize = 200;
/// A receiver has so long for its answer.
const TIMEOUT_S: i64 = 2;
/// A claim is good for so long beyond that.
const LEASE_S: i64 = 3;
/// What a host holds at most of one subscription: what it can lose the outcomes of.
const HELD_MAX: usize = 128;
/// A retry is begun so long after it was due, at most; much sooner on a machine that
/// has nothing else to do.
const LATE_MAX: SignedDuration = SignedDuration::from_secs(20);

/// Attempts after the first one: more than fit into any series of bad spells.
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

async fn every_event_arrives_on_a_bad_day(database: Database) {
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
    assert!(retries > 0, "the day was not bad");
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

/// What is counted while it is checked.
#[derive(Default)]
struct Count {
    deliveries: usize,
    retries: usize,
    duplicates: usize,
    failures: BTreeMap<String, usize>,
    late: Vec<SignedDuration>,
}

impl Count {
    /// All that a recipient was to get, and all that it got.
    async fn check(&mut self, end: &End, number: usize) {
        let ((_, subscription), taken) = (&end.recipients[number], &end.taken[number]);
        let pasts = Past::all(&end.hosts[0].client(), subscription).await;
        let pasts: HashMap<&str, &Past> = pasts
            .iter()
            .map(|past| (past.event.as_str(), past))
            .collect();
        for (event, only) in &end.events {
            if is_for(only.as_deref(), subscription) {
                assert!(
                    pasts.contains_key(event.as_str()),
                    "{event} was not recorded"
                );
                assert!(taken.contains_key(event), "{event} is lost");
            }
        }
        for (event, past) in &pasts {
            self.deliveries += 1;
            self.check_schedule(end, past);
            for pair in taken[*event].windows(2) {
                self.duplicates += 1;
                let is_excused = end.killed_about(pair[0]) || past.has_missed(pair[0]);
                assert!(
                    is_excused,
                    "{} came again: {pair:?} of {:?}",
                    past.id, taken[*event]
                );
            }
        }
    }

    fn check_schedule(&mut self, end: &End, past: &Past) {
        for (from, to) in past.waits(&steps_s()) {
            let late = to.duration_since(from);
            self.retries += 1;
            assert!(
                !late.is_negative(),
                "{} was tried {late:?} too soon",
                past.id
            );
            if !end.killed_within(from, to) {
                assert!(late < LATE_MAX, "{} was tried {late:?} late", past.id);
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
            "late of {count} retries without a kill meanwhile, ms: p50 {}, p90 {}, p99 {}, max {}",
            at(50),
            at(90),
            at(99),
            at(100)
        )
    }
}

#[expect(
    clippy::print_stderr,
    reason = "numbers and seeds are for who reads a test's output"
)]
fn say(what: &str) {
    eprintln!("{what}");
}

on_both_databases! {
    every_event_arrives_on_a_bad_day,
}
