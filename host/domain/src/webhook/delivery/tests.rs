//! The complete state × event table of a delivery, its retry schedule, and the rules for replays.

use super::*;
use proptest::prelude::*;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const STEPS_S: [i64; 4] = [60, 300, 1800, 5400];
const ATTEMPT_MS: i64 = 10_000;
const REPLAY: ReplayPolicy = ReplayPolicy {
    pending_after_s: 60,
    published_after_s: 8100,
};
const IN_TIME: RetryAfterLimit = RetryAfterLimit::WithinTotal {
    total_ms: REPLAY.published_after_s * 1000,
    attempt_ms: ATTEMPT_MS,
};

fn pending() -> Delivery {
    let (event, subscription) = (EventId::from_bits(1), SubscriptionId::from_bits(2));
    Delivery {
        id: Delivery::derive_id(&event, &subscription).unwrap(),
        subscription,
        event,
        state: DeliveryState::Pending,
        generation: 0,
        attempts: 0,
        created_at: NOW,
        pending_since: NOW,
    }
}

fn published(attempts: i64) -> Delivery {
    Delivery {
        state: DeliveryState::Published {
            at: NOW,
            next_at: NOW,
        },
        attempts,
        ..pending()
    }
}

/// Returns a delivery whose first attempt has this result.
fn answered(result: DeliveryResult) -> Delivery {
    published(0).apply(answered_with(0, result), NOW).unwrap()
}

fn states() -> [(&'static str, Delivery); 5] {
    [
        ("PENDING", pending()),
        ("PUBLISHED, no attempt", published(0)),
        ("PUBLISHED, all attempts but the last", published(4)),
        ("DELIVERED", answered(DeliveryResult::Accepted)),
        ("FAILED", answered(DeliveryResult::Gone)),
    ]
}

fn retry(jitter_permille: i64) -> RetryPolicy<'static> {
    RetryPolicy {
        delays_s: &STEPS_S,
        jitter_permille,
        retry_after_limit: RetryAfterLimit::TwiceDelay,
    }
}

fn answered_with(generation: i64, result: DeliveryResult) -> DeliveryEvent<'static> {
    DeliveryEvent::AttemptFinished {
        generation,
        result,
        retry_policy: retry(0),
    }
}

fn not_taken(retry_after_s: Option<i64>) -> DeliveryResult {
    DeliveryResult::Failed { retry_after_s }
}

fn events() -> [(&'static str, DeliveryEvent<'static>); 6] {
    let finished = |result| answered_with(0, result);
    let not_allowed = finished(DeliveryResult::UrlNotAllowed);
    [
        ("claimed", DeliveryEvent::Claimed),
        ("finished: accepted", finished(DeliveryResult::Accepted)),
        ("finished: failed", finished(not_taken(None))),
        ("finished: gone", finished(DeliveryResult::Gone)),
        ("finished: url not allowed", not_allowed),
        ("expired", DeliveryEvent::Expired),
    ]
}

#[test]
fn transition_table_matches_snapshot() {
    let mut table = String::new();
    for (name, delivery) in states() {
        table.push_str(&format!("{name}\n"));
        for (event_name, event) in events() {
            let after = delivery.clone().apply(event, NOW);
            let after = after.map_or("nothing".to_owned(), |after| shown(&after));
            table.push_str(&format!("  {event_name:25} -> {}\n", after.trim_end()));
        }
        for (when, wait_s) in [("early", 60), ("after a minute", 61), ("late", 8101)] {
            let after = match delivery.clone().replay(REPLAY, NOW.plus_s(wait_s)) {
                Ok(again) => format!("{}, replay {}", again.status().as_str(), again.generation),
                Err(refused) => refused.to_string(),
            };
            table.push_str(&format!("  {:25} -> {after}\n", format!("replay {when}")));
        }
    }
    insta::assert_snapshot!("delivery_table", table);
}

fn shown(delivery: &Delivery) -> String {
    let status = delivery.status().as_str();
    let next = delivery.next_at().map(|at| at.since(NOW) / 1000);
    let next = next.map(|wait_s| format!("in {wait_s} s"));
    let why = delivery
        .failure()
        .map(|(_, reason)| reason.as_str().to_owned());
    let rest = next.or(why).unwrap_or_default();
    format!("{status:9} after {} attempts {rest}", delivery.attempts)
}

#[test]
fn attempts_follow_schedule_until_retries_are_exhausted() {
    use DeliveryFailureReason as Reason;
    for (outcome, reason) in [
        (not_taken(None), Reason::RetriesExhausted),
        (DeliveryResult::UrlNotAllowed, Reason::UrlNotAllowed),
    ] {
        let mut delivery = pending().apply(DeliveryEvent::Claimed, NOW).unwrap();
        let mut waits_s = Vec::new();
        let mut now = NOW;
        loop {
            delivery = delivery.apply(answered_with(0, outcome), now).unwrap();
            let Some(next_at) = delivery.next_at() else {
                break;
            };
            waits_s.push(next_at.since(now) / 1000);
            now = next_at;
        }
        assert_eq!(waits_s, STEPS_S);
        assert_eq!(delivery.attempts, 5);
        assert_eq!(delivery.failure(), Some((now, reason)));
    }
}

/// Returns when the last attempt ends. Each tuple of `attempts` has an attempt's duration, its
/// jitter, and its `Retry-After`.
fn last_end(delays_s: &[i64], attempts: &[(i64, i64, Option<i64>)]) -> Timestamp {
    let mut delivery = pending().apply(DeliveryEvent::Claimed, NOW).unwrap();
    let mut now = NOW;
    for (takes_ms, jitter_permille, retry_after_s) in attempts.iter().cycle() {
        now = now.plus_ms(*takes_ms);
        let event = DeliveryEvent::AttemptFinished {
            generation: 0,
            result: not_taken(*retry_after_s),
            retry_policy: RetryPolicy {
                delays_s,
                jitter_permille: *jitter_permille,
                retry_after_limit: IN_TIME,
            },
        };
        delivery = delivery.apply(event, now).unwrap();
        match delivery.next_at() {
            Some(next_at) => now = next_at,
            None => break,
        }
    }
    assert_eq!(usize::try_from(delivery.attempts), Ok(delays_s.len() + 1));
    now
}

proptest! {
    #[test]
    fn last_attempt_ends_in_time_for_any_retry_after(
        attempts in proptest::collection::vec(
            (0..=ATTEMPT_MS, 0..=JITTER_PERMILLE_MAX, proptest::option::of(any::<u32>())),
            5,
        )
    ) {
        let attempts = attempts.into_iter().map(|(takes_ms, jitter_permille, asked_s)| {
            (takes_ms, jitter_permille, asked_s.map(i64::from))
        });
        let end = last_end(&STEPS_S, &attempts.collect::<Vec<_>>());
        prop_assert!(end <= NOW.plus_s(REPLAY.published_after_s), "{end}");
    }
}

#[test]
fn retry_after_uses_all_remaining_time_and_never_shortens_schedule() {
    let greedy = [(ATTEMPT_MS, JITTER_PERMILLE_MAX, Some(i64::MAX))];
    let patient = NOW.plus_s(REPLAY.published_after_s);
    assert_eq!(last_end(&STEPS_S, &greedy), patient);
    // The configured delays may exceed the replay limit.
    let (long, prompt) = ([9000, 60], [(0, 0, Some(9001))]);
    assert_eq!(last_end(&long, &prompt), NOW.plus_s(9060));
}

#[test]
fn retry_delay_is_lengthened_by_jitter_and_never_shortened() {
    for (jitter_permille, retry_after_s, wait_ms) in [
        (0, None, 60_000),
        (50, None, 63_000),
        (500, None, 63_000),
        (-5, None, 60_000),
        (0, Some(1), 60_000),
        (50, Some(62), 63_000),
        (0, Some(90), 90_000),
        (0, Some(121), 120_000),
        (0, Some(i64::MAX), 120_000),
        (0, Some(-1), 60_000),
    ] {
        let event = DeliveryEvent::AttemptFinished {
            generation: 0,
            result: not_taken(retry_after_s),
            retry_policy: retry(jitter_permille),
        };
        let transition = published(0).apply(event, NOW).unwrap();
        let waited = transition.next_at().unwrap().since(NOW);
        assert_eq!(waited, wait_ms, "{jitter_permille} {retry_after_s:?}");
    }
}

#[test]
fn result_of_older_generation_changes_nothing() {
    let late = NOW.plus_s(8101);
    let again = published(2).replay(REPLAY, late).unwrap();
    assert_eq!((again.generation, again.attempts), (1, 0));
    assert_eq!(again.next_at(), Some(late));
    let taken = again.apply(DeliveryEvent::Claimed, late).unwrap();
    for outcome in [
        DeliveryResult::Accepted,
        not_taken(None),
        DeliveryResult::Gone,
    ] {
        let late_answer = answered_with(0, outcome);
        assert_eq!(taken.clone().apply(late_answer, late), None);
    }
    let own = answered_with(1, DeliveryResult::Accepted);
    let delivered = taken.apply(own, late).unwrap();
    assert_eq!(delivered.delivered_at(), Some(late));
}

#[test]
fn replay_resets_state_and_attempts() {
    let again = answered(DeliveryResult::Gone).replay(REPLAY, NOW).unwrap();
    let expected = Delivery {
        generation: 1,
        ..pending()
    };
    assert_eq!(again, expected);
}
