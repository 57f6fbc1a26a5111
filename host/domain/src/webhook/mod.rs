//! Webhooks: subscriptions to events, and the deliveries of events to subscriptions.

pub mod delivery;
pub mod event_log;
pub mod list;
pub mod subscription;

pub use delivery::{
    Delivery, DeliveryEvent, DeliveryFailureReason, DeliveryResult, DeliveryState, DeliveryStatus,
    ReplayNotAllowed, ReplayPolicy, RetryAfterLimit, RetryPolicy,
};
pub use event_log::WatchEventStatus;
pub use subscription::{Subscription, SubscriptionEvent, SubscriptionStatus};
