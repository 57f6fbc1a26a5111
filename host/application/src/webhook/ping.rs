//! The test event.

use crate::base::Base;
use host_domain::event::{EventType, Product};
use host_domain::id::{EventId, SubscriptionId};
use host_storage::OutboxEvent;
use serde_json::json;

/// Builds a `ping` that names a subscription.
pub(super) fn ping_event(
    base: &Base,
    product: Product,
    subscription: &SubscriptionId,
) -> OutboxEvent {
    let (id, now) = (EventId::from_bits(base.ids.generate()), base.now());
    let event_type = EventType::Ping.as_str();
    let payload = json!({
        "id": id.as_str(),
        "type": event_type,
        "created_at": now.to_string(),
        "data": { "subscription_id": subscription.as_str() },
    });
    OutboxEvent {
        id,
        event_type: event_type.to_owned(),
        product,
        booking_id: None,
        payload: payload.to_string(),
        created_at: now,
    }
}
