//! Operations on deliveries: their state, and sending them again.

use crate::error_code::ErrorCode;
use crate::extract::context::Context;
use crate::extract::{Body, IdempotencyKeyHeader, PathId, Query, Validate, Validated};
use crate::meta::PaginationMeta;
use crate::problem::ApiError;
use crate::response::{ApiResponse, List};
use crate::webhook::subscription::idempotent_request;
use crate::webhook::{EmptyRequest, PathProduct};
use axum::extract::State;
use host_application::application::Application;
use host_domain::id::{DeliveryId, SubscriptionId};
use host_domain::owner::Tenant;
use host_resources::value::IsoDateOrDateTime;
use host_resources::webhook::{
    self, DeliveryStatus, RecoveredDeliveries, WebhookDelivery, WebhookDeliveryAttempt,
};
use host_storage::{DeliveryAttempt, DeliveryFilter, PageRequest, StoredDelivery};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Filters and page of deliveries.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveriesQuery {
    /// Maximum number of deliveries to return.
    #[serde(default = "limit")]
    #[schema(minimum = 1, maximum = 100, default = 25)]
    limit: u32,
    /// Number of deliveries to skip.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000, default = 0)]
    offset: u64,
    /// Only deliveries in this status.
    status: Option<DeliveryStatus>,
}

const fn limit() -> u32 {
    25
}

/// Start of a recovery.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecoverRequest {
    /// Time from which failed deliveries are replayed. A date means its midnight in UTC.
    since: IsoDateOrDateTime,
}

type ReplayParts = (
    PathProduct,
    PathId<SubscriptionId>,
    PathId<DeliveryId>,
    Option<IdempotencyKeyHeader>,
    Option<Body<EmptyRequest>>,
);

type RecoverParts = (
    PathProduct,
    PathId<SubscriptionId>,
    Option<IdempotencyKeyHeader>,
    Body<RecoverRequest>,
);

impl Validate for DeliveriesQuery {}
impl Validate for RecoverRequest {}

/// List deliveries
///
/// Lists the deliveries of a subscription, newest first, each with the attempts of its current
/// replay. `meta.pagination.total` is the exact number of deliveries that match the filter.
/// Deliveries that are created between requests shift pages.
#[utoipa::path(get, path = "/v1/{product}/webhook-subscriptions/{id}/deliveries", tag = "Webhooks",
    responses((status = 200, description = "A page of deliveries.")),
    extensions(("x-error-codes" = json!(["subscription_not_found"]))))]
pub(crate) async fn list_deliveries(
    State(app): State<Arc<Application>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), Query(query))): Validated<(
        PathProduct,
        PathId<SubscriptionId>,
        Query<DeliveriesQuery>,
    )>,
) -> Result<ApiResponse<List<WebhookDelivery>, PaginationMeta>, ApiError> {
    let tenant = &context.owner.tenant;
    let found = app.find_subscription(tenant, product, &id).await;
    found.map_err(ApiError::from_webhook)?;
    let (filter, page) = query.into_filter_and_page();
    let listed = app.store.deliveries(tenant, &id, filter, page).await;
    let listed = listed.map_err(ApiError::from_database)?;
    let total = app.store.count_deliveries(tenant, &id, filter).await;
    let total = total.map_err(ApiError::from_database)?;
    let meta = PaginationMeta::of(page, listed.has_more, total);
    let shown = to_resources(&app, tenant, &listed.items).await?;
    Ok(ApiResponse::ok(List(shown)).meta(meta))
}

/// Get a delivery
///
/// Returns the delivery with the attempts of its current replay.
#[utoipa::path(get, operation_id = "read_delivery", path = "/v1/{product}/webhook-subscriptions/{id}/deliveries/{delivery_id}", tag = "Webhooks",
    responses((status = 200, description = "The delivery.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "delivery_not_found"]))))]
pub(crate) async fn get_delivery(
    State(app): State<Arc<Application>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), PathId(delivery))): Validated<(
        PathProduct,
        PathId<SubscriptionId>,
        PathId<DeliveryId>,
    )>,
) -> Result<ApiResponse<WebhookDelivery>, ApiError> {
    let tenant = &context.owner.tenant;
    let found = app.find_delivery(tenant, product, &id, &delivery).await;
    let found = found.map_err(ApiError::from_webhook)?;
    Ok(ApiResponse::ok(to_resource(&app, tenant, &found).await?))
}

/// Replay a delivery
///
/// Sends the same event again, byte for byte, with a new signature. Always possible for a delivery
/// that is DELIVERED or FAILED. A delivery that is PENDING can be replayed after a minute, one that
/// is PUBLISHED after 2 hours 15 minutes. Before that it may still arrive by itself, and the
/// response is 409 `replay_not_allowed`. The response is 409 `subscription_paused` unless the
/// subscription is ACTIVE. No body.
#[utoipa::path(post, path = "/v1/{product}/webhook-subscriptions/{id}/deliveries/{delivery_id}/replay", tag = "Webhooks",
    responses((status = 200, description = "The delivery, PENDING.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "delivery_not_found", "replay_not_allowed", "subscription_paused"]))))]
pub(crate) async fn replay_delivery(
    State(app): State<Arc<Application>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), PathId(delivery), key, _)): Validated<ReplayParts>,
) -> Result<ApiResponse<WebhookDelivery>, ApiError> {
    let key = idempotent_request(&context, "replay", product, key);
    let replayed = app.replay_delivery(&context, product, &id, &delivery, key.as_ref());
    let replayed = replayed.await.map_err(ApiError::from_webhook)?;
    let shown = to_resource(&app, &context.owner.tenant, &replayed).await?;
    Ok(ApiResponse::ok(shown))
}

/// Recover deliveries
///
/// Replays all deliveries that failed since a given time, e.g. after a receiver was unreachable for
/// longer than deliveries are retried. `queued` is the number of deliveries that this request
/// found. A repeated request, with or without the same key, continues where an interrupted one
/// stopped. The response is 409 `subscription_paused` unless the subscription is ACTIVE.
#[utoipa::path(post, path = "/v1/{product}/webhook-subscriptions/{id}/recover", tag = "Webhooks",
    responses((status = 202, description = "The deliveries are being sent.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "subscription_paused"]))))]
pub(crate) async fn recover_deliveries(
    State(app): State<Arc<Application>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), key, Body(request))): Validated<RecoverParts>,
) -> Result<ApiResponse<RecoveredDeliveries>, ApiError> {
    let key = idempotent_request(&context, "recover", product, key);
    let since = request.since.start;
    let queued = app.recover_deliveries(&context.owner, product, &id, since, key.as_ref());
    let queued = queued.await.map_err(ApiError::from_webhook)?;
    Ok(ApiResponse::accepted(RecoveredDeliveries { queued }))
}

impl DeliveriesQuery {
    fn into_filter_and_page(self) -> (DeliveryFilter, PageRequest) {
        let filter = DeliveryFilter {
            status: self.status.map(Into::into),
        };
        let page = PageRequest {
            limit: self.limit,
            offset: self.offset,
        };
        (filter, page)
    }
}

/// Returns the resources of deliveries with their attempts.
pub(super) async fn to_resources(
    app: &Application,
    tenant: &Tenant,
    deliveries: &[StoredDelivery],
) -> Result<Vec<WebhookDelivery>, ApiError> {
    let ids: Vec<&DeliveryId> = deliveries.iter().map(|one| &one.delivery.id).collect();
    let attempts = app.store.delivery_attempts(tenant, &ids).await;
    let attempts = attempts.map_err(ApiError::from_database)?;
    let attempts_of = |id: &DeliveryId| {
        let own = attempts.iter().filter(|(delivery, _)| delivery == id);
        own.map(|(_, attempt)| to_attempt(attempt.clone()))
            .collect()
    };
    let resources = deliveries.iter().map(
        |StoredDelivery {
             delivery, payload, ..
         }| { webhook::delivery(delivery, payload, attempts_of(&delivery.id)) },
    );
    Ok(resources.collect())
}

/// Returns the resource of a delivery with its attempts.
pub(super) async fn to_resource(
    app: &Application,
    tenant: &Tenant,
    stored: &StoredDelivery,
) -> Result<WebhookDelivery, ApiError> {
    let mut resources = to_resources(app, tenant, std::slice::from_ref(stored)).await?;
    resources
        .pop()
        .ok_or_else(|| ErrorCode::InternalError.into())
}

fn to_attempt(attempt: DeliveryAttempt) -> WebhookDeliveryAttempt {
    WebhookDeliveryAttempt::new(
        attempt.number,
        attempt.response_status,
        attempt.response_body,
        attempt.error,
        attempt.created_at,
    )
}
