//! Commits: atomic, durable, and each with its own result.

use super::*;
use host_domain::booking::BookingState;
use host_domain::hotel::booking::{HotelBooking, HotelBookingDetails};
use sqlx::{Connection, Executor, PgConnection};
use std::time::Duration;
use tokio::time::timeout;

on_both_databases!(
    failing_unit_does_not_affect_others,
    unit_failing_in_last_statement_is_rolled_back,
    committed_bookings_survive_a_crash,
    two_stores_commit_concurrently,
    empty_unit_commits_without_effect,
    closed_store_returns_closed_error,
    queued_units_receive_results_when_store_closes,
    repeated_and_concurrent_migrations_succeed,
);

async fn failing_unit_does_not_affect_others(db: &TestDatabase) {
    let taken = booking(7);
    db.store.commit(inserting(&taken)).await.unwrap();
    // The number exceeds the batch size by two, and all commits wait at the same time.
    let bookings: Vec<HotelBooking> = (0..66).map(booking).collect();
    let commits = bookings.iter().map(|b| conflict(&db.store, inserting(b)));
    let results = join_all(commits).await;
    for (number, result) in results.into_iter().enumerate() {
        let expected = (number == 7).then_some(Conflict::BookingExists);
        assert_eq!(result, expected, "booking {number}");
    }
    for booking in &bookings {
        let stored = db
            .store
            .booking_unscoped::<HotelBookingDetails>(&booking.id)
            .await
            .unwrap();
        assert!(stored.is_some(), "{}", booking.id);
    }
}

async fn unit_failing_in_last_statement_is_rolled_back(db: &TestDatabase) {
    let taken = booking(7);
    db.store.commit(inserting(&taken)).await.unwrap();
    let commits = (10..20).map(|number| {
        let mut write = inserting(&booking(number));
        write.schedule_job("resume", &number.to_string(), NOW);
        if number % 2 == 0 {
            write.insert_booking(&taken);
        }
        conflict(&db.store, write)
    });
    let results = join_all(commits).await;
    for (number, result) in (10..20).zip(results) {
        let fails = number % 2 == 0;
        assert_eq!(result, fails.then_some(Conflict::BookingExists));
        let id = booking(number).id;
        let stored = db
            .store
            .booking_unscoped::<HotelBookingDetails>(&id)
            .await
            .unwrap();
        assert_eq!(stored.is_some(), !fails);
        let job = db.store.job("resume", &number.to_string()).await.unwrap();
        assert_eq!(job.is_some(), !fails);
    }
}

async fn committed_bookings_survive_a_crash(db: &TestDatabase) {
    let crashing = db.second_store().await;
    let commits = (0..20).map(|number| crashing.commit(inserting(&booking(number))));
    join_all(commits).await.into_iter().for_each(Result::unwrap);
    // The store is dropped without closing or flushing.
    drop(crashing);
    let restarted = db.second_store().await;
    for number in 0..20 {
        let id = booking(number).id;
        assert!(
            restarted
                .booking_unscoped::<HotelBookingDetails>(&id)
                .await
                .unwrap()
                .is_some()
        );
    }
    restarted.close().await;
}

async fn two_stores_commit_concurrently(db: &TestDatabase) {
    let other = db.second_store().await;
    let here = (0..40).map(|number| db.store.commit(inserting(&booking(number))));
    let there = (40..80).map(|number| other.commit(inserting(&booking(number))));
    let (here, there) = tokio::join!(join_all(here), join_all(there));
    here.into_iter().chain(there).for_each(Result::unwrap);
    for number in 0..80 {
        let id = booking(number).id;
        assert!(
            other
                .booking_unscoped::<HotelBookingDetails>(&id)
                .await
                .unwrap()
                .is_some()
        );
    }
    other.close().await;
}

async fn empty_unit_commits_without_effect(db: &TestDatabase) {
    let write = UnitOfWork::new(NOW);
    assert!(write.is_empty());
    db.store.commit(write).await.unwrap();
    db.store.ping().await.unwrap();
}

async fn closed_store_returns_closed_error(db: &TestDatabase) {
    let store = db.second_store().await;
    store.close().await;
    let committed = store.commit(inserting(&booking(1))).await;
    assert!(matches!(
        committed,
        Err(crate::CommitError::Database(crate::DatabaseError::Closed))
    ));
    let read = store
        .booking_unscoped::<HotelBookingDetails>(&booking(1).id)
        .await;
    assert!(matches!(read, Err(crate::DatabaseError::Closed)));
    store.close().await;
}

async fn queued_units_receive_results_when_store_closes(db: &TestDatabase) {
    let store = db.second_store().await;
    let commits = join_all((0..100).map(|number| store.commit(inserting(&booking(number)))));
    let (results, ()) = tokio::join!(commits, store.close());
    for (number, result) in (0..100).zip(results) {
        let stored = db
            .store
            .booking_unscoped::<HotelBookingDetails>(&booking(number).id)
            .await;
        assert_eq!(result.is_ok(), stored.unwrap().is_some(), "{number}");
    }
}

async fn repeated_and_concurrent_migrations_succeed(db: &TestDatabase) {
    db.store.commit(inserting(&booking(1))).await.unwrap();
    let other = db.second_store().await;
    let (here, there) = tokio::join!(db.store.migrate(), other.migrate());
    here.unwrap();
    there.unwrap();
    let stored = db
        .store
        .booking_unscoped::<HotelBookingDetails>(&booking(1).id)
        .await
        .unwrap();
    assert!(stored.is_some());
    other.close().await;
}

/// A commit that is cancelled within a transaction leaves no lock behind, even if its
/// connection is not used again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancelled_transaction_releases_its_locks() {
    let db = TestDatabase::postgres().await;
    let (first, second) = (booking(1), booking(2));
    for booking in [&first, &second] {
        db.store.commit(inserting(booking)).await.unwrap();
    }
    let mut other = PgConnection::connect(&db.url).await.unwrap();
    let lock = |booking: &HotelBooking| {
        let lock = sqlx::query("SELECT 1 FROM hotel_booking WHERE id = $1 FOR UPDATE");
        lock.bind(booking.id.to_string())
    };
    other.execute("BEGIN").await.unwrap();
    lock(&second).execute(&mut other).await.unwrap();

    // The unit has two statements, the second of which waits for the lock.
    let mut write = updating(&moved(&first, BookingState::ReadyForComplete));
    write.append(updating(&moved(&second, BookingState::ReadyForComplete)));
    let mut commit = Box::pin(db.store.commit(write));
    let waiting = "SELECT COUNT(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while sqlx::query_scalar::<_, i64>(waiting)
        .fetch_one(&mut other)
        .await
        .unwrap()
        == 0
    {
        let going_on = timeout(Duration::from_millis(10), &mut commit).await;
        assert!(going_on.is_err());
    }
    drop(commit);
    other.execute("ROLLBACK").await.unwrap();

    other.execute("SET lock_timeout = '5s'").await.unwrap();
    lock(&first).execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    let stored = db
        .store
        .booking_unscoped::<HotelBookingDetails>(&first.id)
        .await
        .unwrap();
    assert_eq!(stored, Some(first));
    db.remove().await;
}
