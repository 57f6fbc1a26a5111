//! Jobs: leased to one worker, never lost, and parked after too many attempts.

use super::*;
use crate::{ClaimedJobs, Job, JobClaim, ParkedJobFilter, WorkQueue};
use host_domain::id::AuditEntryId;
use std::collections::HashSet;
use std::time::Duration;

on_both_databases!(
    job_is_claimed_when_due,
    concurrent_claims_return_each_job_once,
    claim_returns_longest_due_jobs_of_its_kinds,
    job_with_expired_lease_is_taken_over,
    new_job_can_be_leased_by_its_creator,
    job_scheduled_during_lease_is_due_after_release,
    job_never_released_is_parked,
    release_resets_attempts_and_failure_keeps_them,
    commit_of_due_job_wakes_receivers,
);

fn claim(token: &str) -> JobClaim<'_> {
    JobClaim {
        kinds: &["resume"],
        limit: 100,
        now: NOW,
        lease_ms: LEASE_MS,
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

async fn job_is_claimed_when_due(db: &TestStore) {
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
    commit(&db.store, |w| w.complete_job("resume", "a", "t")).await;
    assert_eq!(db.store.job("resume", "a").await.unwrap(), None);
}

async fn concurrent_claims_return_each_job_once(db: &TestStore) {
    let upserts = (0..200).map(|number| {
        let upsert = unit(|w| w.schedule_job("resume", &number.to_string(), NOW));
        db.store.commit(upsert)
    });
    join_all(upserts).await.into_iter().for_each(Result::unwrap);
    let claimed_by_each = on_two_stores(db, 16, async |store: &Store, number| {
        let token = format!("token-{number}");
        let claim = JobClaim {
            limit: 7,
            ..claim(&token)
        };
        let mut mine = Vec::new();
        loop {
            let batch = claimed(store, claim).await;
            assert!(batch.len() <= 7);
            if batch.is_empty() {
                return mine;
            }
            mine.extend(batch);
        }
    });
    let mut all = claimed_by_each.await.concat();
    // A claim skips rows that another one has locked, so one more claim may be needed.
    all.extend(claimed(&db.store, claim("last")).await);
    assert_eq!(all.len(), 200);
    assert_eq!(all.into_iter().collect::<HashSet<_>>().len(), 200);
}

async fn claim_returns_longest_due_jobs_of_its_kinds(db: &TestStore) {
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

async fn job_with_expired_lease_is_taken_over(db: &TestStore) {
    commit(&db.store, |w| w.schedule_job("resume", "a", NOW)).await;
    assert_eq!(claimed(&db.store, claim("slow")).await, ["a"]);
    assert_eq!(claimed(&db.store, claim("quick")).await, [""; 0]);
    // The lease expires now by the database's clock. The token stays valid until the takeover.
    let keep = unit(|w| w.renew_job_lease("resume", "a", "slow", 0));
    for _ in 0..2 {
        assert_eq!(conflict(&db.store, keep.clone()).await, None);
    }
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
    let leased = job(&db.store, "a").await;
    assert!(leased.is_leased && leased.attempts == 2, "{leased:?}");
    commit(&db.store, |w| w.complete_job("resume", "a", "quick")).await;
}

async fn new_job_can_be_leased_by_its_creator(db: &TestStore) {
    let hold =
        |token: &str, lease_ms| unit(|w| w.insert_leased_job("resume", "a", token, lease_ms));
    let tokens: Vec<_> = (0..32).map(|number| format!("token-{number}")).collect();
    let holders = tokens.iter().map(|token| hold(token, LEASE_MS)).collect();
    let winner = &tokens[one_is_stored(db, holders, Conflict::JobLeased).await];
    let leased = conflict(&db.store, hold("late", LEASE_MS)).await;
    assert_eq!(leased, Some(Conflict::JobLeased));
    assert_eq!(claimed(&db.store, claim("worker")).await, [""; 0]);
    // The lease holder renews the job with a lease that expires at once. Any worker may then claim
    // it.
    assert_eq!(conflict(&db.store, hold(winner, 0)).await, None);
    assert_eq!(claimed(&db.store, claim("worker")).await, ["a"]);
    let release = unit(|w| w.release_job("resume", "a", "worker", NOW.plus_ms(9)));
    assert_eq!(conflict(&db.store, release).await, None);
    assert_eq!(conflict(&db.store, hold("next", LEASE_MS)).await, None);
    assert!(job(&db.store, "a").await.is_leased);
}

async fn job_scheduled_during_lease_is_due_after_release(db: &TestStore) {
    let upsert = |due_at| unit(|w| w.schedule_job("resume", "a", due_at));
    let hold = || unit(|w| w.insert_leased_job("resume", "a", "t", LEASE_MS));
    let (near, far) = (NOW.plus_ms(7), NOW.plus_ms(LEASE_MS));
    for change in ["release", "fail", "finish"] {
        db.store.commit(hold()).await.unwrap();
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
    db.store.commit(hold()).await.unwrap();
    commit(&db.store, |w| w.complete_job("resume", "a", "t")).await;
    assert_eq!(db.store.job("resume", "a").await.unwrap(), None);
}

async fn job_never_released_is_parked(db: &TestStore) {
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
    let parked = db
        .store
        .parked_jobs(ParkedJobFilter::default(), 10)
        .await
        .unwrap();
    assert_eq!(parked, last.parked);
    assert_eq!((parked[0].parked_at, parked[0].attempts), (Some(NOW), 3));
    assert!(!parked[0].is_leased);

    let other_kind = Job {
        kind: "other".into(),
        ..parked[0].clone()
    };
    let parked_again = Job {
        parked_at: Some(NOW.plus_ms(1)),
        ..parked[0].clone()
    };
    let sound = job(&db.store, "sound").await;
    let unpark = async |job: &Job, number| {
        let entry = AuditEntryId::from_bits(number);
        let retry = unit(|write| {
            let retry = write.retry_parked_job(job);
            retry.insert_pending_audit_entry(&entry, NOW, &job.subject)
        });
        conflict(&db.store, retry).await
    };
    for (number, other) in (1..).zip([&sound, &other_kind, &parked_again]) {
        let retried = unpark(other, number).await;
        assert_eq!(retried, Some(Conflict::JobNotParked));
    }
    let mut wakeups = db.store.subscribe_wakeups(WorkQueue::Jobs);
    assert_eq!(unpark(&parked[0], 4).await, None);
    let begun = job(&db.store, "poison").await;
    assert_eq!((begun.parked_at, begun.attempts), (None, 0));
    assert!(wakeups.wait(Duration::from_secs(30)).await);
    let again = unpark(&parked[0], 5).await;
    assert_eq!(again, Some(Conflict::JobNotParked));
    // Only the retry is recorded.
    let recorded = db.store.pending_audit_entries(9).await.unwrap();
    assert_eq!(recorded.len(), 1);
    assert_eq!(claimed(&db.store, dying).await, ["poison"]);
    assert_eq!(job(&db.store, "poison").await.attempts, 1);
}

async fn release_resets_attempts_and_failure_keeps_them(db: &TestStore) {
    commit(&db.store, |w| w.schedule_job("resume", "a", NOW)).await;
    let fail = unit(|w| w.fail_job("resume", "a", "t", NOW, "supplier is down"));
    for attempts in 1..=2 {
        assert_eq!(claimed(&db.store, claim("t")).await, ["a"]);
        db.store.commit(fail.clone()).await.unwrap();
        let failed = job(&db.store, "a").await;
        assert_eq!(failed.attempts, attempts);
        assert_eq!(failed.last_error.as_deref(), Some("supplier is down"));
    }
    assert_eq!(claimed(&db.store, claim("t")).await, ["a"]);
    commit(&db.store, |w| w.release_job("resume", "a", "t", NOW)).await;
    let released = job(&db.store, "a").await;
    assert_eq!((released.attempts, released.last_error), (0, None));
}

async fn commit_of_due_job_wakes_receivers(db: &TestStore) {
    let mut wakeups = db.store.subscribe_wakeups(WorkQueue::Jobs);
    commit(&db.store, |w| w.schedule_job("resume", "a", NOW.plus_s(1))).await;
    assert!(!wakeups.wait(Duration::ZERO).await);
    commit(&db.store, |w| w.schedule_job("resume", "a", NOW)).await;
    assert!(wakeups.wait(Duration::from_secs(30)).await);
}
