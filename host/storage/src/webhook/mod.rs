//! Webhooks: subscriptions and the delivery of events to them.

mod attempt;
mod console;
mod delivery;
mod dispatch;
mod listen_session;
mod subscription;

pub use console::ScopeDeliveryCount;
pub use delivery::StoredDelivery;
pub use dispatch::{DeliveryClaim, DeliveryRelease, DueSubscription};
pub use subscription::SealedSecrets;
