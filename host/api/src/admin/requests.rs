//! The request log on the admin listener.

use crate::admin::parameter::{
    organizations, page_json, page_request, parse, search_text, tenant_scope,
};
use crate::cli::log::LoggedRequestResource;
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::recording::reader::{RequestDetails, RequestLogReader};
use host_domain::id::RequestLogId;
use host_domain::owner::Mode;
use host_domain::request_log::{LoggedBody, LoggedCall, RequestLogFilter, StatusFilter};
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Filter of the request log. Absent fields mean any.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestsQuery {
    /// `test`, the default, or `live`.
    mode: Option<String>,
    organization: Option<String>,
    /// A status such as `404`, or a class such as `5xx`.
    status: Option<String>,
    method: Option<String>,
    /// Template of the path, for example `/v1/hotel/bookings/{id}`.
    route: Option<String>,
    key: Option<String>,
    user: Option<String>,
    /// Id of a supplier that was called beneath the API call.
    supplier: Option<String>,
    /// Time of the first call, RFC 3339.
    from: Option<String>,
    /// Time before which the last call was answered, RFC 3339.
    to: Option<String>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of calls, at most 500.
    limit: Option<u32>,
}

/// Selection among the calls with one id, which clients may use several times.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestQuery {
    /// `test` or `live`.
    mode: Option<String>,
    organization: Option<String>,
    /// Id in the log, one of `others`.
    call: Option<String>,
}

/// An API call with what belongs to it.
#[derive(Serialize)]
struct RequestDetailsJson {
    #[serde(flatten)]
    request: LoggedRequestResource,
    mode: &'static str,
    /// The log's ids of other calls with the same request id, latest first.
    others: Vec<String>,
    /// Redacted. `null` unless the call changed something or failed.
    request_body: Option<Value>,
    response_body: Option<Value>,
    /// The calls of suppliers, in the order in which they began.
    calls: Vec<Value>,
}

/// `GET /requests`: lists API calls, latest first.
pub(super) async fn list(
    State(log): State<Arc<RequestLogReader>>,
    Query(query): Query<RequestsQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let filter = RequestLogFilter {
        status: parse(query.status, "status", StatusFilter::parse)?,
        method: parse(query.method, "method", search_text)?,
        route: parse(query.route, "route", search_text)?,
        key: parse(query.key, "key", search_text)?,
        user: parse(query.user, "user", search_text)?,
        supplier: parse(query.supplier, "supplier", |id| SupplierId::parse(id).ok())?,
        from: parse(query.from, "from", Timestamp::parse)?,
        to: parse(query.to, "to", Timestamp::parse)?,
    };
    let page = page_request(query.after, query.limit)?;
    let found = log.list(&scope, &filter, &page).await;
    let found = found.map_err(ApiError::from_storage)?;
    Ok(page_json(found.map(LoggedRequestResource::from)))
}

/// `GET /requests/{id}`: the latest call with this id, with the calls of suppliers beneath it.
pub(super) async fn show(
    State(log): State<Arc<RequestLogReader>>,
    Path(id): Path<String>,
    Query(query): Query<RequestQuery>,
) -> Result<Json<Value>, ApiError> {
    let organization = organizations(query.organization)?;
    let mode = parse(query.mode, "mode", Mode::parse)?;
    let call = parse(query.call, "call", |id| RequestLogId::parse(id).ok())?;
    let found = log.find(organization.as_deref(), mode, &id, call.as_ref());
    let found = found.await.map_err(ApiError::from_storage)?;
    let found = found.ok_or_else(|| {
        ApiError::from(ErrorCode::NotFound).with_detail("the log has no call with this id")
    })?;
    Ok(Json(json!({ "data": RequestDetailsJson::from(found) })))
}

impl From<RequestDetails> for RequestDetailsJson {
    fn from(details: RequestDetails) -> Self {
        let (request_body, response_body) = match details.bodies {
            Some(bodies) => (
                Some(body_json(bodies.request)),
                Some(body_json(bodies.response)),
            ),
            None => (None, None),
        };
        let others = details.others.iter();
        Self {
            mode: details.request.mode.as_str(),
            request: details.request.into(),
            others: others.map(|other| other.id.to_string()).collect(),
            request_body,
            response_body,
            calls: details.calls.iter().map(call_json).collect(),
        }
    }
}

/// Renders a body: its whole length, and its text as JSON if it was recorded.
fn body_json(body: LoggedBody) -> Value {
    let content = body.text.map(|text| text_json(&text));
    json!({ "bytes": body.bytes, "content": content })
}

/// Returns a text as the JSON that it is, or else as a string.
pub(super) fn text_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Renders a call of a supplier's plugin, or an HTTP request that a plugin made.
pub(super) fn call_json(call: &LoggedCall) -> Value {
    json!({
        "id": call.id.as_str(),
        "request_id": call.request_id,
        "organization": call.organization,
        "kind": call.kind.as_str(),
        "supplier": call.supplier.as_str(),
        "capability": call.capability,
        "function": call.function,
        "target": call.target,
        "started_at": call.started_at.to_string(),
        "duration_us": call.duration_us,
        "outcome": call.outcome,
        "is_failure": call.is_failure,
        "detail": call.detail,
        "status": call.status,
        "request_bytes": call.request_bytes,
        "response_bytes": call.response_bytes,
    })
}
