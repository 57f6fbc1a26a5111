//! The environment that the host provides to the guests of one plugin: egress, cache, settings and
//! secrets. It is shared by all calls of the plugin and independent of components and instances.

use crate::background_executor::BackgroundExecutor;
use crate::call_log::CallSink;
use crate::egress::{Egress, ExchangeContext};
use crate::limits::PluginLimits;
use crate::plugin_cache::Cache;
use host_domain::supplier::SupplierId;
use host_domain::time::Clock;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) struct PluginEnv {
    pub(crate) supplier: SupplierId,
    pub(crate) digest: String,
    pub(crate) limits: PluginLimits,
    /// Settings as the text of a JSON object.
    pub(crate) settings: String,
    /// Secrets that the description requests and the operator grants.
    pub(crate) secrets: BTreeMap<String, SecretString>,
    pub(crate) egress: Egress,
    pub(crate) cache: Cache,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sink: Arc<dyn CallSink>,
    pub(crate) background: Arc<BackgroundExecutor>,
}

impl PluginEnv {
    pub(crate) fn exchange_context(&self) -> ExchangeContext<'_> {
        ExchangeContext {
            supplier: &self.supplier,
            digest: &self.digest,
            limits: &self.limits,
            clock: &*self.clock,
            sink: &*self.sink,
        }
    }
}
