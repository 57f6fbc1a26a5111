//! The log of what watches told.

use crate::api::answer::{ApiResponse, List};
use crate::api::caller::RequestContext;
use crate::api::code::Code;
use crate::api::extract::{Query, Validate, Validated};
use crate::api::identifier::EventIdParam;
use crate::api::problem::ApiError;
use crate::app::Application;
use crate::render::watch_event::{self, WatchEvent};
use axum::extract::State;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Which part of the log.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatchEventsQuery {
    /// The last event that you have: those behind it are answered. Left out: from the first.
    after: Option<EventIdParam>,
    /// The most to answer.
    #[serde(default = "limit")]
    #[schema(minimum = 1, maximum = 200, default = 50)]
    limit: u32,
}

impl Validate for WatchEventsQuery {}

const fn limit() -> u32 {
    50
}

/// List events of watches
///
/// What the watches of all users of the organization told, oldest to newest, whether or not it reached your webhook. To catch up: leave `after` out the first time, take
/// each `payload` as if it had been delivered (again: an `id` that you have seen is nothing new), keep the last `id`, pass it as `after`, and go on until fewer entries than
/// `limit` come. No event ever appears before one that could already be read, so that nothing is missed. `after` must be in the log of this organization and
/// mode: 404 `event_not_found` otherwise.
#[utoipa::path(get, path = "/v1/watcher/events", tag = "Watches",
    responses((status = 200, description = "A part of the log.")),
    extensions(("x-error-codes" = json!(["event_not_found"]))))]
pub(crate) async fn list_watch_events(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(Query(query)): Validated<Query<WatchEventsQuery>>,
) -> Result<ApiResponse<List<WatchEvent>>, ApiError> {
    let WatchEventsQuery { after, limit } = query;
    let (tenant, after) = (&caller.owner.tenant, after.map(|id| id.0));
    let logged = app.store.watch_log_entries(tenant, after.as_ref(), limit).await;
    let logged = logged.map_err(ApiError::from_database)?;
    let logged = logged.ok_or(Code::EventNotFound)?.into_iter();
    Ok(ApiResponse::ok(List(logged.map(watch_event::event).collect())))
}
