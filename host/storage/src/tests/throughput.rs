//! How many bookings a second can be stored: printed, not judged.

use super::*;
use futures::StreamExt;
use tokio::time::Instant;

/// Commits of one row, this many at once.
async fn measure(db: &TestDatabase, at_once: usize) -> f64 {
    const COMMITS: u32 = 4000;
    let offset = u32::try_from(at_once).unwrap() * 100_000;
    let began = Instant::now();
    futures::stream::iter(0..COMMITS)
        .for_each_concurrent(at_once, |number| async move {
            let write = inserting(&booking(offset + number));
            db.store.commit(write).await.unwrap();
        })
        .await;
    f64::from(COMMITS) / began.elapsed().as_secs_f64()
}

async fn print_commits_per_second(db: &TestDatabase) {
    for at_once in [1, 8, 64, 256] {
        let rate = measure(db, at_once).await;
        println!("{at_once:4} at once: {rate:8.0} commits/s");
    }
}

mod sqlite {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "a measurement of seconds; run it in release mode, with --nocapture"]
    async fn commits_per_second() {
        let db = TestDatabase::sqlite().await;
        print_commits_per_second(&db).await;
        db.remove().await;
    }
}

mod postgres {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "a measurement of seconds; run it in release mode, with --nocapture"]
    async fn commits_per_second() {
        let db = TestDatabase::postgres().await;
        print_commits_per_second(&db).await;
        db.remove().await;
    }
}
