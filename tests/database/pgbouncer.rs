//! PgBouncer in session mode loses its server while it waits for a response.

use crate::{UnitBuilder, claim, claim_with_job, claim_with_two_jobs, is_claimed, open_store};
use host_storage::{CommitError, Conflict, DatabaseError};
use tests::{PgBouncer, PostgresCluster, TcpRelay};

/// The name of the key whose commit loses its response, and the text that its last request has, by
/// kind of unit of work.
const CASES: [(&str, &str, UnitBuilder); 3] = [
    ("statement", "lost statement", claim),
    ("batch", "lost batch", claim_with_job),
    ("transaction", "COMMIT", claim_with_two_jobs),
];

#[tokio::test]
async fn commit_that_loses_its_response_behind_pgbouncer_is_unknown() {
    let cluster = PostgresCluster::start().await;
    let relay = TcpRelay::start(cluster.port()).await;
    let bouncer = PgBouncer::start(&cluster, relay.port).await;
    let store = open_store(&bouncer.url("postgres"), 4).await;
    for (kind, text, unit) in CASES {
        let name = format!("lost {kind}");
        store.commit(unit(&format!("first {kind}"))).await.unwrap();
        relay.drop_response_to(text);
        let error = store.commit(unit(&name)).await.unwrap_err();
        assert!(relay.has_dropped_response(), "{kind}: {error:?}");
        let is_unknown = matches!(
            error,
            CommitError::Database(DatabaseError::CommitUnknown(_))
        );
        assert!(is_unknown, "{kind}: {error:?}");
        // The caller finds what was stored by its key, and a repetition cannot store it again.
        assert!(is_claimed(&store, &name).await, "{kind}");
        let repeated = store.commit(claim(&name)).await.unwrap_err();
        let conflict = Some(Conflict::IdempotencyKeyExists);
        assert_eq!(repeated.conflict(), conflict, "{kind}");
    }
    store.close().await;
}
