//! Descriptions of suppliers and loaded plugins for callers and operators.

use crate::storage_failure::StorageFailure;
use host_domain::owner::Mode;
use host_domain::supplier::{Capability, Health, Rank, SupplierId, SupplierKind};
use host_runtime::{CallUsage, HealthReport, LoadError, PluginInfo};
use serde::Serialize;

/// Description of a loaded plugin for operators: the command line and the admin API.
#[derive(Debug, Clone, Serialize)]
pub struct PluginReport {
    pub id: String,
    pub name: String,
    pub version: String,
    pub digest: String,
    pub modes: Vec<&'static str>,
    pub operations: Vec<&'static str>,
    /// Whether the supplier collects the payment at its own checkout.
    pub collects_payment: bool,
    /// Whether an offer can have only one unfinished booking at a time.
    pub one_booking_per_offer: bool,
    /// Whether single rooms can be cancelled.
    pub supports_partial_cancellation: bool,
    /// Time in milliseconds after which reads show the effect of a call; `None` if no lookup proves
    /// that nothing was booked.
    pub reads_consistent_after_ms: Option<u32>,
    /// Whether a change that is resent with the same reference returns the first response.
    pub supports_idempotent_resend: bool,
    pub hosts: Vec<String>,
    /// Requested hosts that the configuration grants.
    pub granted_hosts: Vec<String>,
    /// Requested hosts that the configuration does not grant.
    pub missing_hosts: Vec<String>,
    pub secrets: Vec<String>,
    /// Requested secrets that the configuration does not have.
    pub missing_secrets: Vec<String>,
    pub loaded_at: String,
    /// Time that loading took, in milliseconds.
    pub load_ms: u64,
}

impl From<&PluginInfo> for PluginReport {
    fn from(info: &PluginInfo) -> Self {
        let description = &info.description;
        let operations = info.capabilities.iter().copied().map(Capability::as_str);
        Self {
            id: info.id.to_string(),
            name: description.name.clone(),
            version: description.version.clone(),
            digest: info.digest.clone(),
            modes: info.modes.iter().map(|mode| mode.as_str()).collect(),
            operations: operations.collect(),
            collects_payment: description.collects_payment,
            one_booking_per_offer: description.one_booking_per_offer,
            supports_partial_cancellation: description.supports_partial_cancellation,
            reads_consistent_after_ms: description.reads_consistent_after_ms,
            supports_idempotent_resend: description.supports_idempotent_resend,
            granted_hosts: granted(&description.hosts, &info.missing_grants),
            hosts: description.hosts.clone(),
            missing_hosts: info.missing_grants.clone(),
            secrets: description.secrets.clone(),
            missing_secrets: info.missing_secrets.clone(),
            loaded_at: info.loaded_at.to_string(),
            load_ms: u64::try_from(info.load_time.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// Returns the requested hosts that are not missing.
fn granted(requested: &[String], missing: &[String]) -> Vec<String> {
    let granted = requested.iter().filter(|host| !missing.contains(host));
    granted.cloned().collect()
}

#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    #[error("no plugin with this id is configured")]
    NotConfigured,
    /// The plugin cannot be loaded. The one that was loaded before stays in use.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The reload could not be recorded, so the plugin is not reloaded.
    #[error("the reload could not be recorded")]
    Storage(#[source] StorageFailure),
}

/// A configured supplier with the state of its plugin.
#[derive(Debug, Clone)]
pub struct SupplierSummary {
    pub id: SupplierId,
    pub kind: SupplierKind,
    /// Name of the adapter; `None` while it cannot be loaded.
    pub name: Option<String>,
    /// Version of the adapter; `None` while it cannot be loaded.
    pub version: Option<String>,
    pub operations: Vec<Capability>,
    /// Current health; a supplier without a loaded plugin is down.
    pub health: Health,
}

/// The state of a configured supplier on this process, for operators.
#[derive(Debug, Clone)]
pub struct SupplierStatus {
    pub summary: SupplierSummary,
    pub modes: Vec<Mode>,
    /// `None` while no plugin is loaded.
    pub health: Option<HealthReport>,
    /// `None` while no plugin is loaded.
    pub usage: Option<CallUsage>,
    /// `None` while no plugin is loaded.
    pub plugin: Option<PluginReport>,
    /// Whether an operator has ended new requests to the supplier.
    pub is_drained: bool,
    /// Priority and weight for organizations without their own.
    pub rank: Rank,
    /// Whether an operator set the rank, for all organizations.
    pub is_rank_changed: bool,
}
