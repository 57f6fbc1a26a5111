//! Reads of the dashboard across the users of an organization, or across organizations.

mod booking;
mod go_live;
mod job;
mod mandate;
mod overview;
mod timeline;
mod watch;

pub use job::ListedJob;
pub use overview::{OverviewLimits, OverviewSnapshot};
pub use watch::{PriceObservation, ScheduledWatch, WatchDetails};

use crate::condition::ConditionBuilder;
use crate::statement::{statement, text_array};
use crate::{DatabaseError, Store};
use host_domain::console::TenantScope;
use host_domain::owner::Mode;
use host_domain::settlement::SETTLEMENT_JOB_KIND;
use host_domain::time::Timestamp;

impl Store {
    /// Returns the organizations that have keys or accounts, in alphabetical order.
    pub async fn organizations(&self, limit: u32) -> Result<Vec<String>, DatabaseError> {
        let select = statement!(
            "SELECT organization FROM api_key UNION \
             SELECT organization FROM account_role WHERE organization <> '' \
             ORDER BY organization LIMIT $1",
            limit,
        );
        self.read_all(select, |row| row.get("organization")).await
    }
}

/// Returns the condition of the open outcomes of a scope: calls whose outcome is unknown, and
/// undecided refunds. A call that has just been sent is in progress. Nothing is owed for a prebook.
pub(crate) fn open_outcome_condition_in_scope(
    conditions: &mut ConditionBuilder,
    scope: &str,
    sent_before: Timestamp,
) -> String {
    let sent_before = conditions.bind(sent_before);
    format!("{} AND {scope}", open_outcome_condition(&sent_before))
}

/// Returns the condition of [`open_outcome_condition_in_scope`] for calls of any scope.
/// `sent_before` is a parameter.
fn open_outcome_condition(sent_before: &str) -> String {
    format!(
        "outcome IN ('sent', 'unknown') AND step <> 'prebook' \
         AND (outcome = 'unknown' OR step = 'decide_refund' OR last_sent_at < {sent_before})"
    )
}

/// Tables whose ids are subjects of jobs.
const SUBJECT_TABLES: [&str; 3] = ["hotel_booking", "flight_booking", "watch"];

/// Returns the expression for the mode and the organization of a job's subject, joined by `/`. It is
/// NULL if the subject belongs to no organization, such as an event of a supplier, or may belong to
/// several, such as a bulk replay.
///
/// The subject is the id of a booking or a watch. That of a recovery has the id of its webhook after
/// the mode, and that of a decision is mode, organization and id of the decision. An id has 36
/// characters.
fn tenant_of_job() -> String {
    let by_id = SUBJECT_TABLES.map(|table| {
        format!(
            "(SELECT owner.mode || '/' || owner.organization FROM {table} AS owner \
             WHERE owner.id = job.subject LIMIT 1)"
        )
    });
    format!(
        "COALESCE({}, \
           (SELECT owner.mode || '/' || owner.organization FROM webhook_subscription AS owner \
            WHERE owner.id = substr(job.subject, 6, 36) LIMIT 1), \
           CASE WHEN job.kind = '{SETTLEMENT_JOB_KIND}' AND length(job.subject) > 37 \
             THEN substr(job.subject, 1, length(job.subject) - 37) END)",
        by_id.join(", ")
    )
}

/// Returns the condition of the parked jobs of a scope. Without organizations, these are all jobs that
/// do not belong to the other mode: the subject of a job without an organization begins with the mode.
pub(crate) fn parked_job(conditions: &mut ConditionBuilder, scope: &TenantScope) -> String {
    if let Some(organizations) = &scope.organizations {
        let mode = scope.mode.as_str();
        let tenants = organizations.iter().map(|name| format!("{mode}/{name}"));
        let tenants: Vec<String> = tenants.collect();
        let list = conditions.bind(text_array(tenants.iter().map(String::as_str)));
        return format!(
            "parked_at IS NOT NULL AND {} {{in {list}}}",
            tenant_of_job()
        );
    }
    let other_mode = match scope.mode {
        Mode::Test => Mode::Live,
        Mode::Live => Mode::Test,
    };
    let prefix = conditions.bind(format!("{}/%", other_mode.as_str()));
    let other_mode = conditions.bind(other_mode);
    let mut condition = format!("parked_at IS NOT NULL AND subject NOT LIKE {prefix}");
    for table in SUBJECT_TABLES {
        condition.push_str(&format!(
            " AND NOT EXISTS (SELECT 1 FROM {table} AS other \
             WHERE other.id = job.subject AND other.mode = {other_mode})"
        ));
    }
    condition
}
