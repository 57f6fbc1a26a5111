//! Webhooks: managing subscriptions, and delivering events to subscribers. An event is recorded for
//! each subscription in the transaction that creates it. From then on it is a delivery, which is
//! sent until it is accepted or has failed for good, even if this process dies.

pub mod attempt;
mod audited;
pub mod bulk_replay;
pub mod delivery_details;
pub mod delivery_service;
pub mod delivery_worker;
pub mod endpoint;
pub mod error;
pub(crate) mod event_payload;
pub mod http_sender;
pub mod listen;
pub mod maintenance;
mod ping;
pub mod policy;
pub mod recipient;
pub(crate) mod recovery;
mod secret_disclosure;
pub mod service;
pub mod signature;
pub mod signing_secret;
pub mod subscription_rules;
pub mod unscoped_delivery;
pub mod unscoped_subscription;
pub mod url_policy;
pub mod watch_endpoint;
