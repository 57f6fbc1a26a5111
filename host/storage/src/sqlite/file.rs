//! The database's file, and how connections to it are opened.

use super::connection::SqliteConnection;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tokio::time::Instant;

/// Time between two attempts to set the journal mode of a new file.
const BUSY_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Time for which reads rely on the last look at the path. A look is a system call, and a read by key
/// takes little more.
const IDENTITY_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Settings of connections that write. The record that a remote call is about to be sent must survive
/// a power failure.
const WRITER_SETTINGS: &str = "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; \
     PRAGMA journal_size_limit = 67108864";

/// Maximum number of prepared statements that a connection for writes caches.
const WRITER_STATEMENTS_MAX: usize = 256;
/// Maximum number of prepared statements that a connection for reads caches.
const READER_STATEMENTS_MAX: usize = 128;

/// A file, as it was when the database was opened.
#[derive(Debug)]
pub(super) struct SqliteFile {
    path: PathBuf,
    identity: FileIdentity,
    /// Maximum time to wait for a lock of another process.
    busy_timeout: Duration,
    opened_at: Instant,
    /// Time of the last look at the path, in milliseconds after the opening.
    checked_at_ms: AtomicU64,
    /// Whether the path named this file at that time.
    is_in_place: AtomicBool,
}

/// Device and number of a file.
#[derive(Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    number: u64,
}

/// A file that is no longer the one that was opened.
#[derive(Debug, thiserror::Error)]
#[error(
    "the database's file was removed or replaced while it was open; put it back or restart the gateway"
)]
struct FileReplaced;

impl SqliteFile {
    /// Opens the file, which is created if it is missing, and returns the connection that writes.
    ///
    /// While another process writes to a new file, SQLite rejects the change of the journal mode
    /// immediately, without waiting for the busy timeout. The change is therefore retried until the
    /// timeout has passed.
    pub(super) fn open(
        path: &Path,
        busy_timeout: Duration,
    ) -> rusqlite::Result<(Self, SqliteConnection)> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(busy_timeout)?;
        let deadline = Instant::now() + busy_timeout;
        loop {
            match connection.pragma_update(None, "journal_mode", "WAL") {
                Err(error) if is_busy(&error) && Instant::now() < deadline => {
                    thread::sleep(BUSY_RETRY_INTERVAL);
                }
                result => break result?,
            }
        }
        let file = Self {
            identity: FileIdentity::of(path).map_err(cannot_open)?,
            path: path.to_owned(),
            busy_timeout,
            opened_at: Instant::now(),
            checked_at_ms: AtomicU64::new(0),
            is_in_place: AtomicBool::new(true),
        };
        let writer = Self::configured_as_writer(connection)?;
        Ok((file, writer))
    }

    /// Opens a further connection that writes.
    pub(super) fn connect_writer(&self) -> rusqlite::Result<SqliteConnection> {
        let connection = self.connect()?;
        connection.busy_timeout(self.busy_timeout)?;
        Self::configured_as_writer(connection)
    }

    fn configured_as_writer(connection: Connection) -> rusqlite::Result<SqliteConnection> {
        connection.execute_batch(WRITER_SETTINGS)?;
        SqliteConnection::new(connection, WRITER_STATEMENTS_MAX)
    }

    /// Opens a connection that only reads. It waits at most `busy_timeout` for a lock of another
    /// process, which readers rarely need.
    pub(super) fn connect_reader(
        &self,
        busy_timeout: Duration,
    ) -> rusqlite::Result<SqliteConnection> {
        let connection = self.connect()?;
        connection.busy_timeout(busy_timeout)?;
        connection.execute_batch("PRAGMA query_only = ON")?;
        SqliteConnection::new(connection, READER_STATEMENTS_MAX)
    }

    pub(super) const fn busy_timeout(&self) -> Duration {
        self.busy_timeout
    }

    /// Opens the file, which must be the same as before. Readers need write access too, because they
    /// write to the index of the write-ahead log (the `-shm` file).
    fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        self.check_identity()?;
        Ok(connection)
    }

    /// Fails if the path names another file or no file. SQLite would go on with the removed file.
    pub(super) fn check_identity(&self) -> rusqlite::Result<()> {
        let checked = match FileIdentity::of(&self.path) {
            Ok(identity) if identity == self.identity => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot_open(error)),
            Ok(_) | Err(_) => Err(cannot_open(io::Error::other(FileReplaced))),
        };
        self.is_in_place.store(checked.is_ok(), Ordering::Relaxed);
        self.checked_at_ms
            .store(self.milliseconds_open(), Ordering::Relaxed);
        checked
    }

    /// Fails if the path was found to name another file or no file. Looks at it again if the last
    /// look failed, so that a file that is put back can be read at once, and once a second else.
    pub(super) fn check_identity_sometimes(&self) -> rusqlite::Result<()> {
        let checked_at_ms = self.checked_at_ms.load(Ordering::Relaxed);
        let age_ms = self.milliseconds_open().saturating_sub(checked_at_ms);
        let is_recent = u128::from(age_ms) < IDENTITY_CHECK_INTERVAL.as_millis();
        if is_recent && self.is_in_place.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.check_identity()
    }

    fn milliseconds_open(&self) -> u64 {
        u64::try_from(self.opened_at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl FileIdentity {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self {
            device: metadata.dev(),
            number: metadata.ino(),
        })
    }
}

/// Returns the error of a file that cannot be used, in the form of SQLite's own.
fn cannot_open(error: io::Error) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
    rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
}

/// Returns whether another connection has a lock that a statement needs.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}
