//! Telling subscribers: who wants to be told, and each event on its way.

pub(crate) mod attempt;
pub(crate) mod delivery;
pub(crate) mod send;
pub(crate) mod subscription;

pub use attempt::DeliveryAttempt;
pub use delivery::{DeliveryFilter, StoredDelivery};
pub use send::{DeliveryRelease, DeliveryClaim, DueSubscription};
pub use subscription::SealedSecrets;
