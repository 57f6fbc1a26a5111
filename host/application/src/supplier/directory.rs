//! The configured suppliers and their loaded plugins. The domain chooses among the candidates.

use crate::config::{Config, SupplierConfig};
use crate::error_chain::describe_error_chain;
use crate::supplier::plugin_report::{PluginReport, ReloadError, SupplierStatus, SupplierSummary};
use host_domain::owner::Mode;
use host_domain::routing::Candidate;
use host_domain::supplier::{Capability, Health, Rank, SupplierId, SupplierKind, SupplierOverride};
use host_runtime::{LoadError, PluginInfo, Runtime, Supplier};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

/// Supplier directory: the configuration of each supplier, combined with the state of the runtime.
pub struct SupplierDirectory {
    configs: Vec<SupplierConfig>,
    processor_test: Option<SupplierId>,
    processor_live: Option<SupplierId>,
    plugins_dir: PathBuf,
    runtime: Runtime,
    overrides: RwLock<BTreeMap<SupplierId, SupplierOverride>>,
}

/// The suppliers that offer a capability.
#[derive(Debug, Default)]
pub struct CapableSuppliers {
    pub candidates: Vec<Candidate>,
    /// Suppliers that get no new requests.
    pub drained: Vec<SupplierId>,
}

pub enum EventEndpoint<'a> {
    /// The path is not valid: the supplier is not configured or has no webhooks, its deliveries
    /// could not be verified, or the token is wrong.
    NotFound,
    /// The supplier is configured, but its adapter is not loaded at present.
    NotLoaded,
    /// The supplier accepts the delivery.
    Ready(&'a SupplierConfig, Supplier),
}

impl SupplierDirectory {
    /// Creates the directory from the configuration. Loads nothing.
    pub fn new(config: &Config, plugins_dir: PathBuf, runtime: Runtime) -> Self {
        Self {
            configs: config.suppliers.clone(),
            processor_test: config.processor(Mode::Test).cloned(),
            processor_live: config.processor(Mode::Live).cloned(),
            plugins_dir,
            runtime,
            overrides: RwLock::default(),
        }
    }

    /// Loads the plugins of all suppliers. A plugin that cannot be loaded is logged and returned.
    /// Its supplier is down; other suppliers and the server keep working.
    pub async fn load_all(&self) -> Vec<(SupplierId, LoadError)> {
        let mut failed = Vec::new();
        for supplier in &self.configs {
            if let Err(error) = self.load_one(supplier).await {
                tracing::error!(
                    supplier = supplier.id.as_str(),
                    error = &error as &dyn std::error::Error,
                    "a plugin cannot be loaded, so its supplier is down; mend what the error names, then run `stopover suppliers reload`"
                );
                failed.push((supplier.id.clone(), error));
            }
        }
        failed
    }

    /// Reloads a supplier's plugin from its file, including one that could not be loaded before.
    ///
    /// # Errors
    /// [`ReloadError`]; the plugin that is loaded stays in use.
    pub async fn reload(&self, id: &SupplierId) -> Result<PluginReport, ReloadError> {
        let supplier = self.config(id).ok_or(ReloadError::NotConfigured)?;
        match self.load_one(supplier).await {
            Ok(info) => Ok(PluginReport::from(&info)),
            Err(LoadError::NotLoaded(_)) => Err(ReloadError::NotConfigured),
            Err(error) => Err(error.into()),
        }
    }

    /// Reloads every plugin. If one fails, this is logged, and the loaded one stays in use.
    pub async fn reload_all(&self) {
        for (supplier, error) in self.load_all().await {
            tracing::warn!(
                supplier = supplier.as_str(),
                reason = describe_error_chain(&error),
                "a plugin cannot be reloaded; the previously loaded plugin stays in use"
            );
        }
    }

    async fn load_one(&self, supplier: &SupplierConfig) -> Result<PluginInfo, LoadError> {
        let spec = supplier.plugin_spec(&self.plugins_dir);
        let info = self.runtime.load(spec).await?;
        if info.capabilities.contains(&Capability::SupplierEvents)
            && !accepts_events(supplier, &info)
        {
            tracing::warn!(
                supplier = supplier.id.as_str(),
                "webhooks of this supplier are rejected, because its adapter cannot verify them: \
                 add `events_token = \"…\"` to its table in the configuration, 32 to 128 \
                 random characters of [A-Za-z0-9_-]"
            );
        }
        Ok(info)
    }

    /// Returns the suppliers of a mode with the state of their plugins, ordered by id.
    pub fn list(&self, mode: Mode) -> Vec<SupplierSummary> {
        let configs = self.configs.iter();
        let configs = configs.filter(|supplier| supplier.modes.contains(&mode));
        let mut summaries: Vec<_> = configs.map(|supplier| self.summary(supplier)).collect();
        summaries.sort_by(|one, other| one.id.cmp(&other.id));
        summaries
    }

    /// Returns the state of all configured suppliers on this process, ordered by id.
    pub fn statuses(&self) -> Vec<SupplierStatus> {
        let mut statuses: Vec<_> = self.configs.iter().map(|one| self.status_of(one)).collect();
        statuses.sort_by(|one, other| one.summary.id.cmp(&other.summary.id));
        statuses
    }

    /// Returns the state of a configured supplier on this process.
    pub fn status(&self, id: &SupplierId) -> Option<SupplierStatus> {
        self.config(id).map(|supplier| self.status_of(supplier))
    }

    fn status_of(&self, supplier: &SupplierConfig) -> SupplierStatus {
        let loaded = self.runtime.supplier(&supplier.id);
        let changed = self.override_of(&supplier.id);
        let configured = Rank {
            priority: supplier.priority,
            weight: supplier.weight,
        };
        SupplierStatus {
            summary: self.summary(supplier),
            modes: supplier.modes.clone(),
            health: loaded.as_ref().map(Supplier::health_report),
            usage: loaded.as_ref().map(Supplier::call_usage),
            plugin: loaded
                .as_ref()
                .map(|loaded| PluginReport::from(loaded.info())),
            is_drained: changed.is_drained,
            rank: changed.rank.unwrap_or(configured),
            is_rank_changed: changed.rank.is_some(),
        }
    }

    fn summary(&self, supplier: &SupplierConfig) -> SupplierSummary {
        let loaded = self.runtime.supplier(&supplier.id);
        let info = loaded.as_ref().map(Supplier::info);
        SupplierSummary {
            id: supplier.id.clone(),
            kind: supplier.kind,
            name: info.map(|info| info.description.name.clone()),
            version: info.map(|info| info.description.version.clone()),
            operations: info.map_or_else(Vec::new, |info| info.capabilities.clone()),
            health: loaded.as_ref().map_or(Health::Down, Supplier::health),
        }
    }

    pub fn loaded_plugins(&self) -> Vec<PluginReport> {
        let plugins = self.runtime.list();
        plugins.iter().map(PluginReport::from).collect()
    }

    pub fn config(&self, id: &SupplierId) -> Option<&SupplierConfig> {
        self.configs.iter().find(|supplier| supplier.id == *id)
    }

    /// Returns the loaded suppliers of this kind and mode that export the capability.
    pub fn capable_suppliers(
        &self,
        kind: SupplierKind,
        capability: Capability,
        mode: Mode,
        organization: &str,
    ) -> CapableSuppliers {
        let able = self
            .configs
            .iter()
            .filter(|supplier| supplier.kind == kind && supplier.modes.contains(&mode));
        let mut capable = CapableSuppliers::default();
        for supplier in able {
            let loaded = self.runtime.supplier(&supplier.id);
            let Some(loaded) = loaded.filter(|loaded| loaded.supports(capability)) else {
                continue;
            };
            let changed = self.override_of(&supplier.id);
            if changed.is_drained {
                capable.drained.push(supplier.id.clone());
                continue;
            }
            let configured = || supplier.rank_for(organization);
            let rank = changed.rank.unwrap_or_else(configured);
            capable.candidates.push(Candidate {
                id: supplier.id.clone(),
                priority: rank.priority,
                weight: rank.weight,
                health: loaded.health(),
            });
        }
        capable
    }

    /// Replaces what operators changed about suppliers.
    pub(crate) fn set_overrides(&self, overrides: BTreeMap<SupplierId, SupplierOverride>) {
        let mut current = self
            .overrides
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = overrides;
    }

    /// Returns what operators changed about a supplier.
    pub fn override_of(&self, id: &SupplierId) -> SupplierOverride {
        let overrides = self
            .overrides
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        overrides.get(id).copied().unwrap_or_default()
    }

    /// Resolves the path of a supplier webhook, with or without a token.
    pub fn resolve_event_endpoint(
        &self,
        id: &SupplierId,
        token: Option<&str>,
    ) -> EventEndpoint<'_> {
        let Some(configured) = self.config(id) else {
            return EventEndpoint::NotFound;
        };
        let is_path = match token {
            Some(token) => token_matches(token, configured.events_token.expose()),
            None => configured.events_token.is_empty(),
        };
        if !is_path {
            return EventEndpoint::NotFound;
        }
        match self.runtime.supplier(id) {
            Some(supplier) if accepts_events(configured, supplier.info()) => {
                EventEndpoint::Ready(configured, supplier)
            }
            Some(_) => EventEndpoint::NotFound,
            None => EventEndpoint::NotLoaded,
        }
    }

    pub fn loaded(&self, id: &SupplierId) -> Option<Supplier> {
        self.runtime.supplier(id)
    }

    pub fn processor(&self, mode: Mode) -> Option<&SupplierId> {
        match mode {
            Mode::Test => self.processor_test.as_ref(),
            Mode::Live => self.processor_live.as_ref(),
        }
    }
}

/// Returns whether a supplier's webhooks are accepted: the adapter must read them, and a token in
/// the path or a signature must protect them. Without a secret an adapter cannot verify a
/// signature.
fn accepts_events(configured: &SupplierConfig, info: &PluginInfo) -> bool {
    info.capabilities.contains(&Capability::SupplierEvents)
        && (!configured.events_token.is_empty() || !info.description.secrets.is_empty())
}

/// Returns whether a token is the expected one. Digests are compared, so the response time reveals
/// nothing about the token. An empty expected token never matches.
fn token_matches(token: &str, expected: &str) -> bool {
    !expected.is_empty() && Sha256::digest(token) == Sha256::digest(expected)
}
