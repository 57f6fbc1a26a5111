//! Webhooks of all organizations on the admin listener: their health, their properties, and whether
//! they are paused.

use crate::admin::actor::AdminActor;
use crate::admin::parameter::{
    page_json, page_request, parse, parse_required, search_text, tenant, tenant_scope,
};
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use crate::response::NoContent;
use crate::webhook::delivery::RecoverRequest;
use crate::webhook::subscription::some_or_null;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::webhook::delivery_service::DeliveryService;
use host_application::webhook::service::{
    NewSubscription, SubscriptionUpdate, SubscriptionWithSecret, WebhookService,
};
use host_application::webhook::unscoped_subscription::OperatorWebhookError;
use host_domain::console::webhook::ListedSubscription;
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::time::{Clock, Timestamp};
use host_domain::webhook::list::SubscriptionScopeFilter;
use host_domain::webhook::{SubscriptionEvent, SubscriptionStatus};
use host_resources::webhook::{
    RecoveredDeliveriesResource, WebhookSubscriptionResource, subscription,
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
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

/// A new webhook of an organization.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewWebhookRequest {
    organization: String,
    /// `test`, the default, or `live`.
    mode: Option<String>,
    /// `hotel` or `flight`.
    product: String,
    url: String,
    /// Names of event types, or `*`.
    event_types: Vec<String>,
    description: Option<String>,
}

/// Changes to a webhook. Omitted fields stay unchanged.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebhookChangeRequest {
    url: Option<String>,
    event_types: Option<Vec<String>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "some_or_null")]
    description: Option<Option<String>>,
}

/// A webhook as the API shows it with its new secret.
#[derive(Serialize)]
struct IssuedWebhookJson {
    organization: String,
    mode: &'static str,
    product: &'static str,
    #[serde(flatten)]
    webhook: WebhookSubscriptionResource,
}

/// `GET /webhooks`: lists webhooks, newest first.
pub(super) async fn list(
    State(webhooks): State<Arc<WebhookService>>,
    Query(query): Query<WebhooksQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let filter = SubscriptionScopeFilter {
        status: parse(query.status, "status", SubscriptionStatus::parse)?,
        text: parse(query.q, "q", search_text)?,
    };
    let page = page_request(query.after, query.limit)?;
    let found = webhooks.list_unscoped(&scope, &filter, &page).await;
    let found = found.map_err(ApiError::from_storage)?;
    Ok(page_json(found.map(|listed| webhook_json(&listed))))
}

/// `GET /webhooks/{id}`
pub(super) async fn show(
    State(webhooks): State<Arc<WebhookService>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let found = webhooks.find_unscoped(&parse_id(&id)?).await?;
    Ok(Json(json!({ "data": webhook_json(&found) })))
}

/// `POST /webhooks`: creates a webhook and returns it with its signing secret.
pub(super) async fn create(
    State(webhooks): State<Arc<WebhookService>>,
    State(clock): State<Arc<dyn Clock>>,
    AdminActor(actor): AdminActor,
    Json(request): Json<NewWebhookRequest>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let tenant = tenant(&request.organization, request.mode)?;
    let parse_bookable =
        |name: &str| Product::parse(name).filter(|product| *product != Product::Watch);
    let new = NewSubscription {
        product: parse_required(&request.product, "product", parse_bookable)?,
        url: request.url,
        event_types: request.event_types,
        description: request.description,
    };
    let created = webhooks.create_unscoped(actor, tenant, new).await;
    let created = IssuedWebhookJson::new(&created.map_err(problem)?, clock.now());
    Ok((StatusCode::CREATED, Json(json!({ "data": created }))))
}

/// `PATCH /webhooks/{id}`: changes URL, event types or description of a webhook.
pub(super) async fn update(
    State(webhooks): State<Arc<WebhookService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
    Json(request): Json<WebhookChangeRequest>,
) -> Result<Json<Value>, ApiError> {
    let change = SubscriptionUpdate {
        url: request.url,
        event_types: request.event_types,
        description: request.description,
    };
    let changed = webhooks
        .update_unscoped(actor, &parse_id(&id)?, change)
        .await;
    let changed = webhook_json(&changed.map_err(problem)?);
    Ok(Json(json!({ "data": changed })))
}

/// `POST /webhooks/{id}/rotate-secret`: replaces the signing secret and returns the new one. Both
/// sign for 24 hours.
pub(super) async fn rotate_secret(
    State(webhooks): State<Arc<WebhookService>>,
    State(clock): State<Arc<dyn Clock>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let rotated = webhooks
        .rotate_secret_unscoped(actor, &parse_id(&id)?)
        .await?;
    let rotated = IssuedWebhookJson::new(&rotated, clock.now());
    Ok(Json(json!({ "data": rotated })))
}

/// `POST /webhooks/{id}/pause`: holds the events of a webhook back.
pub(super) async fn pause(
    State(webhooks): State<Arc<WebhookService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let id = parse_id(&id)?;
    let event = SubscriptionEvent::Paused;
    let changed = webhooks.apply_unscoped(actor, &id, &event).await?;
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
    let changed = webhooks.apply_unscoped(actor, &id, &event).await?;
    Ok(Json(json!({ "data": webhook_json(&changed) })))
}

/// `POST /webhooks/{id}/test`: sends a `ping` and returns its delivery.
pub(super) async fn send_test_event(
    State(webhooks): State<Arc<WebhookService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let sent = webhooks
        .send_test_event_unscoped(actor, &parse_id(&id)?)
        .await?;
    let delivery = sent.delivery;
    let sent = json!({ "id": delivery.id.as_str(), "status": delivery.status().as_str() });
    Ok((StatusCode::ACCEPTED, Json(json!({ "data": sent }))))
}

/// `POST /webhooks/{id}/recover`: replays the deliveries that failed since a time.
pub(super) async fn recover(
    State(deliveries): State<Arc<DeliveryService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
    Json(request): Json<RecoverRequest>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let since = request.since.start;
    let recovered = deliveries
        .recover_unscoped(actor, &parse_id(&id)?, since)
        .await;
    let recovered = RecoveredDeliveriesResource { queued: recovered? };
    Ok((StatusCode::ACCEPTED, Json(json!({ "data": recovered }))))
}

/// `DELETE /webhooks/{id}`: deletes a webhook with its deliveries.
pub(super) async fn delete(
    State(webhooks): State<Arc<WebhookService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<NoContent, ApiError> {
    webhooks.delete_unscoped(actor, &parse_id(&id)?).await?;
    Ok(NoContent)
}

fn parse_id(id: &str) -> Result<SubscriptionId, ApiError> {
    SubscriptionId::parse(id).map_err(|_| ErrorCode::SubscriptionNotFound.into())
}

fn problem(error: OperatorWebhookError) -> ApiError {
    match error {
        OperatorWebhookError::Invalid(_) => {
            ApiError::from(ErrorCode::ValidationFailed).with_detail(error.to_string())
        }
        OperatorWebhookError::Webhook(error) => error.into(),
    }
}

impl IssuedWebhookJson {
    fn new(issued: &SubscriptionWithSecret, now: Timestamp) -> Self {
        let webhook = &issued.subscription;
        Self {
            organization: webhook.tenant.organization.clone(),
            mode: webhook.tenant.mode.as_str(),
            product: webhook.product.as_str(),
            webhook: subscription(webhook, issued.signing_secret.as_ref(), now),
        }
    }
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
