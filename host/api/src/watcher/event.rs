//! The operation that reads the watch event log.

use crate::extract::{Context, Query, Validate, Validated, default_limit};
use crate::identifier::EventIdParam;
use crate::response::{ApiResponse, ApiResult, List};
use axum::extract::State;
use host_application::watch::service::WatchService;
use host_resources::watch_event_log::{self, WatchEventResource};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Page of the watch event log.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatchEventsQuery {
    /// Id of the last event that you have. Later events are returned; without it, the log is read
    /// from its first event.
    after: Option<EventIdParam>,
    /// Maximum number of events to return.
    #[serde(default = "default_limit::<50>")]
    #[schema(minimum = 1, maximum = 200, default = 50)]
    limit: u32,
}

impl Validate for WatchEventsQuery {}

/// List watch events
///
/// Lists the watch events of all users of the organization, oldest first, whether or not they
/// reached your webhook. To catch up:
///
/// 1. Omit `after` in the first request.
/// 2. Process each `payload` as if it had been delivered; ignore an `id` that you have already
///    processed.
/// 3. Pass the last `id` as `after`, and repeat until fewer than `limit` events are returned.
///
/// No event ever appears before one that could already be read, so none is missed. `after` must be
/// in the log of this organization and mode; otherwise the response is 404 `event_not_found`.
#[utoipa::path(get, path = "/v1/watcher/events", tag = "Watches",
    responses((status = 200, description = "A page of the log.")),
    extensions(("x-error-codes" = json!(["event_not_found"]))))]
pub(crate) async fn list_watch_events(
    State(watches): State<Arc<WatchService>>,
    Context(context): Context,
    Validated(Query(query)): Validated<Query<WatchEventsQuery>>,
) -> ApiResult<List<WatchEventResource>> {
    let WatchEventsQuery { after, limit } = query;
    let (tenant, after) = (&context.owner.tenant, after.map(|id| id.0));
    let entries = watches.list_events(tenant, after.as_ref(), limit).await?;
    let resources = entries.into_iter().map(|entry| {
        let (event, status) = (entry.event, entry.status);
        let (created_at, payload) = (event.created_at, event.payload);
        watch_event_log::event(&event.id, event.event_type, status, created_at, payload)
    });
    Ok(ApiResponse::ok(List(resources.collect())))
}
