//! Telling subscribers: what they may ask for, and sending it. An event is recorded
//! for each of them in the transaction that makes it; from there on it is a delivery,
//! which is sent until it is taken or given up, whatever happens to this process.

pub(crate) mod address;
pub(crate) mod endpoint;
pub(crate) mod judge;
mod secret;
pub(crate) mod sender;
pub(crate) mod signature;
pub(crate) mod subscription;
mod tries;
pub(crate) mod upkeep;
mod watcher;
pub(crate) mod worker;

pub(crate) use subscription::{NewSubscription, SubscriptionUpdate};

use crate::config::Config;
use crate::idempotency::IdempotencyError;
use crate::seal::SealError;
use crate::webhook::address::UrlRejection;
use crate::webhook::sender::HttpSender;
use host_domain::owner::{Mode, Tenant};
use host_domain::webhook::{ReplayNotAllowed, ReplayPolicy};
use host_runtime::guard::DnsLookup;
use host_storage::{CommitError, DatabaseError};
use std::time::Duration;

/// Why something about a subscription was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebhookError {
    /// Not this tenant's, not of this product, or deleted.
    #[error("the subscription does not exist")]
    NotFound,
    /// No such delivery to this subscription.
    #[error("the delivery does not exist")]
    DeliveryNotFound,
    /// The tenant has as many to this product as it can.
    #[error("there are {max} subscriptions already")]
    SubscriptionLimitReached {
        /// How many that is.
        max: u64,
    },
    /// Events cannot go there.
    #[error("the url is not allowed: {0}")]
    UrlNotAllowed(#[source] UrlRejection),
    /// It may still arrive by itself.
    #[error("the delivery is not replayed")]
    ReplayNotAllowed(#[source] ReplayNotAllowed),
    /// Nothing is sent to a subscription that is not ACTIVE.
    #[error("the subscription is not ACTIVE")]
    SubscriptionNotActive,
    /// Others change it all the time.
    #[error("it is being changed by others")]
    TooManyConflicts,
    /// The idempotency key.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    /// The database.
    #[error("webhooks could not be read or stored")]
    Storage(#[from] CommitError),
    /// A secret cannot be sealed or opened.
    #[error("the signing secret cannot be sealed or opened")]
    Seal(#[from] SealError),
}

impl From<DatabaseError> for WebhookError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

/// How events are sent, as the operator set it.
pub(crate) struct DeliveryPolicy {
    pub(crate) sender: HttpSender,
    lookup: DnsLookup,
    subscription_retry_s: Vec<i64>,
    watch_retry_s: Vec<i64>,
    replay: ReplayPolicy,
    /// For how long work is held.
    lease: Duration,
    dual_signature_s: i64,
    disable_after_s: i64,
    insecure_allowed: bool,
}

impl DeliveryPolicy {
    pub(crate) fn new(config: &Config, lookup: DnsLookup) -> Self {
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

    /// Whether a tenant's receivers may be reached by plain http and on this machine.
    const fn allows_insecure(&self, tenant: &Tenant) -> bool {
        self.insecure_allowed && matches!(tenant.mode, Mode::Test)
    }
}
