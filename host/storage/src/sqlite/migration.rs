//! Runs the migrations on SQLite. The history has the format of sqlx, because databases exist whose
//! history sqlx wrote, and because PostgreSQL uses the same format.

use crate::migration::SELECT_EARLIER_SCHEMA;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};
use sqlx::migrate::{MigrateError, Migration, Migrator};
use std::collections::BTreeMap;
use std::path::Path;

const CREATE_HISTORY: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (\
         version BIGINT PRIMARY KEY, description TEXT NOT NULL, \
         installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL, \
         checksum BLOB NOT NULL, execution_time BIGINT NOT NULL)";

#[derive(Debug, thiserror::Error)]
pub(super) enum SqliteMigrateError {
    #[error("the applied migrations cannot be read")]
    Read(#[from] rusqlite::Error),
    #[error("migration {version} cannot be executed")]
    Execute {
        version: i64,
        #[source]
        source: rusqlite::Error,
    },
    #[error(transparent)]
    Mismatch(#[from] MigrateError),
}

/// Brings the schema up to date in one transaction. Another process may be migrating: the second one
/// waits and then finds nothing to do.
pub(super) fn migrate(
    connection: &mut Connection,
    migrator: &Migrator,
) -> Result<(), SqliteMigrateError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(CREATE_HISTORY)?;
    let applied = read_history(&transaction)?;
    if let Some(version) = applied
        .keys()
        .find(|version| !migrator.version_exists(**version))
    {
        return Err(MigrateError::VersionMissing(*version).into());
    }
    for migration in migrator.iter() {
        match applied.get(&migration.version) {
            Some(checksum) if **checksum == *migration.checksum => {}
            Some(_) => return Err(MigrateError::VersionMismatch(migration.version).into()),
            None => {
                let executed = execute(&transaction, migration);
                executed.map_err(|source| SqliteMigrateError::Execute {
                    version: migration.version,
                    source,
                })?;
            }
        }
    }
    Ok(transaction.commit()?)
}

/// Returns the checksums of the applied migrations, by version.
fn read_history(connection: &Connection) -> Result<BTreeMap<i64, Vec<u8>>, SqliteMigrateError> {
    let dirty = "SELECT version FROM _sqlx_migrations WHERE success = FALSE ORDER BY version";
    let dirty = connection.query_row(dirty, [], |row| row.get(0));
    if let Some(version) = dirty.optional()? {
        return Err(MigrateError::Dirty(version).into());
    }
    let mut select = connection.prepare("SELECT version, checksum FROM _sqlx_migrations")?;
    let applied = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(applied.collect::<rusqlite::Result<_>>()?)
}

fn execute(connection: &Connection, migration: &Migration) -> rusqlite::Result<()> {
    connection.execute_batch(migration.sql.as_str())?;
    let insert = "INSERT INTO _sqlx_migrations \
         (version, description, success, checksum, execution_time) VALUES (?1, ?2, TRUE, ?3, 0)";
    let row = params![migration.version, migration.description, migration.checksum];
    connection.execute(insert, row)?;
    Ok(())
}

/// Returns whether an earlier development version created the file. Changes neither the file nor its
/// write-ahead log, unlike the connections of the writer, which set the journal mode.
pub(super) fn has_earlier_schema(file: &Path) -> rusqlite::Result<bool> {
    if !file.exists() {
        return Ok(false);
    }
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    // Without a log nobody writes to the file. SQLite then need not create one to read it.
    let parameters = match Path::new(&log).exists() {
        true => "",
        false => "?immutable=1",
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let url = format!("file:{}{parameters}", percent_encoded(file));
    let connection = Connection::open_with_flags(url, flags)?;
    let table = "SELECT 1 FROM sqlite_master WHERE name = '_sqlx_migrations'";
    let exists = |sql| connection.prepare(sql)?.exists([]);
    Ok(exists(table)? && exists(SELECT_EARLIER_SCHEMA)?)
}

/// Percent-encodes `%`, `?` and `#`, which would change or end the path of a URI.
fn percent_encoded(file: &Path) -> String {
    let path = file.to_string_lossy();
    path.replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23")
}
