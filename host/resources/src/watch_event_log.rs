//! JSON resources of watch events and of the webhook endpoint that receives them.

use crate::value::{IsoDateTime, same_variants};
use crate::webhook::WebhookEventResource;
use host_domain::id::EventId;
use host_domain::time::Timestamp;
use host_domain::webhook;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// The delivery status of a watch event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = WatchEventStatus)]
pub enum EventStatusResource {
    /// The event is being delivered, or waits for a webhook to deliver it to.
    Pending,
    Delivered,
    /// Delivery was abandoned. The event stays in the log and is not sent again.
    Failed,
}

/// A watch event in the event log.
#[derive(Debug, Serialize, ToSchema)]
pub struct WatchEventResource {
    #[schema(pattern = "^evt_[a-zA-Z0-9-]+$")]
    id: String,
    /// Type of the event.
    #[serde(rename = "type")]
    #[schema(example = "travel.hotel.watch.triggered")]
    event_type: String,
    /// Delivery status of the event.
    status: EventStatusResource,
    created_at: IsoDateTime,
    /// Complete body of the event as it is sent.
    #[schema(value_type = WebhookEventResource)]
    payload: Option<Box<RawValue>>,
}

/// The webhook that receives watch events.
#[derive(Debug, Serialize, ToSchema)]
pub struct WatcherWebhookResource {
    #[schema(pattern = "^whs_[a-zA-Z0-9-]+$")]
    id: String,
    /// URL that events are sent to.
    #[schema(example = "https://example.com/webhooks/watches")]
    url: String,
    /// Secret that signs events. Returned only in the response that creates it, and never again,
    /// not even when the request is repeated with the same idempotency key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        required = false,
        pattern = "^whsec_[A-Za-z0-9+/]{43}=$",
        example = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    )]
    signing_secret: Option<String>,
    created_at: IsoDateTime,
}

/// Builds the resource of an event with its delivery status.
pub fn event(
    id: &EventId,
    event_type: String,
    status: webhook::WatchEventStatus,
    created_at: Timestamp,
    payload: String,
) -> WatchEventResource {
    WatchEventResource {
        id: id.to_string(),
        event_type,
        status: status.into(),
        created_at: created_at.into(),
        payload: RawValue::from_string(payload).ok(),
    }
}

/// Builds the resource of the endpoint, with its secret if that was just created.
pub fn webhook(
    endpoint: &webhook::Subscription,
    signing_secret: Option<&SecretString>,
) -> WatcherWebhookResource {
    WatcherWebhookResource {
        id: endpoint.id.to_string(),
        url: endpoint.url.clone(),
        signing_secret: signing_secret.map(|secret| secret.expose_secret().to_owned()),
        created_at: endpoint.created_at.into(),
    }
}

same_variants! { EventStatusResource <= webhook::WatchEventStatus: Pending, Delivered, Failed }
