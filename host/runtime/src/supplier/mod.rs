//! Callable suppliers: typed requests in, typed responses or the error enums of the domain out.
//! This module alone decides what the end of a call means.

mod call;
mod call_error;
mod event;
mod flight;
mod hotel;
mod payment;

use crate::circuit_breaker::HealthReport;
use crate::concurrency_limit::{CallUsage, ConcurrencyLimit};
use crate::convert::PrebookExpectation;
use crate::plugin::{Plugin, PluginInfo};
use host_domain::money::Currency;
use host_domain::owner::Mode;
use host_domain::personal::PersonalWords;
use host_domain::supplier::{Capability, Health};
use host_domain::time::Timestamp;
use std::sync::Arc;
use tokio::time::Instant;

/// The context of a call: its origin, its subject and its deadline.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// Id of the request, for logs and records.
    pub request_id: String,
    /// Organization that made the request. Empty if the supplier made it.
    pub organization: String,
    /// Mode of the request. `None` if the supplier made it, because its booking is not known yet.
    pub mode: Option<Mode>,
    /// Booking that the call is about.
    pub booking: Option<String>,
    /// Words about the people of the booking. They are masked in sentences of logs and records.
    pub personal: PersonalWords,
    /// Time after which a response is no longer useful. The plugin's own limit may be earlier.
    pub deadline: Instant,
}

/// A handle to one loaded plugin. Clones are cheap.
#[derive(Clone)]
pub struct Supplier {
    plugin: Arc<Plugin>,
    call_limit: Arc<ConcurrencyLimit>,
}

impl Supplier {
    pub(crate) const fn new(plugin: Arc<Plugin>, call_limit: Arc<ConcurrencyLimit>) -> Self {
        Self { plugin, call_limit }
    }

    /// Returns information about the plugin.
    #[must_use]
    pub fn info(&self) -> &PluginInfo {
        &self.plugin.info
    }

    /// Returns the time with which the expiry of offers is compared.
    fn now(&self) -> Timestamp {
        self.plugin.provision.clock.now()
    }

    /// Returns what the response to a prebook of an offer in this currency is read with.
    fn prebook_expectation(&self, currency: Currency) -> PrebookExpectation {
        PrebookExpectation {
            now: self.now(),
            currency,
            collects_payment: self.plugin.info.description.collects_payment,
        }
    }

    /// Returns whether the plugin exports a capability.
    #[must_use]
    pub fn supports(&self, capability: Capability) -> bool {
        self.plugin.info.capabilities.contains(&capability)
    }

    /// Returns the maximum duration of one call in milliseconds, regardless of its deadline.
    #[must_use]
    pub fn call_ms_max(&self) -> u64 {
        self.plugin.spec.limits.call_ms_max
    }

    /// Returns the plugin's current health.
    #[must_use]
    pub fn health(&self) -> Health {
        self.plugin.breaker.health()
    }

    /// Returns the plugin's health with the numbers behind it.
    #[must_use]
    pub fn health_report(&self) -> HealthReport {
        self.plugin.breaker.report()
    }

    /// Returns the concurrent calls at present.
    #[must_use]
    pub fn call_usage(&self) -> CallUsage {
        self.plugin.admission.usage()
    }
}
