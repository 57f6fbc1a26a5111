//! `/readyz` proves that writes are committed.

use crate::{wait_until_not_ready, wait_until_ready};
use sqlx::{Connection, Executor, PgConnection};
use std::time::Instant;
use tests::{Database, Server, concurrently, eventually, on_both_databases, open_sqlite};

/// Callers that ask at the same time.
const CALLERS: usize = 50;

/// Counts every write of a probe.
const COUNT_ON_SQLITE: &str = "
    CREATE TABLE probe_log (slot INTEGER);
    CREATE TRIGGER inserted AFTER INSERT ON write_probe
        BEGIN INSERT INTO probe_log VALUES (NEW.slot); END;
    CREATE TRIGGER updated AFTER UPDATE ON write_probe
        BEGIN INSERT INTO probe_log VALUES (NEW.slot); END;";
const COUNT_ON_POSTGRES: &str = "
    CREATE TABLE probe_log (slot BIGINT);
    CREATE FUNCTION count_probe() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO probe_log VALUES (NEW.slot); RETURN NEW; END';
    CREATE TRIGGER written AFTER INSERT OR UPDATE ON write_probe
        FOR EACH ROW EXECUTE FUNCTION count_probe();";

/// Returns how many writes of probes were counted.
async fn probes(server: &Server) -> i64 {
    let count = "SELECT COUNT(*) FROM probe_log";
    let url = server.database_url();
    if let Some(database) = open_sqlite(url) {
        let count = database.query_row(count, [], |row| row.get(0));
        count.unwrap()
    } else {
        let mut database = PgConnection::connect(url).await.unwrap();
        let count = sqlx::query_scalar(count).fetch_one(&mut database).await;
        count.unwrap()
    }
}

/// Counts the writes of probes from now on.
async fn count_probes(server: &Server) {
    let url = server.database_url();
    if let Some(database) = open_sqlite(url) {
        database.execute_batch(COUNT_ON_SQLITE).unwrap();
    } else {
        let mut database = PgConnection::connect(url).await.unwrap();
        database.execute(COUNT_ON_POSTGRES).await.unwrap();
    }
}

async fn readiness_writes_at_most_once_a_second_for_all_callers(database: Database) {
    let server = Server::start(database).await;
    count_probes(&server).await;
    let client = server.client();
    let begun = Instant::now();
    eventually("two probes", async || {
        let calls = (0..CALLERS).map(|_| {
            let client = client.clone();
            async move { client.get("/readyz").await }
        });
        for reply in concurrently(calls).await {
            reply.expect(200);
        }
        (probes(&server).await >= 2).then_some(())
    })
    .await;
    let probes = probes(&server).await;
    let seconds = i64::try_from(begun.elapsed().as_secs()).unwrap();
    assert!(probes <= seconds + 2, "{probes} probes in {seconds} s");
}

on_both_databases!(readiness_writes_at_most_once_a_second_for_all_callers);

#[tokio::test]
async fn readiness_fails_soon_while_sqlite_accepts_no_write() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    client.get("/readyz").await.expect(200);
    let other = open_sqlite(server.database_url()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    wait_until_not_ready(&client).await;
    client.get("/healthz").await.expect(200);
    other.execute_batch("ROLLBACK").unwrap();
    wait_until_ready(&client).await;
}
