//! Benchmark of a small plugin call: circuit breaker, permits, a fresh instance, the transfer of
//! the response, and the record. It also measures the memory that waiting calls hold. Each result
//! is one JSON line. If a component is given as an argument, the benchmark also measures a call
//! whose only request is denied.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a failed step must abort the benchmark with a message"
)]

#[path = "../tests/it/support/mod.rs"]
#[expect(dead_code, reason = "the support module is shared with tests")]
mod support;

use host_domain::hotel::supplier_api::PlaceQuery;
use host_runtime::{PluginSpec, Supplier};
use std::time::{Duration, Instant};
use support::guest::Guest;
use support::upstream::{Behaviour, Upstream};
use support::{Bench, context, id, within};

const CALLS: usize = 20_000;
const WAITING: usize = 400;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let bench = Bench::with_calls(1_024);
    println!(r#"{{"name":"idle","resident_kb":{}}}"#, resident_kb());
    let guest = Guest {
        sends_on_read: false,
        ..Guest::default()
    };
    bench.load(&guest, &[]).await;
    let again = bench.runtime.reload(&id()).await.unwrap();
    let load_us = again.load_time.as_micros();
    println!(r#"{{"name":"load_from_kept_code","us":{load_us}}}"#);
    small_calls(&bench.runtime.supplier(&id()).unwrap()).await;
    waiting_calls(&bench).await;
    for component in std::env::args()
        .skip(1)
        .filter(|argument| argument.ends_with(".wasm"))
    {
        refused_requests(&bench, &component).await;
    }
}

async fn small_calls(supplier: &Supplier) {
    let context = within(Duration::from_secs(60));
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let began = Instant::now();
        let reviews = supplier.read_hotel_reviews(&context, "h1".to_owned(), 1);
        reviews.await.unwrap();
        times.push(began.elapsed());
    }
    print("small_call", times);
}

async fn refused_requests(bench: &Bench, component: &str) {
    let spec = PluginSpec::new(id(), component.into());
    bench.load_spec(spec).await;
    let calls = CALLS / 10;
    let mut times = Vec::with_capacity(calls);
    for call in 0..calls {
        if call % 15 == 0 {
            // The circuit opens after twenty failures, so the plugin is reloaded before that.
            bench.runtime.reload(&id()).await.unwrap();
        }
        let supplier = bench.runtime.supplier(&id()).unwrap();
        let query = PlaceQuery {
            text: "Rome".to_owned(),
            country: None,
            limit: 5,
        };
        let context = context();
        let began = Instant::now();
        let places = supplier.find_places(&context, query).await;
        times.push(began.elapsed());
        assert!(places.is_err());
    }
    print(component, times);
}

/// Measures the memory of a call whose supplier does not respond, including its connection.
async fn waiting_calls(bench: &Bench) {
    let upstream = Upstream::start(Behaviour::Silence).await;
    let mut spec = bench.spec(&Guest::default());
    spec.grants = vec![upstream.origin().parse().unwrap()];
    spec.limits.calls_max = u32::try_from(WAITING).unwrap();
    let supplier = bench.load_spec(spec).await;
    let before = resident_kb();
    let context = within(Duration::from_secs(3));
    let calls = (0..WAITING).map(|_| supplier.read_hotel_reviews(&context, upstream.origin(), 0));
    let calls = futures::future::join_all(calls);
    let waited = tokio::time::timeout(Duration::from_secs(2), calls).await;
    assert!(waited.is_err(), "the upstream sent a response");
    let kb = resident_kb().saturating_sub(before) / WAITING;
    println!(
        r#"{{"name":"waiting_call","calls":{WAITING},"asked":{},"resident_kb_each":{kb}}}"#,
        upstream.requests().len()
    );
}

fn print(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| {
        times
            .get(times.len() * percent / 100)
            .map_or(0, Duration::as_nanos)
    };
    println!(
        r#"{{"name":"{name}","calls":{},"p50_ns":{},"p99_ns":{}}}"#,
        times.len(),
        at(50),
        at(99)
    );
}

fn resident_kb() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
