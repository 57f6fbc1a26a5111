//! Changes of jobs behind the back of a server.

use crate::database;
use crate::server::Server;

/// Change of a job that leases it for longer than any test runs.
const HOLD: &str = "lease_token = 'nobody', lease_expires_at = 9000000000000000";

impl Server {
    /// Leases a job to a worker that does not exist, until [`Self::release_job`].
    pub async fn hold_job(&self, subject: &str) {
        self.change_job(HOLD, "subject", subject).await;
    }

    /// Leases the only job of a kind as [`Self::hold_job`] does and returns its subject.
    pub async fn hold_job_of_kind(&self, kind: &str) -> String {
        self.change_job(HOLD, "kind", kind).await
    }

    /// Ends the lease of a job that is held and makes it due.
    pub async fn release_job(&self, subject: &str) {
        let release =
            "lease_token = NULL, lease_expires_at = NULL, due_at = 0, reschedule_at = NULL";
        self.change_job(release, "subject", subject).await;
    }

    async fn change_job(&self, change: &str, column: &str, value: &str) -> String {
        let update = format!("UPDATE job SET {change} WHERE {column} = $1 RETURNING subject");
        crate::eventually("the job", async || {
            let changed = database::query_strings(self.database_url(), &update, value).await;
            changed.into_iter().next()
        })
        .await
    }
}
