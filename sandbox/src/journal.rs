//! The file behind the state. One writer appends every changed record in groups and in the order of
//! the changes. The module is independent of the records' meaning.
//!
//! WAL with `synchronous = NORMAL` keeps every committed group if the process is killed at any
//! time. Only a power cut may lose the last groups.

use std::{path::Path, time::Duration};

use rusqlite::Connection;
use tokio::sync::{mpsc, watch};

/// Maximum number of changes in one transaction, so that a burst does not delay its first
/// responses.
const GROUP_CHANGES_MAX: usize = 2_000;

#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) table: &'static str,
    pub(crate) id: String,
    pub(crate) body: String,
}

/// A record as it was read from the file.
pub(crate) struct StoredRecord {
    pub(crate) table: String,
    pub(crate) id: String,
    pub(crate) body: String,
}

/// The state can no longer be written. No further response may be sent.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox's state can no longer be written")]
pub(crate) struct JournalClosed;

struct Group {
    number: u64,
    changes: Vec<Change>,
}

/// The interface through which changes are queued for the writer and awaited.
pub(crate) struct Journal {
    groups: mpsc::UnboundedSender<Group>,
    committed: watch::Receiver<u64>,
}

impl Journal {
    /// Queues a group of changes. Group numbers must start at 1 and be passed in ascending order
    /// without gaps.
    pub(crate) fn append(&self, number: u64, changes: Vec<Change>) {
        if self.groups.send(Group { number, changes }).is_err() {
            tracing::error!(
                "a change is lost, because the writer of the sandbox's state has ended"
            );
        }
    }

    /// Waits until every group up to `number` is committed.
    pub(crate) async fn wait(&self, number: u64) -> Result<(), JournalClosed> {
        if *self.committed.borrow() >= number {
            return Ok(());
        }
        self.committed
            .clone()
            .wait_for(|committed| *committed >= number)
            .await
            .map_err(|_| JournalClosed)?;
        Ok(())
    }
}

/// The single thread that writes. It ends when every `Journal` is dropped.
pub(crate) struct Writer {
    connection: Connection,
    groups: mpsc::UnboundedReceiver<Group>,
    committed: watch::Sender<u64>,
}

/// Opens or creates the file and reads all of it. No other process may have the file open.
pub(crate) fn open(path: &Path) -> Result<(Journal, Writer, Vec<StoredRecord>), rusqlite::Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(2))?;
    connection.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE TABLE IF NOT EXISTS record (
             table_name TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
             PRIMARY KEY (table_name, id)
         ) WITHOUT ROWID",
    )?;
    rename_table_column(&connection)?;
    let mut select =
        connection.prepare("SELECT table_name, id, body FROM record ORDER BY table_name, id")?;
    let stored = select
        .query_map([], |row| {
            Ok(StoredRecord {
                table: row.get(0)?,
                id: row.get(1)?,
                body: row.get(2)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    drop(select);
    let (sender, receiver) = mpsc::unbounded_channel();
    let (progress, committed) = watch::channel(0);
    let journal = Journal {
        groups: sender,
        committed,
    };
    let writer = Writer {
        connection,
        groups: receiver,
        committed: progress,
    };
    Ok((journal, writer, stored))
}

/// Gives the column of a file that an earlier development version created its present name.
fn rename_table_column(connection: &Connection) -> Result<(), rusqlite::Error> {
    if connection.prepare("SELECT shelf FROM record").is_ok() {
        connection.execute_batch("ALTER TABLE record RENAME COLUMN shelf TO table_name")?;
    }
    Ok(())
}

impl Writer {
    /// Commits groups as they arrive. A failure ends the writer, and every later response fails.
    /// Blocks the thread until then.
    pub(crate) fn run(mut self) {
        while let Some(first) = self.groups.blocking_recv() {
            let mut last = first.number;
            let mut changes = first.changes;
            while changes.len() < GROUP_CHANGES_MAX {
                let Ok(next) = self.groups.try_recv() else {
                    break;
                };
                last = next.number;
                changes.extend(next.changes);
            }
            if let Err(error) = write(&self.connection, &changes) {
                tracing::error!(%error, "the sandbox's state cannot be written");
                return;
            }
            self.committed.send_replace(last);
        }
        if let Err((_, error)) = self.connection.close() {
            tracing::warn!(%error, "the sandbox's state was not closed cleanly");
        }
    }
}

/// Writes the whole group in one statement with its records as one JSON array.
fn write(connection: &Connection, changes: &[Change]) -> Result<(), rusqlite::Error> {
    let rows: Vec<[&str; 3]> = changes
        .iter()
        .map(|change| [change.table, change.id.as_str(), change.body.as_str()])
        .collect();
    let rows = serde_json::to_string(&rows)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO record (table_name, id, body)
         SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1) WHERE true
         ON CONFLICT (table_name, id) DO UPDATE SET body = excluded.body",
    )?;
    insert.execute([rows])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_with_the_earlier_column_name_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let file = Connection::open(&path).unwrap();
        file.execute_batch(
            "CREATE TABLE record (
                 shelf TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
                 PRIMARY KEY (shelf, id)
             ) WITHOUT ROWID;
             INSERT INTO record VALUES ('ledger', '1', '{}')",
        )
        .unwrap();
        drop(file);
        for _ in 0..2 {
            let (_journal, _writer, stored) = open(&path).unwrap();
            let tables: Vec<&str> = stored.iter().map(|record| record.table.as_str()).collect();
            assert_eq!(tables, ["ledger"]);
        }
    }
}
