//! A load test of deliveries: three of ten receivers refuse, hang, disconnect and fail by turns,
//! and gateway processes are killed at random. No event is lost, every retry is on schedule, and an
//! event is delivered twice only if it was being sent when a process was killed.
//!
//! `STOPOVER_TEST_EVENTS` sets the number of events, and `STOPOVER_TEST_SEED` repeats the kills and
//! faults of an earlier run.

mod delivery_history;
mod load_run;

use crate::SHORT_DELAYS;
use delivery_history::DeliveryHistory;
use jiff::SignedDuration;
use load_run::{LoadResult, LoadRun, is_for};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use tests::{Database, Receiver, Server, ServerOptions, Subscription, on_both_databases};

/// Number of receivers, each with a subscription to all events.
const RECEIVERS: usize = 10;
/// Number of receivers that have faults.
const FAULTY_RECEIVERS: usize = 3;
/// Default number of events.
const EVENTS: usize = 200;
/// Timeout of a delivery attempt.
const TIMEOUT_S: i64 = 2;
/// Time by which a lease outlasts the timeout.
const LEASE_S: i64 = 3;
/// Maximum number of deliveries that a process leases for one subscription. Their outcomes are lost if
/// the process is killed.
const LEASED_MAX: usize = 128;
/// Maximum delay of a retry after its due time. On an idle machine the delay is much shorter.
const DELAY_MAX: SignedDuration = SignedDuration::from_secs(20);

/// Retry delays after the first attempt. They are more than any series of faults needs.
fn retry_delays_s() -> Vec<i64> {
    let mut delays = vec![1, 1, 2, 2];
    delays.resize(40, 3);
    delays
}

fn options(database: Database) -> ServerOptions {
    let delays = retry_delays_s();
    let config = format!(
        "[webhooks]\nsubscription_retry_s = {delays:?}\ntimeout_s = {TIMEOUT_S}\n\
         [limits]\nrequests_per_s = 100000\nburst = 100000",
    );
    let short_delays = SHORT_DELAYS.replace("lease_s = 1", &format!("lease_s = {LEASE_S}"));
    ServerOptions::on(database)
        .config(&short_delays)
        .config(&config)
}

async fn start(options: &ServerOptions) -> Vec<Server> {
    let mut processes = vec![Server::start_with_own_sandbox(options.clone()).await];
    if options.database == Database::Postgres {
        processes.push(processes[0].start_another_process(options).await);
    }
    processes
}

/// Parses an environment variable.
fn environment<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

async fn every_event_arrives_despite_failing_receivers_and_killed_processes(database: Database) {
    let seed = environment("STOPOVER_TEST_SEED");
    let seed = seed.unwrap_or_else(|| uuid::Uuid::now_v7().as_u64_pair().1);
    let events = environment("STOPOVER_TEST_EVENTS").unwrap_or(EVENTS);
    print(&format!("{database:?}: {events} events, seed {seed}"));
    let options = options(database);
    let processes = start(&options).await;
    let client = processes[0].client();
    let mut recipients = Vec::new();
    for _ in 0..RECEIVERS {
        let receiver = Receiver::start();
        let subscription = Subscription::create(&client, &receiver.url).await;
        recipients.push((receiver, subscription));
    }
    let began = Instant::now();
    let run = LoadRun::new(seed, events, RECEIVERS);
    let result = run.execute(processes, recipients, &options).await;
    let took = began.elapsed().as_secs_f64();
    let mut statistics = Statistics::default();
    for number in 0..RECEIVERS {
        statistics.check(&result, number).await;
    }
    let delays = statistics.summarize_delays();
    let Statistics {
        deliveries,
        retries,
        duplicates,
        failures,
        ..
    } = statistics;
    assert!(retries > 0, "the run had no retries, so it tested nothing");
    assert!(duplicates <= result.kills.len() * RECEIVERS * LEASED_MAX);
    let per_second = f64::from(u32::try_from(deliveries).unwrap()) / took;
    print(&format!(
        "{database:?}: {} events ({} bookings), {deliveries} deliveries in {took:.1} s, {per_second:.0}/s; \
         {} requests, {retries} retries, {failures:?}; {} kills; {duplicates} duplicates; 0 lost; {delays}",
        result.events.len(),
        result.bookings,
        result.requests,
        result.kills.len(),
    ));
}

/// Counts of what was checked, and the delays of retries.
#[derive(Default)]
struct Statistics {
    deliveries: usize,
    retries: usize,
    duplicates: usize,
    failures: BTreeMap<String, usize>,
    delays: Vec<SignedDuration>,
}

impl Statistics {
    /// Checks that a recipient got all events that it was to get.
    async fn check(&mut self, result: &LoadResult, number: usize) {
        let ((_, subscription), accepted) = (&result.recipients[number], &result.accepted[number]);
        let histories =
            DeliveryHistory::read_all(&result.processes[0].client(), subscription).await;
        let histories = histories
            .iter()
            .map(|history| (history.event.as_str(), history));
        let histories: HashMap<&str, &DeliveryHistory> = histories.collect();
        for (event, subscription_id) in &result.events {
            if is_for(subscription_id.as_deref(), subscription) {
                let is_recorded = histories.contains_key(event.as_str());
                assert!(is_recorded, "{event} was not recorded");
                assert!(accepted.contains_key(event), "{event} did not arrive");
            }
        }
        for (event, history) in &histories {
            self.deliveries += 1;
            self.check_schedule(result, history);
            for pair in accepted[*event].windows(2) {
                self.duplicates += 1;
                let is_explained =
                    result.was_killed_around(pair[0]) || history.has_lost_response(pair[0]);
                assert!(is_explained, "{} arrived again: {pair:?}", history.id);
            }
        }
    }

    fn check_schedule(&mut self, result: &LoadResult, history: &DeliveryHistory) {
        for (from, to) in history.retries(&retry_delays_s()) {
            let delay = to.duration_since(from);
            self.retries += 1;
            assert!(
                !delay.is_negative(),
                "{} came {delay:?} too early",
                history.id
            );
            if !result.was_killed_within(from, to) {
                assert!(
                    delay < DELAY_MAX,
                    "{} was attempted {delay:?} late",
                    history.id
                );
                self.delays.push(delay);
            }
        }
        for attempt in &history.attempts {
            if let Some(failure) = attempt.failure() {
                *self.failures.entry(failure).or_default() += 1;
            }
        }
    }

    fn summarize_delays(&mut self) -> String {
        self.delays.sort_unstable();
        let at = |percent: usize| {
            let index =
                (self.delays.len() * percent / 100).min(self.delays.len().saturating_sub(1));
            self.delays.get(index).map_or(0, |delay| delay.as_millis())
        };
        let count = self.delays.len();
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
fn print(what: &str) {
    eprintln!("{what}");
}

on_both_databases! {
    every_event_arrives_despite_failing_receivers_and_killed_processes,
}
