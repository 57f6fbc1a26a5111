//! Reads of the dashboard across the users of an organization, or across organizations.

mod booking;
mod go_live;
mod job;
mod mandate;
mod timeline;
mod watch;

pub use watch::{PriceObservation, ScheduledWatch, WatchDetails};

use crate::condition::ConditionBuilder;
use crate::statement::{Row, statement};
use crate::{DatabaseError, Store};
use host_domain::booking::BookingStatus;
use host_domain::console::{BookingCount, OpenItem, OverviewCounts, TenantScope};
use host_domain::id::{BookingId, KeyId};
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

/// Limits of the reads of the overview.
#[derive(Debug, Clone, Copy)]
pub struct OverviewLimits {
    pub now: Timestamp,
    /// Calls that were sent later and have no outcome yet are in progress.
    pub sent_before: Timestamp,
    /// Keys that expire until then expire soon.
    pub expires_until: Timestamp,
    /// Maximum number of deliveries to count.
    pub deliveries_max: u32,
    /// Maximum number of items of each kind to list.
    pub items_max: u32,
    /// Whether parked jobs are read. They belong to no organization.
    pub includes_jobs: bool,
}

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

    /// Returns the numbers of bookings by status, without statuses that no booking has. Reads an
    /// index of all bookings of the scope.
    pub async fn booking_counts(
        &self,
        scope: &TenantScope,
    ) -> Result<Vec<BookingCount>, DatabaseError> {
        let conditions = ConditionBuilder::for_scope(scope);
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT status, CAST(SUM(hotels) AS BIGINT) AS hotels, \
               CAST(SUM(flights) AS BIGINT) AS flights FROM \
             (SELECT status, COUNT(*) AS hotels, 0 AS flights \
                FROM hotel_booking WHERE {condition} GROUP BY status \
              UNION ALL SELECT status, 0, COUNT(*) \
                FROM flight_booking WHERE {condition} GROUP BY status) AS counted \
             GROUP BY status"
        ));
        self.read_all(select, read_booking_count).await
    }

    /// Returns the numbers of the overview. Without jobs, their number is 0.
    pub async fn overview_counts(
        &self,
        scope: &TenantScope,
        limits: OverviewLimits,
    ) -> Result<OverviewCounts, DatabaseError> {
        let mut conditions = ConditionBuilder::for_scope(scope);
        let condition = conditions.text();
        let now = conditions.bind(limits.now);
        let deliveries_max = conditions.bind(limits.deliveries_max);
        let unknown = unknown_outcome(&mut conditions, &condition, limits.sent_before);
        let waiting = format!("{WAITING} AND {condition}");
        let jobs = if limits.includes_jobs {
            let parked = parked_job(&mut conditions, scope);
            format!("(SELECT COUNT(*) FROM job WHERE {parked})")
        } else {
            "CAST(0 AS BIGINT)".to_owned()
        };
        let select = conditions.statement(format!(
            "SELECT \
             (SELECT COUNT(*) FROM (SELECT 1 AS one FROM webhook_delivery AS d \
                WHERE {waiting} LIMIT {deliveries_max}) AS waiting) AS waiting_deliveries, \
             (SELECT MIN(created_at) FROM webhook_delivery AS d \
                WHERE {waiting}) AS oldest_delivery_at, \
             (SELECT COUNT(*) FROM remote_call_attempt WHERE {unknown}) AS unknown_outcomes, \
             (SELECT MIN(last_sent_at) FROM remote_call_attempt \
                WHERE {unknown}) AS oldest_outcome_at, \
             {jobs} AS parked_jobs, \
             (SELECT COUNT(*) FROM api_key WHERE {condition} AND revoked_at IS NULL \
                AND (expires_at IS NULL OR expires_at > {now})) AS active_keys, \
             (SELECT COUNT(*) FROM (SELECT 1 AS one FROM api_key \
                WHERE {condition} LIMIT 1) AS known) AS known_keys, \
             (SELECT COUNT(*) FROM (SELECT 1 AS one FROM api_key \
                WHERE {condition} AND last_used_at IS NOT NULL LIMIT 1) AS used) AS used_keys"
        ));
        let counts = self.read_optional(select, read_counts).await?;
        Ok(counts.unwrap_or_default())
    }

    /// Returns the work that waits for a person: of each kind the oldest, and of the keys those
    /// that expire first.
    pub async fn open_items(
        &self,
        scope: &TenantScope,
        limits: OverviewLimits,
    ) -> Result<Vec<OpenItem>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_scope(scope);
        let condition = conditions.text();
        let unknown = unknown_outcome(&mut conditions, &condition, limits.sent_before);
        let now = conditions.bind(limits.now);
        let expires_until = conditions.bind(limits.expires_until);
        let limit = conditions.bind(limits.items_max);
        let mut parts = vec![
            format!(
                "SELECT 'outcome' AS kind, booking_id AS subject, step AS name, \
                 target AS detail, 0 AS attempts, last_sent_at AS at \
                 FROM remote_call_attempt WHERE {unknown} ORDER BY last_sent_at LIMIT {limit}"
            ),
            format!(
                "SELECT 'key' AS kind, id AS subject, name, masked_key AS detail, \
                 0 AS attempts, expires_at AS at FROM api_key \
                 WHERE {condition} AND revoked_at IS NULL AND expires_at > {now} \
                 AND expires_at <= {expires_until} ORDER BY expires_at LIMIT {limit}"
            ),
        ];
        if limits.includes_jobs {
            let parked = parked_job(&mut conditions, scope);
            parts.push(format!(
                "SELECT 'job' AS kind, subject, kind AS name, '' AS detail, \
                 attempt_count AS attempts, parked_at AS at \
                 FROM job WHERE {parked} ORDER BY parked_at LIMIT {limit}"
            ));
        }
        let parts: Vec<String> = parts
            .iter()
            .zip(["outcomes", "keys", "jobs"])
            .map(|(part, name)| format!("SELECT * FROM ({part}) AS {name}"))
            .collect();
        let sql = format!("{} ORDER BY at, subject", parts.join(" UNION ALL "));
        self.read_all(conditions.statement(sql), read_open_item)
            .await
    }
}

/// The condition of deliveries that are not delivered yet, to subscriptions that exist.
const WAITING: &str = "d.next_attempt_at IS NOT NULL AND EXISTS \
    (SELECT 1 FROM webhook_subscription AS s WHERE s.id = d.subscription_id \
     AND s.deleted_at IS NULL)";

/// Returns the condition of calls of a scope whose outcome is unknown, and of undecided refunds. A
/// call that has just been sent is in progress. Nothing is owed for a prebook.
pub(crate) fn unknown_outcome(
    conditions: &mut ConditionBuilder,
    scope: &str,
    sent_before: Timestamp,
) -> String {
    let sent_before = conditions.bind(sent_before);
    format!(
        "outcome IN ('sent', 'unknown') AND step <> 'prebook' \
         AND (outcome = 'unknown' OR step = 'decide_refund' OR last_sent_at < {sent_before}) \
         AND {scope}"
    )
}

/// Returns the condition of parked jobs that do not belong to the other mode. The subject of a job is
/// the id of a booking or a watch, or begins with the mode.
pub(crate) fn parked_job(conditions: &mut ConditionBuilder, scope: &TenantScope) -> String {
    let other_mode = match scope.mode {
        Mode::Test => Mode::Live,
        Mode::Live => Mode::Test,
    };
    let prefix = conditions.bind(format!("{}/%", other_mode.as_str()));
    let other_mode = conditions.bind(other_mode);
    let mut condition = format!("parked_at IS NOT NULL AND subject NOT LIKE {prefix}");
    for table in ["hotel_booking", "flight_booking", "watch"] {
        condition.push_str(&format!(
            " AND NOT EXISTS (SELECT 1 FROM {table} AS other \
             WHERE other.id = job.subject AND other.mode = {other_mode})"
        ));
    }
    condition
}

fn read_booking_count(row: &Row) -> Result<BookingCount, DatabaseError> {
    Ok(BookingCount {
        status: row.enum_value("status", BookingStatus::parse)?,
        hotels: row.count("hotels")?,
        flights: row.count("flights")?,
    })
}

fn read_counts(row: &Row) -> Result<OverviewCounts, DatabaseError> {
    Ok(OverviewCounts {
        waiting_deliveries: row.count("waiting_deliveries")?,
        oldest_delivery_at: row.timestamp_opt("oldest_delivery_at")?,
        unknown_outcomes: row.count("unknown_outcomes")?,
        oldest_outcome_at: row.timestamp_opt("oldest_outcome_at")?,
        parked_jobs: row.count("parked_jobs")?,
        active_keys: row.count("active_keys")?,
        has_key: row.count("known_keys")? > 0,
        has_used_key: row.count("used_keys")? > 0,
    })
}

/// The kind of a row of [`Store::open_items`].
enum OpenKind {
    Outcome,
    Key,
    Job,
}

fn parse_open_kind(name: &str) -> Option<OpenKind> {
    match name {
        "outcome" => Some(OpenKind::Outcome),
        "key" => Some(OpenKind::Key),
        "job" => Some(OpenKind::Job),
        _ => None,
    }
}

fn read_open_item(row: &Row) -> Result<OpenItem, DatabaseError> {
    let at = row.timestamp("at")?;
    Ok(match row.enum_value("kind", parse_open_kind)? {
        OpenKind::Outcome => OpenItem::Outcome {
            booking: row.parsed("subject", BookingId::parse)?,
            step: row.get("name")?,
            target: row.parsed("detail", SupplierId::parse)?,
            sent_at: at,
        },
        OpenKind::Key => OpenItem::Key {
            id: row.parsed("subject", KeyId::parse)?,
            name: row.get("name")?,
            masked_key: row.get("detail")?,
            expires_at: at,
        },
        OpenKind::Job => OpenItem::Job {
            kind: row.get("name")?,
            subject: row.get("subject")?,
            attempts: row.get("attempts")?,
            parked_at: at,
        },
    })
}
