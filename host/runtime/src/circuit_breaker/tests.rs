use super::*;

fn end(breaker: &CircuitBreaker, outcome: PluginCallOutcome, times: u32) {
    for _ in 0..times {
        let permit = breaker.try_acquire().unwrap();
        breaker.record_outcome(permit, outcome, Some("detail"));
    }
}

#[tokio::test(start_paused = true)]
async fn circuit_opens_when_half_of_enough_calls_fail() {
    let breaker = CircuitBreaker::new();
    end(&breaker, PluginCallOutcome::Succeeded, 10);
    end(&breaker, PluginCallOutcome::TimedOut, 9);
    assert_eq!(breaker.health(), Health::Up, "19 calls are too few");
    end(&breaker, PluginCallOutcome::TimedOut, 1);
    assert_eq!(breaker.health(), Health::Down);
    assert!(breaker.try_acquire().is_err());
}

#[tokio::test(start_paused = true)]
async fn plugin_is_degraded_when_a_fifth_of_calls_fail() {
    let breaker = CircuitBreaker::new();
    end(&breaker, PluginCallOutcome::Succeeded, 16);
    end(&breaker, PluginCallOutcome::Unavailable, 4);
    assert_eq!(
        breaker.report(),
        HealthReport {
            health: Health::Degraded,
            calls: 20,
            failures: 4,
            last_failure: Some("detail".to_owned())
        }
    );
}

#[tokio::test(start_paused = true)]
async fn circuit_opens_after_consecutive_traps() {
    let breaker = CircuitBreaker::new();
    end(
        &breaker,
        PluginCallOutcome::Trapped,
        CONSECUTIVE_TRAPS_MAX - 1,
    );
    end(&breaker, PluginCallOutcome::Succeeded, 1);
    end(
        &breaker,
        PluginCallOutcome::Trapped,
        CONSECUTIVE_TRAPS_MAX - 1,
    );
    assert_eq!(breaker.health(), Health::Up);
    end(&breaker, PluginCallOutcome::Trapped, 1);
    assert_eq!(breaker.health(), Health::Down);
}

#[tokio::test(start_paused = true)]
async fn refusal_counts_as_success_and_limit_is_ignored() {
    let breaker = CircuitBreaker::new();
    for outcome in [
        PluginCallOutcome::NotFound,
        PluginCallOutcome::Refused,
        PluginCallOutcome::Declined,
    ] {
        end(&breaker, outcome, 30);
    }
    for outcome in [
        PluginCallOutcome::RateLimited,
        PluginCallOutcome::Overloaded,
        PluginCallOutcome::Canceled,
        PluginCallOutcome::Unsupported,
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
    end(&breaker, PluginCallOutcome::Succeeded, 30);
    end(&breaker, PluginCallOutcome::TimedOut, 10);
    assert_eq!(breaker.health(), Health::Degraded);
    tokio::time::advance(WINDOW + STEP * 2).await;
    assert_eq!(breaker.report().calls, 0);
    assert_eq!(breaker.health(), Health::Up);
}

#[tokio::test(start_paused = true)]
async fn single_probe_closes_circuit_or_doubles_delay() {
    let breaker = CircuitBreaker::new();
    end(&breaker, PluginCallOutcome::Trapped, CONSECUTIVE_TRAPS_MAX);
    assert_eq!(
        breaker.try_acquire(),
        Err(CircuitOpen {
            retry_after: PROBE_AFTER
        })
    );

    tokio::time::advance(PROBE_AFTER).await;
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Probe));
    assert!(breaker.try_acquire().is_err(), "a second probe was allowed");
    breaker.record_outcome(CallPermit::Probe, PluginCallOutcome::Unavailable, None);
    assert_eq!(
        breaker.try_acquire(),
        Err(CircuitOpen {
            retry_after: PROBE_AFTER * 2
        })
    );

    tokio::time::advance(PROBE_AFTER * 2).await;
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Probe));
    breaker.record_outcome(CallPermit::Probe, PluginCallOutcome::Succeeded, None);
    assert_eq!(breaker.health(), Health::Up);
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Normal));
}

#[tokio::test(start_paused = true)]
async fn canceled_or_lost_probe_does_not_block_next_probe() {
    let breaker = CircuitBreaker::new();
    end(&breaker, PluginCallOutcome::Trapped, CONSECUTIVE_TRAPS_MAX);
    tokio::time::advance(PROBE_AFTER).await;
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Probe));
    breaker.record_outcome(CallPermit::Probe, PluginCallOutcome::Canceled, None);
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Probe));
    tokio::time::advance(PROBE_TIMEOUT).await;
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Probe));
}

#[tokio::test(start_paused = true)]
async fn late_failure_of_normal_call_does_not_end_probe() {
    let breaker = CircuitBreaker::new();
    end(&breaker, PluginCallOutcome::Trapped, CONSECUTIVE_TRAPS_MAX);
    tokio::time::advance(PROBE_AFTER).await;
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Probe));
    breaker.record_outcome(CallPermit::Normal, PluginCallOutcome::TimedOut, None);
    assert!(breaker.try_acquire().is_err());
    breaker.record_outcome(CallPermit::Probe, PluginCallOutcome::Succeeded, None);
    assert_eq!(breaker.try_acquire(), Ok(CallPermit::Normal));
}
