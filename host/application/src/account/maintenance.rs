//! Deletes sessions and links that have ended, and failures that no longer count.

use crate::account::lockout::WINDOW_MS;
use crate::account::session::IDLE_MS;
use crate::base::Base;
use host_storage::DatabaseError;
use std::time::Duration;

pub(crate) const INTERVAL: Duration = Duration::from_secs(60 * 60);

const BATCH_SIZE: u32 = 200;

pub(crate) struct AccountMaintenance {
    pub(crate) base: Base,
}

impl AccountMaintenance {
    pub(crate) async fn run_once(&self) -> Result<(), DatabaseError> {
        let (store, now) = (&self.base.store, self.base.now());
        while store.purge_account_links(now, BATCH_SIZE).await? > 0 {}
        let idle_since = now.plus_ms(-IDLE_MS);
        while store.purge_sessions(idle_since, BATCH_SIZE).await? > 0 {}
        let failed_before = now.plus_ms(-WINDOW_MS);
        while store
            .purge_sign_in_guards(failed_before, BATCH_SIZE)
            .await?
            > 0
        {}
        Ok(())
    }
}
