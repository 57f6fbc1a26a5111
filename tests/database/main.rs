//! Tests of faults of the database and of what is in front of it: standbys, servers that accept no
//! writes, a pooler that loses its server, a file that another process locks. Most of them have
//! PostgreSQL servers of their own.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot continue fails by panicking"
)]

mod locked_file;
mod pgbouncer;
mod prebook;
mod read_only;
mod readiness;
mod standby;

use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::time::Timestamp;
use host_storage::{IdempotencyKey, Store, StoreOptions, UnitOfWork};
use sqlx::{Connection, PgConnection};
use std::time::{Duration, Instant};
use tests::{Client, eventually};

/// Time limits of a store under test.
const SHORT: Duration = Duration::from_secs(1);

/// Maximum time for a response of `/readyz`: the 2 seconds that it has, on a slow machine.
const READINESS_MAX: Duration = Duration::from_secs(4);

/// Opens a store with short time limits and applies the schema.
async fn open_store(url: &str, postgres_connections: u32) -> Store {
    let options = StoreOptions {
        postgres_connections,
        acquire_timeout: SHORT,
        response_timeout: SHORT,
        ..StoreOptions::default()
    };
    let store = Store::open(url, &options).await.unwrap();
    store.migrate().await.unwrap();
    store
}

fn key(name: &str) -> IdempotencyKey {
    let tenant = Tenant {
        organization: "acme".into(),
        mode: Mode::Test,
    };
    let owner = Owner {
        tenant,
        user: Owner::ORGANIZATION_USER.into(),
    };
    IdempotencyKey::new(&owner, "book", name)
}

/// Builds a unit of work that claims a key.
type UnitBuilder = fn(&str) -> UnitOfWork;

/// Claims a key, which succeeds once. It is a statement on its own.
fn claim(name: &str) -> UnitOfWork {
    let mut write = UnitOfWork::new(Timestamp(0));
    write.insert_idempotency_key(&key(name), "fingerprint", name);
    write
}

/// Claims a key and starts a job, which may be batched with other units of work.
fn claim_with_job(name: &str) -> UnitOfWork {
    let mut write = claim(name);
    write.insert_leased_job("test", name, "token", 60_000);
    write
}

/// Claims a key and starts two jobs, which takes a transaction of several statements.
fn claim_with_two_jobs(name: &str) -> UnitOfWork {
    let mut write = claim(name);
    write
        .schedule_job("test", name, Timestamp(0))
        .schedule_job("test", "another", Timestamp(0));
    write
}

async fn is_claimed(store: &Store, name: &str) -> bool {
    let record = store.idempotency_record(&key(name)).await;
    record.unwrap().is_some()
}

/// Counts the gateway's sessions that match a condition.
async fn count_sessions(server_url: &str, condition: &str) -> i64 {
    let mut admin = PgConnection::connect(server_url).await.unwrap();
    let select = format!(
        "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'stopover' AND {condition}"
    );
    let select = sqlx::query_scalar(sqlx::AssertSqlSafe(select));
    let count = select.fetch_one(&mut admin).await.unwrap();
    admin.close().await.unwrap();
    count
}

/// Waits until `/readyz` refuses, which it must do soon.
async fn wait_until_not_ready(client: &Client) {
    eventually("the gateway not to be ready", async || {
        let begun = Instant::now();
        let reply = client.get("/readyz").await;
        let took = begun.elapsed();
        assert!(took < READINESS_MAX, "{took:?}");
        (reply.status != 200).then(|| reply.expect_problem(503, "overloaded"))
    })
    .await;
}

async fn wait_until_ready(client: &Client) {
    eventually("the gateway to be ready", async || {
        (client.get("/readyz").await.status == 200).then_some(())
    })
    .await;
}
