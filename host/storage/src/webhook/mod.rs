//! Webhooks: subscriptions and the delivery of events to them.

mod attempt;
mod delivery;
mod dispatch;
mod subscription;

pub use attempt::DeliveryAttempt;
pub use delivery::StoredDelivery;
pub use dispatch::{DeliveryClaim, DeliveryRelease, DueSubscription};
pub use subscription::SealedSecrets;
