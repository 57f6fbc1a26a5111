//! These tests cover what only SQLite has: reads on the calling thread or another one, limits of time
//! and space, and a file that other processes change.

use super::*;
use crate::DatabaseError;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Counts to a number.
const COUNT: &str = "WITH RECURSIVE counter (n) AS \
     (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < $1) \
     SELECT COUNT(*) AS number FROM counter";

fn options() -> StoreOptions {
    StoreOptions {
        acquire_timeout: Duration::from_millis(200),
        response_timeout: Duration::from_millis(200),
        ..StoreOptions::default()
    }
}

/// Commits a booking and returns the database's error.
async fn failure(store: &Store, number: u32) -> DatabaseError {
    let refused = store.commit(inserting(&booking(number))).await;
    refused.unwrap_err().into_database()
}

async fn commit_booking(store: &Store, number: u32) {
    store.commit(inserting(&booking(number))).await.unwrap();
}

#[tokio::test]
async fn long_read_is_carried_on_elsewhere_and_ends_in_time() {
    let db = TestStore::sqlite().await;
    let store = Store::open(db.url(), &options()).await.unwrap();
    for number in [1_u64, 100_000] {
        let count = store.read_count(statement!(COUNT, number)).await;
        assert_eq!(count.unwrap(), number);
    }
    // More than every connection of a kind fails, and the connections can be used again.
    let endless = (0..10).map(|_| store.read_count(statement!(COUNT, u64::MAX)));
    for result in join_all(endless).await {
        let error = result.unwrap_err();
        assert!(matches!(error, DatabaseError::Unavailable(_)), "{error:?}");
    }
    let count = store.read_count(statement!(COUNT, 100_000_u64)).await;
    assert_eq!(count.unwrap(), 100_000);
    store.close().await;
    db.remove().await;
}

#[tokio::test]
async fn long_transaction_ends_in_time_and_stores_nothing() {
    let db = TestStore::sqlite().await;
    let store = Store::open(db.url(), &options()).await.unwrap();
    let mut write = inserting(&booking(1));
    write.add(statement!(
        format!("INSERT INTO setting (name, value) SELECT 'x', '' FROM ({COUNT})"),
        u64::MAX
    ));
    let error = store.commit(write).await.unwrap_err().into_database();
    assert!(matches!(error, DatabaseError::Unavailable(_)), "{error:?}");
    assert!(stored(&store, &booking(1).id).await.is_none());
    commit_booking(&store, 2).await;
    store.close().await;
    db.remove().await;
}

#[tokio::test]
async fn removed_or_replaced_file_is_not_written_to() {
    let db = TestStore::sqlite().await;
    let (file, kept) = (db.sqlite_file(), format!("{}.kept", db.sqlite_file()));
    commit_booking(&db.store, 1).await;
    fs::rename(file, &kept).unwrap();
    for is_replaced in [false, true] {
        if is_replaced {
            fs::copy(&kept, file).unwrap();
        }
        let error = failure(&db.store, 2).await;
        let DatabaseError::Unavailable(cause) = error else {
            panic!("{error:?}");
        };
        assert!(cause.to_string().contains("removed or replaced"), "{cause}");
    }
    fs::rename(&kept, file).unwrap();
    commit_booking(&db.store, 3).await;
    for (number, is_stored) in [(1, true), (2, false), (3, true)] {
        let stored = stored(&db.store, &booking(number).id).await;
        assert_eq!(stored.is_some(), is_stored, "{number}");
    }
    db.remove().await;
}

/// Returns the error of a read once reads fail.
async fn read_failure(store: &Store) -> DatabaseError {
    let failing = async {
        loop {
            match store.read_count(statement!(COUNT, 1_u64)).await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => return error,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), failing)
        .await
        .unwrap()
}

#[tokio::test]
async fn removed_or_replaced_file_is_not_read_from() {
    let db = TestStore::sqlite().await;
    let (file, kept) = (db.sqlite_file(), format!("{}.kept", db.sqlite_file()));
    commit_booking(&db.store, 1).await;
    for is_replaced in [false, true] {
        for is_written in [false, true] {
            assert!(stored(&db.store, &booking(1).id).await.is_some());
            fs::rename(file, &kept).unwrap();
            if is_replaced {
                fs::copy(&kept, file).unwrap();
            }
            let error = if is_written {
                // Reads fail as soon as the writer has seen it.
                failure(&db.store, 2).await;
                let read = db.store.read_count(statement!(COUNT, 1_u64)).await;
                read.unwrap_err()
            } else {
                read_failure(&db.store).await
            };
            let DatabaseError::Unavailable(cause) = error else {
                panic!("{error:?}");
            };
            assert!(cause.to_string().contains("removed or replaced"), "{cause}");
            // Longer reads, on a thread of their own, fail too.
            let long = db.store.read_count(statement!(COUNT, 100_000_u64)).await;
            assert!(
                matches!(long, Err(DatabaseError::Unavailable(_))),
                "{long:?}"
            );
            fs::rename(&kept, file).unwrap();
        }
    }
    assert!(stored(&db.store, &booking(2).id).await.is_none());
    commit_booking(&db.store, 2).await;
    db.remove().await;
}

/// A file system in memory with a maximum size. It needs the rights of the administrator.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(folder: &'a Path) -> Self {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]);
        let status = mount.arg(folder).status().unwrap();
        assert!(status.success(), "cannot mount a file system: {status}");
        Self(folder)
    }

    /// Fills the rest of the disk with a file and returns its path.
    fn fill(&self) -> std::path::PathBuf {
        let file = self.0.join("filler");
        let written = fs::write(&file, vec![0; 8 << 20]);
        assert!(written.is_err(), "the disk has no limit");
        file
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.0).status();
        assert!(unmounted.unwrap().success());
    }
}

#[tokio::test]
async fn full_disk_refuses_writes_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::mount(folder.path());
    let url = format!("sqlite:{}", folder.path().join("stopover.db").display());
    let store = Store::open(&url, &options()).await.unwrap();
    store.migrate().await.unwrap();
    commit_booking(&store, 0).await;
    let filler = disk.fill();
    // The log still has some pages that are written again.
    let mut confirmed = vec![0];
    let refused = loop {
        let number = u32::try_from(confirmed.len()).unwrap();
        match store.commit(inserting(&booking(number))).await {
            Ok(()) => confirmed.push(number),
            Err(error) => break (number, error.into_database()),
        }
    };
    let (number, error) = refused;
    assert!(matches!(error, DatabaseError::Unavailable(_)), "{error:?}");
    assert!(stored(&store, &booking(number).id).await.is_none());

    fs::remove_file(filler).unwrap();
    commit_booking(&store, number).await;
    store.close().await;
    let reopened = Store::open(&url, &options()).await.unwrap();
    for number in 0..=number {
        let stored = stored(&reopened, &booking(number).id).await;
        assert!(stored.is_some(), "booking {number} is lost");
    }
    reopened.close().await;
}
