//! Telling subscribers: who wants to be told, and each event on its way to each
//! of them.

pub mod delivery;
pub mod log;
pub mod subscription;

pub use delivery::{
    Delivery, DeliveryEvent, DeliveryState, DeliveryStatus, FailureReason, NotReplayed, Patience,
    Replay, Retry, SendOutcome,
};
pub use log::EventStatus;
pub use subscription::{Subscription, SubscriptionEvent, SubscriptionStatus};
