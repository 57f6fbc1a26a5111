//! The request log on the admin listener.

use crate::admin::parameter::parse;
use crate::cli::log::LoggedRequestResource;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Query, State};
use host_application::recording::reader::RequestLogReader;
use host_domain::console::TenantScope;
use host_domain::owner::Mode;
use host_domain::page::{Cursor, CursorRequest};
use host_domain::request_log::{RequestLogFilter, StatusFilter};
use host_domain::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

const LIMIT_DEFAULT: u32 = 50;
const LIMIT_MAX: u32 = 500;

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
    /// Time of the first call, RFC 3339.
    from: Option<String>,
    /// Time before which the last call was answered, RFC 3339.
    to: Option<String>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of calls, at most 500.
    limit: Option<u32>,
}

/// `GET /requests`: lists API calls, latest first.
pub(super) async fn list(
    State(log): State<Arc<RequestLogReader>>,
    Query(query): Query<RequestsQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = TenantScope {
        organizations: query.organization.map(|organization| vec![organization]),
        mode: parse(query.mode, "mode", Mode::parse)?.unwrap_or(Mode::Test),
    };
    let filter = RequestLogFilter {
        status: parse(query.status, "status", StatusFilter::parse)?,
        method: query.method,
        route: query.route,
        key: query.key,
        user: query.user,
        from: parse(query.from, "from", Timestamp::parse)?,
        to: parse(query.to, "to", Timestamp::parse)?,
    };
    let page = CursorRequest {
        after: parse(query.after, "after", Cursor::parse)?,
        limit: query.limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX),
    };
    let found = log.list(&scope, &filter, &page).await;
    let found = found.map_err(ApiError::from_storage)?;
    let next = found.next.map(|next| next.to_string());
    let calls = found.items.into_iter().map(LoggedRequestResource::from);
    let calls: Vec<_> = calls.collect();
    Ok(Json(json!({ "data": calls, "next": next })))
}
