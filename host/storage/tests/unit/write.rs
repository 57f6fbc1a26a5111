//! Commits: atomic, durable, and each with its own result.

use super::*;
use crate::{CommitError, DatabaseError};
use sqlx::{Connection, Executor, PgConnection};
use std::time::Duration;
use tokio::time::timeout;

on_both_databases!(
    empty_unit_commits_without_effect,
    closed_store_returns_closed_error,
    queued_units_receive_results_when_store_closes,
    repeated_and_concurrent_migrations_succeed,
);

async fn empty_unit_commits_without_effect(db: &TestStore) {
    let write = UnitOfWork::new(NOW);
    assert!(write.is_empty());
    db.store.commit(write).await.unwrap();
    db.store.probe_write().await.unwrap();
}

async fn closed_store_returns_closed_error(db: &TestStore) {
    let store = db.second_store().await;
    store.close().await;
    let committed = store.commit(inserting(&booking(1))).await;
    assert!(matches!(
        committed,
        Err(CommitError::Database(DatabaseError::Closed))
    ));
    let probed = store.probe_write().await;
    assert!(matches!(probed, Err(DatabaseError::Closed)));
    let read = store.api_keys(None).await;
    assert!(matches!(read, Err(DatabaseError::Closed)));
    store.close().await;
}

async fn queued_units_receive_results_when_store_closes(db: &TestStore) {
    let store = db.second_store().await;
    let commits = join_all((0..100).map(|number| store.commit(inserting(&booking(number)))));
    let (results, ()) = tokio::join!(commits, store.close());
    for (number, result) in (0..100).zip(results) {
        let stored = stored(&db.store, &booking(number).id).await;
        assert_eq!(result.is_ok(), stored.is_some(), "{number}");
    }
}

async fn repeated_and_concurrent_migrations_succeed(db: &TestStore) {
    db.store.commit(inserting(&booking(1))).await.unwrap();
    let other = db.second_store().await;
    let (here, there) = tokio::join!(db.store.migrate(), other.migrate());
    here.unwrap();
    there.unwrap();
    assert!(stored(&db.store, &booking(1).id).await.is_some());
    other.close().await;
}

/// A commit that is cancelled within a transaction leaves no lock behind, even if its
/// connection is not used again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn canceled_transaction_releases_its_locks() {
    let db = TestStore::postgres().await;
    let (first, second) = (booking(1), booking(2));
    for booking in [&first, &second] {
        db.store.commit(inserting(booking)).await.unwrap();
    }
    let mut other = PgConnection::connect(db.url()).await.unwrap();
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
    assert_eq!(stored(&db.store, &first.id).await, Some(first));
    db.remove().await;
}
