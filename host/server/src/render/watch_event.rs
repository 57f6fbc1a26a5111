//! What watches told, and the endpoint that is told, as their owner sees them.

use crate::api::value::IsoDateTime;
use crate::render::webhook::WebhookEvent;
use host_domain::webhook;
use host_storage::WatchLogEntry;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = WatchEventStatus)]
pub(crate) enum EventStatus {
    /// It is being sent, or waits for a webhook to be sent to.
    Pending,
    /// The receiver took it.
    Delivered,
    /// Given up: it is here, and is not sent again.
    Failed,
}

/// An event of the log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WatchEvent {
    #[schema(
        pattern = "^evt_[a-zA-Z0-9-]+$",
        example = "evt_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// What happened.
    #[serde(rename = "type")]
    #[schema(example = "travel.hotel.watch.triggered")]
    event_type: String,
    /// Whether it reached the webhook.
    status: EventStatus,
    created_at: IsoDateTime,
    /// The whole body as it is sent.
    #[schema(value_type = WebhookEvent)]
    payload: Option<Box<RawValue>>,
}

/// Where events of watches go.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WatcherWebhook {
    #[schema(
        pattern = "^whs_[a-zA-Z0-9-]+$",
        example = "whs_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Where they go.
    #[schema(example = "https://example.com/webhooks/watches")]
    url: String,
    /// Signs what is sent. Only in the answer that makes it, and never again: not in that of a repeated idempotency key either.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        required = false,
        pattern = "^whsec_[A-Za-z0-9+/]{43}=$",
        example = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    )]
    signing_secret: Option<String>,
    created_at: IsoDateTime,
}

/// An event with what became of it.
pub(crate) fn event(logged: WatchLogEntry) -> WatchEvent {
    let WatchLogEntry { event, status } = logged;
    WatchEvent {
        id: event.id.to_string(),
        event_type: event.event_type,
        status: status.into(),
        created_at: event.created_at.into(),
        payload: RawValue::from_string(event.payload).ok(),
    }
}

/// The endpoint; with its secret, once.
pub(crate) fn webhook(
    endpoint: &webhook::Subscription,
    signing_secret: Option<&SecretString>,
) -> WatcherWebhook {
    WatcherWebhook {
        id: endpoint.id.to_string(),
        url: endpoint.url.clone(),
        signing_secret: signing_secret.map(|secret| secret.expose_secret().to_owned()),
        created_at: endpoint.created_at.into(),
    }
}

impl From<webhook::WatchEventStatus> for EventStatus {
    fn from(status: webhook::WatchEventStatus) -> Self {
        match status {
            webhook::WatchEventStatus::Pending => Self::Pending,
            webhook::WatchEventStatus::Delivered => Self::Delivered,
            webhook::WatchEventStatus::Failed => Self::Failed,
        }
    }
}
