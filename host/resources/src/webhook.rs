//! JSON resources of webhook subscriptions and deliveries.

use crate::value::{IsoDateTime, same_variants};
use host_domain::time::Timestamp;
use host_domain::webhook;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// The status of a webhook subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = WebhookSubscriptionStatus)]
pub enum SubscriptionStatusResource {
    /// Events are sent.
    Active,
    /// Events are held back because the subscription was paused by the client or by a response with
    /// status 410 from the receiver.
    Paused,
    /// Events are held back because no delivery succeeded for days. Resuming the subscription sends
    /// them again.
    Disabled,
}

/// A subscription that sends the events of a product to a URL.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookSubscriptionResource {
    #[schema(pattern = "^whs_[a-zA-Z0-9-]+$")]
    id: String,
    /// URL that events are sent to.
    #[schema(example = "https://shop.example/webhooks")]
    url: String,
    /// Subscribed event types. `*` stands for every type of the product, including types added
    /// later.
    #[schema(example = json!(["hotel.booking.confirmed"]))]
    event_types: Vec<String>,
    /// Description chosen by the client.
    #[schema(required)]
    description: Option<String>,
    /// Status of the subscription.
    status: SubscriptionStatusResource,
    /// Time until which the previous secret also signs deliveries. Null if no previous secret is in
    /// use.
    #[schema(required)]
    previous_secret_expires_at: Option<IsoDateTime>,
    created_at: IsoDateTime,
    /// Time of the last change to a field of this resource.
    updated_at: IsoDateTime,
    /// Secret that signs deliveries. Returned only in the response that creates it, and never
    /// again, not even when the request is repeated with the same idempotency key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        required = false,
        nullable = false,
        pattern = "^whsec_[A-Za-z0-9+/]{43}=$",
        example = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    )]
    signing_secret: Option<String>,
}

/// The status of a webhook delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = WebhookDeliveryStatus)]
pub enum DeliveryStatusResource {
    /// The delivery is recorded and waits to be claimed by a sender.
    Pending,
    /// A sender has claimed the delivery. It has no final result yet.
    Published,
    Delivered,
    /// The delivery was abandoned. `failure_reason` holds the reason.
    Failed,
}

/// The reason why a delivery was abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = WebhookFailureReason)]
pub enum FailureReasonResource {
    RetriesExhausted,
    /// The last attempt failed because the URL resolves to an address that may not be called.
    UrlNotAllowed,
    /// The receiver responded with status 410.
    Gone,
    /// The delivery waited 30 days for a subscription that was not ACTIVE.
    Expired,
}

/// A delivery attempt and the receiver's response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = WebhookAttempt)]
pub struct WebhookDeliveryAttemptResource {
    /// Number of the attempt, counted from 1 in each replay.
    #[schema(minimum = 1)]
    pub attempt_number: i64,
    /// HTTP status of the response. Null if there was no response.
    #[schema(required, minimum = 100, maximum = 999)]
    pub response_status: Option<u16>,
    /// First KiB of the response body. Null if there was no response.
    #[schema(required)]
    pub response_body: Option<String>,
    /// Reason why there was no response: `timeout`, `connect`, `cut` or `url_not_allowed`. Null if
    /// there was a response.
    #[schema(required, example = json!(null))]
    pub error: Option<String>,
    /// Time at which the attempt started.
    pub created_at: IsoDateTime,
}

/// The body of every webhook. The section about webhooks describes `data` for each event type.
#[derive(ToSchema)]
#[expect(dead_code, reason = "stored bodies are returned unchanged")]
pub struct WebhookEventResource {
    #[schema(pattern = "^evt_[a-zA-Z0-9-]+$")]
    id: String,
    #[schema(rename = "type", example = "hotel.booking.confirmed")]
    event_type: String,
    created_at: IsoDateTime,
    #[schema(value_type = Object)]
    data: (),
}

/// The delivery of one event to one subscription.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookDeliveryResource {
    #[schema(
        pattern = "^dlv_[a-zA-Z0-9-]+$",
        example = "dlv_01976f3e4a5b7c8d9e0f112233445566-01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Status of the delivery.
    status: DeliveryStatusResource,
    /// Event as it is sent.
    #[schema(value_type = WebhookEventResource)]
    event: Option<Box<RawValue>>,
    /// Number of times the delivery was replayed.
    #[schema(minimum = 0)]
    replay_count: i64,
    /// Reason why the delivery was abandoned. Null if it was not.
    #[schema(required)]
    failure_reason: Option<FailureReasonResource>,
    /// Attempts of the current replay, in order.
    attempts: Vec<WebhookDeliveryAttemptResource>,
    created_at: IsoDateTime,
    /// Time at which a sender first claimed the delivery in the current replay.
    #[schema(required)]
    published_at: Option<IsoDateTime>,
    /// Time at which the receiver accepted the delivery.
    #[schema(required)]
    delivered_at: Option<IsoDateTime>,
    /// Time at which the delivery was abandoned.
    #[schema(required)]
    failed_at: Option<IsoDateTime>,
}

/// The result of a request to replay deliveries.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct RecoveredDeliveriesResource {
    /// Number of deliveries that this request queued.
    pub queued: u64,
}

/// Builds the resource of a subscription at `now`, with its secret if that was just created.
pub fn subscription(
    subscription: &webhook::Subscription,
    signing_secret: Option<&SecretString>,
    now: Timestamp,
) -> WebhookSubscriptionResource {
    let previous = subscription.previous_secret_expires_at;
    WebhookSubscriptionResource {
        id: subscription.id.to_string(),
        url: subscription.url.clone(),
        event_types: subscription.event_types.clone(),
        description: subscription.description.clone(),
        status: subscription.status.into(),
        previous_secret_expires_at: previous.filter(|at| now < *at).map(IsoDateTime),
        created_at: subscription.created_at.into(),
        updated_at: subscription.updated_at.into(),
        signing_secret: signing_secret.map(|secret| secret.expose_secret().to_owned()),
    }
}

/// Builds the resource of a delivery with the attempts of its current replay. Attempts are read
/// after the delivery, so attempts newer than the delivery are left out.
pub fn delivery(
    delivery: &webhook::Delivery,
    payload: &str,
    mut attempts: Vec<WebhookDeliveryAttemptResource>,
) -> WebhookDeliveryResource {
    attempts.retain(|attempt| attempt.attempt_number <= delivery.attempts);
    let failure = delivery.failure();
    WebhookDeliveryResource {
        id: delivery.id.to_string(),
        status: delivery.status().into(),
        event: RawValue::from_string(payload.to_owned()).ok(),
        replay_count: delivery.generation,
        failure_reason: failure.map(|(_, reason)| reason.into()),
        attempts,
        created_at: delivery.created_at.into(),
        published_at: delivery.published_at().map(IsoDateTime),
        delivered_at: delivery.delivered_at().map(IsoDateTime),
        failed_at: failure.map(|(at, _)| IsoDateTime(at)),
    }
}

same_variants! {
    SubscriptionStatusResource <= webhook::SubscriptionStatus: Active, Paused, Disabled
}

same_variants! {
    DeliveryStatusResource <=> webhook::DeliveryStatus: Pending, Published, Delivered, Failed
}

same_variants! {
    FailureReasonResource <= webhook::DeliveryFailureReason: RetriesExhausted, UrlNotAllowed,
    Gone, Expired
}
