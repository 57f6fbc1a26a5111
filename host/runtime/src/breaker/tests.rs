use super::*;

fn end(breaker: &Breaker, outcome: Outcome, times: u32) {
    for _ in 0..times {
        let passage = breaker.pass().unwrap();
        breaker.ended(passage, outcome, Some("detail"));
    }
}

#[tokio::test(start_paused = true)]
async fn half_of_enough_calls_failing_opens_the_circuit() {
    let breaker = Breaker::new();
    end(&breaker, Outcome::Done, 10);
    end(&breaker, Outcome::TimedOut, 9);
    assert_eq!(breaker.health(), Health::Up, "19 calls say nothing yet");
    end(&breaker, Outcome::TimedOut, 1);
    assert_eq!(breaker.health(), Health::Down);
    assert!(breaker.pass().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_fifth_failing_is_degraded() {
    let breaker = Breaker::new();
    end(&breaker, Outcome::Done, 16);
    end(&breaker, Outcome::Unavailable, 4);
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
async fn traps_in_a_row_are_enough() {
    let breaker = Breaker::new();
    end(&breaker, Outcome::Trapped, TRAPS_IN_A_ROW - 1);
    end(&breaker, Outcome::Done, 1);
    end(&breaker, Outcome::Trapped, TRAPS_IN_A_ROW - 1);
    assert_eq!(breaker.health(), Health::Up);
    end(&breaker, Outcome::Trapped, 1);
    assert_eq!(breaker.health(), Health::Down);
}

#[tokio::test(start_paused = true)]
async fn a_definite_no_is_a_success_and_a_limit_counts_for_nothing() {
    let breaker = Breaker::new();
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
async fn old_outcomes_are_forgotten() {
    let breaker = Breaker::new();
    end(&breaker, Outcome::Done, 30);
    end(&breaker, Outcome::TimedOut, 10);
    assert_eq!(breaker.health(), Health::Degraded);
    tokio::time::advance(WINDOW + STEP * 2).await;
    assert_eq!(breaker.report().calls, 0);
    assert_eq!(breaker.health(), Health::Up);
}

#[tokio::test(start_paused = true)]
async fn one_probe_at_a_time_closes_the_circuit_or_waits_longer() {
    let breaker = Breaker::new();
    end(&breaker, Outcome::Trapped, TRAPS_IN_A_ROW);
    assert_eq!(
        breaker.pass(),
        Err(Open {
            retry_after: PROBE_AFTER
        })
    );

    tokio::time::advance(PROBE_AFTER).await;
    assert_eq!(breaker.pass(), Ok(Passage::Probe));
    assert!(breaker.pass().is_err(), "a second probe at once");
    breaker.ended(Passage::Probe, Outcome::Unavailable, None);
    assert_eq!(
        breaker.pass(),
        Err(Open {
            retry_after: PROBE_AFTER * 2
        })
    );

    tokio::time::advance(PROBE_AFTER * 2).await;
    assert_eq!(breaker.pass(), Ok(Passage::Probe));
    breaker.ended(Passage::Probe, Outcome::Done, None);
    assert_eq!(breaker.health(), Health::Up);
    assert_eq!(breaker.pass(), Ok(Passage::Ordinary));
}

#[tokio::test(start_paused = true)]
async fn a_canceled_or_lost_probe_does_not_block_the_next() {
    let breaker = Breaker::new();
    end(&breaker, Outcome::Trapped, TRAPS_IN_A_ROW);
    tokio::time::advance(PROBE_AFTER).await;
    assert_eq!(breaker.pass(), Ok(Passage::Probe));
    breaker.ended(Passage::Probe, Outcome::Canceled, None);
    assert_eq!(breaker.pass(), Ok(Passage::Probe));
    tokio::time::advance(PROBE_GIVEN_UP_AFTER).await;
    assert_eq!(breaker.pass(), Ok(Passage::Probe));
}

#[tokio::test(start_paused = true)]
async fn a_late_failure_of_an_ordinary_call_does_not_end_a_probe() {
    let breaker = Breaker::new();
    end(&breaker, Outcome::Trapped, TRAPS_IN_A_ROW);
    tokio::time::advance(PROBE_AFTER).await;
    assert_eq!(breaker.pass(), Ok(Passage::Probe));
    breaker.ended(Passage::Ordinary, Outcome::TimedOut, None);
    assert!(breaker.pass().is_err());
    breaker.ended(Passage::Probe, Outcome::Done, None);
    assert_eq!(breaker.pass(), Ok(Passage::Ordinary));
}
