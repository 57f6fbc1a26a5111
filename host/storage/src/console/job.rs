//! Parked jobs of a mode.

use crate::condition::ConditionBuilder;
use crate::console::parked_job;
use crate::job::{self, COLUMNS, Job};
use crate::{DatabaseError, Store};
use host_domain::console::TenantScope;

impl Store {
    /// Returns the parked jobs that do not belong to the other mode, longest parked first.
    pub async fn parked_jobs_of_mode(
        &self,
        scope: &TenantScope,
        limit: u32,
    ) -> Result<Vec<Job>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        let parked = parked_job(&mut conditions, scope);
        let limit = conditions.bind(limit);
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM job WHERE {parked} ORDER BY parked_at LIMIT {limit}"
        ));
        self.read_all(select, job::read).await
    }
}
