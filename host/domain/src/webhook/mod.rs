//! Telling subscribers: who wants to be told, and each event on its way to each
//! of them.

pub mod delivery;
pub mod log;
pub mod subscription;

pub use delivery::{
    Delivery, DeliveryEvent, DeliveryState, DeliveryStatus, DeliveryFailureReason, ReplayNotAllowed, RetryAfterLimit,
    ReplayPolicy, RetryPolicy, DeliveryResult,
};
pub use log::WatchEventStatus;
pub use subscription::{Subscription, SubscriptionEvent, SubscriptionStatus};
