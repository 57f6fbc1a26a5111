//! Operations on deliveries: their state, and sending them again.

use crate::extract::{
    Body, Context, IdempotencyKeyHeader, PathId, Query, Validate, Validated, default_limit,
};
use crate::meta::PaginationMeta;
use crate::response::{ApiResponse, ApiResult, List};
use crate::webhook::{EmptyRequest, PathProduct, idempotent_request};
use axum::extract::State;
use host_application::webhook::delivery_details::DeliveryDetails;
use host_application::webhook::delivery_service::DeliveryService;
use host_domain::id::{DeliveryId, SubscriptionId};
use host_domain::page::PageRequest;
use host_domain::webhook::list::DeliveryFilter;
use host_resources::value::IsoDateOrDateTime;
use host_resources::webhook::{
    self, DeliveryStatusResource, RecoveredDeliveriesResource, WebhookDeliveryAttemptResource,
    WebhookDeliveryResource,
};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Filters and page of deliveries.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveriesQuery {
    /// Maximum number of deliveries to return.
    #[serde(default = "default_limit::<25>")]
    #[schema(minimum = 1, maximum = 100, default = 25)]
    limit: u32,
    /// Number of deliveries to skip.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000, default = 0)]
    offset: u64,
    /// Only deliveries in this status.
    status: Option<DeliveryStatusResource>,
}

/// Start of a recovery.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecoverRequest {
    /// Time from which failed deliveries are replayed. A date means its midnight in UTC.
    pub(crate) since: IsoDateOrDateTime,
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
    State(deliveries): State<Arc<DeliveryService>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), Query(query))): Validated<(
        PathProduct,
        PathId<SubscriptionId>,
        Query<DeliveriesQuery>,
    )>,
) -> ApiResult<List<WebhookDeliveryResource>, PaginationMeta> {
    let tenant = &context.owner.tenant;
    let DeliveriesQuery {
        limit,
        offset,
        status,
    } = query;
    let status = status.map(Into::into);
    let (filter, page) = (DeliveryFilter { status }, PageRequest { limit, offset });
    let (listed, total) = deliveries.list(tenant, product, &id, filter, page).await?;
    let meta = PaginationMeta::of(page, listed.has_more, total);
    let resources = listed.items.into_iter().map(to_resource);
    Ok(ApiResponse::ok(List(resources.collect())).meta(meta))
}

/// Get a delivery
///
/// Returns the delivery with the attempts of its current replay.
#[utoipa::path(get, operation_id = "read_delivery", path = "/v1/{product}/webhook-subscriptions/{id}/deliveries/{delivery_id}", tag = "Webhooks",
    responses((status = 200, description = "The delivery.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "delivery_not_found"]))))]
pub(crate) async fn get_delivery(
    State(deliveries): State<Arc<DeliveryService>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), PathId(delivery))): Validated<(
        PathProduct,
        PathId<SubscriptionId>,
        PathId<DeliveryId>,
    )>,
) -> ApiResult<WebhookDeliveryResource> {
    let tenant = &context.owner.tenant;
    let delivery = deliveries.find(tenant, product, &id, &delivery).await?;
    Ok(ApiResponse::ok(to_resource(delivery)))
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
    extensions(("x-error-codes" = json!(["subscription_not_found", "delivery_not_found", "replay_not_allowed", "subscription_paused", "result_unknown"]))))]
pub(crate) async fn replay_delivery(
    State(deliveries): State<Arc<DeliveryService>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), PathId(delivery), key, _)): Validated<ReplayParts>,
) -> ApiResult<WebhookDeliveryResource> {
    let key = idempotent_request(&context, "replay", product, key);
    let replayed = deliveries.replay(&context, product, &id, &delivery, key.as_ref());
    let replayed = replayed.await?;
    Ok(ApiResponse::ok(to_resource(replayed)))
}

/// Recover deliveries
///
/// Replays all deliveries that failed since a given time, e.g. after a receiver was unreachable for
/// longer than deliveries are retried. `queued` is the number of deliveries that this request
/// found. If there are more than a thousand, the gateway continues after the response; those that
/// it has not reached yet are still FAILED. A repeated request, with or without the same key, sends
/// none of them twice. The response is 409 `subscription_paused` unless the subscription is ACTIVE.
#[utoipa::path(post, path = "/v1/{product}/webhook-subscriptions/{id}/recover", tag = "Webhooks",
    responses((status = 202, description = "The deliveries are being sent.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "subscription_paused", "result_unknown"]))))]
pub(crate) async fn recover_deliveries(
    State(deliveries): State<Arc<DeliveryService>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), key, Body(request))): Validated<RecoverParts>,
) -> ApiResult<RecoveredDeliveriesResource> {
    let key = idempotent_request(&context, "recover", product, key);
    let since = request.since.start;
    let queued = deliveries.recover(&context, product, &id, since, key.as_ref());
    let queued = queued.await?;
    let resource = RecoveredDeliveriesResource { queued };
    Ok(ApiResponse::accepted(resource))
}

pub(super) fn to_resource(details: DeliveryDetails) -> WebhookDeliveryResource {
    let attempts = details.attempts.into_iter();
    let attempts = attempts.map(|attempt| WebhookDeliveryAttemptResource {
        attempt_number: attempt.number,
        response_status: attempt.response_status,
        response_body: attempt.response_body,
        error: attempt.error,
        created_at: attempt.created_at.into(),
    });
    webhook::delivery(&details.delivery, &details.payload, attempts.collect())
}
