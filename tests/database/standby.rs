//! Commits that wait for a standby which is away.

use crate::{
    UnitBuilder, claim, claim_with_job, count_sessions, is_claimed, open_store,
    wait_until_not_ready, wait_until_ready,
};
use futures::future::{join, join_all};
use host_storage::{ABANDONED_CONNECTIONS, CommitError, DatabaseError};
use tests::{PostgresCluster, Server, ServerOptions, eventually};

const CONNECTIONS: u32 = 6;

/// The store's connections, the one that listens for other processes, and one for each half that inspects
/// sessions.
const SESSIONS_MAX: i64 = 6 + 1 + 2;

const ROUNDS: usize = 4;

/// Units of work of each kind in a round.
const WRITES: usize = 8;

#[tokio::test]
async fn unconfirmed_commits_hold_no_more_sessions_than_configured() {
    let primary = PostgresCluster::start().await;
    let mut standby = primary.start_standby().await;
    primary.require_standby().await;
    let url = primary.url();
    let store = open_store(&url, CONNECTIONS).await;
    standby.stop().await;
    let mut unknown = Vec::new();
    for round in 0..ROUNDS {
        let names = (0..WRITES).map(|number| format!("{round} {number}"));
        let commits = names.map(async |name| {
            let batched = format!("{name} with job");
            let first = store.commit(claim(&name));
            let (first, second) = join(first, store.commit(claim_with_job(&batched))).await;
            [(name, first), (batched, second)]
        });
        for (name, result) in join_all(commits).await.into_iter().flatten() {
            match result.unwrap_err() {
                CommitError::Database(DatabaseError::CommitUnknown(_)) => unknown.push(name),
                CommitError::Database(DatabaseError::Unavailable(_)) => {}
                error => panic!("{name}: {error:?}"),
            }
        }
        let sessions = count_sessions(&url, "true").await;
        assert!(sessions <= SESSIONS_MAX, "round {round}: {sessions}");
        // Reads have a connection that writes leave to them.
        assert!(!is_claimed(&store, "never").await);
    }
    assert!(count_sessions(&url, "wait_event = 'SyncRep'").await > 0);
    assert!(!unknown.is_empty());

    standby.restart().await;
    let units: [(&str, UnitBuilder); 2] = [("alone", claim), ("with job", claim_with_job)];
    for (kind, unit) in units {
        // A commit without a response may have happened, so each one has a key of its own.
        let mut names = (0..).map(|number| format!("after, {kind} {number}"));
        eventually("writes to be committed", async || {
            store.commit(unit(&names.next()?)).await.ok()
        })
        .await;
    }
    for name in unknown {
        assert!(is_claimed(&store, &name).await, "{name}");
    }
    store.close().await;
}

#[tokio::test]
async fn gateway_is_not_ready_while_commits_wait_for_a_standby() {
    let primary = PostgresCluster::start().await;
    let mut standby = primary.start_standby().await;
    let server = Server::start_with_own_sandbox(ServerOptions::on_cluster(&primary)).await;
    primary.require_standby().await;
    let client = server.client();
    client.get("/readyz").await.expect(200);

    standby.stop().await;
    wait_until_not_ready(&client).await;
    client.get("/healthz").await.expect(200);
    client.get("/v1/hotel/bookings").await.expect(200);
    let abandoned = async || {
        let labels = [("pool", "batches")];
        server.metric(ABANDONED_CONNECTIONS, &labels).await
    };
    eventually("an abandoned connection to be counted", async || {
        (abandoned().await > 0).then_some(())
    })
    .await;

    standby.restart().await;
    wait_until_ready(&client).await;
    eventually("no connection to be abandoned", async || {
        (abandoned().await == 0).then_some(())
    })
    .await;
}
