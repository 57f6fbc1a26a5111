//! Statistics of calls and of booked amounts. Counters are added to the stored rows, so several
//! hosts write the same row.

use crate::condition::ConditionBuilder;
use crate::statement::{Row, statement};
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::console::TenantScope;
use host_domain::statistics::{
    BookedAmount, CallStatistics, DURATION_BUCKETS, RemarkableCall, StatisticsGroup, StatisticsKey,
    StatisticsSubject, TimeResolution,
};
use host_domain::time::Timestamp;
use serde_json::{Value, json};

/// The organization of the rows with the sums of all organizations. No organization has this name.
const ALL_ORGANIZATIONS: &str = "*";

impl UnitOfWork {
    /// Adds numbers of calls to those of the same key, for the organization and for all together.
    /// Keys must be sorted, so that two processes lock rows in the same order.
    pub fn add_statistics(&mut self, rows: &[(StatisticsKey, CallStatistics)]) -> &mut Self {
        let rows = rows.iter().map(|(key, calls)| statistics_json(key, calls));
        let rows = Value::from_iter(rows).to_string();
        self.add(statement!(upsert_statistics(), rows))
    }

    /// Adds amounts to those of the same organization, hour and currency. They must be sorted.
    pub fn add_booked_amounts(&mut self, amounts: &[BookedAmount]) -> &mut Self {
        let rows = amounts.iter().map(|booked| {
            json!({
                "organization": organization_key(booked.organization.as_deref()),
                "mode": booked.mode.as_str(),
                "at": booked.at.0,
                "currency": booked.amount.currency.code(),
                "bookings": booked.bookings,
                "amount_minor": booked.amount.minor,
            })
        });
        self.add(statement!(
            "INSERT INTO booked_amount (organization, mode, at, currency, bookings, amount_minor) \
             SELECT item.value ->> 'organization', item.value ->> 'mode', \
               CAST(item.value ->> 'at' AS BIGINT), item.value ->> 'currency', \
               CAST(item.value ->> 'bookings' AS BIGINT), \
               CAST(item.value ->> 'amount_minor' AS BIGINT) \
             FROM {each $1} WHERE TRUE \
             ON CONFLICT (organization, mode, at, currency) DO UPDATE SET \
               bookings = booked_amount.bookings + excluded.bookings, \
               amount_minor = booked_amount.amount_minor + excluded.amount_minor",
            Value::from_iter(rows).to_string(),
        ))
    }

    /// Stores remarkable calls, each once.
    pub fn insert_remarkable_calls(&mut self, calls: &[RemarkableCall]) -> &mut Self {
        let rows = calls.iter().map(|call| {
            json!({
                "organization": call.tenant.organization,
                "mode": call.tenant.mode.as_str(),
                "at": call.at.0,
                "supplier": call.supplier.as_str(),
                "operation": call.operation,
                "reason": call.reason.as_str(),
                "request_id": call.request_id,
                "duration_us": call.duration_us,
                "outcome": call.outcome,
            })
        });
        self.add(statement!(
            "INSERT INTO remarkable_call (organization, mode, at, supplier, operation, reason, \
             request_id, duration_us, outcome) \
             SELECT item.value ->> 'organization', item.value ->> 'mode', \
               CAST(item.value ->> 'at' AS BIGINT), item.value ->> 'supplier', \
               item.value ->> 'operation', item.value ->> 'reason', \
               item.value ->> 'request_id', CAST(item.value ->> 'duration_us' AS BIGINT), \
               item.value ->> 'outcome' \
             FROM {each $1} WHERE TRUE ON CONFLICT DO NOTHING",
            Value::from_iter(rows).to_string(),
        ))
    }
}

fn organization_key(organization: Option<&str>) -> &str {
    organization.unwrap_or(ALL_ORGANIZATIONS)
}

fn statistics_json(key: &StatisticsKey, calls: &CallStatistics) -> Value {
    let mut row = json!({
        "organization": organization_key(key.organization.as_deref()),
        "mode": key.mode.as_str(),
        "resolution": key.resolution.as_str(),
        "subject": key.subject.as_str(),
        "at": key.at.0,
        "name": key.name,
        "operation": key.operation,
        "host": key.host,
        "count": calls.count,
        "client_errors": calls.client_errors,
        "server_errors": calls.server_errors,
        "duration_us_sum": calls.duration_us_sum,
        "duration_us_max": calls.duration_us_max,
    });
    if let Value::Object(members) = &mut row {
        for (column, count) in BUCKET_COLUMNS.into_iter().zip(calls.buckets) {
            members.insert(column.to_owned(), count.into());
        }
    }
    row
}

const TEXT_COLUMNS: [&str; 7] = [
    "organization",
    "mode",
    "resolution",
    "subject",
    "name",
    "operation",
    "host",
];

/// Returns the names of the columns that are added up.
fn summed_columns() -> Vec<&'static str> {
    let counters = ["count", "client_errors", "server_errors", "duration_us_sum"];
    counters.into_iter().chain(BUCKET_COLUMNS).collect()
}

fn upsert_statistics() -> String {
    let summed = summed_columns();
    let texts = TEXT_COLUMNS.map(|column| format!("item.value ->> '{column}'"));
    let number = |column: &str| format!("CAST(item.value ->> '{column}' AS BIGINT)");
    let numbers: Vec<String> = summed.iter().map(|column| number(column)).collect();
    let sums: Vec<String> = summed
        .iter()
        .map(|column| format!("{column} = statistics.{column} + excluded.{column}"))
        .collect();
    format!(
        "INSERT INTO statistics ({}, at, duration_us_max, {}) SELECT {}, {}, {}, {} \
         FROM {{each $1}} WHERE TRUE ON CONFLICT \
         (organization, mode, resolution, subject, at, name, operation, host) DO UPDATE SET {}, \
         duration_us_max = CASE WHEN excluded.duration_us_max > statistics.duration_us_max \
           THEN excluded.duration_us_max ELSE statistics.duration_us_max END",
        TEXT_COLUMNS.join(", "),
        summed.join(", "),
        texts.join(", "),
        number("at"),
        number("duration_us_max"),
        numbers.join(", "),
        sums.join(", "),
    )
}

/// Returns the columns of the sums of a group.
fn group_columns() -> String {
    let sums = summed_columns().into_iter();
    let sums: Vec<String> = sums
        .map(|column| format!("CAST(SUM({column}) AS BIGINT) AS {column}"))
        .collect();
    format!(
        "MAX(duration_us_max) AS duration_us_max, {}",
        sums.join(", ")
    )
}

/// Returns the scope of the rows that are added up for a scope: for all organizations, those with
/// their sums.
pub(crate) fn summed_scope(scope: &TenantScope) -> TenantScope {
    let all = || vec![ALL_ORGANIZATIONS.to_owned()];
    TenantScope {
        organizations: Some(scope.organizations.clone().unwrap_or_else(all)),
        mode: scope.mode,
    }
}

/// Builds the conditions for the rows of a scope since `since`.
fn scope_conditions(scope: &TenantScope, since: Timestamp) -> ConditionBuilder {
    let mut conditions = ConditionBuilder::for_scope(&summed_scope(scope));
    conditions.add("at >=", since);
    conditions
}

impl Store {
    /// Returns the statistics of a scope since `since`: of routes and of suppliers' functions, those
    /// with most calls first, then of all API calls by minute or hour, the oldest first. Minutes and
    /// hours without calls are left out.
    pub async fn statistics(
        &self,
        scope: &TenantScope,
        resolution: TimeResolution,
        since: Timestamp,
    ) -> Result<Vec<StatisticsGroup>, DatabaseError> {
        let mut conditions = scope_conditions(scope, since);
        conditions.add("resolution =", resolution.as_str());
        let (condition, sums) = (conditions.text(), group_columns());
        let select = conditions.statement(format!(
            "SELECT subject, at, '' AS name, '' AS operation, {sums} FROM statistics \
             WHERE {condition} AND subject = 'total' GROUP BY subject, at \
             UNION ALL \
             SELECT subject, 0, name, operation, {sums} FROM statistics \
             WHERE {condition} AND subject IN ('route', 'supplier') \
             GROUP BY subject, name, operation \
             ORDER BY at, count DESC, name, operation"
        ));
        self.read_all(select, read_group).await
    }

    /// Returns the statistics of suppliers' functions of a scope since `since`, those with most
    /// calls first.
    pub async fn supplier_statistics(
        &self,
        scope: &TenantScope,
        resolution: TimeResolution,
        since: Timestamp,
    ) -> Result<Vec<StatisticsGroup>, DatabaseError> {
        let mut conditions = scope_conditions(scope, since);
        conditions.add("resolution =", resolution.as_str());
        conditions.add("subject =", StatisticsSubject::Supplier.as_str());
        let (condition, sums) = (conditions.text(), group_columns());
        let select = conditions.statement(format!(
            "SELECT subject, CAST(0 AS BIGINT) AS at, name, operation, {sums} FROM statistics \
             WHERE {condition} GROUP BY subject, name, operation \
             ORDER BY count DESC, name, operation"
        ));
        self.read_all(select, read_group).await
    }

    /// Deletes up to `limit` rows of a resolution that are older than `before`. Returns their
    /// number.
    pub async fn purge_statistics(
        &self,
        resolution: TimeResolution,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        let key = "organization, mode, resolution, subject, at, name, operation, host";
        self.execute_statement(statement!(
            format!(
                // The text of the condition of the partial index.
                "DELETE FROM statistics WHERE ({key}) IN (SELECT {key} FROM statistics \
                 WHERE resolution = '{}' AND at < $1 LIMIT $2)",
                resolution.as_str(),
            ),
            before,
            limit,
        ))
        .await
    }

    /// Deletes up to `limit` remarkable calls that are older than `before`. Returns their number.
    pub async fn purge_remarkable_calls(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        let key = "organization, mode, at, supplier, operation, reason, request_id";
        self.execute_statement(statement!(
            format!(
                "DELETE FROM remarkable_call WHERE ({key}) IN (SELECT {key} FROM remarkable_call \
                 WHERE at < $1 LIMIT $2)"
            ),
            before,
            limit,
        ))
        .await
    }

    /// Deletes the booked amounts of hours before `before`.
    pub async fn purge_booked_amounts(&self, before: Timestamp) -> Result<u64, DatabaseError> {
        let delete = statement!("DELETE FROM booked_amount WHERE at < $1", before);
        self.execute_statement(delete).await
    }
}

fn read_group(row: &Row) -> Result<StatisticsGroup, DatabaseError> {
    let number = |column: &'static str| row.get::<i64>(column).map(i64::unsigned_abs);
    let mut calls = CallStatistics {
        count: number("count")?,
        client_errors: number("client_errors")?,
        server_errors: number("server_errors")?,
        duration_us_sum: number("duration_us_sum")?,
        duration_us_max: number("duration_us_max")?,
        ..CallStatistics::default()
    };
    for (bucket, column) in calls.buckets.iter_mut().zip(BUCKET_COLUMNS) {
        *bucket = number(column)?;
    }
    Ok(StatisticsGroup {
        subject: row.enum_value("subject", StatisticsSubject::parse)?,
        at: row.timestamp("at")?,
        name: row.get("name")?,
        operation: row.get("operation")?,
        calls,
    })
}

const BUCKET_COLUMNS: [&str; DURATION_BUCKETS] = [
    "class_00", "class_01", "class_02", "class_03", "class_04", "class_05", "class_06", "class_07",
    "class_08", "class_09", "class_10", "class_11", "class_12", "class_13",
];
