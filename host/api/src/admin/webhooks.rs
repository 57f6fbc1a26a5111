//! Webhooks of all organizations on the admin listener: their health, and whether they are paused.

use crate::admin::actor::AdminActor;
use crate::admin::parameter::{page_json, page_request, parse, tenant_scope};
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::webhook::service::WebhookService;
use host_domain::console::webhook::ListedSubscription;
use host_domain::id::SubscriptionId;
use host_domain::webhook::list::SubscriptionScopeFilter;
use host_domain::webhook::{SubscriptionEvent, SubscriptionStatus};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Filter of the webhooks. Absent fields mean any.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebhooksQuery {
    /// `test`, the default, or `live`.
    mode: Option<String>,
    organization: Option<String>,
    /// `ACTIVE`, `PAUSED` or `DISABLED`.
    status: Option<String>,
    /// A part of the URL or of the description.
    q: Option<String>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of webhooks, at most 500.
    limit: Option<u32>,
}

/// `GET /webhooks`: lists webhooks, newest first.
pub(super) async fn list(
    State(webhooks): State<Arc<WebhookService>>,
    Query(query): Query<WebhooksQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let filter = SubscriptionScopeFilter {
        status: parse(query.status, "status", SubscriptionStatus::parse)?,
        text: query.q,
    };
    let page = page_request(query.after, query.limit)?;
    let found = webhooks.list_any(&scope, &filter, &page).await;
    let found = found.map_err(ApiError::from_storage)?;
    Ok(page_json(found.map(|listed| webhook_json(&listed))))
}

/// `GET /webhooks/{id}`
pub(super) async fn show(
    State(webhooks): State<Arc<WebhookService>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let found = webhooks.find_any(&parse_id(&id)?).await?;
    Ok(Json(json!({ "data": webhook_json(&found) })))
}

/// `POST /webhooks/{id}/pause`: holds the events of a webhook back.
pub(super) async fn pause(
    State(webhooks): State<Arc<WebhookService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let id = parse_id(&id)?;
    let event = SubscriptionEvent::Paused;
    let changed = webhooks.apply_any(actor, &id, &event).await?;
    Ok(Json(json!({ "data": webhook_json(&changed) })))
}

/// `POST /webhooks/{id}/resume`: sends the events of a webhook again, also those that waited.
pub(super) async fn resume(
    State(webhooks): State<Arc<WebhookService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let id = parse_id(&id)?;
    let event = SubscriptionEvent::Resumed;
    let changed = webhooks.apply_any(actor, &id, &event).await?;
    Ok(Json(json!({ "data": webhook_json(&changed) })))
}

fn parse_id(id: &str) -> Result<SubscriptionId, ApiError> {
    SubscriptionId::parse(id).map_err(|_| ErrorCode::SubscriptionNotFound.into())
}

fn webhook_json(listed: &ListedSubscription) -> Value {
    let subscription = &listed.subscription;
    json!({
        "id": subscription.id.as_str(),
        "organization": subscription.tenant.organization,
        "mode": subscription.tenant.mode.as_str(),
        "product": subscription.product.as_str(),
        "url": subscription.url,
        "event_types": subscription.event_types,
        "description": subscription.description,
        "status": subscription.status.as_str(),
        "waiting_deliveries": listed.waiting,
        "failed_last_day": listed.failed,
        "last_success_at": listed.last_success_at.map(|at| at.to_string()),
        "failing_since": subscription.failing_since.map(|at| at.to_string()),
        "created_at": subscription.created_at.to_string(),
    })
}
