//! Descriptions of suppliers and loaded plugins for callers and operators.

use host_domain::supplier::{Capability, Health, SupplierId, SupplierKind};
use host_runtime::{LoadError, PluginInfo};
use serde::Serialize;

/// Description of a loaded plugin for operators: the command line and the admin API.
#[derive(Debug, Clone, Serialize)]
pub struct PluginReport {
    /// Id of the supplier.
    pub id: String,
    /// Name of the adapter.
    pub name: String,
    /// Version of the adapter.
    pub version: String,
    /// Digest of the component file.
    pub digest: String,
    /// Modes of the supplier.
    pub modes: Vec<&'static str>,
    /// Names of the operations that the adapter supports.
    pub operations: Vec<&'static str>,
    /// Hosts that the adapter requests.
    pub hosts: Vec<String>,
    /// Requested hosts that the configuration does not grant.
    pub missing_hosts: Vec<String>,
    /// Names of the secrets that the adapter requests.
    pub secrets: Vec<String>,
    /// Requested secrets that the configuration does not have.
    pub missing_secrets: Vec<String>,
    /// Time at which the plugin was loaded.
    pub loaded_at: String,
    /// Time that loading took, in milliseconds.
    pub load_ms: u64,
}

impl From<&PluginInfo> for PluginReport {
    fn from(info: &PluginInfo) -> Self {
        let operations = info.capabilities.iter().copied().map(Capability::as_str);
        Self {
            id: info.id.to_string(),
            name: info.description.name.clone(),
            version: info.description.version.clone(),
            digest: info.digest.clone(),
            modes: info.modes.iter().map(|mode| mode.as_str()).collect(),
            operations: operations.collect(),
            hosts: info.description.hosts.clone(),
            missing_hosts: info.missing_grants.clone(),
            secrets: info.description.secrets.clone(),
            missing_secrets: info.missing_secrets.clone(),
            loaded_at: info.loaded_at.to_string(),
            load_ms: u64::try_from(info.load_time.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// Reason why a plugin was not reloaded.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// No supplier with this id is configured.
    #[error("no plugin with this id is configured")]
    NotConfigured,
    /// The plugin cannot be loaded. The one that was loaded before stays in use.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// A configured supplier with the state of its plugin.
#[derive(Debug, Clone)]
pub struct SupplierSummary {
    /// Id of the supplier.
    pub id: SupplierId,
    /// Product of the supplier.
    pub kind: SupplierKind,
    /// Name of the adapter; `None` while it cannot be loaded.
    pub name: Option<String>,
    /// Version of the adapter; `None` while it cannot be loaded.
    pub version: Option<String>,
    /// Operations that the adapter supports.
    pub operations: Vec<Capability>,
    /// Current health; a supplier without a loaded plugin is down.
    pub health: Health,
}
