//! Policy of webhook deliveries: retry schedules, leases and limits.

use crate::config::WebhooksConfig;
use host_domain::owner::{Mode, Tenant};
use host_domain::webhook::ReplayPolicy;
use host_runtime::guarded_client::DnsLookup;
use std::time::Duration;

pub struct DeliveryPolicy {
    pub lookup: DnsLookup,
    pub timeout: Duration,
    pub subscription_retry_s: Vec<i64>,
    pub watch_retry_s: Vec<i64>,
    pub replay: ReplayPolicy,
    pub lease: Duration,
    pub dual_signature_s: i64,
    pub disable_after_s: i64,
    pub insecure_allowed: bool,
}

impl DeliveryPolicy {
    /// Creates the policy. `lease` is the lease time of background work; `insecure_allowed` is
    /// whether receivers of test mode may use plain http and loopback addresses.
    pub fn new(
        webhooks: &WebhooksConfig,
        lease: Duration,
        insecure_allowed: bool,
        lookup: DnsLookup,
    ) -> Self {
        let seconds = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let steps = |steps: &[u64]| steps.iter().copied().map(seconds).collect();
        Self {
            lookup,
            timeout: Duration::from_secs(webhooks.timeout_s),
            subscription_retry_s: steps(&webhooks.subscription_retry_s),
            watch_retry_s: steps(&webhooks.watch_retry_s),
            replay: ReplayPolicy {
                pending_after_s: seconds(webhooks.replay_pending_after_s),
                published_after_s: seconds(webhooks.replay_published_after_s),
            },
            lease,
            dual_signature_s: seconds(webhooks.dual_signature_s),
            disable_after_s: seconds(webhooks.disable_after_s),
            insecure_allowed,
        }
    }

    /// Returns whether a tenant's receivers may use plain http and loopback addresses.
    pub const fn allows_insecure(&self, tenant: &Tenant) -> bool {
        self.insecure_allowed && matches!(tenant.mode, Mode::Test)
    }
}
