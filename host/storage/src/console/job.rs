//! Parked jobs with the tenants of their subjects.

use crate::condition::ConditionBuilder;
use crate::console::{parked_job, tenant_of_job};
use crate::job::{self, COLUMNS, Job, ParkedJobFilter};
use crate::statement::{Row, statement};
use crate::{DatabaseError, Store};
use host_domain::console::TenantScope;
use host_domain::owner::{Mode, Tenant};

/// A parked job in a list, with the tenant of its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedJob {
    pub job: Job,
    /// `None` if the subject belongs to no organization, such as an event of a supplier.
    pub tenant: Option<Tenant>,
}

impl Store {
    /// Returns the parked jobs of a scope, longest parked first. A job that belongs to no organization
    /// is in the scope of all organizations, unless it belongs to the other mode.
    pub async fn parked_jobs_of_scope(
        &self,
        scope: &TenantScope,
        limit: u32,
    ) -> Result<Vec<ListedJob>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        let parked = parked_job(&mut conditions, scope);
        let limit = conditions.bind(limit);
        let select = conditions.statement(format!(
            "{} WHERE {parked} ORDER BY parked_at LIMIT {limit}",
            select_jobs()
        ));
        self.read_all(select, read).await
    }

    /// Returns the parked jobs of all tenants that match, longest parked first. For operators.
    pub async fn parked_jobs_unscoped(
        &self,
        filter: ParkedJobFilter<'_>,
        limit: u32,
    ) -> Result<Vec<ListedJob>, DatabaseError> {
        let select = statement!(
            format!(
                "{} WHERE parked_at IS NOT NULL \
                 AND kind = COALESCE($1, kind) AND subject = COALESCE($2, subject) \
                 ORDER BY parked_at LIMIT $3",
                select_jobs()
            ),
            filter.kind,
            filter.subject,
            limit,
        );
        self.read_all(select, read).await
    }
}

fn select_jobs() -> String {
    format!("SELECT {COLUMNS}, {} AS tenant FROM job", tenant_of_job())
}

fn read(row: &Row) -> Result<ListedJob, DatabaseError> {
    let tenant: Option<String> = row.get("tenant")?;
    Ok(ListedJob {
        job: job::read(row)?,
        tenant: tenant.as_deref().and_then(parse_tenant),
    })
}

/// Parses what [`tenant_of_job`] returns.
fn parse_tenant(text: &str) -> Option<Tenant> {
    let (mode, organization) = text.split_once('/')?;
    Some(Tenant {
        organization: organization.to_owned(),
        mode: Mode::parse(mode)?,
    })
}
