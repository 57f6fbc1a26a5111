//! Servers that accept no writes.

use crate::{
    claim, claim_with_job, count_sessions, open_store, wait_until_not_ready, wait_until_ready,
};
use futures::future::{join, join_all};
use host_storage::{CommitError, DatabaseError};
use serde_json::json;
use tests::{PostgresCluster, Server, ServerOptions, TcpRelay, concurrently, eventually};

/// More than the number of connections of the store.
const WRITES: usize = 12;

#[tokio::test]
async fn rejected_write_ends_every_session_at_a_read_only_server() {
    let cluster = PostgresCluster::start().await;
    let url = cluster.url();
    let store = open_store(&url, 4).await;
    let commit_all = async |round: &str| {
        let names = (0..WRITES).map(|number| format!("{round} {number}"));
        let commits = names.map(|name| {
            let pair = (claim(&name), claim_with_job(&format!("{name} with job")));
            join(store.commit(pair.0), store.commit(pair.1))
        });
        let results = join_all(commits).await.into_iter();
        results.flat_map(|(first, second)| [first, second])
    };
    for result in commit_all("before").await {
        result.unwrap();
    }
    cluster
        .configure("default_transaction_read_only", Some("on"))
        .await;
    eventually("writes to be rejected", async || {
        store.probe_write().await.err()
    })
    .await;
    for result in commit_all("meanwhile").await {
        let error = result.unwrap_err();
        let is_unavailable = matches!(error, CommitError::Database(DatabaseError::Unavailable(_)));
        assert!(is_unavailable, "{error:?}");
    }
    // The session that listens for other processes remains.
    eventually("the sessions to end", async || {
        (count_sessions(&url, "true").await <= 1).then_some(())
    })
    .await;
    cluster
        .configure("default_transaction_read_only", None)
        .await;
    eventually("writes to be accepted", async || {
        store.probe_write().await.ok()
    })
    .await;
    for result in commit_all("after").await {
        result.unwrap();
    }
    store.close().await;
}

#[tokio::test]
async fn gateway_that_reached_a_standby_writes_again_when_it_reaches_the_primary() {
    let primary = PostgresCluster::start().await;
    let relay = TcpRelay::start(primary.port()).await;
    let server = Server::start_with_own_sandbox(ServerOptions::on_relay(&relay)).await;
    let standby = primary.start_standby().await;
    let client = server.client();
    let path = "/v1/payment-instruments";
    let card = json!({"type": "CARD", "token": "tok_visa"});
    client.post(path, &card).await.expect(201);

    relay.redirect(standby.port());
    relay.close_connections();
    wait_until_not_ready(&client).await;
    let refused = client.post(path, &card).await;
    refused.expect_problem(503, "overloaded");

    // The connections to the standby stay, as after a virtual address moved.
    relay.redirect(primary.port());
    wait_until_ready(&client).await;
    let writes = (0..WRITES).map(|_| {
        let (client, card) = (client.clone(), card.clone());
        async move { client.post(path, &card).await }
    });
    for reply in concurrently(writes).await {
        reply.expect(201);
    }
}
