//! The overview: the work that waits for a person, its numbers, and the bookings by status.

use super::{open_outcome_condition_in_scope, parked_job};
use crate::condition::{ConditionBuilder, ordered_parts};
use crate::statement::{Row, union_all};
use crate::statistics::summed_scope;
use crate::{DatabaseError, Store};
use host_domain::booking::BookingStatus;
use host_domain::console::{BookingCount, OpenItem, OverviewCounts, TenantScope};
use host_domain::id::{BookingId, KeyId, SubscriptionId};
use host_domain::money::{Currency, Money};
use host_domain::statistics::{RemarkableCall, RemarkableReason};
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_domain::webhook::SubscriptionStatus;
use std::cmp::Reverse;

/// Number of remarkable calls among which those of API calls are searched. Background work makes the
/// others.
const EXAMINED_CALLS_MAX: u32 = 100;

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
    /// Whether the parked jobs of the scope are read.
    pub includes_jobs: bool,
    /// Beginning of the hour since which booked amounts are added up.
    pub booked_since: Timestamp,
    /// Time since which remarkable calls are listed.
    pub remarkable_since: Timestamp,
    /// Maximum number of remarkable calls.
    pub remarkable_max: u32,
}

/// The content of the overview of a scope, except its statistics.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OverviewSnapshot {
    /// The work that waits for a person: of each kind the oldest, and of the keys those that expire
    /// first. Ordered by time.
    pub open_items: Vec<OpenItem>,
    /// Without jobs, their number is 0.
    pub counts: OverviewCounts,
    /// Amounts of bookings that suppliers confirmed, by currency, with the number of bookings.
    pub booked: Vec<(Money, u64)>,
    /// Calls of suppliers that API calls made: those that failed first, then the slowest.
    pub remarkable: Vec<RemarkableCall>,
}

impl Store {
    /// Returns the numbers of bookings by status, without statuses that no booking has. Reads an
    /// index of all bookings of the scope.
    pub async fn booking_counts(
        &self,
        scope: &TenantScope,
    ) -> Result<Vec<BookingCount>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        let mut parts = Vec::new();
        for part in ordered_parts(scope) {
            let condition = conditions.bind_scope_list(&part);
            parts.push(format!(
                "SELECT status, COUNT(*) AS hotels, 0 AS flights \
                 FROM hotel_booking WHERE {condition} GROUP BY status \
                 UNION ALL SELECT status, 0, COUNT(*) \
                 FROM flight_booking WHERE {condition} GROUP BY status"
            ));
        }
        let select = conditions.statement(format!(
            "SELECT status, CAST(SUM(hotels) AS BIGINT) AS hotels, \
               CAST(SUM(flights) AS BIGINT) AS flights \
             FROM ({}) AS counted GROUP BY status",
            parts.join(" UNION ALL ")
        ));
        self.read_all(select, read_booking_count).await
    }

    /// Returns what the overview shows of a scope, in one statement.
    pub async fn overview(
        &self,
        scope: &TenantScope,
        limits: OverviewLimits,
    ) -> Result<OverviewSnapshot, DatabaseError> {
        let mut query = OverviewQuery {
            conditions: ConditionBuilder::default(),
            scope,
            limits,
            parts: Vec::new(),
        };
        query.add_outcomes();
        query.add_deliveries();
        query.add_keys();
        query.add_webhooks();
        if limits.includes_jobs {
            query.add_jobs();
        }
        query.add_booked();
        query.add_remarkable();
        let sql = format!("{} ORDER BY at, subject", union_all(&query.parts));
        let mut snapshot = OverviewSnapshot::default();
        for row in self.fetch_all(query.conditions.statement(sql)).await? {
            snapshot.add(&row)?;
        }
        snapshot
            .booked
            .sort_by_key(|(amount, _)| amount.currency.code());
        let order = |call: &RemarkableCall| (call.reason.as_str(), Reverse(call.duration_us));
        snapshot.remarkable.sort_by_key(order);
        Ok(snapshot)
    }
}

/// The condition of deliveries that are not delivered yet, to subscriptions that exist. Few
/// subscriptions are deleted, so that each delivery is checked fast.
const WAITING: &str = "next_attempt_at IS NOT NULL AND subscription_id NOT IN \
    (SELECT id FROM webhook_subscription WHERE deleted_at IS NOT NULL)";

/// The columns of a row that is no call.
const NO_CALL: &str = "CAST(NULL AS TEXT) AS organization, CAST(NULL AS TEXT) AS mode, \
    CAST(NULL AS TEXT) AS outcome";
/// The column of a row that is no booked amount.
const NO_BOOKINGS: &str = "CAST(NULL AS BIGINT) AS bookings";
/// The columns of a row that is a number.
const NO_ITEM: &str = "'' AS subject, '' AS name, '' AS detail";

/// The statement of an overview. Its parts have the same columns: `kind`, `subject`, `name`,
/// `detail`, `number`, `at`, `organization`, `mode`, `outcome` and `bookings`.
struct OverviewQuery<'a> {
    conditions: ConditionBuilder,
    scope: &'a TenantScope,
    limits: OverviewLimits,
    parts: Vec<String>,
}

impl OverviewQuery<'_> {
    fn add_outcomes(&mut self) {
        // The index of open calls is small, and the primary key has all calls of an organization.
        let scope = self.conditions.bind_scope_without_index(self.scope);
        let sent_before = self.limits.sent_before;
        let open = open_outcome_condition_in_scope(&mut self.conditions, &scope, sent_before);
        let limit = self.conditions.bind(self.limits.items_max);
        self.parts.push(format!(
            "SELECT 'outcome' AS kind, booking_id AS subject, step AS name, target AS detail, \
               CAST(0 AS BIGINT) AS number, last_sent_at AS at, {NO_CALL}, {NO_BOOKINGS} \
             FROM remote_call_attempt WHERE {open} ORDER BY last_sent_at LIMIT {limit}"
        ));
        self.parts.push(format!(
            "SELECT 'open_outcomes' AS kind, {NO_ITEM}, COUNT(*) AS number, \
               MIN(last_sent_at) AS at, {NO_CALL}, {NO_BOOKINGS} \
             FROM remote_call_attempt WHERE {open}"
        ));
    }

    fn add_deliveries(&mut self) {
        let scope = self.conditions.bind_scope_without_index(self.scope);
        let limit = self.conditions.bind(self.limits.deliveries_max);
        self.parts.push(format!(
            "SELECT 'waiting_deliveries' AS kind, {NO_ITEM}, COUNT(*) AS number, \
               MIN(created_at) AS at, {NO_CALL}, {NO_BOOKINGS} \
             FROM (SELECT created_at FROM webhook_delivery WHERE {WAITING} AND {scope} \
               ORDER BY created_at LIMIT {limit}) AS waiting"
        ));
    }

    fn add_keys(&mut self) {
        let conditions = &mut self.conditions;
        let scope = conditions.bind_scope(self.scope);
        let now = conditions.bind(self.limits.now);
        let expires_until = conditions.bind(self.limits.expires_until);
        let limit = conditions.bind(self.limits.items_max);
        self.parts.push(format!(
            "SELECT 'key' AS kind, id AS subject, name, masked_key AS detail, \
               CAST(0 AS BIGINT) AS number, expires_at AS at, {NO_CALL}, {NO_BOOKINGS} \
             FROM api_key \
             WHERE {scope} AND revoked_at IS NULL AND expires_at > {now} \
               AND expires_at <= {expires_until} ORDER BY expires_at LIMIT {limit}"
        ));
        let numbers = [
            (
                "active_keys",
                format!("revoked_at IS NULL AND (expires_at IS NULL OR expires_at > {now})"),
            ),
            ("known_keys", "1 = 1".to_owned()),
            ("used_keys", "last_used_at IS NOT NULL".to_owned()),
        ];
        self.parts.extend(numbers.map(|(kind, condition)| {
            format!(
                "SELECT '{kind}' AS kind, {NO_ITEM}, COUNT(*) AS number, \
                   CAST(NULL AS BIGINT) AS at, {NO_CALL}, {NO_BOOKINGS} FROM api_key \
                 WHERE {scope} AND {condition}"
            )
        }));
    }

    fn add_webhooks(&mut self) {
        let scope = self.conditions.bind_scope(self.scope);
        let limit = self.conditions.bind(self.limits.items_max);
        self.parts.push(format!(
            "SELECT 'webhook' AS kind, id AS subject, url AS name, status AS detail, \
               CAST(0 AS BIGINT) AS number, COALESCE(failing_since, updated_at) AS at, \
               {NO_CALL}, {NO_BOOKINGS} \
             FROM webhook_subscription \
             WHERE {scope} AND deleted_at IS NULL AND (status = 'DISABLED' \
               OR status = 'ACTIVE' AND failing_since IS NOT NULL) \
             ORDER BY COALESCE(failing_since, updated_at) LIMIT {limit}"
        ));
    }

    fn add_jobs(&mut self) {
        let parked = parked_job(&mut self.conditions, self.scope);
        let limit = self.conditions.bind(self.limits.items_max);
        self.parts.push(format!(
            "SELECT 'job' AS kind, subject, kind AS name, '' AS detail, \
               attempt_count AS number, parked_at AS at, {NO_CALL}, {NO_BOOKINGS} \
             FROM job WHERE {parked} ORDER BY parked_at LIMIT {limit}"
        ));
        self.parts.push(format!(
            "SELECT 'parked_jobs' AS kind, {NO_ITEM}, COUNT(*) AS number, \
               CAST(NULL AS BIGINT) AS at, {NO_CALL}, {NO_BOOKINGS} FROM job WHERE {parked}"
        ));
    }

    /// Adds the booked amounts, each with the number of its bookings.
    fn add_booked(&mut self) {
        let scope = self.conditions.bind_scope(&summed_scope(self.scope));
        let since = self.conditions.bind(self.limits.booked_since);
        self.parts.push(format!(
            "SELECT 'booked' AS kind, currency AS subject, '' AS name, '' AS detail, \
               CAST(SUM(amount_minor) AS BIGINT) AS number, \
               CAST(NULL AS BIGINT) AS at, {NO_CALL}, \
               CAST(SUM(bookings) AS BIGINT) AS bookings \
             FROM booked_amount WHERE {scope} AND at >= {since} GROUP BY currency"
        ));
    }

    fn add_remarkable(&mut self) {
        let conditions = &mut self.conditions;
        let scope = conditions.bind_scope(self.scope);
        let since = conditions.bind(self.limits.remarkable_since);
        let examined = conditions.bind(EXAMINED_CALLS_MAX);
        let limit = conditions.bind(self.limits.remarkable_max);
        self.parts.push(format!(
            "SELECT reason AS kind, request_id AS subject, operation AS name, supplier AS detail, \
               duration_us AS number, at, organization, mode, outcome, {NO_BOOKINGS} \
             FROM (SELECT * FROM remarkable_call WHERE {scope} AND at >= {since} \
               ORDER BY reason, duration_us DESC LIMIT {examined}) AS worst \
             WHERE EXISTS (SELECT 1 FROM request_log WHERE request_log.request_id = worst.request_id) \
             ORDER BY reason, duration_us DESC LIMIT {limit}"
        ));
    }
}

impl OverviewSnapshot {
    fn add(&mut self, row: &Row) -> Result<(), DatabaseError> {
        let counts = &mut self.counts;
        let number = || row.get::<i64>("number").map(i64::unsigned_abs);
        match row.get::<String>("kind")?.as_str() {
            "outcome" => self.open_items.push(OpenItem::Outcome {
                booking: row.parsed("subject", BookingId::parse)?,
                step: row.get("name")?,
                target: row.parsed("detail", SupplierId::parse)?,
                sent_at: row.timestamp("at")?,
            }),
            "key" => self.open_items.push(OpenItem::Key {
                id: row.parsed("subject", KeyId::parse)?,
                name: row.get("name")?,
                masked_key: row.get("detail")?,
                expires_at: row.timestamp("at")?,
            }),
            "webhook" => self.open_items.push(OpenItem::Webhook {
                id: row.parsed("subject", SubscriptionId::parse)?,
                url: row.get("name")?,
                is_disabled: row.enum_value("detail", SubscriptionStatus::parse)?
                    == SubscriptionStatus::Disabled,
                since: row.timestamp("at")?,
            }),
            "job" => self.open_items.push(OpenItem::Job {
                kind: row.get("name")?,
                subject: row.get("subject")?,
                attempts: row.get("number")?,
                parked_at: row.timestamp("at")?,
            }),
            "open_outcomes" => {
                counts.open_outcomes = number()?;
                counts.oldest_outcome_at = row.timestamp_opt("at")?;
            }
            "waiting_deliveries" => {
                counts.waiting_deliveries = number()?;
                counts.oldest_delivery_at = row.timestamp_opt("at")?;
            }
            "parked_jobs" => counts.parked_jobs = number()?,
            "active_keys" => counts.active_keys = number()?,
            "known_keys" => counts.has_key = number()? > 0,
            "used_keys" => counts.has_used_key = number()? > 0,
            "booked" => {
                let currency = row.parsed("subject", Currency::parse)?;
                let amount = Money::new(row.get("number")?, currency);
                let bookings = row.get::<i64>("bookings")?.unsigned_abs();
                self.booked.push((amount, bookings));
            }
            _ => self.remarkable.push(read_remarkable(row)?),
        }
        Ok(())
    }
}

fn read_booking_count(row: &Row) -> Result<BookingCount, DatabaseError> {
    let number = |column: &'static str| row.get::<i64>(column).map(i64::unsigned_abs);
    Ok(BookingCount {
        status: row.enum_value("status", BookingStatus::parse)?,
        hotels: number("hotels")?,
        flights: number("flights")?,
    })
}

fn read_remarkable(row: &Row) -> Result<RemarkableCall, DatabaseError> {
    Ok(RemarkableCall {
        tenant: row.tenant()?,
        at: row.timestamp("at")?,
        supplier: row.parsed("detail", SupplierId::parse)?,
        operation: row.get("name")?,
        reason: row.enum_value("kind", RemarkableReason::parse)?,
        request_id: row.get("subject")?,
        duration_us: row.get::<i64>("number")?.unsigned_abs(),
        outcome: row.get("outcome")?,
    })
}
