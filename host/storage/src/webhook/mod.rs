//! Webhooks: subscriptions and the delivery of events to them.

pub(crate) mod attempt;
pub(crate) mod delivery;
pub(crate) mod dispatch;
pub(crate) mod subscription;

pub use attempt::DeliveryAttempt;
pub use delivery::StoredDelivery;
pub use dispatch::{DeliveryClaim, DeliveryRelease, DueSubscription};
pub use subscription::SealedSecrets;
