use super::*;
use PluginCallOutcome as Outcome;

fn end(breaker: &CircuitBreaker, outcome: Outcome, times: u32) {
    for _ in 0..times {
        let permit = breaker.try_acquire().unwrap();
        breaker.record_outcome(permit, outcome, Some("detail"));
    }
}

/// Returns a breaker that consecutive traps have opened.
fn opened() -> CircuitBreaker {
    let breaker = CircuitBreaker::new();
    end(&breaker, Outcome::Trapped, CONSECUTIVE_TRAPS_MAX);
    breaker
}

async fn probe_after(breaker: &CircuitBreaker, delay: Duration) {
    tokio::time::advance(delay).await;
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Probe));
}

fn assert_open(breaker: &CircuitBreaker, retry_after: Duration) {
    assert_eq!(breaker.try_acquire(), Err(CircuitOpen { retry_after }));
}

#[tokio::test(start_paused = true)]
async fn circuit_opens_when_half_of_enough_calls_fail() {
    let breaker = CircuitBreaker::new();
    end(&breaker, Outcome::Succeeded, 10);
    end(&breaker, Outcome::TimedOut, 9);
    assert_eq!(breaker.health(), Health::Up, "19 calls are too few");
    end(&breaker, Outcome::TimedOut, 1);
    assert_eq!(breaker.health(), Health::Down);
    assert!(breaker.try_acquire().is_err());
}

#[tokio::test(start_paused = true)]
async fn plugin_is_degraded_when_a_fifth_of_calls_fail() {
    let breaker = CircuitBreaker::new();
    end(&breaker, Outcome::Succeeded, 16);
    end(&breaker, Outcome::Unavailable, 4);
    assert_eq!(
        breaker.report(),
        HealthReport {
            health: Health::Degraded,
            circuit: CircuitStatus::Closed,
            calls: 20,
            failures: 4,
            last_failure: Some("detail".to_owned())
        }
    );
}

#[tokio::test(start_paused = true)]
async fn circuit_opens_after_consecutive_traps() {
    let breaker = CircuitBreaker::new();
    end(&breaker, Outcome::Trapped, CONSECUTIVE_TRAPS_MAX - 1);
    end(&breaker, Outcome::Succeeded, 1);
    end(&breaker, Outcome::Trapped, CONSECUTIVE_TRAPS_MAX - 1);
    assert_eq!(breaker.health(), Health::Up);
    end(&breaker, Outcome::Trapped, 1);
    assert_eq!(breaker.health(), Health::Down);
}

#[tokio::test(start_paused = true)]
async fn refusal_counts_as_success_and_limit_is_ignored() {
    let breaker = CircuitBreaker::new();
    for outcome in [Outcome::NotFound, Outcome::Refused, Outcome::Declined] {
        end(&breaker, outcome, 30);
    }
    for outcome in [
        Outcome::RateLimited,
        Outcome::Overloaded,
        Outcome::Canceled,
        Outcome::Unsupported,
    ] {
        end(&breaker, outcome, 100);
    }
    let report = breaker.report();
    assert_eq!(
        (report.health, report.calls, report.failures),
        (Health::Up, 90, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn outcomes_outside_window_are_evicted() {
    let breaker = CircuitBreaker::new();
    end(&breaker, Outcome::Succeeded, 30);
    end(&breaker, Outcome::TimedOut, 10);
    assert_eq!(breaker.health(), Health::Degraded);
    tokio::time::advance(WINDOW + STEP * 2).await;
    assert_eq!(breaker.report().calls, 0);
    assert_eq!(breaker.health(), Health::Up);
}

#[tokio::test(start_paused = true)]
async fn single_probe_closes_circuit_or_doubles_delay() {
    let breaker = opened();
    assert_open(&breaker, PROBE_AFTER);

    probe_after(&breaker, PROBE_AFTER).await;
    assert!(breaker.try_acquire().is_err(), "a second probe was allowed");
    breaker.record_outcome(CallPermit::Probe, Outcome::Unavailable, None);
    assert_open(&breaker, PROBE_AFTER * 2);

    probe_after(&breaker, PROBE_AFTER * 2).await;
    breaker.record_outcome(CallPermit::Probe, Outcome::Succeeded, None);
    assert_eq!(breaker.health(), Health::Up);
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Normal));
}

#[tokio::test(start_paused = true)]
async fn canceled_or_lost_probe_does_not_block_next_probe() {
    let breaker = opened();
    probe_after(&breaker, PROBE_AFTER).await;
    breaker.record_outcome(CallPermit::Probe, Outcome::Canceled, None);
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Probe));
    probe_after(&breaker, PROBE_TIMEOUT).await;
}

#[tokio::test(start_paused = true)]
async fn late_failure_of_normal_call_does_not_end_probe() {
    let breaker = opened();
    probe_after(&breaker, PROBE_AFTER).await;
    breaker.record_outcome(CallPermit::Normal, Outcome::TimedOut, None);
    assert!(breaker.try_acquire().is_err());
    breaker.record_outcome(CallPermit::Probe, Outcome::Succeeded, None);
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Normal));
}
