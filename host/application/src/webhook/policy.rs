//! Webhooks: managing subscriptions, and delivering events to subscribers. An event is recorded for
//! each subscription in the transaction that creates it. From then on it is a delivery, which is
//! sent until it is accepted or has failed for good, even if this process dies.

use crate::config::Config;
use crate::idempotency::IdempotencyError;
use crate::sealer::SealError;
use crate::webhook::http_sender::HttpSender;
use crate::webhook::url_policy::UrlRejection;
use host_domain::owner::{Mode, Tenant};
use host_domain::webhook::{ReplayNotAllowed, ReplayPolicy};
use host_runtime::guarded_client::DnsLookup;
use host_storage::{CommitError, DatabaseError};
use std::time::Duration;

/// Reasons why an operation on a subscription failed.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The subscription does not exist, was deleted, or belongs to another tenant or product.
    #[error("the subscription does not exist")]
    NotFound,
    /// The subscription has no such delivery.
    #[error("the delivery does not exist")]
    DeliveryNotFound,
    /// The tenant has the maximum number of subscriptions to this product.
    #[error("the limit of {max} subscriptions is reached")]
    SubscriptionLimitReached {
        /// The maximum.
        max: u64,
    },
    /// The URL may not receive events.
    #[error("the url is not allowed: {0}")]
    UrlNotAllowed(#[source] UrlRejection),
    /// The delivery may still arrive without a replay.
    #[error("the delivery cannot be replayed")]
    ReplayNotAllowed(#[source] ReplayNotAllowed),
    /// The subscription is not ACTIVE, so nothing is sent to it.
    #[error("the subscription is not ACTIVE")]
    SubscriptionNotActive,
    /// Concurrent calls kept changing the subscription.
    #[error("the subscription was changed by too many concurrent requests; try again")]
    TooManyConflicts,
    /// The idempotency key could not be used.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    /// The database failed.
    #[error("webhooks could not be read or stored")]
    Storage(#[from] CommitError),
    /// A secret cannot be encrypted or decrypted.
    #[error("the signing secret cannot be encrypted or decrypted")]
    Seal(#[from] SealError),
}

impl From<DatabaseError> for WebhookError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

/// The operator's settings for deliveries.
pub struct DeliveryPolicy {
    pub sender: HttpSender,
    pub lookup: DnsLookup,
    pub subscription_retry_s: Vec<i64>,
    pub watch_retry_s: Vec<i64>,
    pub replay: ReplayPolicy,
    /// Lease time of background work.
    pub lease: Duration,
    pub dual_signature_s: i64,
    pub disable_after_s: i64,
    pub insecure_allowed: bool,
}

impl DeliveryPolicy {
    pub fn new(config: &Config, lookup: DnsLookup) -> Self {
        let webhooks = &config.webhooks;
        let seconds = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let steps = |steps: &[u64]| steps.iter().copied().map(seconds).collect();
        Self {
            sender: HttpSender::new(lookup.clone(), Duration::from_secs(webhooks.timeout_s)),
            lookup,
            subscription_retry_s: steps(&webhooks.subscription_retry_s),
            watch_retry_s: steps(&webhooks.watch_retry_s),
            replay: ReplayPolicy {
                pending_after_s: seconds(webhooks.replay_pending_after_s),
                published_after_s: seconds(webhooks.replay_published_after_s),
            },
            lease: Duration::from_secs(config.jobs.lease_s.max(1)),
            dual_signature_s: seconds(webhooks.dual_signature_s),
            disable_after_s: seconds(webhooks.disable_after_s),
            insecure_allowed: config.allow_insecure_webhooks,
        }
    }

    /// Returns whether a tenant's receivers may use plain http and loopback addresses.
    pub const fn allows_insecure(&self, tenant: &Tenant) -> bool {
        self.insecure_allowed && matches!(tenant.mode, Mode::Test)
    }
}
