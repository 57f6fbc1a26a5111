//! Jobs: leased to one worker, never lost, and parked after too many attempts.

use super::*;
use crate::{ClaimedJobs, Job, JobClaim, ParkedJobFilter, WorkQueue};
use host_domain::booking::BookingState;
use host_domain::hotel::booking::{HotelBookedState, HotelBookingDetails};
use std::collections::HashSet;
use std::time::Duration;

on_both_databases!(
    job_is_claimed_when_due,
    concurrent_claims_return_each_job_once,
    claim_returns_longest_due_jobs_of_its_kinds,
    changes_after_lease_takeover_fail,
    job_with_expired_lease_is_claimed_again,
    new_job_can_be_leased_by_its_creator,
    job_scheduled_during_lease_is_due_after_release,
    job_never_released_is_parked,
    release_resets_attempts_and_failure_keeps_them,
    commit_of_due_job_wakes_receivers,
    lease_and_booking_are_stored_atomically,
);

const MINUTE_MS: i64 = 60_000;

fn claim(token: &str) -> JobClaim<'_> {
    JobClaim {
        kinds: &["resume"],
        limit: 100,
        now: NOW,
        lease_ms: MINUTE_MS,
        token,
        attempts_max: 5,
    }
}

async fn claimed(store: &Store, claim: JobClaim<'_>) -> Vec<String> {
    let ClaimedJobs { jobs, parked } = store.claim_jobs(claim).await.unwrap();
    assert_eq!(parked, []);
    jobs.into_iter().map(|job| job.subject).collect()
}

async fn job(store: &Store, subject: &str) -> Job {
    store.job("resume", subject).await.unwrap().unwrap()
}

async fn job_is_claimed_when_due(db: &TestDatabase) {
    let later = NOW.plus_ms(1);
    let upsert = |due_at| unit(|w| w.schedule_job("resume", "a", due_at));
    db.store.commit(upsert(later)).await.unwrap();
    assert_eq!(job(&db.store, "a").await.due_at, later);
    assert_eq!(claimed(&db.store, claim("t")).await, [""; 0]);
    db.store.commit(upsert(NOW)).await.unwrap();
    assert_eq!(job(&db.store, "a").await.due_at, NOW);
    let jobs = db.store.claim_jobs(claim("t")).await.unwrap().jobs;
    let expected = Job {
        kind: "resume".into(),
        subject: "a".into(),
        due_at: NOW,
        is_leased: true,
        attempts: 1,
        parked_at: None,
        last_error: None,
        created_at: NOW,
    };
    assert_eq!(jobs, [expected]);
    let finish = unit(|w| w.complete_job("resume", "a", "t"));
    db.store.commit(finish).await.unwrap();
    assert_eq!(db.store.job("resume", "a").await.unwrap(), None);
}

async fn concurrent_claims_return_each_job_once(db: &TestDatabase) {
    let other = db.second_store().await;
    let upserts = (0..200).map(|number| {
        let subject = format!("{number:03}");
        db.store
            .commit(unit(|w| w.schedule_job("resume", &subject, NOW)))
    });
    join_all(upserts).await.into_iter().for_each(Result::unwrap);
    let claimers = (0..16).map(|number| {
        let store = if number % 2 == 0 { &db.store } else { &other };
        async move {
            let token = format!("token-{number}");
            let mut mine = Vec::new();
            loop {
                let claim = JobClaim {
                    limit: 7,
                    ..claim(&token)
                };
                let batch = claimed(store, claim).await;
                assert!(batch.len() <= 7);
                if batch.is_empty() {
                    return mine;
                }
                mine.extend(batch);
            }
        }
    });
    let all: Vec<String> = join_all(claimers).await.into_iter().flatten().collect();
    // A claim skips rows that another one has locked, so one more claim may be needed.
    let rest = claimed(&db.store, claim("last")).await;
    let all: Vec<_> = all.into_iter().chain(rest).collect();
    assert_eq!(all.len(), 200);
    assert_eq!(all.into_iter().collect::<HashSet<_>>().len(), 200);
    other.close().await;
}

async fn claim_returns_longest_due_jobs_of_its_kinds(db: &TestDatabase) {
    let jobs = unit(|w| {
        for (kind, subject, age_ms) in [
            ("resume", "c", 1),
            ("resume", "a", 3),
            ("purge", "b", 2),
            ("other", "d", 9),
        ] {
            w.schedule_job(kind, subject, NOW.plus_ms(-age_ms));
        }
        w
    });
    db.store.commit(jobs).await.unwrap();
    let of_two_kinds = JobClaim {
        kinds: &["resume", "purge"],
        limit: 2,
        ..claim("t")
    };
    assert_eq!(claimed(&db.store, of_two_kinds).await, ["a", "b"]);
    assert_eq!(claimed(&db.store, of_two_kinds).await, ["c"]);
    let of_none = JobClaim {
        kinds: &[],
        ..claim("t")
    };
    assert_eq!(claimed(&db.store, of_none).await, [""; 0]);
}

async fn changes_after_lease_takeover_fail(db: &TestDatabase) {
    let upsert = unit(|w| w.schedule_job("resume", "a", NOW));
    db.store.commit(upsert).await.unwrap();
    let slow = JobClaim {
        lease_ms: 0,
        ..claim("slow")
    };
    assert_eq!(claimed(&db.store, slow).await, ["a"]);
    // The lease has expired but was not taken over, so the token is still valid.
    let keep = unit(|w| w.renew_job_lease("resume", "a", "slow", 0));
    assert_eq!(conflict(&db.store, keep.clone()).await, None);
    assert_eq!(claimed(&db.store, claim("quick")).await, ["a"]);
    let late_changes = [
        keep,
        unit(|w| w.release_job("resume", "a", "slow", NOW)),
        unit(|w| w.fail_job("resume", "a", "slow", NOW, "no")),
        unit(|w| w.complete_job("resume", "a", "slow")),
    ];
    for change in late_changes {
        let result = conflict(&db.store, change).await;
        assert_eq!(result, Some(Conflict::LeaseLost));
    }
    assert!(job(&db.store, "a").await.is_leased);
    let finish = unit(|w| w.complete_job("resume", "a", "quick"));
    assert_eq!(conflict(&db.store, finish).await, None);
}

async fn job_with_expired_lease_is_claimed_again(db: &TestDatabase) {
    let upsert = unit(|w| w.schedule_job("resume", "a", NOW));
    db.store.commit(upsert).await.unwrap();
    assert_eq!(claimed(&db.store, claim("one")).await, ["a"]);
    assert_eq!(claimed(&db.store, claim("two")).await, [""; 0]);
    // The lease expires now by the database's clock.
    let end = unit(|w| w.renew_job_lease("resume", "a", "one", 0));
    db.store.commit(end).await.unwrap();
    assert_eq!(claimed(&db.store, claim("two")).await, ["a"]);
    assert_eq!(job(&db.store, "a").await.attempts, 2);
}

async fn new_job_can_be_leased_by_its_creator(db: &TestDatabase) {
    let hold =
        |token: &str, lease_ms| unit(|w| w.insert_leased_job("resume", "a", token, lease_ms));
    let holders = (0..32).map(|number| {
        let token = format!("token-{number}");
        let hold = hold(&token, MINUTE_MS);
        async move { (token, conflict(&db.store, hold).await) }
    });
    let results = join_all(holders).await;
    let winners: Vec<_> = results.iter().filter(|(_, lost)| lost.is_none()).collect();
    assert_eq!(winners.len(), 1);
    let winner = winners[0].0.as_str();
    let leased = conflict(&db.store, hold("late", MINUTE_MS)).await;
    assert_eq!(leased, Some(Conflict::JobLeased));
    assert_eq!(claimed(&db.store, claim("worker")).await, [""; 0]);
    // The lease holder renews the job with a lease that expires at once. Any worker may then claim
    // it.
    assert_eq!(conflict(&db.store, hold(winner, 0)).await, None);
    assert_eq!(claimed(&db.store, claim("worker")).await, ["a"]);
    let release = unit(|w| w.release_job("resume", "a", "worker", NOW.plus_ms(9)));
    assert_eq!(conflict(&db.store, release).await, None);
    assert_eq!(conflict(&db.store, hold("next", MINUTE_MS)).await, None);
    assert!(job(&db.store, "a").await.is_leased);
}

async fn job_scheduled_during_lease_is_due_after_release(db: &TestDatabase) {
    let upsert = |due_at| unit(|w| w.schedule_job("resume", "a", due_at));
    let far = NOW.plus_ms(MINUTE_MS);
    let near = NOW.plus_ms(7);
    for change in ["release", "fail", "finish"] {
        let hold = unit(|w| w.insert_leased_job("resume", "a", "t", MINUTE_MS));
        db.store.commit(hold).await.unwrap();
        db.store.commit(upsert(near)).await.unwrap();
        db.store.commit(upsert(far)).await.unwrap();
        let leased = job(&db.store, "a").await;
        assert!(
            leased.is_leased && leased.due_at == NOW,
            "{change}: {leased:?}"
        );
        let done = unit(|w| match change {
            "release" => w.release_job("resume", "a", "t", far),
            "fail" => w.fail_job("resume", "a", "t", far, "no"),
            _ => w.complete_job("resume", "a", "t"),
        });
        db.store.commit(done).await.unwrap();
        let due = job(&db.store, "a").await;
        assert!(!due.is_leased && due.due_at == near, "{change}: {due:?}");
    }
    // A job that was scheduled again runs once.
    let hold = unit(|w| w.insert_leased_job("resume", "a", "t", MINUTE_MS));
    db.store.commit(hold).await.unwrap();
    let finish = unit(|w| w.complete_job("resume", "a", "t"));
    db.store.commit(finish).await.unwrap();
    assert_eq!(db.store.job("resume", "a").await.unwrap(), None);
}

async fn job_never_released_is_parked(db: &TestDatabase) {
    let upsert = unit(|w| {
        w.schedule_job("resume", "poison", NOW)
            .schedule_job("resume", "sound", NOW.plus_ms(1))
    });
    db.store.commit(upsert).await.unwrap();
    // Each claim expires at once, as if the worker had crashed.
    let dying = JobClaim {
        lease_ms: 0,
        attempts_max: 3,
        ..claim("t")
    };
    for attempt in 1..=3 {
        let jobs = db.store.claim_jobs(dying).await.unwrap().jobs;
        assert_eq!(jobs[0].attempts, attempt);
    }
    let last = db.store.claim_jobs(dying).await.unwrap();
    assert_eq!(last.jobs, []);
    assert_eq!(last.parked.len(), 1);
    assert_eq!(claimed(&db.store, dying).await, [""; 0]);
    let parked = db.store.parked_jobs(10).await.unwrap();
    assert_eq!(parked, last.parked);
    assert_eq!((parked[0].parked_at, parked[0].attempts), (Some(NOW), 3));
    assert!(!parked[0].is_leased);

    let unpark = async |subject| {
        let filter = ParkedJobFilter {
            kind: Some("resume"),
            subject,
        };
        db.store.unpark_jobs(filter, NOW).await.unwrap()
    };
    assert_eq!(unpark(Some("sound")).await, []);
    let mut wakeups = db.store.subscribe_wakeups(WorkQueue::Jobs);
    let begun = unpark(Some("poison")).await;
    assert_eq!((begun[0].parked_at, begun[0].attempts), (None, 0));
    assert!(wakeups.wait(Duration::from_secs(30)).await);
    assert_eq!(unpark(None).await, []);
    assert_eq!(claimed(&db.store, dying).await, ["poison"]);
    assert_eq!(job(&db.store, "poison").await.attempts, 1);
}

async fn release_resets_attempts_and_failure_keeps_them(db: &TestDatabase) {
    let upsert = unit(|w| w.schedule_job("resume", "a", NOW));
    db.store.commit(upsert).await.unwrap();
    let fail = unit(|w| w.fail_job("resume", "a", "t", NOW, "supplier is down"));
    for attempts in 1..=2 {
        assert_eq!(claimed(&db.store, claim("t")).await, ["a"]);
        db.store.commit(fail.clone()).await.unwrap();
        let failed = job(&db.store, "a").await;
        assert_eq!(failed.attempts, attempts);
        assert_eq!(failed.last_error.as_deref(), Some("supplier is down"));
    }
    assert_eq!(claimed(&db.store, claim("t")).await, ["a"]);
    let release = unit(|w| w.release_job("resume", "a", "t", NOW));
    db.store.commit(release).await.unwrap();
    let released = job(&db.store, "a").await;
    assert_eq!((released.attempts, released.last_error), (0, None));
}

async fn commit_of_due_job_wakes_receivers(db: &TestDatabase) {
    let mut wakeups = db.store.subscribe_wakeups(WorkQueue::Jobs);
    let later = unit(|w| w.schedule_job("resume", "a", NOW.plus_s(1)));
    db.store.commit(later).await.unwrap();
    assert!(!wakeups.wait(Duration::ZERO).await);
    let now = unit(|w| w.schedule_job("resume", "a", NOW));
    db.store.commit(now).await.unwrap();
    assert!(wakeups.wait(Duration::from_secs(30)).await);
}

async fn lease_and_booking_are_stored_atomically(db: &TestDatabase) {
    let first = booking(1);
    let mut made = inserting(&first);
    made.insert_leased_job("resume", first.id.as_str(), "t", 0);
    db.store.commit(made).await.unwrap();
    assert_eq!(
        claimed(&db.store, claim("other")).await,
        [first.id.as_str()]
    );
    let mut late = updating(&moved(
        &first,
        BookingState::Booked(HotelBookedState::Confirmed { refresh: None }),
    ));
    late.complete_job("resume", first.id.as_str(), "t");
    let lost = conflict(&db.store, late).await;
    assert_eq!(lost, Some(Conflict::LeaseLost));
    let stored = db
        .store
        .booking_unscoped::<HotelBookingDetails>(&first.id)
        .await
        .unwrap();
    assert_eq!(stored, Some(first));
}
