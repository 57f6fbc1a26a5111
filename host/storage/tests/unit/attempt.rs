//! Remote calls that may change data: each is recorded, and none is sent twice.

use super::*;
use host_domain::remote_call::AttemptOutcome;

on_both_databases!(
    attempt_is_stored_before_sending_and_updated_with_its_outcome,
    reference_of_call_that_may_have_happened_is_rejected,
    calls_of_one_unit_are_numbered,
    concurrent_calls_with_one_reference_record_one_attempt,
    unresolved_attempts_returns_old_calls_without_outcome,
    reopened_attempt_is_unresolved_again,
);

pub(super) fn call(number: u32) -> NewAttempt {
    let id = AttemptId::from_bits(u128::from(number));
    new_attempt(id, &BookingId::from_bits(1), "bkg_1")
}

fn sending(call: &NewAttempt, at: Timestamp) -> UnitOfWork {
    unit_at(at, |write| write.record_attempt(&tenant(), call))
}

fn finishing(call: &NewAttempt, outcome: AttemptOutcome) -> UnitOfWork {
    unit_at(NOW.plus_ms(50), |write| {
        write.finish_attempt(&tenant(), &call.id, outcome, Some("S-1"), Some("200"))
    })
}

async fn attempt_is_stored_before_sending_and_updated_with_its_outcome(db: &TestStore) {
    let call = call(1);
    db.store.commit(sending(&call, NOW)).await.unwrap();
    let read = async || {
        let attempts = db.store.attempts(&tenant(), &call.booking_id).await;
        attempts.unwrap().remove(0)
    };
    let sent = read().await;
    assert_eq!((&sent.call, &sent.tenant), (&call, &tenant()));
    assert_eq!(sent.outcome, AttemptOutcome::Sent);
    assert_eq!(
        (sent.number, sent.last_sent_at, sent.finished_at),
        (1, NOW, None)
    );

    let finish = finishing(&call, AttemptOutcome::Succeeded);
    db.store.commit(finish).await.unwrap();
    let done = read().await;
    assert_eq!(done.outcome, AttemptOutcome::Succeeded);
    assert_eq!(done.finished_at, Some(NOW.plus_ms(50)));
    assert_eq!(done.supplier_reference.as_deref(), Some("S-1"));
    assert_eq!(done.evidence.as_deref(), Some("200"));
}

async fn reference_of_call_that_may_have_happened_is_rejected(db: &TestStore) {
    let commit = |write| conflict(&db.store, write);
    let exists = Some(Conflict::AttemptExists);
    assert_eq!(commit(sending(&call(1), NOW)).await, None);
    assert_eq!(commit(sending(&call(2), NOW)).await, exists);
    let unknown = finishing(&call(1), AttemptOutcome::Unknown);
    assert_eq!(commit(unknown).await, None);
    assert_eq!(commit(sending(&call(2), NOW)).await, exists);

    // The call is known not to have been sent, so the next one may be sent and gets the next
    // number.
    let not_sent = finishing(&call(1), AttemptOutcome::NotSent);
    assert_eq!(commit(not_sent).await, None);
    assert_eq!(commit(sending(&call(2), NOW.plus_ms(20))).await, None);
    let refused = finishing(&call(2), AttemptOutcome::Refused);
    assert_eq!(commit(refused).await, None);
    assert_eq!(commit(sending(&call(3), NOW.plus_ms(30))).await, None);
    let done = finishing(&call(3), AttemptOutcome::Succeeded);
    assert_eq!(commit(done).await, None);
    assert_eq!(commit(sending(&call(4), NOW)).await, exists);
    for number in [2, 3] {
        let late = finishing(&call(number), AttemptOutcome::Succeeded);
        assert_eq!(commit(late).await, Some(Conflict::AttemptFinished));
    }
    let all = db.store.attempts(&tenant(), &call(1).booking_id).await;
    let numbers: Vec<_> = all.unwrap().iter().map(|attempt| attempt.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

/// The calls of one unit of work get consecutive numbers, although neither insert sees the other.
async fn calls_of_one_unit_are_numbered(db: &TestStore) {
    let [first, mut second] = [1, 2].map(call);
    second.client_reference = "another".into();
    let mut write = sending(&first, NOW);
    write.append(sending(&second, NOW));
    db.store.commit(write).await.unwrap();
    let calls = db.store.attempts(&tenant(), &first.booking_id).await;
    let numbers: Vec<_> = calls.unwrap().iter().map(|call| call.number).collect();
    assert_eq!(numbers, [1, 2]);
}

async fn concurrent_calls_with_one_reference_record_one_attempt(db: &TestStore) {
    let calls = (0..32).map(|number| sending(&call(number), NOW));
    one_is_stored(db, calls.collect(), Conflict::AttemptExists).await;
}

async fn unresolved_attempts_returns_old_calls_without_outcome(db: &TestStore) {
    for (number, step, outcome) in [
        (1, "book", Some(AttemptOutcome::Unknown)),
        (2, "book", None),
        (3, "book", Some(AttemptOutcome::Succeeded)),
        (4, "book", Some(AttemptOutcome::NotSent)),
        // A prebook of unknown outcome needs no operator.
        (5, "prebook", Some(AttemptOutcome::Unknown)),
        (6, "book", None),
    ] {
        let mut call = call(number);
        call.client_reference = number.to_string();
        call.step = step.to_owned();
        let at = NOW.plus_ms(i64::from(number));
        db.store.commit(sending(&call, at)).await.unwrap();
        if let Some(outcome) = outcome {
            let finish = finishing(&call, outcome);
            db.store.commit(finish).await.unwrap();
        }
    }
    let before = NOW.plus_ms(6);
    for (limit, expected) in [(10, &[1_u32, 2][..]), (1, &[1])] {
        let list = db.store.unresolved_attempts(before, limit).await.unwrap();
        let found: Vec<_> = list.into_iter().map(|attempt| attempt.call.id).collect();
        assert_eq!(found, ids(AttemptId::from_bits, expected.iter().copied()));
    }
}

async fn reopened_attempt_is_unresolved_again(db: &TestStore) {
    let call = call(1);
    db.store.commit(sending(&call, NOW)).await.unwrap();
    let refused = finishing(&call, AttemptOutcome::Refused);
    db.store.commit(refused).await.unwrap();
    let list = async || {
        let list = db.store.unresolved_attempts(NOW.plus_s(1), 10).await;
        list.unwrap()
    };
    assert!(list().await.is_empty());
    let reopen = unit_at(NOW.plus_s(600), |write| {
        write.reopen_attempt(&tenant(), &call.id, Some("S-2"), Some("found"))
    });
    db.store.commit(reopen).await.unwrap();
    let found = list().await.remove(0);
    assert_eq!(found.outcome, AttemptOutcome::Unknown);
    assert_eq!(found.finished_at, Some(NOW.plus_s(600)));
    assert_eq!(found.supplier_reference.as_deref(), Some("S-2"));
    assert_eq!(found.evidence.as_deref(), Some("found"));
    let settled = finishing(&call, AttemptOutcome::Refused);
    db.store.commit(settled).await.unwrap();
    assert!(list().await.is_empty());
}
