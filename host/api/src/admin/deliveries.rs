//! Deliveries of webhooks and their events on the admin listener, without personal data.

use crate::admin::actor::AdminActor;
use crate::admin::parameter::{page_json, page_request, parse, tenant_scope, with_members};
use crate::admin::requests::text_json;
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::webhook::delivery_service::DeliveryService;
use host_application::webhook::unscoped_delivery::DeliveryHistory;
use host_domain::console::webhook::ListedDelivery;
use host_domain::event::EventType;
use host_domain::id::{BookingId, DeliveryId, EventId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_domain::webhook::list::DeliveryScopeFilter;
use host_domain::webhook::{Delivery, DeliveryAttempt, DeliveryStatus};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Filter of the deliveries. Absent fields mean any.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeliveryListQuery {
    /// `test`, the default, or `live`.
    mode: Option<String>,
    organization: Option<String>,
    /// `PENDING`, `PUBLISHED`, `DELIVERED` or `FAILED`.
    status: Option<String>,
    /// Id of a webhook.
    webhook: Option<String>,
    /// Name of an event type.
    event: Option<String>,
    /// Earliest time of creation, RFC 3339.
    from: Option<String>,
    /// Latest time of creation, RFC 3339.
    to: Option<String>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of deliveries, at most 500.
    limit: Option<u32>,
}

/// `GET /deliveries`: lists deliveries, latest first.
pub(super) async fn list(
    State(deliveries): State<Arc<DeliveryService>>,
    Query(query): Query<DeliveryListQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let filter = delivery_filter(
        query.status,
        query.webhook,
        query.event,
        query.from,
        query.to,
    )?;
    let page = page_request(query.after, query.limit)?;
    let found = deliveries.list_unscoped(&scope, &filter, &page).await;
    let found = found.map_err(ApiError::from_storage)?;
    Ok(page_json(found.map(|listed| listed_json(&listed))))
}

/// `GET /deliveries/{id}`: a delivery with the attempts of all its replays.
pub(super) async fn show(
    State(deliveries): State<Arc<DeliveryService>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let found = deliveries.find_unscoped(&parse_id(&id)?).await?;
    Ok(Json(json!({ "data": history_json(&found.masked()) })))
}

/// `POST /deliveries/{id}/replay`: sends a delivery again.
pub(super) async fn replay(
    State(deliveries): State<Arc<DeliveryService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let replayed = deliveries.replay_unscoped(actor, &parse_id(&id)?).await?;
    let delivery = replayed.delivery;
    let replayed = json!({ "id": delivery.id.as_str(), "status": delivery.status().as_str() });
    Ok(Json(json!({ "data": replayed })))
}

/// `GET /events/{id}`: an event with its deliveries.
pub(super) async fn show_event(
    State(deliveries): State<Arc<DeliveryService>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let not_found = || ApiError::from(ErrorCode::EventNotFound);
    let id = EventId::parse(&id).map_err(|_| not_found())?;
    let found = deliveries.find_event_unscoped(&id).await;
    let found = found.map_err(ApiError::from_storage)?;
    let found = found.ok_or_else(not_found)?.masked();
    let listed: Vec<Value> = found.deliveries.iter().map(listed_json).collect();
    let event = json!({
        "id": found.id.as_str(),
        "organization": found.tenant.organization,
        "mode": found.tenant.mode.as_str(),
        "type": found.event_type,
        "booking_id": found.booking.as_ref().map(BookingId::as_str),
        "created_at": found.created_at.to_string(),
        "payload": text_json(&found.payload),
        "deliveries": listed,
    });
    Ok(Json(json!({ "data": event })))
}

/// The status of a filter that stands for all deliveries that wait: pending ones and published ones.
const WAITING: &str = "waiting";

/// Returns the status that a filter names.
pub(super) fn filtered_status(filter: &DeliveryScopeFilter) -> Option<&'static str> {
    match filter.is_waiting {
        true => Some(WAITING),
        false => filter.status.map(DeliveryStatus::as_str),
    }
}

/// Builds the filter that the fields of a query or a body name.
pub(super) fn delivery_filter(
    status: Option<String>,
    webhook: Option<String>,
    event: Option<String>,
    from: Option<String>,
    to: Option<String>,
) -> Result<DeliveryScopeFilter, ApiError> {
    let is_waiting = status.as_deref() == Some(WAITING);
    let status = status.filter(|_| !is_waiting);
    Ok(DeliveryScopeFilter {
        status: parse(status, "status", DeliveryStatus::parse)?,
        is_waiting,
        subscription: parse(webhook, "webhook", |id| SubscriptionId::parse(id).ok())?,
        event_type: parse(event, "event", EventType::parse)?,
        from: parse(from, "from", Timestamp::parse)?,
        to: parse(to, "to", Timestamp::parse)?,
    })
}

fn parse_id(id: &str) -> Result<DeliveryId, ApiError> {
    DeliveryId::parse(id).map_err(|_| ErrorCode::DeliveryNotFound.into())
}

fn listed_json(listed: &ListedDelivery) -> Value {
    delivery_json(&listed.tenant, &listed.delivery, &listed.event_type)
}

fn delivery_json(tenant: &Tenant, delivery: &Delivery, event_type: &str) -> Value {
    let failure = delivery.failure();
    let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": delivery.id.as_str(),
        "organization": tenant.organization,
        "mode": tenant.mode.as_str(),
        "webhook": delivery.subscription.as_str(),
        "event": delivery.event.as_str(),
        "event_type": event_type,
        "status": delivery.status().as_str(),
        "failure_reason": failure.map(|(_, reason)| reason.as_str()),
        "replay_count": delivery.generation,
        "attempt_count": delivery.attempts,
        "created_at": delivery.created_at.to_string(),
        "next_attempt_at": text(delivery.next_at()),
        "delivered_at": text(delivery.delivered_at()),
        "failed_at": text(failure.map(|(at, _)| at)),
    })
}

fn history_json(found: &DeliveryHistory) -> Value {
    let tenant = &found.subscription.tenant;
    let delivery = delivery_json(tenant, &found.delivery, &found.event_type);
    let attempts: Vec<Value> = found.attempts.iter().map(attempt_json).collect();
    with_members(
        delivery,
        json!({
            "url": found.subscription.url.as_str(),
            "payload": text_json(&found.payload),
            "attempts": attempts,
        }),
    )
}

fn attempt_json((replay, attempt): &(i64, DeliveryAttempt)) -> Value {
    json!({
        "replay": replay,
        "attempt_number": attempt.number,
        "created_at": attempt.created_at.to_string(),
        "duration_ms": attempt.duration_ms,
        "request_headers": attempt.request_headers,
        "response_status": attempt.response_status,
        "response_body": attempt.response_body,
        "error": attempt.error,
    })
}
