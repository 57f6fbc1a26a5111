//! When the database is away, or goes away in the middle of something.

use super::*;
use crate::{CommitError, DatabaseError, OpenError, WorkQueue};
use sqlx::{Connection, Executor, PgConnection, SqliteConnection};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Longer than anything takes.
const LONG: Duration = Duration::from_secs(30);

/// What stands between a store and its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    /// Passes everything on.
    Whole,
    /// Ends every connection, old and new.
    Cut,
    /// Takes everything and passes nothing on.
    Silent,
    /// Passes a commit on and ends the connection instead of the answer.
    CutAfter(Commit),
    /// Ends the connection instead of passing a commit on.
    CutBefore(Commit),
}

/// What a write is committed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Commit {
    /// Its only statement.
    Statement,
    /// The word, behind several of them.
    Word,
}

impl Commit {
    /// Whether a client's bytes hold it. A statement is sent with its values in a message of
    /// the type `B`.
    fn is_in(self, bytes: &[u8]) -> bool {
        match self {
            Self::Statement => bytes.starts_with(b"B"),
            Self::Word => bytes.windows(6).any(|word| word == b"COMMIT"),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the wire ends with the test's runtime"
)]
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

/// Opens a store whose server can be taken away.
async fn open_by_wire(db: &TestDatabase) -> (Store, watch::Sender<Wire>) {
    let (host, name) = {
        let (before, name) = db.url.rsplit_once('/').unwrap();
        (before.rsplit_once('@').unwrap().1.to_owned(), name)
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (wire, state) = watch::channel(Wire::Whole);
    spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (host, state) = (host.clone(), state.clone());
            spawn(async move {
                let server = TcpStream::connect(host).await.unwrap();
                relay(client, server, state).await;
            });
        }
    });
    let options = StoreOptions {
        acquire_timeout: Duration::from_millis(500),
        response_timeout: Duration::from_millis(500),
        ..StoreOptions::default()
    };
    let url = format!("postgres://postgres@127.0.0.1:{port}/{name}");
    (Store::open(&url, &options).await.unwrap(), wire)
}

/// Until either side or the wire ends it.
async fn relay(mut client: TcpStream, mut server: TcpStream, mut wire: watch::Receiver<Wire>) {
    let (mut asked, mut answered) = ([0; 65_536], [0; 65_536]);
    let mut committing = false;
    loop {
        let now = *wire.borrow_and_update();
        if now == Wire::Cut {
            return;
        }
        tokio::select! {
            changed = wire.changed() => if changed.is_err() { return },
            read = client.read(&mut asked) => {
                let Ok(1..) = read else { return };
                let bytes = &asked[..read.unwrap()];
                match now {
                    Wire::CutBefore(commit) if commit.is_in(bytes) => return,
                    Wire::CutAfter(commit) => committing = commit.is_in(bytes),
                    Wire::Silent => continue,
                    _ => {}
                }
                if server.write_all(bytes).await.is_err() { return }
            }
            read = server.read(&mut answered) => {
                let Ok(1..) = read else { return };
                if committing { return }
                if now == Wire::Silent { continue }
                if client.write_all(&answered[..read.unwrap()]).await.is_err() { return }
            }
        }
    }
}

fn trouble(result: Result<(), CommitError>) -> Option<DatabaseError> {
    match result {
        Ok(()) => None,
        Err(CommitError::Database(error)) => Some(error),
        Err(CommitError::Conflict(conflict)) => panic!("{conflict}"),
    }
}

/// A booking that changes at once: a second statement about one table.
fn in_two_statements(number: u32) -> UnitOfWork {
    let booking = booking(number);
    let mut write = inserting(&booking);
    write.append(updating(&moved(&booking, booking.state.clone())));
    write
}

#[tokio::test]
async fn connections_that_the_server_ended_are_replaced_unnoticed() {
    let db = TestDatabase::postgres().await;
    // Several, so that more than one of them is dead.
    let commits = (0..15).map(|number| db.store.commit(inserting(&booking(number))));
    futures::future::join_all(commits)
        .await
        .into_iter()
        .for_each(Result::unwrap);
    let mut admin = PgConnection::connect(&db.url).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for number in 20..25 {
        admin.execute(end).await.unwrap();
        db.store.commit(inserting(&booking(number))).await.unwrap();
        admin.execute(end).await.unwrap();
        let read = db.store.hotel_booking_unscoped(&booking(number).id).await;
        assert!(read.unwrap().is_some());
    }
    admin.close().await.unwrap();
    db.remove().await;
}

#[tokio::test]
async fn while_the_server_is_away_this_is_said_and_afterwards_all_is_well() {
    let db = TestDatabase::postgres().await;
    let (store, wire) = open_by_wire(&db).await;
    store.commit(inserting(&booking(1))).await.unwrap();
    for away in [Wire::Cut, Wire::Silent] {
        wire.send_replace(away);
        // It may have got there, unless there was no connection already.
        let committed = trouble(store.commit(inserting(&booking(2))).await);
        let said = matches!(
            committed,
            Some(DatabaseError::CommitUnknown(_) | DatabaseError::Unavailable(_))
        );
        assert!(said, "{away:?}: {committed:?}");
        let committed = trouble(store.commit(in_two_statements(2)).await);
        let unavailable = matches!(committed, Some(DatabaseError::Unavailable(_)));
        assert!(unavailable, "{away:?}: {committed:?}");
        let read = store.hotel_booking_unscoped(&booking(1).id).await;
        let unavailable = matches!(read, Err(DatabaseError::Unavailable(_)));
        assert!(unavailable, "{away:?}: {read:?}");
        let answers = store.ping().await;
        assert!(matches!(answers, Err(DatabaseError::Unavailable(_))));
        wire.send_replace(Wire::Whole);
        let read = store.hotel_booking_unscoped(&booking(1).id).await;
        assert!(read.unwrap().is_some());
        let read = store.hotel_booking_unscoped(&booking(2).id).await;
        assert!(read.unwrap().is_none());
    }
    store.commit(inserting(&booking(2))).await.unwrap();
    store.close().await;
    db.remove().await;
}

#[tokio::test]
async fn a_commit_without_an_answer_is_neither_written_nor_not_written() {
    let db = TestDatabase::postgres().await;
    let (store, wire) = open_by_wire(&db).await;
    store.ping().await.unwrap();
    let (alone, last) = (Commit::Statement, Commit::Word);
    for (number, cut, written) in [
        (1, Wire::CutAfter(alone), true),
        (2, Wire::CutBefore(alone), false),
        (3, Wire::CutAfter(last), true),
        (4, Wire::CutBefore(last), false),
    ] {
        wire.send_replace(cut);
        let write = match cut {
            Wire::CutAfter(Commit::Word) | Wire::CutBefore(Commit::Word) => {
                in_two_statements(number)
            }
            _ => inserting(&booking(number)),
        };
        let result = trouble(store.commit(write).await);
        let unknown = matches!(result, Some(DatabaseError::CommitUnknown(_)));
        assert!(unknown, "{cut:?}: {result:?}");
        wire.send_replace(Wire::Whole);
        let read = store.hotel_booking_unscoped(&booking(number).id).await;
        assert_eq!(read.unwrap().is_some(), written, "{cut:?}");
    }
    store.close().await;
    db.remove().await;
}

#[tokio::test]
async fn another_host_hears_of_due_jobs() {
    let db = TestDatabase::postgres().await;
    let other = db.second_store().await;
    let mut word = other.subscribe_wakeups(WorkQueue::Jobs);
    let mut of_others = other.subscribe_wakeups(WorkQueue::PriceChecks);
    // The first word says that it listens.
    assert!(word.wait(LONG).await && of_others.wait(LONG).await);
    let mut write = UnitOfWork::new(NOW);
    write.schedule_job("resume", "a", NOW);
    db.store.commit(write).await.unwrap();
    assert!(word.wait(LONG).await);
    assert!(!of_others.wait(Duration::ZERO).await);
    other.close().await;
    db.remove().await;
}

#[tokio::test]
async fn a_file_that_another_process_locks_is_waited_for_and_then_reported() {
    let db = TestDatabase::sqlite().await;
    let options = StoreOptions {
        acquire_timeout: Duration::from_millis(100),
        ..StoreOptions::default()
    };
    let store = Store::open(&db.url, &options).await.unwrap();
    let mut other = SqliteConnection::connect(&db.url).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let result = trouble(store.commit(inserting(&booking(1))).await);
    let unavailable = matches!(result, Some(DatabaseError::Unavailable(_)));
    assert!(unavailable, "{result:?}");
    // Readers do not mind.
    let read = store.hotel_booking_unscoped(&booking(1).id).await;
    assert!(read.unwrap().is_none());
    other.execute("ROLLBACK").await.unwrap();
    store.commit(inserting(&booking(1))).await.unwrap();
    other.close().await.unwrap();
    store.close().await;
    db.remove().await;
}

#[tokio::test]
async fn a_fault_in_one_write_of_a_batch_is_its_own() {
    let db = TestDatabase::sqlite().await;
    let faulty = || {
        let mut write = inserting(&booking(0));
        write.add(crate::statement::statement!(
            "INSERT INTO setting (name, value) VALUES ($1, $2)",
            "a number where bytes belong",
            7_i64,
        ));
        write
    };
    let results = futures::join!(
        db.store.commit(inserting(&booking(1))),
        db.store.commit(faulty()),
        db.store.commit(inserting(&booking(2))),
    );
    results.0.unwrap();
    results.2.unwrap();
    let refused = trouble(results.1);
    assert!(matches!(refused, Some(DatabaseError::Refused(_))));
    for (number, written) in [(0, false), (1, true), (2, true)] {
        let read = db.store.hotel_booking_unscoped(&booking(number).id).await;
        assert_eq!(read.unwrap().is_some(), written);
    }
    db.remove().await;
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_explained() {
    let open = async |url: &str| {
        let options = StoreOptions {
            acquire_timeout: Duration::from_millis(100),
            ..StoreOptions::default()
        };
        Store::open(url, &options).await.err().unwrap()
    };
    let unknown = open("mysql://localhost/x").await;
    assert!(matches!(unknown, OpenError::UnknownScheme));
    for memory in ["sqlite::memory:", "sqlite:", "sqlite://"] {
        assert!(matches!(open(memory).await, OpenError::InMemory));
    }
    let missing = open("sqlite:/nonexistent/folder/file.db").await;
    assert!(matches!(missing, OpenError::Connect(_)));
    let misread = open("postgres://localhost:port/x").await;
    assert!(matches!(misread, OpenError::Address(_)));
    let refused = open("postgres://postgres@127.0.0.1:1/x").await;
    assert!(matches!(refused, OpenError::Connect(_)));
}
