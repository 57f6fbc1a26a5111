//! Tests of misbehaving plugins. Each row of the table is a component of its own, made by
//! `support::guest`; `http/offer.rs` of `tests` checks four of them through the API.
//!
//! | A plugin … | tested by |
//! |---|---|
//! | loops for ever | `loop_ends_at_deadline_and_lets_other_calls_run`, `loop_yields_on_single_thread`, `exceeded_limit_traps_with_reason`; over HTTP `misbehaving_plugin_fails_only_its_own_call` (`SPIN`) |
//! | takes memory | `exceeded_limit_traps_with_reason`, `guest_with_too_much_initial_memory_does_not_load`; `HOARD` |
//! | takes stack | `exceeded_limit_traps_with_reason` |
//! | takes table elements | `hostile_responses::table_limit_is_enforced_with_reason` |
//! | takes handles | `hostile_responses::handles_are_limited` |
//! | traps, in any function | `trap_fails_the_call_and_next_call_uses_fresh_instance`, `outcome_of_change_depends_on_sent_requests`, `traps::a_trap_in_any_function_is_an_error_of_that_call`, `flights::a_trap_in_any_function_is_an_error_of_that_call`, `loading::guest_that_cannot_be_described_or_linked_does_not_load`; `TRAP` |
//! | returns 100 MB | `hostile_responses::oversized_response_is_rejected`; `FLOOD` |
//! | reports more items than any response has | `reported_items_are_counted_by_operation_and_limited` |
//! | floods the log | `surplus_log_lines_are_dropped_without_error`, `exceeded_limit_traps_with_reason` |
//! | injects headers | `hostile_responses::headers_are_not_injected` |
//! | calls hosts and addresses that are not granted | `egress::ungranted_host_is_denied_with_grant_to_add`, `egress::a_granted_link_local_address_is_still_denied` |
//! | receives a decompression bomb | `egress::body_limit_counts_decompressed_bytes`, `egress::oversized_body_is_rejected_with_or_without_content_length` |
//! | has interfaces of another version | `hostile_responses::another_version_of_an_interface_does_not_load` |
//! | returns text that is not UTF-8 | `hostile_responses::invalid_utf_8_text_is_rejected` |
//! | returns another hotel, negative money or the bits of a NaN | `hostile_responses::invalid_response_is_rejected_with_its_field` |
//! | states that something does not exist, without a response | `hostile_responses::absence_is_believed_only_after_a_response` |

use crate::support::guest::Guest;
use crate::support::upstream::{Behaviour, Upstream};
use crate::support::{Bench, assert_errors, context, review_count, within};
use host_domain::hotel::supplier_api::HotelCancelRequest;
use host_domain::money::Currency;
use host_domain::supplier::{Capability, ChangeError, Health, ReadError};
use host_runtime::{PluginCallOutcome, PluginLimits, Supplier};
use std::time::Duration;
use tokio::time::Instant;

const LOOP: &str = "(loop $again (br $again))";

const GRANTED_TO_NOBODY: &str = "https://api.example.com/";

async fn read(supplier: &Supplier) -> Result<u32, ReadError> {
    review_count(supplier, GRANTED_TO_NOBODY, 0).await
}

async fn cancel(supplier: &Supplier, url: &str) -> ChangeError {
    cancel_within(supplier, url, Duration::from_secs(5)).await
}

async fn cancel_within(supplier: &Supplier, url: &str, time: Duration) -> ChangeError {
    let request = HotelCancelRequest {
        client_reference: "hbk_1-cancel".to_owned(),
        booking_client_reference: "hbk_1".to_owned(),
        supplier_reference: url.to_owned(),
        rooms: Vec::new(),
    };
    supplier
        .cancel_hotel(&within(time), request, Currency::USD)
        .await
        .unwrap_err()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_ends_at_deadline_and_lets_other_calls_run() {
    let bench = Bench::new();
    let looping = bench.load(&Guest::running(LOOP), &[]).await;
    let sound = bench.load(&Guest::quiet(), &[]).await;
    // The deadline lies before the CPU time limit, whose error would be different.
    let context = within(Duration::from_millis(200));
    let endless = looping.read_hotel_reviews(&context, "x".to_owned(), 0);
    let others = async {
        while Instant::now() < context.deadline {
            assert_eq!(read(&sound).await, Ok(0));
        }
    };
    let (response, ()) = tokio::join!(endless, others);
    let error =
        "TimedOut(\"hotel_content.read-reviews: no response before the deadline of the request, ";
    assert_errors(&[response], error);
}

#[tokio::test]
async fn call_ends_at_its_own_limit_and_names_it() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest::running(LOOP));
    spec.limits.call_ms_max = 50;
    let response = read(&bench.load_spec(spec).await).await;
    let reason = "hotel_content.read-reviews: no response before the limit of 50 ms for one call (limits.call_ms_max)";
    assert_eq!(response, Err(ReadError::TimedOut(reason.to_owned())));
}

#[tokio::test]
async fn loop_yields_on_single_thread() {
    let bench = Bench::new();
    let supplier = bench.load(&Guest::running(LOOP), &[]).await;
    let context = within(Duration::from_millis(200));
    let looping = supplier.read_hotel_reviews(&context, "x".to_owned(), 0);
    let mut turns = 0;
    let others = async {
        loop {
            turns += 1;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! { _ = looping => {}, () = others => {} }
    assert!(turns > 10, "others ran only {turns} times");
}

#[tokio::test]
async fn trap_fails_the_call_and_next_call_uses_fresh_instance() {
    let bench = Bench::new();
    // The guest traps if it finds data that an earlier call left behind.
    let leaves_traces = "(if (i32.load (i32.const 60000)) (then unreachable)) (i32.store (i32.const 60000) (i32.const 1))";
    let supplier = bench.load(&Guest::running(leaves_traces), &[]).await;
    for _ in 0..20 {
        assert_eq!(read(&supplier).await, Ok(0));
    }
    let supplier = bench.load(&Guest::running("unreachable"), &[]).await;
    assert!(
        matches!(read(&supplier).await, Err(ReadError::AdapterFailed(reason)) if reason.contains("trapped"))
    );
}

/// Code that exceeds a limit, a change of the limits, and a part of the failure's message.
type Excess = (&'static str, fn(&mut PluginLimits), &'static str);

#[tokio::test]
async fn exceeded_limit_traps_with_reason() {
    let greedy = "(loop $more (br_if $more (i32.ne (i32.const -1) (memory.grow (i32.const 16))))) unreachable";
    let floods = "(drop (memory.grow (i32.const 200))) (call $log (i32.const 1) (i32.const 0) (i32.const 9000000))";
    // The guest logs its name as an error, as the SDK does with the message of a panic.
    let panics = "(call $log (i32.const 3) (i32.const 12000) (i32.const 10)) unreachable";
    let cases: [Excess; 5] = [
        // The CPU time ends before the deadline of the call.
        (
            LOOP,
            |limits| limits.cpu_ms_max = 60,
            "hotel_content.read-reviews: the plugin used all of its CPU time: its limit is 60 ms \
             (limits.cpu_ms_max)",
        ),
        (
            greedy,
            |limits| limits.memory_bytes_max = 4 << 20,
            "more than its limit of 4194304 (limits.memory_bytes_max)",
        ),
        ("(call $recurse)", |_| (), "trapped"),
        (floods, |_| (), "trapped"),
        (panics, |_| (), "; its last error: test-guest"),
    ];
    for (code, limit, expected) in cases {
        let bench = Bench::new();
        let mut spec = bench.spec(&Guest::running(code));
        limit(&mut spec.limits);
        let response = read(&bench.load_spec(spec).await).await;
        assert!(
            matches!(&response, Err(ReadError::AdapterFailed(reason)) if reason.contains(expected)),
            "{code}: {response:?}"
        );
        assert_eq!(bench.sink.last_call().outcome, PluginCallOutcome::Trapped);
    }
}

#[tokio::test]
async fn guest_with_too_much_initial_memory_does_not_load() {
    let bench = Bench::new();
    let mut spec = bench.spec(&Guest {
        pages: 200,
        ..Guest::quiet()
    });
    spec.limits.memory_bytes_max = 4 << 20;
    bench.assert_not_loaded(spec, "DescribeFailed").await;
}

#[tokio::test]
async fn surplus_log_lines_are_dropped_without_error() {
    let bench = Bench::new();
    let chatty = "(local $i i32) (loop $more (call $log (i32.const 1) (i32.const 0) (i32.const 10)) \
                  (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 5000))))";
    let supplier = bench.load(&Guest::running(chatty), &[]).await;
    assert_eq!(read(&supplier).await, Ok(0));
}

#[tokio::test]
async fn reported_items_are_counted_by_operation_and_limited() {
    let bench = Bench::new();
    let report = |reason: u32, count: &str| {
        format!("(call $dropped (i32.const {reason}) (i32.const {count}))")
    };
    let reports = [
        report(0, "3"),
        report(1, "0"),
        report(2, "1"),
        report(3, "-1"),
        report(1, "1"),
    ];
    let guest = Guest {
        extra_imports: r#"(import "stopover:host/report@1.1.0" "dropped-items" (func $dropped (param i32 i32)))"#,
        extra_world: "import stopover:host/report@1.1.0;".to_owned(),
        on_describe: report(0, "7"),
        ..Guest::running(&reports.concat())
    };
    let supplier = bench.load(&guest, &[]).await;
    assert_eq!(*bench.sink.dropped.lock().unwrap(), []);
    let counted = [
        ("unreadable", 3),
        ("invalid-value", 1),
        ("unsupported", 99_996),
    ];
    let counted =
        counted.map(|(reason, count)| (Capability::HotelContent, reason.to_owned(), count));
    // The limit holds for each call alone.
    for _ in 0..2 {
        assert_eq!(read(&supplier).await, Ok(0));
        let dropped = std::mem::take(&mut *bench.sink.dropped.lock().unwrap());
        assert_eq!(dropped, counted);
    }
}

#[tokio::test]
async fn plugin_that_always_traps_is_down_and_not_called_until_its_reload() {
    let bench = Bench::new();
    let supplier = bench.load(&Guest::running("unreachable"), &[]).await;
    for _ in 0..5 {
        assert!(read(&supplier).await.is_err());
    }
    assert_eq!(supplier.health(), Health::Down);
    assert!(
        matches!(read(&supplier).await, Err(ReadError::Unavailable(reason)) if reason.contains("next call is allowed"))
    );
    let outcome = bench.sink.last_call().outcome;
    assert_eq!(outcome, PluginCallOutcome::CircuitOpen);
    let change = cancel(&supplier, GRANTED_TO_NOBODY).await;
    assert!(matches!(change, ChangeError::NotSent(_)), "{change:?}");
    let supplier = bench.load(&Guest::quiet(), &[]).await;
    assert_eq!(supplier.health(), Health::Up);
    assert_eq!(read(&supplier).await, Ok(0));
}

#[tokio::test]
async fn missing_export_is_unsupported() {
    let bench = Bench::new();
    let supplier = bench.load(&Guest::quiet(), &[]).await;
    let query = host_domain::hotel::supplier_api::PlaceQuery {
        text: "Rome".to_owned(),
        country: None,
        limit: 1,
    };
    let found = supplier.find_places(&context(), query).await;
    assert_eq!(found, Err(ReadError::Unsupported));
    let outcome = bench.sink.last_call().outcome;
    assert_eq!(outcome, PluginCallOutcome::Unsupported);
}

/// The other side of a change.
enum Receiver {
    /// The host is not granted.
    Denied,
    /// Nothing listens at the address.
    Closed,
    Responds(&'static str),
}

/// A guest that traps in a change, after its request or without one.
fn trapping(sends_on_change: bool) -> Guest {
    Guest {
        on_change: "unreachable".to_owned(),
        sends_on_change,
        ..Guest::default()
    }
}

fn ending(change_ends: &'static str) -> Guest {
    Guest {
        change_ends,
        ..Guest::default()
    }
}

/// The guest's statement about a change is compared with the requests that were sent.
#[tokio::test]
async fn outcome_of_change_depends_on_sent_requests() {
    use PluginCallOutcome as Outcome;
    use Receiver::{Closed, Denied, Responds};
    let (never_sends, sends) = (trapping(false), trapping(true));
    let [not_sent, limited, refused] = ["not-sent", "rate-limited", "refused"].map(ending);
    let reads = Guest {
        states_reads: true,
        ..ending("not-sent")
    };
    let refused_unasked = Guest {
        sends_on_change: false,
        ..ending("refused")
    };
    let not_granted = "NotSent(FailureReason { message: \"not-sent\", requires_correction: true })";
    let refusal = "Refused(Refusal { reason: NotCancellable, supplier_code: None, message: \"the supplier said no\" })";
    for (guest, receiver, expected, outcome) in [
        (&never_sends, Denied, "NotSent(", Outcome::Trapped),
        (&sends, Closed, "NotSent(", Outcome::Trapped),
        (&sends, Responds("200 OK"), "Unknown(", Outcome::Trapped),
        // The statement that nothing was sent is accepted only if it is true.
        (&not_sent, Denied, not_granted, Outcome::NotSent),
        (
            &not_sent,
            Responds("500 Oh"),
            "left the gateway",
            Outcome::Unknown,
        ),
        // A request of which the guest states that it changes nothing is none.
        (&reads, Responds("500 Oh"), "NotSent(", Outcome::NotSent),
        // A rate limit and a refusal are accepted if the request has a response that can state it.
        (
            &limited,
            Responds("429 Slow"),
            "RateLimited { retry_after_s: Some(7) }",
            Outcome::RateLimited,
        ),
        (&refused, Responds("409 No"), refusal, Outcome::Refused),
        // Without a response, the supplier has refused nothing.
        (&refused, Closed, "NotSent(", Outcome::NotSent),
        (
            &refused_unasked,
            Denied,
            "RefusedByAdapter(",
            Outcome::Refused,
        ),
        (&limited, Responds("503 Down"), "Unknown(", Outcome::Unknown),
        (&refused, Responds("502 No"), refusal, Outcome::Refused),
    ] {
        let bench = Bench::new();
        let upstream = match receiver {
            Receiver::Responds(status) => Some(Upstream::with_status(status).await),
            Receiver::Denied | Receiver::Closed => None,
        };
        let (origin, is_granted) = match (&receiver, &upstream) {
            (_, Some(upstream)) => (upstream.origin(), true),
            (Receiver::Denied, None) => (GRANTED_TO_NOBODY.to_owned(), false),
            (_, None) => (Upstream::closed_origin().await, true),
        };
        let grants = if is_granted { &[&*origin][..] } else { &[] };
        let supplier = bench.load(guest, grants).await;
        let change = format!("{:?}", cancel(&supplier, &origin).await);
        assert!(change.contains(expected), "{change}, not {expected}");
        assert_eq!(bench.sink.last_call().outcome, outcome, "{change}");
        if let Some(upstream) = upstream {
            assert_eq!(upstream.requests().len(), 1, "{change}");
        }
    }
}

#[tokio::test]
async fn timeout_of_silent_supplier_has_unknown_outcome() {
    let bench = Bench::new();
    let upstream = Upstream::start(Behaviour::Silence).await;
    let supplier = bench.load_for(&upstream).await;
    let change = cancel_within(&supplier, &upstream.origin(), Duration::from_millis(300)).await;
    assert!(matches!(change, ChangeError::Unknown(_)), "{change:?}");
}

#[tokio::test]
async fn dropped_call_is_recorded_as_canceled() {
    let bench = Bench::new();
    let upstream = Upstream::start(Behaviour::Silence).await;
    let supplier = bench.load_for(&upstream).await;
    let context = context();
    let call = supplier.read_hotel_reviews(&context, upstream.origin(), 0);
    let result = tokio::time::timeout(Duration::from_millis(200), call).await;
    assert!(result.is_err());
    assert_eq!(bench.sink.last_call().outcome, PluginCallOutcome::Canceled);
}

#[tokio::test]
async fn calls_above_plugin_limit_wait_and_are_then_rejected() {
    let bench = Bench::new();
    let upstream = Upstream::start(Behaviour::Silence).await;
    let mut spec = bench.granted_spec(&Guest::default(), &[&upstream.origin()]);
    spec.limits.calls_max = 1;
    spec.limits.queue_wait_ms = 50;
    let supplier = bench.load_spec(spec).await;
    let first = within(Duration::from_millis(400));
    let second = context();
    let (first, second) = tokio::join!(
        supplier.read_hotel_reviews(&first, upstream.origin(), 0),
        async {
            let second = supplier.read_hotel_reviews(&second, upstream.origin(), 0);
            (second.await, bench.sink.last_call().detail)
        },
    );
    assert!(matches!(first, Err(ReadError::TimedOut(_))), "{first:?}");
    let limit = "no call of 1 became free within 50 ms (limits.calls_max, limits.queue_wait_ms)";
    assert_eq!(second, (Err(ReadError::Overloaded), limit.to_owned()));
}

#[tokio::test]
async fn permits_are_shared_and_pool_is_never_exhausted_below_limit() {
    let bench = Bench::with_calls(2);
    let supplier = bench.load(&Guest::quiet(), &[]).await;
    let calls = (0..200).map(|_| read(&supplier));
    for response in futures::future::join_all(calls).await {
        assert!(
            matches!(response, Ok(0) | Err(ReadError::Overloaded)),
            "{response:?}"
        );
    }
    assert_eq!(read(&supplier).await, Ok(0));
}

/// An abandoned call keeps its permit until its guest is dropped.
#[tokio::test]
async fn abandoned_loops_do_not_block_other_calls() {
    let bench = Bench::with_calls(2);
    let looping = bench.load(&Guest::running(LOOP), &[]).await;
    let sound = bench.load(&Guest::quiet(), &[]).await;
    let mut given_up = 0;
    while given_up < 20 {
        let context = within(Duration::from_millis(50));
        let loops = [(); 2].map(|()| looping.read_hotel_reviews(&context, "x".to_owned(), 0));
        for response in futures::future::join_all(loops).await {
            match response {
                Err(ReadError::TimedOut(_)) => given_up += 1,
                // The last loops may still run, because on a busy machine a loop ends late.
                Err(ReadError::Overloaded) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(read(&sound).await, Ok(0));
    }
}
