//! Where events of watches go.

use crate::api::answer::{ApiResponse, NoContent};
use crate::api::caller::RequestContext;
use crate::api::code::Code;
use crate::api::extract::{Body, IdempotencyKeyHeader, Validate, Validated};
use crate::api::problem::ApiError;
use crate::app::Application;
use crate::idempotency::IdempotentRequest;
use crate::render::watch_event::{self, WatcherWebhook};
use axum::extract::State;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The operation that its keys belong to.
const OPERATION: &str = "watcher_webhook";

/// Where events of watches are to go.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatcherWebhookRequest {
    /// Takes a POST for each event; any 2xx within 10 seconds means that it has it. `https://` and a public name or address, without user name and fragment.
    #[schema(
        min_length = 1,
        max_length = 2048,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*$",
        example = "https://example.com/webhooks/watches"
    )]
    url: String,
}

impl Validate for WatcherWebhookRequest {}

/// Register the webhook of watches
///
/// An organization has one, in each mode: it replaces the one before, whose secret ends at once. From now on what watches tell is sent to `url`, signed with the
/// `signing_secret` of this answer, which is not shown again; so is everything of the last 30 days that is still `pending` in the log. Accept both secrets for a moment: what
/// was on its way is signed with the old one. An event that is not taken is sent again after 1 minute, 5 minutes, 30 minutes, 2 hours, 12 hours and 24 hours, each a
/// little later; then it is `failed` in the log, which `GET /v1/watcher/events` reads. So it is whatever the receiver answers, 410 too. One that took nothing for 5 days is
/// told nothing more: events wait in the log until you register again. The same idempotency key with the same request changes nothing and gives no secret.
#[utoipa::path(post, path = "/v1/watcher/webhooks", tag = "Watches",
    responses((status = 200, description = "Registered.")),
    extensions(("x-error-codes" = json!(["url_not_allowed", "subscription_not_found"]))))]
pub(crate) async fn register_watcher_webhook(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated((key, Body(request))): Validated<(Option<IdempotencyKeyHeader>, Body<WatcherWebhookRequest>)>,
) -> Result<ApiResponse<WatcherWebhook>, ApiError> {
    let key = key.map(|key| IdempotentRequest::new(&caller.owner, OPERATION, key));
    let issued = app.register_watch_endpoint(&caller, &request.url, key.as_ref());
    let issued = issued.await.map_err(ApiError::from_webhook)?;
    let secret = issued.signing_secret.as_ref();
    Ok(ApiResponse::ok(watch_event::webhook(
        &issued.subscription,
        secret,
    )))
}

/// Read the webhook of watches
///
/// Without its secret. 404 `subscription_not_found` where there is none.
#[utoipa::path(get, path = "/v1/watcher/webhooks", tag = "Watches",
    responses((status = 200, description = "The webhook.")),
    extensions(("x-error-codes" = json!(["subscription_not_found"]))))]
pub(crate) async fn get_watcher_webhook(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(()): Validated<()>,
) -> Result<ApiResponse<WatcherWebhook>, ApiError> {
    let endpoint = app.watch_endpoint(&caller.owner.tenant).await;
    let endpoint = endpoint.map_err(ApiError::from_webhook)?;
    let endpoint = endpoint.ok_or(Code::SubscriptionNotFound)?;
    Ok(ApiResponse::ok(watch_event::webhook(&endpoint, None)))
}

/// Delete the webhook of watches
///
/// Nothing is sent any more, and its secret is erased at once. Events wait in the log.
#[utoipa::path(delete, path = "/v1/watcher/webhooks", tag = "Watches",
    responses((status = 204, description = "Deleted.")),
    extensions(("x-error-codes" = json!(["subscription_not_found"]))))]
pub(crate) async fn delete_watcher_webhook(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(()): Validated<()>,
) -> Result<NoContent, ApiError> {
    let deleted = app.delete_watch_endpoint(&caller).await;
    deleted.map_err(ApiError::from_webhook)?;
    Ok(NoContent)
}
