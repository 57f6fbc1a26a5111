//! Webhooks: subscriptions to events, and the deliveries of events to subscriptions.

pub mod attempt;
pub mod bulk_replay;
pub mod delivery;
pub mod event_log;
pub mod list;
pub mod listen;
pub mod subscription;

pub use attempt::DeliveryAttempt;
pub use bulk_replay::{BulkReplay, BulkReplayProgress, BulkReplaySelection, BulkReplayState};
pub use delivery::{
    Delivery, DeliveryEvent, DeliveryFailureReason, DeliveryResult, DeliveryState, DeliveryStatus,
    ReplayNotAllowed, ReplayPolicy, RetryAfterLimit, RetryPolicy,
};
pub use event_log::WatchEventStatus;
pub use listen::ListenSession;
pub use subscription::{Subscription, SubscriptionEvent, SubscriptionStatus};
