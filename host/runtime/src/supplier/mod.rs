//! A supplier that can be called: typed requests in, typed answers or the closed
//! errors of the domain out. What a call ends in is decided here and nowhere else.

mod call;
mod ending;
mod event;
mod flight;
mod hotel;
mod payment;

pub use payment::{
    AuthorizeRequest, CaptureRequest, InstrumentDescription, PaymentLookup, RefundLookup, Intent,
    IntentRequest, ProcessorRefund, RefundRequest, VoidRequest,
};

use crate::admission::ConcurrencyLimit;
use crate::breaker::HealthReport;
use crate::plugin::{Plugin, PluginInfo};
use host_domain::supplier::{Health, Capability};
use std::sync::Arc;
use tokio::time::Instant;

/// Who asks, about what, and until when.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The request's id, for logs and records.
    pub request_id: String,
    /// Whose request.
    pub organization: String,
    /// The booking that it is about.
    pub booking: Option<String>,
    /// When an answer is of no use any more. The plugin's own limit may be earlier.
    pub deadline: Instant,
}

/// A handle to one loaded plugin. Cheap to clone.
#[derive(Clone)]
pub struct Supplier {
    plugin: Arc<Plugin>,
    call_limit: Arc<ConcurrencyLimit>,
}

impl Supplier {
    pub(crate) const fn new(plugin: Arc<Plugin>, call_limit: Arc<ConcurrencyLimit>) -> Self {
        Self { plugin, call_limit }
    }

    /// What is known of the plugin.
    #[must_use]
    pub fn info(&self) -> &PluginInfo {
        &self.plugin.info
    }

    /// Whether it exports a capability.
    #[must_use]
    pub fn supports(&self, operation: Capability) -> bool {
        self.plugin.info.capabilities.contains(&operation)
    }

    /// How it does at the moment.
    #[must_use]
    pub fn health(&self) -> Health {
        self.plugin.breaker.health()
    }

    /// How it does, with numbers.
    #[must_use]
    pub fn health_report(&self) -> HealthReport {
        self.plugin.breaker.report()
    }
}
