//! `stopover listen`: events for a program without a public address. The program asks again and
//! again; each call waits for the next event.

use crate::error_code::ErrorCode;
use crate::extract::{Body, Context, PathId, Query, Validate, Validated};
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult, NoContent};
use axum::extract::State;
use host_application::webhook::listen::{ListenService, ListenedEvent};
use host_domain::event::EventType;
use host_domain::id::{EventId, ListenSessionId};
use host_domain::owner::Mode;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

/// A program that receives events.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListenRequest {
    /// Names of event types; none for all.
    #[schema(max_items = 50)]
    event_types: Vec<String>,
}

/// Position of the next events.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListenQuery {
    /// Id after which the events follow.
    #[schema(pattern = "^evt_[a-zA-Z0-9-]+$", max_length = 128)]
    after: String,
    /// Time to wait for an event, in seconds.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 20, default = 0)]
    wait_s: u64,
}

impl Validate for ListenRequest {}
impl Validate for ListenQuery {}

#[derive(Debug, Clone, Serialize)]
pub(super) struct ListenSessionResource {
    id: String,
    /// Position after which the events of the session begin.
    after: String,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct ListenedEventsResource {
    /// Some may have been returned before.
    events: Vec<ListenedEventResource>,
    /// Position after which the next call continues.
    after: String,
}

#[derive(Debug, Clone, Serialize)]
struct ListenedEventResource {
    id: String,
    #[serde(rename = "type")]
    event_type: String,
    /// The body, byte for byte as it is signed.
    payload: String,
}

impl From<ListenedEvent> for ListenedEventResource {
    fn from(event: ListenedEvent) -> Self {
        Self {
            id: event.id.to_string(),
            event_type: event.event_type,
            payload: event.payload,
        }
    }
}

/// Begins a session.
pub(super) async fn begin(
    State(service): State<Arc<ListenService>>,
    Context(context): Context,
    Validated(Body(request)): Validated<Body<ListenRequest>>,
) -> ApiResult<ListenSessionResource> {
    let names = request.event_types.iter();
    let types: Option<Vec<_>> = names.map(|name| EventType::parse(name)).collect();
    let types = types.ok_or_else(|| {
        let rule = "it has the name of no event type".to_owned();
        ApiError::violation("/event_types", "unknown_event_type", rule)
    })?;
    let (session, after) = service.begin(&context, types).await?;
    Ok(ApiResponse::created(ListenSessionResource {
        id: session.id.to_string(),
        after: after.to_string(),
    }))
}

/// Renews a session and returns its next events.
pub(super) async fn fetch(
    State(service): State<Arc<ListenService>>,
    Context(context): Context,
    Validated((PathId(id), Query(query))): Validated<(PathId<ListenSessionId>, Query<ListenQuery>)>,
) -> ApiResult<ListenedEventsResource> {
    let after = EventId::parse(&query.after).map_err(|_| {
        let rule = "it is no id of an event".to_owned();
        ApiError::violation("/after", "pattern", rule)
    })?;
    let wait = Duration::from_secs(query.wait_s);
    let fetched = service.fetch(&context, &id, &after, wait).await?;
    Ok(ApiResponse::ok(ListenedEventsResource {
        events: fetched.events.into_iter().map(Into::into).collect(),
        after: fetched.next.to_string(),
    }))
}

/// An event that was made.
#[derive(Debug, Clone, Serialize)]
pub(super) struct MadeEventResource {
    id: String,
}

/// Makes a test event for the programs that listen, because the organization may have no active
/// webhook. Live keys make no test events.
pub(super) async fn ping(
    State(service): State<Arc<ListenService>>,
    Context(context): Context,
) -> ApiResult<MadeEventResource> {
    if context.owner.tenant.mode == Mode::Live {
        let detail = "Test events are made with keys of test mode only.";
        return Err(ApiError::from(ErrorCode::InsufficientScope).with_detail(detail));
    }
    let id = service.ping(&context).await?;
    Ok(ApiResponse::created(MadeEventResource {
        id: id.to_string(),
    }))
}

/// Ends a session.
pub(super) async fn end(
    State(service): State<Arc<ListenService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<ListenSessionId>>,
) -> Result<NoContent, ApiError> {
    service.end(&context, &id).await?;
    Ok(NoContent)
}
