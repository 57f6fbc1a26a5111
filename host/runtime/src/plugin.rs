//! A plugin: what the operator says of it, what it says of itself, and the
//! component that is ready to run. Replaced as a whole, never changed.

use crate::admission::ConcurrencyLimit;
use crate::breaker::CircuitBreaker;
use crate::capability::HostGrant;
use crate::compile::CodeSource;
use crate::egress::Credential;
use crate::exports::Exports;
use crate::limits::PluginLimits;
use crate::provision::PluginEnv;
use crate::signature::TrustedKey;
use crate::state::GuestState;
use host_domain::owner::Mode;
use host_domain::supplier::{PluginDescription, Capability, SupplierId};
use host_domain::time::Timestamp;
use secrecy::SecretString;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::InstancePre;

/// Where a plugin's requests go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TrafficMode {
    /// To the supplier.
    #[default]
    Live,
    /// To the supplier, and each exchange is kept in this folder, redacted.
    Record(PathBuf),
    /// To the exchanges kept in this folder; there is no network.
    Replay(PathBuf),
}

/// A plugin, as the operator configures it.
#[derive(Debug, Clone)]
pub struct PluginSpec {
    /// The supplier's id in the API.
    pub id: SupplierId,
    /// Which of the two worlds it serves.
    pub modes: Vec<Mode>,
    /// The component's file.
    pub component: PathBuf,
    /// SHA-256 of the file, hexadecimal, with or without `sha256:`; another file is refused.
    pub digest: Option<String>,
    /// Keys of which one must have signed the file; none: it need not be signed.
    pub signed_by: Vec<TrustedKey>,
    /// One JSON object, valid against the plugin's schema.
    pub settings: Value,
    /// Hosts that it may reach, if it asks for them.
    pub grants: Vec<HostGrant>,
    /// Headers that the host sets on its requests.
    pub credentials: Vec<Credential>,
    /// Secrets that it may have computed with, if it asks for them.
    pub secrets: BTreeMap<String, SecretString>,
    /// What it may use.
    pub limits: PluginLimits,
    /// Where its requests go.
    pub traffic: TrafficMode,
}

impl PluginSpec {
    /// A plugin without settings, grants and secrets, under the default limits.
    #[must_use]
    pub fn new(id: SupplierId, component: PathBuf) -> Self {
        Self {
            id,
            modes: vec![Mode::Test],
            component,
            digest: None,
            signed_by: Vec::new(),
            settings: Value::Object(serde_json::Map::new()),
            grants: Vec::new(),
            credentials: Vec::new(),
            secrets: BTreeMap::new(),
            limits: PluginLimits::default(),
            traffic: TrafficMode::Live,
        }
    }
}

/// What is known of a loaded plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginInfo {
    /// The supplier's id in the API.
    pub id: SupplierId,
    /// Which of the two worlds it serves.
    pub modes: Vec<Mode>,
    /// The component's file.
    pub component: PathBuf,
    /// SHA-256 of the file, hexadecimal.
    pub digest: String,
    /// What it says of itself.
    pub description: PluginDescription,
    /// What it exports, in the order of the interface.
    pub capabilities: Vec<Capability>,
    /// Hosts that it asks for and does not get: the lines to add.
    pub missing_grants: Vec<String>,
    /// Secrets that it asks for and does not get.
    pub missing_secrets: Vec<String>,
    /// Whether it was compiled at this load.
    pub code: CodeSource,
    /// When it was loaded.
    pub loaded_at: Timestamp,
    /// How long that took.
    pub load_time: Duration,
}

/// A loaded plugin. Calls hold it while they run, so an old one lives until its
/// last call has ended.
pub(crate) struct Plugin {
    pub(crate) info: PluginInfo,
    pub(crate) spec: PluginSpec,
    pub(crate) pre: InstancePre<GuestState>,
    pub(crate) exports: Exports,
    pub(crate) provision: Arc<PluginEnv>,
    pub(crate) admission: ConcurrencyLimit,
    pub(crate) breaker: CircuitBreaker,
}
