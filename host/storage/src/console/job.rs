//! Parked jobs of a mode.

use crate::condition::ConditionBuilder;
use crate::console::{SUBJECT_TABLES, parked_job};
use crate::job::{self, COLUMNS, Job};
use crate::statement::Row;
use crate::{DatabaseError, Store};
use host_domain::console::TenantScope;

/// A parked job in a list, with the organization of its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedJob {
    pub job: Job,
    /// `None` if the subject is not the id of a booking or a watch.
    pub organization: Option<String>,
}

impl Store {
    /// Returns the parked jobs that do not belong to the other mode, longest parked first.
    pub async fn parked_jobs_of_mode(
        &self,
        scope: &TenantScope,
        limit: u32,
    ) -> Result<Vec<ListedJob>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        let parked = parked_job(&mut conditions, scope);
        let limit = conditions.bind(limit);
        let organization = SUBJECT_TABLES.map(|table| {
            format!(
                "(SELECT organization FROM {table} AS subject \
                 WHERE subject.id = job.subject LIMIT 1)"
            )
        });
        let organization = organization.join(", ");
        let select = conditions.statement(format!(
            "SELECT {COLUMNS}, COALESCE({organization}) AS organization \
             FROM job WHERE {parked} ORDER BY parked_at LIMIT {limit}"
        ));
        let read = |row: &Row| {
            Ok(ListedJob {
                job: job::read(row)?,
                organization: row.get("organization")?,
            })
        };
        self.read_all(select, read).await
    }
}
