//! Operations on subscriptions: endpoint, event types and state.

use crate::extract::{
    Body, Context, IdempotencyKeyHeader, PathId, Query, Validate, Validated, Violations,
    default_limit,
};
use crate::identifier::check_distinct;
use crate::meta::PaginationMeta;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult, List, NoContent};
use crate::webhook::delivery;
use crate::webhook::event_type::ProductBody;
use crate::webhook::{EmptyRequest, PathProduct, idempotent_request};
use axum::extract::State;
use host_application::webhook::service::{NewSubscription, SubscriptionUpdate, WebhookService};
use host_domain::id::SubscriptionId;
use host_domain::page::PageRequest;
use host_domain::time::{Clock, Timestamp};
use host_domain::webhook::{Subscription, SubscriptionEvent};
use host_resources::webhook::{self, WebhookDeliveryResource, WebhookSubscriptionResource};
use serde::{Deserialize, Deserializer};
use std::sync::Arc;
use utoipa::ToSchema;

type SubscriptionActionParts = (
    PathProduct,
    PathId<SubscriptionId>,
    Option<IdempotencyKeyHeader>,
    Option<Body<EmptyRequest>>,
);

/// A subscription to the events of a product.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SubscribeRequest)]
pub(crate) struct CreateSubscriptionRequest {
    /// URL that receives a POST for each event. Any 2xx within 10 seconds confirms the event. Must
    /// be `https://` with a public name or address, without user name and fragment.
    #[schema(
        min_length = 1,
        max_length = 2048,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*$",
        example = "https://shop.example/webhooks"
    )]
    url: String,
    /// Event types to send; see the webhooks section for each.
    #[schema(min_items = 1, max_items = 50, example = json!(["*"]))]
    event_types: Vec<String>,
    /// Your own note.
    #[schema(max_length = 500, pattern = r"^[^\x00-\x1F\x7F-\x9F]*$")]
    description: Option<String>,
}

/// Changes to a subscription. Omitted fields stay unchanged.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ChangeSubscriptionRequest)]
pub(crate) struct UpdateSubscriptionRequest {
    /// New URL; also used for waiting deliveries.
    #[schema(
        nullable = false,
        min_length = 1,
        max_length = 2048,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*$",
        example = "https://shop.example/webhooks"
    )]
    url: Option<String>,
    /// New event types for future events.
    #[schema(nullable = false, min_items = 1, max_items = 50, example = json!(["*"]))]
    event_types: Option<Vec<String>>,
    /// New note; null removes it.
    #[serde(default, deserialize_with = "some_or_null")]
    #[schema(value_type = Option<String>, max_length = 500, pattern = r"^[^\x00-\x1F\x7F-\x9F]*$")]
    description: Option<Option<String>>,
}

/// Deserializes a member that is present, even if it is null.
pub(crate) fn some_or_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Page of subscriptions.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubscriptionsQuery {
    /// Maximum number of subscriptions to return.
    #[serde(default = "default_limit::<25>")]
    #[schema(minimum = 1, maximum = 100, default = 25)]
    limit: u32,
    /// Number of subscriptions to skip.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000, default = 0)]
    offset: u64,
}

impl Validate for CreateSubscriptionRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        check_distinct(Some(&self.event_types), "/event_types", found);
    }
}

impl Validate for UpdateSubscriptionRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        check_distinct(self.event_types.as_deref(), "/event_types", found);
    }
}

impl Validate for SubscriptionsQuery {}

/// Subscribe to events
///
/// Sends each future event of these types to `url`, signed with the `signing_secret` of this
/// response, which is not shown again. With live keys `url` must be `https` and resolve to public
/// addresses; the name is resolved again for every attempt.
///
/// Responds 201 the first time. Repeating the same request with the same idempotency key responds
/// 200 with the subscription, without the secret unless no response has shown it. An organization may have at most 100
/// subscriptions for each product and mode; one more is 400 `validation_failed`.
#[utoipa::path(post, path = "/v1/{product}/webhook-subscriptions", tag = "Webhooks",
    responses((status = 201, description = "Subscribed."), (status = 200, description = "Subscribed by an earlier request with this key.")),
    extensions(("x-error-codes" = json!(["url_not_allowed", "subscription_not_found", "result_unknown"]))))]
pub(crate) async fn create_subscription(
    State(webhooks): State<Arc<WebhookService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated((ProductBody(product, request), key)): Validated<(
        ProductBody<CreateSubscriptionRequest>,
        Option<IdempotencyKeyHeader>,
    )>,
) -> ApiResult<WebhookSubscriptionResource> {
    let key = idempotent_request(&context, "create", product, key);
    let new = NewSubscription {
        product,
        url: request.url,
        event_types: request.event_types,
        description: request.description,
    };
    let issued = webhooks.create(&context, new, key.as_ref());
    let issued = issued.await?;
    let secret = issued.signing_secret.as_ref();
    let resource = webhook::subscription(&issued.subscription, secret, clock.now());
    Ok(match secret {
        Some(_) => ApiResponse::created(resource),
        None => ApiResponse::ok(resource),
    })
}

/// List subscriptions
///
/// Lists the organization's subscriptions to this product, oldest first, without their secrets.
#[utoipa::path(get, path = "/v1/{product}/webhook-subscriptions", tag = "Webhooks",
    responses((status = 200, description = "A page of subscriptions.")))]
pub(crate) async fn list_subscriptions(
    State(webhooks): State<Arc<WebhookService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated((PathProduct(product), Query(query))): Validated<(
        PathProduct,
        Query<SubscriptionsQuery>,
    )>,
) -> ApiResult<List<WebhookSubscriptionResource>, PaginationMeta> {
    let SubscriptionsQuery { limit, offset } = query;
    let (tenant, page) = (&context.owner.tenant, PageRequest { limit, offset });
    let (subscriptions, total) = webhooks.list(tenant, product, page).await?;
    let meta = PaginationMeta::of(page, subscriptions.has_more, total);
    let (resources, now) = (subscriptions.items.iter(), clock.now());
    let resources = resources.map(|subscription| webhook::subscription(subscription, None, now));
    Ok(ApiResponse::ok(List(resources.collect())).meta(meta))
}

/// Get a subscription
///
/// Returns the subscription without its secret.
#[utoipa::path(get, operation_id = "read_subscription", path = "/v1/{product}/webhook-subscriptions/{id}", tag = "Webhooks",
    responses((status = 200, description = "The subscription.")),
    extensions(("x-error-codes" = json!(["subscription_not_found"]))))]
pub(crate) async fn get_subscription(
    State(webhooks): State<Arc<WebhookService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id))): Validated<(PathProduct, PathId<SubscriptionId>)>,
) -> ApiResult<WebhookSubscriptionResource> {
    let subscription = webhooks.find(&context.owner.tenant, product, &id).await?;
    Ok(without_secret(&subscription, clock.as_ref()))
}

/// Update a subscription
///
/// Omitted fields stay unchanged. Waiting and retried deliveries go to the URL that the
/// subscription has when they are sent. A change of event types does not affect deliveries that are
/// already recorded.
#[utoipa::path(patch, operation_id = "change_subscription", path = "/v1/{product}/webhook-subscriptions/{id}", tag = "Webhooks",
    responses((status = 200, description = "The updated subscription.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "url_not_allowed", "result_unknown"]))))]
pub(crate) async fn update_subscription(
    State(webhooks): State<Arc<WebhookService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated((PathId(id), ProductBody(product, request))): Validated<(
        PathId<SubscriptionId>,
        ProductBody<UpdateSubscriptionRequest>,
    )>,
) -> ApiResult<WebhookSubscriptionResource> {
    let change = SubscriptionUpdate {
        url: request.url,
        event_types: request.event_types,
        description: request.description,
    };
    let subscription = webhooks.update(&context, product, &id, change);
    let subscription = subscription.await?;
    Ok(without_secret(&subscription, clock.as_ref()))
}

/// Delete a subscription
///
/// Stops all deliveries and erases the secrets immediately. The deliveries of the subscription can
/// no longer be read.
#[utoipa::path(delete, path = "/v1/{product}/webhook-subscriptions/{id}", tag = "Webhooks",
    responses((status = 204, description = "Deleted.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "result_unknown"]))))]
pub(crate) async fn delete_subscription(
    State(webhooks): State<Arc<WebhookService>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id))): Validated<(PathProduct, PathId<SubscriptionId>)>,
) -> Result<NoContent, ApiError> {
    webhooks.delete(&context, product, &id).await?;
    Ok(NoContent)
}

/// Pause a subscription
///
/// Future deliveries are recorded as PENDING and not sent, for at most 30 days. Deliveries that are
/// already being sent still arrive. Pausing a paused subscription has no effect; a DISABLED one
/// cannot be paused. No body.
#[utoipa::path(post, path = "/v1/{product}/webhook-subscriptions/{id}/pause", tag = "Webhooks",
    responses((status = 200, description = "The subscription, PAUSED.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "subscription_paused", "result_unknown"]))))]
pub(crate) async fn pause_subscription(
    State(webhooks): State<Arc<WebhookService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), key, _)): Validated<SubscriptionActionParts>,
) -> ApiResult<WebhookSubscriptionResource> {
    let key = idempotent_request(&context, "pause", product, key);
    let (event, key) = (SubscriptionEvent::Paused, key.as_ref());
    let subscription = webhooks.apply_for_caller(&context, product, &id, &event, key);
    let subscription = subscription.await?;
    Ok(without_secret(&subscription, clock.as_ref()))
}

/// Resume a subscription
///
/// Makes a PAUSED or DISABLED subscription ACTIVE: waiting and future deliveries are sent. No body.
#[utoipa::path(post, path = "/v1/{product}/webhook-subscriptions/{id}/resume", tag = "Webhooks",
    responses((status = 200, description = "The subscription, ACTIVE.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "result_unknown"]))))]
pub(crate) async fn resume_subscription(
    State(webhooks): State<Arc<WebhookService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), key, _)): Validated<SubscriptionActionParts>,
) -> ApiResult<WebhookSubscriptionResource> {
    let key = idempotent_request(&context, "resume", product, key);
    let (event, key) = (SubscriptionEvent::Resumed, key.as_ref());
    let subscription = webhooks.apply_for_caller(&context, product, &id, &event, key);
    let subscription = subscription.await?;
    Ok(without_secret(&subscription, clock.as_ref()))
}

/// Rotate a signing secret
///
/// Creates a new secret, which only this response shows. For 24 hours every request carries
/// signatures of both secrets, so that receivers can switch over. Continue to accept the previous
/// secret for at least 2 hours 15 minutes, because a delivery is retried for that long. Another
/// rotation replaces the previous secret. Repeating an idempotency key returns the subscription
/// without a secret, unless no response has shown it. No body.
#[utoipa::path(post, path = "/v1/{product}/webhook-subscriptions/{id}/rotate-secret", tag = "Webhooks",
    responses((status = 200, description = "The subscription with its new secret.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "result_unknown"]))))]
pub(crate) async fn rotate_subscription_secret(
    State(webhooks): State<Arc<WebhookService>>,
    State(clock): State<Arc<dyn Clock>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), key, _)): Validated<SubscriptionActionParts>,
) -> ApiResult<WebhookSubscriptionResource> {
    let key = idempotent_request(&context, "rotate", product, key);
    let issued = webhooks.rotate_secret(&context, product, &id, key.as_ref());
    let issued = issued.await?;
    let secret = issued.signing_secret.as_ref();
    let resource = webhook::subscription(&issued.subscription, secret, clock.now());
    Ok(ApiResponse::ok(resource))
}

/// Test a subscription
///
/// Sends an event of type `ping` to the subscription, regardless of its event types. Responds 202
/// with the delivery; read it to see the receiver's response. The delivery waits while the
/// subscription is not ACTIVE. No body.
#[utoipa::path(post, path = "/v1/{product}/webhook-subscriptions/{id}/test", tag = "Webhooks",
    responses((status = 202, description = "The delivery of the ping.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "delivery_not_found", "result_unknown"]))))]
pub(crate) async fn test_subscription(
    State(webhooks): State<Arc<WebhookService>>,
    Context(context): Context,
    Validated((PathProduct(product), PathId(id), key, _)): Validated<SubscriptionActionParts>,
) -> ApiResult<WebhookDeliveryResource> {
    let key = idempotent_request(&context, "test", product, key);
    let delivery = webhooks.send_test_event(&context, product, &id, key.as_ref());
    let delivery = delivery.await?;
    Ok(ApiResponse::accepted(delivery::to_resource(delivery)))
}

fn without_secret(
    subscription: &Subscription,
    clock: &dyn Clock,
) -> ApiResponse<WebhookSubscriptionResource> {
    ApiResponse::ok(webhook::subscription(subscription, None, clock.now()))
}
