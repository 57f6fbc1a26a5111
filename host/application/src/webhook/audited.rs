//! Properties of subscriptions in the audit log, without secrets. URLs have no query and no fragment.

use crate::audit::record::AuditChange;
use host_domain::audit::AuditAction;
use host_domain::webhook::{Subscription, SubscriptionEvent, SubscriptionStatus};
use serde_json::{Value, json};
use url::Url;

/// Returns the properties of a subscription that the audit log has.
pub(super) fn audited_subscription(subscription: &Subscription) -> Value {
    json!({
        "product": subscription.product.as_str(),
        "url": receiver(&subscription.url),
        "event_types": subscription.event_types,
        "description": subscription.description,
        "status": subscription.status.as_str(),
    })
}

/// Returns a URL without its query and fragment, which may hold secrets.
fn receiver(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else {
        return String::new();
    };
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// Returns the change that an event makes, or `None` if the audit log does not have it: the result
/// of a delivery only matters if it changes the status.
pub(super) fn audited_event<'a>(
    event: &SubscriptionEvent,
    before: &Subscription,
    after: &'a Subscription,
) -> Option<AuditChange<'a>> {
    let action = match event {
        SubscriptionEvent::Changed { .. } => AuditAction::WebhookChanged,
        SubscriptionEvent::Paused => AuditAction::WebhookPaused,
        SubscriptionEvent::Resumed => AuditAction::WebhookResumed,
        SubscriptionEvent::Rotated { .. } => AuditAction::WebhookSecretRotated,
        SubscriptionEvent::DeliverySucceeded
        | SubscriptionEvent::DeliveryFailed { .. }
        | SubscriptionEvent::EndpointGone { .. } => match after.status {
            status if status == before.status => return None,
            SubscriptionStatus::Disabled => AuditAction::WebhookDisabled,
            SubscriptionStatus::Paused => AuditAction::WebhookPaused,
            SubscriptionStatus::Active => AuditAction::WebhookResumed,
        },
    };
    let change = AuditChange::new(action, after.id.as_str()).of_tenant(&after.tenant);
    let change = change.before(audited_subscription(before));
    Some(change.after(audited_subscription(after)))
}
