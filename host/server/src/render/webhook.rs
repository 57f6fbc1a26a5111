//! Subscriptions and deliveries, as their owners see them.

use crate::api::value::IsoDateTime;
use host_domain::time::Timestamp;
use host_domain::webhook;
use host_storage::StoredDelivery;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// Whether events are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = WebhookSubscriptionStatus)]
pub(crate) enum SubscriptionStatus {
    /// They are.
    Active,
    /// They wait: you paused it, or the receiver answered 410.
    Paused,
    /// They wait: nothing was taken for days. Resuming ends that.
    Disabled,
}

/// Where events of a product go.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookSubscription {
    #[schema(
        pattern = "^whs_[a-zA-Z0-9-]+$",
        example = "whs_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Where they go.
    #[schema(example = "https://shop.example/webhooks")]
    url: String,
    /// Types of events; `*` stands for every type of the product, also those that come later.
    #[schema(example = json!(["hotel.booking.confirmed"]))]
    event_types: Vec<String>,
    /// Your own note.
    #[schema(required)]
    description: Option<String>,
    /// Whether they are sent.
    status: SubscriptionStatus,
    /// Until then the secret before this one signs too; null when there is none that does.
    #[schema(required)]
    previous_secret_expires_at: Option<IsoDateTime>,
    created_at: IsoDateTime,
    /// When something of what stands here changed last.
    updated_at: IsoDateTime,
    /// Signs what is sent. Only in the answer that makes it, and never again: not in that of a repeated idempotency key either.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        required = false,
        nullable = false,
        pattern = "^whsec_[A-Za-z0-9+/]{43}=$",
        example = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    )]
    signing_secret: Option<String>,
}

/// Where a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = WebhookDeliveryStatus)]
pub(crate) enum DeliveryStatus {
    /// Recorded; waits for a sender.
    Pending,
    /// A sender took it; no final result yet.
    Published,
    /// The receiver took it.
    Delivered,
    /// Given up; `failure_reason` says why.
    Failed,
}

/// Why a delivery was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = WebhookFailureReason)]
pub(crate) enum FailureReason {
    /// The last attempt failed too.
    RetriesExhausted,
    /// The last attempt failed too: the URL stands for an address that may not be called.
    UrlNotAllowed,
    /// The receiver answered 410.
    Gone,
    /// It waited for 30 days for a subscription that was not ACTIVE.
    Expired,
}

/// A request to the receiver, and what it answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct WebhookDeliveryAttempt {
    /// The first of a replay is 1.
    #[schema(minimum = 1)]
    attempt_number: i64,
    /// HTTP status; null when there was no answer.
    #[schema(required, minimum = 100, maximum = 999)]
    response_status: Option<u16>,
    /// The first KiB of the answer; null when there was none.
    #[schema(required)]
    response_body: Option<String>,
    /// Why there was no answer: `timeout`, `connect`, `cut` or `url_not_allowed`; null when there was one.
    #[schema(required, example = json!(null))]
    error: Option<String>,
    /// When it began.
    created_at: IsoDateTime,
}

/// The body of every webhook. The section about webhooks has what `data` holds for each type.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a body is shown byte for byte as it is sent")]
pub(crate) struct WebhookEvent {
    #[schema(
        pattern = "^evt_[a-zA-Z0-9-]+$",
        example = "evt_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    #[schema(rename = "type", example = "hotel.booking.confirmed")]
    event_type: String,
    created_at: IsoDateTime,
    #[schema(value_type = Object)]
    data: (),
}

/// One event on its way to one subscription.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookDelivery {
    #[schema(
        pattern = "^dlv_[a-zA-Z0-9-]+$",
        example = "dlv_01976f3e4a5b7c8d9e0f112233445566-01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Where it is.
    status: DeliveryStatus,
    /// What is sent.
    #[schema(value_type = WebhookEvent)]
    event: Option<Box<RawValue>>,
    /// How often it was sent anew.
    #[schema(minimum = 0)]
    replay_count: i64,
    /// Why it was given up; null when it was not.
    #[schema(required)]
    failure_reason: Option<FailureReason>,
    /// The attempts of the current replay, in order.
    attempts: Vec<WebhookDeliveryAttempt>,
    created_at: IsoDateTime,
    /// When a sender first took it, in the current replay.
    #[schema(required)]
    published_at: Option<IsoDateTime>,
    /// When the receiver took it.
    #[schema(required)]
    delivered_at: Option<IsoDateTime>,
    /// When it was given up.
    #[schema(required)]
    failed_at: Option<IsoDateTime>,
}

/// Deliveries that are to be sent anew.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) struct RecoveredDeliveries {
    /// How many this call found.
    pub(crate) queued: u64,
}

/// A subscription, at an instant; with its secret if that was just made.
pub(crate) fn subscription(
    subscription: &webhook::Subscription,
    signing_secret: Option<&SecretString>,
    now: Timestamp,
) -> WebhookSubscription {
    let previous = subscription.previous_secret_expires_at;
    WebhookSubscription {
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

/// A delivery with the attempts of its current replay. They are read after it: those
/// that came since then are left to the next who looks.
pub(crate) fn delivery(
    stored: &StoredDelivery,
    mut attempts: Vec<WebhookDeliveryAttempt>,
) -> WebhookDelivery {
    let delivery = &stored.delivery;
    attempts.retain(|attempt| attempt.attempt_number <= delivery.attempts);
    let failure = delivery.failure();
    WebhookDelivery {
        id: delivery.id.to_string(),
        status: delivery.status().into(),
        event: RawValue::from_string(stored.payload.clone()).ok(),
        replay_count: delivery.generation,
        failure_reason: failure.map(|(_, reason)| reason.into()),
        attempts,
        created_at: delivery.created_at.into(),
        published_at: delivery.published_at().map(IsoDateTime),
        delivered_at: delivery.delivered_at().map(IsoDateTime),
        failed_at: failure.map(|(at, _)| IsoDateTime(at)),
    }
}

impl From<host_storage::DeliveryAttempt> for WebhookDeliveryAttempt {
    fn from(attempt: host_storage::DeliveryAttempt) -> Self {
        Self {
            attempt_number: attempt.number,
            response_status: attempt.response_status,
            response_body: attempt.response_body,
            error: attempt.error,
            created_at: attempt.created_at.into(),
        }
    }
}

impl From<webhook::SubscriptionStatus> for SubscriptionStatus {
    fn from(status: webhook::SubscriptionStatus) -> Self {
        match status {
            webhook::SubscriptionStatus::Active => Self::Active,
            webhook::SubscriptionStatus::Paused => Self::Paused,
            webhook::SubscriptionStatus::Disabled => Self::Disabled,
        }
    }
}

impl From<webhook::DeliveryStatus> for DeliveryStatus {
    fn from(status: webhook::DeliveryStatus) -> Self {
        match status {
            webhook::DeliveryStatus::Pending => Self::Pending,
            webhook::DeliveryStatus::Published => Self::Published,
            webhook::DeliveryStatus::Delivered => Self::Delivered,
            webhook::DeliveryStatus::Failed => Self::Failed,
        }
    }
}

impl From<DeliveryStatus> for webhook::DeliveryStatus {
    fn from(status: DeliveryStatus) -> Self {
        match status {
            DeliveryStatus::Pending => Self::Pending,
            DeliveryStatus::Published => Self::Published,
            DeliveryStatus::Delivered => Self::Delivered,
            DeliveryStatus::Failed => Self::Failed,
        }
    }
}

impl From<webhook::DeliveryFailureReason> for FailureReason {
    fn from(reason: webhook::DeliveryFailureReason) -> Self {
        match reason {
            webhook::DeliveryFailureReason::RetriesExhausted => Self::RetriesExhausted,
            webhook::DeliveryFailureReason::UrlNotAllowed => Self::UrlNotAllowed,
            webhook::DeliveryFailureReason::Gone => Self::Gone,
            webhook::DeliveryFailureReason::Expired => Self::Expired,
        }
    }
}
