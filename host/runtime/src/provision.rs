//! What the host provides to the guests of one plugin: its way out, its cache,
//! its settings and the secrets that it may have computed with. Shared by all of
//! the plugin's calls; knows nothing of components or instances.

use crate::background::BackgroundExecutor;
use crate::call_log::CallSink;
use crate::egress::Egress;
use crate::import::cache::Cache;
use crate::limits::PluginLimits;
use host_domain::supplier::SupplierId;
use host_domain::time::Clock;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) struct PluginEnv {
    pub(crate) supplier: SupplierId,
    pub(crate) digest: String,
    pub(crate) limits: PluginLimits,
    /// One JSON object.
    pub(crate) settings: String,
    /// Asked for by the description and granted by the operator.
    pub(crate) secrets: BTreeMap<String, SecretString>,
    pub(crate) egress: Egress,
    pub(crate) cache: Cache,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sink: Arc<dyn CallSink>,
    pub(crate) background: Arc<BackgroundExecutor>,
}
