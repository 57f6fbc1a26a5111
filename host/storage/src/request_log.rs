//! The log of API calls. Rows are inserted in batches and never changed.

use crate::bounded_search::{
    AFTER_ALL_IDS, BEFORE_ALL_IDS, PageEnd, continue_at, first_unexamined,
};
use crate::condition::ConditionBuilder;
use crate::statement::{Row, statement, text_array};
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::console::TenantScope;
use host_domain::id::{BookingId, KeyId, RequestLogId};
use host_domain::owner::{Mode, Tenant};
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::request_log::{
    LoggedBodies, LoggedBody, LoggedRequest, RequestLogFilter, StatusFilter,
};
use host_domain::time::Timestamp;
use serde_json::json;

impl UnitOfWork {
    /// Inserts API calls, some with their bodies.
    pub fn insert_request_log(
        &mut self,
        entries: &[(LoggedRequest, Option<LoggedBodies>)],
    ) -> &mut Self {
        let rows = entries.iter().map(|(request, _)| request_json(request));
        let rows = serde_json::Value::from_iter(rows).to_string();
        self.add(statement!(INSERT_REQUESTS, rows));
        let bodies = entries
            .iter()
            .filter_map(|(request, bodies)| Some(bodies_json(request, bodies.as_ref()?)));
        let bodies: Vec<_> = bodies.collect();
        if !bodies.is_empty() {
            let rows = serde_json::Value::from(bodies).to_string();
            self.add(statement!(INSERT_BODIES, rows));
        }
        self
    }
}

const INSERT_REQUESTS: &str = "INSERT INTO request_log (organization, mode, id, request_id, at, \
    method, route, path, status, failure, duration_us, key_id, user_id, booking_id, code, host) \
    SELECT item.value ->> 'organization', item.value ->> 'mode', item.value ->> 'id', \
      item.value ->> 'request_id', CAST(item.value ->> 'at' AS BIGINT), \
      item.value ->> 'method', item.value ->> 'route', item.value ->> 'path', \
      CAST(item.value ->> 'status' AS BIGINT), CAST(item.value ->> 'failure' AS BIGINT), \
      CAST(item.value ->> 'duration_us' AS BIGINT), \
      item.value ->> 'key', item.value ->> 'user', item.value ->> 'booking', \
      item.value ->> 'code', item.value ->> 'host' \
    FROM {each $1}";

const INSERT_BODIES: &str = "INSERT INTO request_log_body (organization, mode, id, \
    request_bytes, request_body, response_bytes, response_body) \
    SELECT item.value ->> 'organization', item.value ->> 'mode', item.value ->> 'id', \
      CAST(item.value ->> 'request_bytes' AS BIGINT), item.value ->> 'request_body', \
      CAST(item.value ->> 'response_bytes' AS BIGINT), item.value ->> 'response_body' \
    FROM {each $1}";

fn request_json(request: &LoggedRequest) -> serde_json::Value {
    json!({
        "organization": request.organization,
        "mode": request.mode.as_str(),
        "id": request.id.as_str(),
        "request_id": request.request_id,
        "at": request.at.0,
        "method": request.method,
        "route": request.route,
        "path": request.path,
        "status": request.status,
        "failure": Some(request.status / 100).filter(|class| *class >= 4),
        "duration_us": request.duration_us,
        "key": request.key.as_ref().map(KeyId::as_str),
        "user": request.user,
        "booking": request.booking.as_ref().map(BookingId::as_str),
        "code": request.code,
        "host": request.host,
    })
}

fn bodies_json(request: &LoggedRequest, bodies: &LoggedBodies) -> serde_json::Value {
    json!({
        "organization": request.organization,
        "mode": request.mode.as_str(),
        "id": request.id.as_str(),
        "request_bytes": bodies.request.bytes,
        "request_body": bodies.request.text,
        "response_bytes": bodies.response.bytes,
        "response_body": bodies.response.text,
    })
}

impl Store {
    /// Returns the API calls of a scope that match, latest first. Calls without an organization
    /// are in the scope of all organizations only. If no index has the filter, a page may have fewer
    /// items than requested, or none, and be followed by another one.
    pub async fn request_log_page(
        &self,
        scope: &TenantScope,
        filter: &RequestLogFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<LoggedRequest>, DatabaseError> {
        let mut conditions = indexed_conditions(scope, filter);
        // Only one condition limits the ids from each side, because SQLite would begin or end at
        // either of two.
        let before = [page.after.as_ref().map(id_at), filter.to.map(lowest_id)];
        conditions.add_some("id <", before.into_iter().flatten().min());
        let from = filter.from.map(lowest_id);
        let end = if is_indexed(scope, filter) {
            None
        } else {
            let mut range = conditions.clone();
            range.add_some("id >=", from.clone());
            let unexamined = self.first_unexamined_request(range).await?;
            let unexamined = unexamined.and_then(|id| Some(Cursor::new(id.time()?, id.as_str())));
            unexamined.map(|unexamined| PageEnd::at(unexamined, page.after.as_ref()))
        };
        let examined_to = end.as_ref().map(|end| id_at(&end.examined_to));
        conditions.add_some("id >=", examined_to.max(from));
        add_other_conditions(&mut conditions, scope, filter);
        let condition = conditions.text();
        let rows_max = conditions.bind(page.limit.saturating_add(1));
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM request_log WHERE {condition} {LATEST_FIRST} LIMIT {rows_max}"
        ));
        let cursor = |request: &LoggedRequest| Cursor::new(request.at, request.id.as_str());
        let found = self.read_cursor_page(select, page, read, cursor).await?;
        Ok(continue_at(found, end))
    }

    /// Returns the id of the first call that a search does not examine, or `None` if it examines all.
    async fn first_unexamined_request(
        &self,
        conditions: ConditionBuilder,
    ) -> Result<Option<RequestLogId>, DatabaseError> {
        let rows = format!("SELECT id FROM request_log WHERE {}", conditions.text());
        let select = conditions.statement(first_unexamined(&rows, LATEST_FIRST));
        self.read_optional(select, |row| row.parsed("id", RequestLogId::parse))
            .await
    }

    /// Returns the calls of a tenant with an id above `after`, oldest first. If no index has the filter,
    /// only the latest `EXAMINED_ROWS_MAX` calls are examined.
    pub async fn request_log_after(
        &self,
        scope: &TenantScope,
        filter: &RequestLogFilter,
        after: &RequestLogId,
        limit: u32,
    ) -> Result<Vec<LoggedRequest>, DatabaseError> {
        let mut conditions = indexed_conditions(scope, filter);
        conditions.add_some("id <", filter.to.map(lowest_id));
        let mut start = after
            .to_string()
            .max(filter.from.map(lowest_id).unwrap_or_default());
        if !is_indexed(scope, filter) {
            let mut range = conditions.clone();
            range.add("id >", start.as_str());
            let unexamined = self.first_unexamined_request(range).await?;
            start = start.max(unexamined.map(|id| id.to_string()).unwrap_or_default());
        }
        conditions.add("id >", start.as_str());
        add_other_conditions(&mut conditions, scope, filter);
        let (condition, limit) = (conditions.text(), conditions.bind(limit));
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM request_log WHERE {condition} ORDER BY id LIMIT {limit}"
        ));
        self.read_all(select, read).await
    }

    /// Returns the calls to which a client gave this id, latest first. `None` stands for all
    /// organizations and for both modes.
    pub async fn requests_with_id(
        &self,
        organizations: Option<&[String]>,
        mode: Option<Mode>,
        request_id: &str,
        limit: u32,
    ) -> Result<Vec<LoggedRequest>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        conditions.add("request_id =", request_id);
        // An expression, so that no index of the mode is considered.
        conditions.add_some("mode || '' =", mode);
        if let Some(organizations) = organizations {
            let list = conditions.bind(text_array(organizations.iter().map(String::as_str)));
            conditions.add_text(format!("organization {{in {list}}}"));
        }
        let (condition, limit) = (conditions.text(), conditions.bind(limit));
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM request_log WHERE {condition} {LATEST_FIRST} LIMIT {limit}"
        ));
        self.read_all(select, read).await
    }

    /// Returns which of these ids belong to API calls of a scope.
    pub async fn logged_request_ids(
        &self,
        scope: &TenantScope,
        request_ids: &[String],
    ) -> Result<Vec<String>, DatabaseError> {
        // Without statistics, SQLite would prefer the index of the mode, which has all calls.
        let mut conditions = ConditionBuilder::for_scope_without_index(scope);
        let list = conditions.bind(text_array(request_ids.iter().map(String::as_str)));
        conditions.add_text(format!("request_id {{in {list}}}"));
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT DISTINCT request_id FROM request_log WHERE {condition}"
        ));
        self.read_all(select, |row| row.get("request_id")).await
    }

    /// Returns the bodies of an API call, if they were recorded.
    pub async fn request_log_bodies(
        &self,
        tenant: &Tenant,
        id: &RequestLogId,
    ) -> Result<Option<LoggedBodies>, DatabaseError> {
        let select = statement!(
            "SELECT request_bytes, request_body, response_bytes, response_body \
             FROM request_log_body WHERE organization = $1 AND mode = $2 AND id = $3",
            tenant,
            id.as_str(),
        );
        self.read_optional(select, read_bodies).await
    }
}

const LATEST_FIRST: &str = "ORDER BY id DESC";

/// Returns the id at a position of the log, whose ids begin with their time.
fn id_at(position: &Cursor) -> String {
    match position.id.as_str() {
        AFTER_ALL_IDS => RequestLogId::lowest_at(position.at.plus_ms(1)).to_string(),
        BEFORE_ALL_IDS => RequestLogId::lowest_at(position.at).to_string(),
        id => id.to_owned(),
    }
}

/// Returns the text that no id of a time or later precedes.
fn lowest_id(time: Timestamp) -> String {
    RequestLogId::lowest_at(time).to_string()
}

/// Returns the conditions that an index of the log answers besides the range of ids: the scope and
/// failures.
fn indexed_conditions(scope: &TenantScope, filter: &RequestLogFilter) -> ConditionBuilder {
    let mut conditions = if has_indexed_organizations(scope) {
        ConditionBuilder::for_scope(scope)
    } else {
        ConditionBuilder::for_scope(&TenantScope {
            organizations: None,
            mode: scope.mode,
        })
    };
    let failure = filter.status.and_then(StatusFilter::failure_class);
    conditions.add_some("failure =", failure.map(u32::from));
    conditions
}

/// Returns whether an index has the rows of the scope's organizations in order.
fn has_indexed_organizations(scope: &TenantScope) -> bool {
    let organizations = scope.organizations.as_ref();
    organizations.is_none_or(|organizations| organizations.len() == 1)
}

/// Returns whether [`indexed_conditions`] and the range of ids are all conditions.
fn is_indexed(scope: &TenantScope, filter: &RequestLogFilter) -> bool {
    has_indexed_organizations(scope)
        && !matches!(
            filter.status,
            Some(StatusFilter::Exact(_) | StatusFilter::Class(0..=3))
        )
        && filter.method.is_none()
        && filter.route.is_none()
        && filter.key.is_none()
        && filter.user.is_none()
        && filter.supplier.is_none()
}

fn add_other_conditions(
    conditions: &mut ConditionBuilder,
    scope: &TenantScope,
    filter: &RequestLogFilter,
) {
    if let Some(organizations) = &scope.organizations
        && !has_indexed_organizations(scope)
    {
        let list = conditions.bind(text_array(organizations.iter().map(String::as_str)));
        conditions.add_text(format!("organization {{in {list}}}"));
    }
    if let Some(status) = filter.status {
        let (lowest, highest) = status.range();
        conditions.add("status >=", u32::from(lowest));
        conditions.add("status <=", u32::from(highest));
    }
    conditions.add_some("method =", filter.method.as_deref());
    conditions.add_some("route =", filter.route.as_deref());
    if let Some(key) = &filter.key {
        let key = conditions.bind(key.as_str());
        conditions.add_text(format!(
            "{key} IN (key_id, \
             (SELECT name FROM api_key WHERE api_key.id = request_log.key_id))"
        ));
    }
    conditions.add_some("user_id =", filter.user.as_deref());
    if let Some(supplier) = &filter.supplier {
        let supplier = conditions.bind(supplier.as_str());
        // The primary key of the calls leads to the few of each request that is examined. PostgreSQL
        // would turn EXISTS into a join that may read all calls.
        conditions.add_text(format!(
            "(SELECT call_log.supplier FROM call_log WHERE call_log.organization = request_log.organization \
             AND call_log.mode = request_log.mode \
             AND call_log.request_id = request_log.request_id \
             AND call_log.supplier = {supplier} LIMIT 1) IS NOT NULL"
        ));
    }
}

const COLUMNS: &str = "organization, mode, id, request_id, at, method, route, path, status, \
    duration_us, key_id, user_id, booking_id, code, host";

fn read(row: &Row) -> Result<LoggedRequest, DatabaseError> {
    let Tenant { organization, mode } = row.tenant()?;
    Ok(LoggedRequest {
        id: row.parsed("id", RequestLogId::parse)?,
        organization,
        mode,
        request_id: row.get("request_id")?,
        at: row.timestamp("at")?,
        method: row.get("method")?,
        route: row.get("route")?,
        path: row.get("path")?,
        status: status(row)?.unwrap_or_default(),
        duration_us: row.count("duration_us")?,
        key: row.parsed_opt("key_id", KeyId::parse)?,
        user: row.get("user_id")?,
        booking: row.parsed_opt("booking_id", BookingId::parse)?,
        code: row.get("code")?,
        host: row.get("host")?,
    })
}

/// Reads an HTTP status that may be absent.
pub(crate) fn status(row: &Row) -> Result<Option<u16>, DatabaseError> {
    let status: Option<i64> = row.get("status")?;
    let status = status.map(u16::try_from).transpose();
    status.map_err(|error| DatabaseError::unreadable("status", error))
}

fn read_bodies(row: &Row) -> Result<LoggedBodies, DatabaseError> {
    Ok(LoggedBodies {
        request: LoggedBody {
            bytes: row.count("request_bytes")?,
            text: row.get("request_body")?,
        },
        response: LoggedBody {
            bytes: row.count("response_bytes")?,
            text: row.get("response_body")?,
        },
    })
}
