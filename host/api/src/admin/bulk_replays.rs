//! Replays of all deliveries that match a filter, on the admin listener.

use crate::admin::actor::AdminActor;
use crate::admin::deliveries::{delivery_filter, filtered_status};
use crate::admin::parameter::tenant_scope;
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, State};
use host_application::webhook::bulk_replay::{BulkReplayError, BulkReplayService};
use host_domain::event::EventType;
use host_domain::id::{BulkReplayId, SubscriptionId};
use host_domain::time::Timestamp;
use host_domain::webhook::BulkReplay;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The deliveries to replay, as the filter of `GET /deliveries`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BulkReplayRequest {
    /// `test`, the default, or `live`.
    mode: Option<String>,
    organization: Option<String>,
    status: Option<String>,
    webhook: Option<String>,
    event: Option<String>,
    from: Option<String>,
    to: Option<String>,
}

/// `POST /deliveries/replays`: begins to replay the deliveries that match now.
pub(super) async fn begin(
    State(bulk_replays): State<Arc<BulkReplayService>>,
    AdminActor(actor): AdminActor,
    Json(request): Json<BulkReplayRequest>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let scope = tenant_scope(request.organization, request.mode)?;
    let filter = delivery_filter(
        request.status,
        request.webhook,
        request.event,
        request.from,
        request.to,
    )?;
    let begun = bulk_replays.begin(&actor, None, scope, filter).await;
    let begun = bulk_replay_json(&begun.map_err(problem)?);
    Ok((StatusCode::ACCEPTED, Json(json!({ "data": begun }))))
}

/// `GET /deliveries/replays/{id}`: a bulk replay with its progress.
pub(super) async fn show(
    State(bulk_replays): State<Arc<BulkReplayService>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let found = bulk_replays.find(&parse_id(&id)?).await.map_err(problem)?;
    Ok(Json(json!({ "data": bulk_replay_json(&found) })))
}

/// `POST /deliveries/replays/{id}/stop`: ends a bulk replay. What it has replayed is sent.
pub(super) async fn stop(
    State(bulk_replays): State<Arc<BulkReplayService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let stopped = bulk_replays.stop(&actor, &parse_id(&id)?).await;
    let stopped = bulk_replay_json(&stopped.map_err(problem)?);
    Ok(Json(json!({ "data": stopped })))
}

fn parse_id(id: &str) -> Result<BulkReplayId, ApiError> {
    BulkReplayId::parse(id).map_err(|_| problem(BulkReplayError::NotFound))
}

fn problem(error: BulkReplayError) -> ApiError {
    let code = match error {
        BulkReplayError::Storage(failure) => return ApiError::from_storage(failure),
        BulkReplayError::NotFound => ErrorCode::NotFound,
        BulkReplayError::TooMany => ErrorCode::ValidationFailed,
        BulkReplayError::NothingMatches | BulkReplayError::Running => ErrorCode::ReplayNotAllowed,
    };
    ApiError::from(code).with_detail(error.to_string())
}

fn bulk_replay_json(bulk_replay: &BulkReplay) -> Value {
    let (selection, progress) = (&bulk_replay.selection, &bulk_replay.progress);
    let filter = &selection.filter;
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": bulk_replay.id.as_str(),
        "state": bulk_replay.state.as_str(),
        "mode": bulk_replay.mode.as_str(),
        "organizations": selection.organizations,
        "filter": {
            "status": filtered_status(filter),
            "webhook": filter.subscription.as_ref().map(SubscriptionId::as_str),
            "event": filter.event_type.map(EventType::as_str),
            "from": time(filter.from),
            "to": time(filter.to),
        },
        "deliveries": bulk_replay.total,
        "replayed": progress.replayed,
        "skipped": progress.skipped,
        "created_at": bulk_replay.created_at.to_string(),
    })
}
