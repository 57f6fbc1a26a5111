//! The log of calls of plugins and of their HTTP requests. Rows are inserted in batches and never
//! changed.

use crate::attempt::Attempt;
use crate::condition::ConditionBuilder;
use crate::request_log::status;
use crate::statement::{Row, statement};
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::console::TenantScope;
use host_domain::id::CallLogId;
use host_domain::owner::Tenant;
use host_domain::request_log::{LoggedCall, LoggedCallKind};
use host_domain::supplier::SupplierId;
use serde_json::json;

/// A call that an attempt may have made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOfAttempt {
    pub call: LoggedCall,
    /// Whether the log has the API call that made it. Background work has none.
    pub has_request: bool,
}

impl UnitOfWork {
    /// Inserts calls.
    pub fn insert_call_log(&mut self, calls: &[LoggedCall]) -> &mut Self {
        let rows = serde_json::Value::from_iter(calls.iter().map(call_json)).to_string();
        self.add(statement!(INSERT, rows))
    }
}

const INSERT: &str = "INSERT INTO call_log (organization, mode, request_id, id, kind, supplier, \
    capability, function, target, started_at, duration_us, outcome, is_failure, detail, \
    status, request_bytes, response_bytes) \
    SELECT item.value ->> 'organization', item.value ->> 'mode', item.value ->> 'request_id', \
      item.value ->> 'id', item.value ->> 'kind', item.value ->> 'supplier', \
      item.value ->> 'capability', item.value ->> 'function', item.value ->> 'target', \
      CAST(item.value ->> 'started_at' AS BIGINT), CAST(item.value ->> 'duration_us' AS BIGINT), \
      item.value ->> 'outcome', CAST(item.value ->> 'is_failure' AS BIGINT), \
      item.value ->> 'detail', \
      CAST(item.value ->> 'status' AS BIGINT), CAST(item.value ->> 'request_bytes' AS BIGINT), \
      CAST(item.value ->> 'response_bytes' AS BIGINT) \
    FROM {each $1}";

fn call_json(call: &LoggedCall) -> serde_json::Value {
    json!({
        "organization": call.organization,
        "mode": call.mode.as_str(),
        "request_id": call.request_id,
        "id": call.id.as_str(),
        "kind": call.kind.as_str(),
        "supplier": call.supplier.as_str(),
        "capability": call.capability,
        "function": call.function,
        "target": call.target,
        "started_at": call.started_at.0,
        "duration_us": call.duration_us,
        "outcome": call.outcome,
        "is_failure": i64::from(call.is_failure),
        "detail": call.detail,
        "status": call.status,
        "request_bytes": call.request_bytes,
        "response_bytes": call.response_bytes,
    })
}

impl Store {
    /// Returns the calls that an API call or a piece of background work made, in the order of
    /// their ends.
    pub async fn calls_of_request(
        &self,
        tenant: &Tenant,
        request_id: &str,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM call_log \
                 WHERE organization = $1 AND mode = $2 AND request_id = $3 ORDER BY id LIMIT $4"
            ),
            tenant,
            request_id,
            limit,
        );
        self.read_all(select, read).await
    }

    /// Returns calls of an attempt's target since the attempt was sent, in the order in which they
    /// began: those of the API calls and the background work that changed its booking.
    pub async fn calls_since_attempt(
        &self,
        attempt: &Attempt,
        limit: u32,
    ) -> Result<Vec<CallOfAttempt>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS}, CAST(CASE WHEN EXISTS ( \
                   SELECT 1 FROM request_log AS request \
                   WHERE request.request_id = call_log.request_id \
                     AND request.organization || '' = $1 AND request.mode || '' = $2) \
                   THEN 1 ELSE 0 END AS BIGINT) AS has_request \
                 FROM call_log \
                 WHERE organization = $1 AND mode = $2 AND request_id IN ( \
                   SELECT request_id FROM booking_history \
                   WHERE organization = $1 AND mode = $2 AND booking_id = $3 \
                     AND request_id IS NOT NULL) \
                   AND supplier || '' = $4 AND started_at >= $5 \
                 ORDER BY started_at, id LIMIT $6"
            ),
            &attempt.tenant,
            attempt.call.booking_id.as_str(),
            attempt.call.target.as_str(),
            attempt.last_sent_at,
            limit,
        );
        let read = |row: &Row| {
            Ok(CallOfAttempt {
                call: read(row)?,
                has_request: row.get::<i64>("has_request")? != 0,
            })
        };
        self.read_all(select, read).await
    }

    /// Returns the calls of a supplier's plugin that failed, latest first.
    pub async fn failed_calls(
        &self,
        scope: &TenantScope,
        supplier: &SupplierId,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_scope(scope);
        conditions.add("supplier =", supplier.as_str());
        conditions.add_text("is_failure = 1".to_owned());
        let (condition, limit) = (conditions.text(), conditions.bind(limit));
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM call_log WHERE {condition} ORDER BY id DESC LIMIT {limit}"
        ));
        self.read_all(select, read).await
    }
}

const COLUMNS: &str = "organization, mode, request_id, id, kind, supplier, capability, function, \
    target, started_at, duration_us, outcome, is_failure, detail, status, \
    request_bytes, response_bytes";

fn read(row: &Row) -> Result<LoggedCall, DatabaseError> {
    let Tenant { organization, mode } = row.tenant()?;
    Ok(LoggedCall {
        id: row.parsed("id", CallLogId::parse)?,
        organization,
        mode,
        request_id: row.get("request_id")?,
        kind: row.enum_value("kind", LoggedCallKind::parse)?,
        supplier: row.parsed("supplier", SupplierId::parse)?,
        capability: row.get("capability")?,
        function: row.get("function")?,
        target: row.get("target")?,
        started_at: row.timestamp("started_at")?,
        duration_us: row.count("duration_us")?,
        outcome: row.get("outcome")?,
        is_failure: row.get::<i64>("is_failure")? == 1,
        detail: row.get("detail")?,
        status: status(row)?,
        request_bytes: row.count("request_bytes")?,
        response_bytes: row.count("response_bytes")?,
    })
}
