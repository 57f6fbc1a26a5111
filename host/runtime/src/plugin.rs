//! A plugin: the operator's configuration, the plugin's own description and the component that is
//! ready to run. A plugin is replaced as a whole and never modified.

use crate::allow_list::HostGrant;
use crate::call_state::GuestState;
use crate::circuit_breaker::CircuitBreaker;
use crate::compile::CodeSource;
use crate::concurrency_limit::ConcurrencyLimit;
use crate::egress::Credential;
use crate::exports::Exports;
use crate::limits::PluginLimits;
use crate::plugin_env::PluginEnv;
use crate::signature::TrustedKey;
use host_domain::owner::Mode;
use host_domain::supplier::{Capability, PluginDescription, SupplierId};
use host_domain::time::Timestamp;
use secrecy::SecretString;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::InstancePre;

/// The destination of a plugin's requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TrafficMode {
    /// Requests go to the supplier.
    #[default]
    Live,
    /// Requests go to the supplier, and each exchange is recorded in this folder after redaction.
    Record(PathBuf),
    /// Requests are answered from the exchanges in this folder, without any network.
    Replay(PathBuf),
}

/// The operator's configuration of a plugin.
#[derive(Debug, Clone)]
pub struct PluginSpec {
    /// Id of the supplier in the API.
    pub id: SupplierId,
    /// Modes (test or live) that the plugin serves.
    pub modes: Vec<Mode>,
    /// Path of the component file.
    pub component: PathBuf,
    /// Pinned SHA-256 of the file in hexadecimal, with or without the prefix `sha256:`. A file with
    /// another digest is rejected.
    pub digest: Option<String>,
    /// Trusted keys, one of which must have signed the file. If the list is empty, no signature is
    /// required.
    pub signed_by: Vec<TrustedKey>,
    /// Settings as a JSON object that is valid against the plugin's schema.
    pub settings: Value,
    /// Hosts that the plugin may reach if it requests them.
    pub grants: Vec<HostGrant>,
    /// Headers that the host adds to the plugin's requests.
    pub credentials: Vec<Credential>,
    /// Secrets that the host may use in computations for the plugin if it requests them.
    pub secrets: BTreeMap<String, SecretString>,
    /// Resource limits of the plugin.
    pub limits: PluginLimits,
    /// Destination of the plugin's requests.
    pub traffic: TrafficMode,
}

impl PluginSpec {
    /// Creates a configuration without settings, grants and secrets and with the default limits.
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

/// Information about a loaded plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginInfo {
    /// Id of the supplier in the API.
    pub id: SupplierId,
    /// Modes (test or live) that the plugin serves.
    pub modes: Vec<Mode>,
    /// Path of the component file.
    pub component: PathBuf,
    /// SHA-256 of the file in hexadecimal.
    pub digest: String,
    /// Description that the plugin returned.
    pub description: PluginDescription,
    /// Exported capabilities in the order of the interface.
    pub capabilities: Vec<Capability>,
    /// Requested hosts that are not granted, as grants to add.
    pub missing_grants: Vec<String>,
    /// Requested secrets that are not granted.
    pub missing_secrets: Vec<String>,
    /// Whether the code was compiled during this load or came from the cache.
    pub code: CodeSource,
    /// Time at which the plugin was loaded.
    pub loaded_at: Timestamp,
    /// Duration of the load.
    pub load_time: Duration,
}

/// A loaded plugin. Running calls hold a reference, so a replaced plugin lives until its last call
/// has ended.
pub(crate) struct Plugin {
    pub(crate) info: PluginInfo,
    pub(crate) spec: PluginSpec,
    pub(crate) pre: InstancePre<GuestState>,
    pub(crate) exports: Exports,
    pub(crate) provision: Arc<PluginEnv>,
    pub(crate) admission: ConcurrencyLimit,
    pub(crate) breaker: CircuitBreaker,
}
