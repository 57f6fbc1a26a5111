//! Outages of the database, including those during a commit.

use super::*;
use crate::{DatabaseError, OpenError, WorkQueue};
use sqlx::{Connection, Executor, PgConnection};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Longer than any operation takes.
const LONG: Duration = Duration::from_secs(30);

/// The state of the relay between a store and its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    /// Forwards everything.
    Whole,
    /// Closes every connection, existing or new.
    Cut,
    /// Accepts everything and forwards nothing.
    Silent,
    /// Forwards a commit and closes the connection instead of returning the response.
    CutAfter(Commit),
    /// Closes the connection instead of forwarding a commit.
    CutBefore(Commit),
}

/// The message that commits a unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Commit {
    /// The only statement of the unit.
    Statement,
    /// The `COMMIT` after several statements.
    Text,
}

impl Commit {
    /// Returns whether a client's bytes contain the commit. A statement is sent with its values in
    /// a message of type `B`.
    fn is_in(self, bytes: &[u8]) -> bool {
        match self {
            Self::Statement => bytes.starts_with(b"B"),
            Self::Text => bytes.windows(6).any(|word| word == b"COMMIT"),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the relay task ends with the test's runtime"
)]
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

/// Opens a store behind a relay that can interrupt the connection to the server.
async fn open_by_wire(db: &TestStore) -> (Store, watch::Sender<Wire>) {
    let (host, name) = {
        let (before, name) = db.url().rsplit_once('/').unwrap();
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

/// Relays bytes until either side or the relay's state ends the connection.
async fn relay(mut client: TcpStream, mut server: TcpStream, mut wire: watch::Receiver<Wire>) {
    let (mut request, mut response) = ([0; 65_536], [0; 65_536]);
    let mut committing = false;
    loop {
        let now = *wire.borrow_and_update();
        if now == Wire::Cut {
            return;
        }
        tokio::select! {
            changed = wire.changed() => if changed.is_err() { return },
            read = client.read(&mut request) => {
                let Ok(1..) = read else { return };
                let bytes = &request[..read.unwrap()];
                match now {
                    Wire::CutBefore(commit) if commit.is_in(bytes) => return,
                    Wire::CutAfter(commit) => committing = commit.is_in(bytes),
                    Wire::Silent => continue,
                    _ => {}
                }
                if server.write_all(bytes).await.is_err() { return }
            }
            read = server.read(&mut response) => {
                let Ok(1..) = read else { return };
                if committing { return }
                if now == Wire::Silent { continue }
                if client.write_all(&response[..read.unwrap()]).await.is_err() { return }
            }
        }
    }
}

/// Commits a unit of work and returns the error of the database.
async fn failure(store: &Store, write: UnitOfWork) -> DatabaseError {
    store.commit(write).await.unwrap_err().into_database()
}

/// Builds a unit of work that inserts and then updates a booking. The two statements change the
/// same table and cannot be combined.
fn in_two_statements(number: u32) -> UnitOfWork {
    let booking = booking(number);
    let mut write = inserting(&booking);
    write.append(updating(&moved(&booking, booking.state.clone())));
    write
}

#[tokio::test]
async fn connections_closed_by_server_are_replaced() {
    let db = TestStore::postgres().await;
    // Several commits run at once, so that more than one connection is dead.
    let commits = (0..15).map(|number| db.store.commit(inserting(&booking(number))));
    join_all(commits).await.into_iter().for_each(Result::unwrap);
    let mut admin = PgConnection::connect(db.url()).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for number in 20..25 {
        admin.execute(end).await.unwrap();
        db.store.commit(inserting(&booking(number))).await.unwrap();
        admin.execute(end).await.unwrap();
        assert!(stored(&db.store, &booking(number).id).await.is_some());
    }
    admin.close().await.unwrap();
    db.remove().await;
}

#[tokio::test]
async fn unreachable_server_returns_errors_until_it_is_back() {
    let db = TestStore::postgres().await;
    let (store, wire) = open_by_wire(&db).await;
    let [first, second] = [1, 2].map(booking);
    store.commit(inserting(&first)).await.unwrap();
    for state in [Wire::Cut, Wire::Silent] {
        wire.send_replace(state);
        // The commit may have reached the server, unless there was no connection before.
        let error = failure(&store, inserting(&second)).await;
        let is_expected = matches!(
            error,
            DatabaseError::CommitUnknown(_) | DatabaseError::Unavailable(_)
        );
        assert!(is_expected, "{state:?}: {error:?}");
        let commit_error = failure(&store, in_two_statements(2)).await;
        let read = store.booking_unscoped::<HotelBookingDetails>(&first.id);
        let read_error = read.await.unwrap_err();
        let probe_error = store.probe_write().await.unwrap_err();
        for error in [commit_error, read_error, probe_error] {
            let unavailable = matches!(error, DatabaseError::Unavailable(_));
            assert!(unavailable, "{state:?}: {error:?}");
        }
        wire.send_replace(Wire::Whole);
        assert!(stored(&store, &first.id).await.is_some());
        assert!(stored(&store, &second.id).await.is_none());
    }
    store.commit(inserting(&second)).await.unwrap();
    store.close().await;
    db.remove().await;
}

#[tokio::test]
async fn commit_without_response_returns_commit_unknown() {
    let db = TestStore::postgres().await;
    let (store, wire) = open_by_wire(&db).await;
    store.api_keys(None).await.unwrap();
    let (alone, last) = (Commit::Statement, Commit::Text);
    for (number, cut, written) in [
        (1, Wire::CutAfter(alone), true),
        (2, Wire::CutBefore(alone), false),
        (3, Wire::CutAfter(last), true),
        (4, Wire::CutBefore(last), false),
    ] {
        wire.send_replace(cut);
        let write = match cut {
            Wire::CutAfter(Commit::Text) | Wire::CutBefore(Commit::Text) => {
                in_two_statements(number)
            }
            _ => inserting(&booking(number)),
        };
        let error = failure(&store, write).await;
        let unknown = matches!(error, DatabaseError::CommitUnknown(_));
        assert!(unknown, "{cut:?}: {error:?}");
        wire.send_replace(Wire::Whole);
        let stored = stored(&store, &booking(number).id).await;
        assert_eq!(stored.is_some(), written, "{cut:?}");
    }
    store.close().await;
    db.remove().await;
}

#[tokio::test]
async fn due_job_wakes_another_host() {
    let db = TestStore::postgres().await;
    let other = db.second_store().await;
    let mut wakeups = other.subscribe_wakeups(WorkQueue::Jobs);
    let mut of_others = other.subscribe_wakeups(WorkQueue::PriceChecks);
    // The first wake-up signals that the listener is connected.
    assert!(wakeups.wait(LONG).await && of_others.wait(LONG).await);
    commit(&db.store, |write| write.schedule_job("resume", "a", NOW)).await;
    assert!(wakeups.wait(LONG).await);
    assert!(!of_others.wait(Duration::ZERO).await);
    other.close().await;
    db.remove().await;
}

#[tokio::test]
async fn locked_sqlite_file_returns_unavailable_after_timeout() {
    let db = TestStore::sqlite().await;
    let options = StoreOptions {
        acquire_timeout: Duration::from_millis(100),
        ..StoreOptions::default()
    };
    let store = Store::open(db.url(), &options).await.unwrap();
    let other = rusqlite::Connection::open(db.sqlite_file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = failure(&store, inserting(&booking(1))).await;
    let unavailable = matches!(error, DatabaseError::Unavailable(_));
    assert!(unavailable, "{error:?}");
    // Reads are not blocked.
    assert!(stored(&store, &booking(1).id).await.is_none());
    other.execute_batch("ROLLBACK").unwrap();
    store.commit(inserting(&booking(1))).await.unwrap();
    store.close().await;
    db.remove().await;
}

#[tokio::test]
async fn failing_unit_of_sqlite_batch_does_not_affect_others() {
    let db = TestStore::sqlite().await;
    let mut faulty = inserting(&booking(0));
    faulty.add(statement!(
        "INSERT INTO setting (name, value) VALUES ($1, $2)",
        "a number where bytes belong",
        7_i64,
    ));
    let (first, error, second) = futures::join!(
        db.store.commit(inserting(&booking(1))),
        failure(&db.store, faulty),
        db.store.commit(inserting(&booking(2))),
    );
    first.and(second).unwrap();
    assert!(matches!(error, DatabaseError::InvalidStatement(_)));
    for (number, written) in [(0, false), (1, true), (2, true)] {
        let stored = stored(&db.store, &booking(number).id).await;
        assert_eq!(stored.is_some(), written);
    }
    db.remove().await;
}

#[tokio::test]
async fn invalid_address_returns_matching_open_error() {
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
    let malformed = open("postgres://localhost:port/x").await;
    assert!(matches!(malformed, OpenError::Address(_)));
    for unreachable in [
        "sqlite:/nonexistent/folder/file.db",
        "postgres://postgres@127.0.0.1:1/x",
    ] {
        assert!(matches!(open(unreachable).await, OpenError::Connect(_)));
    }
}
