//! Both databases have the same schema.

use super::*;
use crate::{OpenError, StoreOptions};
use sqlx::{Connection, Executor, PgConnection};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;

/// Returns one line for each row, with its columns as text.
async fn lines(db: &TestStore, sql: &'static str, columns: &[&'static str]) -> BTreeSet<String> {
    let rows = db.store.fetch_all(statement!(sql)).await.unwrap();
    rows.iter()
        .map(|row| {
            let cells = columns
                .iter()
                .map(|column| row.get::<String>(column).unwrap());
            cells.collect::<Vec<_>>().join(" ")
        })
        .collect()
}

#[tokio::test]
async fn tables_columns_and_indexes_are_the_same_in_both_databases() {
    let sqlite = TestStore::sqlite().await;
    let postgres = TestStore::postgres().await;
    compare_tables(&sqlite, &postgres).await;
    compare_indexes(&sqlite, &postgres).await;
    sqlite.remove().await;
    postgres.remove().await;
}

async fn compare_tables(sqlite: &TestStore, postgres: &TestStore) {
    let columns = ["table_name", "column_name", "type", "nullable"];
    let in_sqlite = lines(
        sqlite,
        "SELECT tables.name AS table_name, columns.name AS column_name, columns.type AS type, \
         CASE columns.\"notnull\" WHEN 0 THEN 'YES' ELSE 'NO' END AS nullable \
         FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns \
         WHERE tables.type = 'table' AND tables.name <> '_sqlx_migrations' \
           AND tables.name NOT LIKE 'sqlite_%'",
        &columns,
    )
    .await;
    let in_postgres = lines(
        postgres,
        "SELECT CAST(table_name AS text) AS table_name, CAST(column_name AS text) AS column_name, \
         CASE data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'text' THEN 'TEXT' \
           WHEN 'bytea' THEN 'BLOB' ELSE CAST(data_type AS text) END AS type, \
         CAST(is_nullable AS text) AS nullable \
         FROM information_schema.columns \
         WHERE table_schema = 'public' AND table_name <> '_sqlx_migrations'",
        &columns,
    )
    .await;
    assert!(in_sqlite.contains("hotel_booking document TEXT NO"));
    assert_eq!(in_sqlite, in_postgres);
}

async fn compare_indexes(sqlite: &TestStore, postgres: &TestStore) {
    let columns = ["table_name", "kind", "columns"];
    // Primary keys have different names in the two databases; all other indexes are named in the
    // migrations.
    let in_sqlite = lines(
        sqlite,
        "SELECT tables.name AS table_name, \
         CASE indexes.origin WHEN 'pk' THEN 'primary' ELSE indexes.name END \
           || CASE indexes.\"unique\" WHEN 1 THEN ' unique' ELSE '' END \
           || CASE indexes.partial WHEN 1 THEN ' partial' ELSE '' END AS kind, \
         (SELECT group_concat(columns.name, ',') \
          FROM pragma_index_info(indexes.name) AS columns) AS columns \
         FROM sqlite_master AS tables, pragma_index_list(tables.name) AS indexes \
         WHERE tables.type = 'table' AND tables.name <> '_sqlx_migrations'",
        &columns,
    )
    .await;
    let in_postgres = lines(
        postgres,
        "SELECT CAST(tables.relname AS text) AS table_name, \
         CASE WHEN i.indisprimary THEN 'primary' ELSE CAST(indexes.relname AS text) END \
           || CASE WHEN i.indisunique THEN ' unique' ELSE '' END \
           || CASE WHEN i.indpred IS NOT NULL THEN ' partial' ELSE '' END AS kind, \
         (SELECT string_agg(CAST(a.attname AS text), ',' ORDER BY k.place) \
          FROM unnest(i.indkey) WITH ORDINALITY AS k(number, place) \
          JOIN pg_attribute AS a ON a.attrelid = tables.oid AND a.attnum = k.number) AS columns \
         FROM pg_index AS i \
         JOIN pg_class AS tables ON tables.oid = i.indrelid \
         JOIN pg_class AS indexes ON indexes.oid = i.indexrelid \
         JOIN pg_namespace AS n ON n.oid = tables.relnamespace \
         WHERE n.nspname = 'public' AND tables.relname <> '_sqlx_migrations'",
        &columns,
    )
    .await;
    assert_eq!(in_sqlite, in_postgres);
    // A table that belongs to an organization has the organization in its primary key. The
    // exceptions are listed here.
    for key in in_sqlite.iter().filter(|line| line.contains(" primary ")) {
        let expected = match key.split_once(' ').unwrap().0 {
            "job" | "setting" | "mandate_key" | "write_probe" => "",
            // Accounts belong to the installation.
            "account"
            | "account_role"
            | "account_link"
            | "account_session"
            | "account_totp"
            | "account_recovery_code"
            | "account_identity"
            | "sign_in_guard" => "",
            // Its chain has the changes of all organizations.
            "audit_log" | "audit_pending" => "",
            // A bulk replay belongs to a person, an override to the installation.
            "bulk_replay" | "supplier_override" => "",
            "hotel_mapping" | "place" | "hotel_content" | "airport" | "airline"
            | "supplier_event" => " mode,",
            _ => " organization,mode,",
        };
        assert!(format!("{key},").contains(expected), "{key}");
    }
}

#[tokio::test]
async fn newer_or_altered_schema_is_rejected() {
    for (change, expected) in [
        (
            "INSERT INTO _sqlx_migrations \
             (version, description, installed_on, success, checksum, execution_time) \
             SELECT 9999, description, installed_on, success, checksum, execution_time \
             FROM _sqlx_migrations WHERE version = 1",
            "is missing in the resolved migrations",
        ),
        (
            "UPDATE _sqlx_migrations SET checksum = \
             (SELECT m.checksum FROM _sqlx_migrations AS m WHERE m.version = 2) WHERE version = 1",
            "has been modified",
        ),
    ] {
        for db in [TestStore::sqlite().await, TestStore::postgres().await] {
            commit(&db.store, |write| write.add(statement!(change))).await;
            let reopened = db.second_store().await;
            let error = reopened.migrate().await.unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(cause.contains(expected), "{cause}");
            reopened.close().await;
            db.remove().await;
        }
    }
}

/// The recognizable part of the schema of earlier development versions, as both databases read it.
const EARLIER_SCHEMA: &str = "
    CREATE TABLE _sqlx_migrations (
        version BIGINT PRIMARY KEY,
        description TEXT NOT NULL,
        installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        success BOOLEAN NOT NULL,
        checksum BYTEA NOT NULL,
        execution_time BIGINT NOT NULL
    );
    INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
        VALUES (1, 'hotels', TRUE, 'c1', 1), (2, 'flights', TRUE, 'c2', 1);
    CREATE TABLE booking_event (booking_id TEXT NOT NULL PRIMARY KEY, why TEXT);
    INSERT INTO booking_event VALUES ('bkg_1', NULL);
";

async fn assert_refused(url: &str) {
    let refused = Store::open(url, &StoreOptions::default()).await;
    let error = refused.err().unwrap();
    assert!(matches!(error, OpenError::EarlierSchema), "{error}");
    let text = error.to_string();
    assert!(text.contains("create a new database"), "{text}");
}

#[tokio::test]
async fn earlier_schema_in_sqlite_is_refused_and_unchanged() {
    for journal_mode in ["DELETE", "WAL"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stopover.db");
        let url = format!("sqlite:{}", file.display());
        let connection = rusqlite::Connection::open(&file).unwrap();
        let set = connection.pragma_update(None, "journal_mode", journal_mode);
        set.unwrap();
        connection.execute_batch(EARLIER_SCHEMA).unwrap();
        // While the connection is open, the log of the second mode contains the whole schema.
        let before = files(folder.path());
        assert_eq!(
            before.contains_key("stopover.db-wal"),
            journal_mode == "WAL"
        );
        assert_refused(&url).await;
        assert_eq!(files(folder.path()), before, "{journal_mode}");
        connection.close().unwrap();
        let before = files(folder.path());
        assert_eq!(before.len(), 1);
        assert_refused(&url).await;
        assert_eq!(files(folder.path()), before, "{journal_mode}");
    }
}

/// Two processes may create the file of one data directory together.
#[tokio::test]
async fn opening_waits_while_another_process_writes_to_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stopover.db");
    let url = format!("sqlite:{}", file.display());
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let options = StoreOptions::default();
    let mut opening = pin!(Store::open(&url, &options));
    let opened = timeout(Duration::from_millis(200), &mut opening).await;
    assert!(opened.is_err(), "opening ended while the file was locked");
    other.execute_batch("COMMIT").unwrap();
    opening.await.unwrap();
}

/// Returns the content of the files in a folder, except the index of SQLite's log, which also
/// contains the locks of its readers.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        (name, std::fs::read(file.path()).unwrap())
    });
    files.filter(|(name, _)| !name.ends_with("-shm")).collect()
}

#[tokio::test]
async fn earlier_schema_in_postgres_is_refused_and_unchanged() {
    let db = TestStore::empty_postgres().await;
    let mut connection = PgConnection::connect(db.url()).await.unwrap();
    connection.execute(EARLIER_SCHEMA).await.unwrap();
    let before = relations_and_rows(&mut connection).await;
    assert!(before.len() > 4, "{before:?}");
    assert_refused(db.url()).await;
    assert_eq!(relations_and_rows(&mut connection).await, before);
    connection.close().await.unwrap();
    db.remove().await;
}

/// Returns all relations of the schema with their storage, and the rows of the fixture with the
/// transactions that wrote or locked them.
async fn relations_and_rows(connection: &mut PgConnection) -> Vec<String> {
    let select = "SELECT relname || ' ' || relfilenode FROM pg_class \
         WHERE relnamespace = 'public'::regnamespace \
         UNION ALL \
         SELECT concat_ws(' ', m.ctid, m.xmin, m.xmax, m) FROM _sqlx_migrations AS m \
         UNION ALL \
         SELECT concat_ws(' ', b.ctid, b.xmin, b.xmax, b) FROM booking_event AS b \
         ORDER BY 1";
    sqlx::query_scalar(select)
        .fetch_all(connection)
        .await
        .unwrap()
}
