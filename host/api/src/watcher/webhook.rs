//! Operations on the webhook that receives watch events.

use crate::error_code::ErrorCode;
use crate::extract::{Body, Context, KeyedBody, Validate, Validated};
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult, NoContent};
use axum::extract::State;
use host_application::webhook::watch_endpoint::WatchEndpointService;
use host_resources::watch_event_log::{self, WatcherWebhookResource};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A webhook for watch events.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatcherWebhookRequest {
    /// URL that receives a POST for each event. Any 2xx within 10 seconds confirms the event. Must
    /// be `https://` with a public name or address, without user name and fragment.
    #[schema(
        min_length = 1,
        max_length = 2048,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*$",
        example = "https://example.com/webhooks/watches"
    )]
    url: String,
}

impl Validate for WatcherWebhookRequest {}

/// Register the watch webhook
///
/// Sends future watch events to `url`, signed with the `signing_secret` of this response, which is
/// not shown again. Events of the last 30 days that are still `pending` in the log are sent as
/// well. An organization has one webhook in each mode: a new registration replaces the previous one
/// and invalidates its secret immediately. Accept both secrets for a short time, because requests
/// that are already being sent carry the old signature.
///
/// An event that is not confirmed is sent again after 1 minute, 5 minutes, 30 minutes, 2 hours, 12
/// hours and 24 hours, each with a small extra delay. Then it is `failed` in the log, which `GET
/// /v1/watcher/events` reads. This applies to any response of the receiver, including 410. A
/// webhook that confirmed nothing for 5 days receives no more events; they wait in the log until
/// you register again.
///
/// Repeating the same request with the same idempotency key changes nothing and returns no secret,
/// unless no response has shown it.
#[utoipa::path(post, path = "/v1/watcher/webhooks", tag = "Watches",
    responses((status = 200, description = "Registered.")),
    extensions(("x-error-codes" = json!(["url_not_allowed", "subscription_not_found", "result_unknown"]))))]
pub(crate) async fn register_watcher_webhook(
    State(endpoints): State<Arc<WatchEndpointService>>,
    Context(context): Context,
    Validated((key, Body(request))): Validated<KeyedBody<WatcherWebhookRequest>>,
) -> ApiResult<WatcherWebhookResource> {
    let key = key.map(|key| key.for_operation(&context.owner, "watcher_webhook"));
    let issued = endpoints.register(&context, &request.url, key.as_ref());
    let issued = issued.await?;
    let secret = issued.signing_secret.as_ref();
    let resource = watch_event_log::webhook(&issued.subscription, secret);
    Ok(ApiResponse::ok(resource))
}

/// Get the watch webhook
///
/// Returns the webhook without its secret. Responds 404 `subscription_not_found` if there is none.
#[utoipa::path(get, operation_id = "read_watcher_webhook", path = "/v1/watcher/webhooks", tag = "Watches",
    responses((status = 200, description = "The webhook.")),
    extensions(("x-error-codes" = json!(["subscription_not_found"]))))]
pub(crate) async fn get_watcher_webhook(
    State(endpoints): State<Arc<WatchEndpointService>>,
    Context(context): Context,
    Validated(()): Validated<()>,
) -> ApiResult<WatcherWebhookResource> {
    let endpoint = endpoints.find(&context.owner.tenant).await?;
    let endpoint = endpoint.ok_or(ErrorCode::SubscriptionNotFound)?;
    Ok(ApiResponse::ok(watch_event_log::webhook(&endpoint, None)))
}

/// Delete the watch webhook
///
/// Stops all deliveries and erases the secret immediately. Events wait in the log.
#[utoipa::path(delete, path = "/v1/watcher/webhooks", tag = "Watches",
    responses((status = 204, description = "Deleted.")),
    extensions(("x-error-codes" = json!(["subscription_not_found", "result_unknown"]))))]
pub(crate) async fn delete_watcher_webhook(
    State(endpoints): State<Arc<WatchEndpointService>>,
    Context(context): Context,
    Validated(()): Validated<()>,
) -> Result<NoContent, ApiError> {
    endpoints.delete(&context).await?;
    Ok(NoContent)
}
