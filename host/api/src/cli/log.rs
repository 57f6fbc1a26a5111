//! `stopover logs tail`: API calls of the key's organization and mode.

use crate::extract::{Context, Query, Validate, Validated};
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult};
use axum::extract::State;
use host_application::recording::reader::RequestLogReader;
use host_domain::id::{KeyId, RequestLogId};
use host_domain::request_log::{LoggedRequest, StatusFilter};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Selection of calls.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    /// Id in the log after which the calls follow. Without it, the latest calls are returned.
    #[schema(pattern = "^rql_[a-zA-Z0-9-]+$", max_length = 128)]
    after: Option<String>,
    /// A status such as `404`, or a class such as `5xx`.
    #[schema(pattern = "^[1-5]([0-9]{2}|xx)$")]
    status: Option<String>,
}

impl Validate for LogQuery {}

/// API calls, oldest first.
#[derive(Debug, Clone, Serialize)]
pub(super) struct LoggedRequestsResource {
    requests: Vec<LoggedRequestResource>,
}

/// An API call.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LoggedRequestResource {
    /// Id in the log.
    id: String,
    request_id: String,
    at: String,
    organization: String,
    method: String,
    route: String,
    /// Path and query, redacted.
    path: String,
    status: u16,
    duration_us: u64,
    key_id: Option<String>,
    user_id: String,
    booking_id: Option<String>,
    /// Code of the problem.
    code: Option<String>,
    /// Name of the machine that answered.
    host: String,
}

impl From<LoggedRequest> for LoggedRequestResource {
    fn from(request: LoggedRequest) -> Self {
        Self {
            id: request.id.to_string(),
            request_id: request.request_id,
            at: request.at.to_string(),
            organization: request.organization,
            method: request.method,
            route: request.route,
            path: request.path,
            status: request.status,
            duration_us: request.duration_us,
            key_id: request.key.as_ref().map(KeyId::to_string),
            user_id: request.user,
            booking_id: request.booking.map(|id| id.to_string()),
            code: request.code,
            host: request.host,
        }
    }
}

/// Returns calls of the key's organization and mode.
pub(super) async fn tail(
    State(log): State<Arc<RequestLogReader>>,
    Context(context): Context,
    Validated(Query(query)): Validated<Query<LogQuery>>,
) -> ApiResult<LoggedRequestsResource> {
    let after = query.after.and_then(|id| RequestLogId::parse(&id).ok());
    let status = query.status.as_deref().and_then(StatusFilter::parse);
    let calls = log.tail(&context.owner.tenant, status, after.as_ref());
    let calls = calls.await.map_err(ApiError::from_storage)?;
    Ok(ApiResponse::ok(LoggedRequestsResource {
        requests: calls.into_iter().map(Into::into).collect(),
    }))
}
