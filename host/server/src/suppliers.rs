//! Suppliers as configured and loaded: who could be asked. The choice among them
//! is the domain's.

use crate::config::{Config, SupplierConfig};
use host_domain::owner::Mode;
use host_domain::routing::Candidate;
use host_domain::supplier::{SupplierKind, Capability, SupplierId};
use host_runtime::{LoadError, PluginInfo, Runtime, Supplier};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// What the configuration says, joined with what the runtime knows.
pub struct SupplierDirectory {
    configs: Vec<SupplierConfig>,
    processor_test: Option<SupplierId>,
    processor_live: Option<SupplierId>,
    plugins_dir: PathBuf,
    runtime: Runtime,
}

/// Where a delivery of a supplier's own webhooks leads.
pub(crate) enum EventEndpoint<'a> {
    /// Nowhere: there is no such supplier, it has no webhooks, nobody could tell
    /// its deliveries from a stranger's, or the path is another one.
    NotFound,
    /// To a supplier whose adapter is not loaded: it may be later.
    NotLoaded,
    /// To this one.
    Ready(&'a SupplierConfig, Supplier),
}

impl SupplierDirectory {
    /// Takes them from the configuration; loads nothing.
    #[must_use]
    pub fn new(config: &Config, plugins_dir: PathBuf, runtime: Runtime) -> Self {
        Self {
            configs: config.suppliers.clone(),
            processor_test: config.processor(Mode::Test).cloned(),
            processor_live: config.processor(Mode::Live).cloned(),
            plugins_dir,
            runtime,
        }
    }

    /// Loads every one. One that cannot be loaded does not keep the others, or
    /// the server, from working: it is logged, and is down.
    pub async fn load_all(&self) -> Vec<(SupplierId, LoadError)> {
        let mut failed = Vec::new();
        for supplier in &self.configs {
            if let Err(error) = self.load_one(supplier).await {
                tracing::error!(
                    supplier = supplier.id.as_str(),
                    error = &error as &dyn std::error::Error,
                    "a plugin cannot be loaded"
                );
                failed.push((supplier.id.clone(), error));
            }
        }
        failed
    }

    /// Loads one again, from its file; also one that could not be loaded before.
    ///
    /// # Errors
    /// [`LoadError`]; the one that is loaded stays.
    pub async fn reload(&self, id: &SupplierId) -> Result<PluginInfo, LoadError> {
        let supplier = self
            .config(id)
            .ok_or_else(|| LoadError::NotLoaded(id.clone()))?;
        self.load_one(supplier).await
    }

    async fn load_one(&self, supplier: &SupplierConfig) -> Result<PluginInfo, LoadError> {
        let spec = supplier.plugin_spec(&self.plugins_dir);
        let info = self.runtime.load(spec).await?;
        if info.capabilities.contains(&Capability::SupplierEvents) && !accepts_events(supplier, &info) {
            tracing::warn!(
                supplier = supplier.id.as_str(),
                "webhooks of this supplier are not taken, because its adapter cannot verify them: \
                 add `events_token = \"…\"` to its table in the configuration, 32 to 128 of \
                 [A-Za-z0-9_-] that nobody can guess"
            );
        }
        Ok(info)
    }

    /// Every one that is configured, in the order of the configuration.
    #[must_use]
    pub fn all(&self) -> &[SupplierConfig] {
        &self.configs
    }

    /// One that is configured.
    #[must_use]
    pub fn config(&self, id: &SupplierId) -> Option<&SupplierConfig> {
        self.configs.iter().find(|supplier| supplier.id == *id)
    }

    /// Those that could be asked: of this kind and mode, loaded, and exporting
    /// the operation.
    #[must_use]
    pub fn candidates(
        &self,
        kind: SupplierKind,
        operation: Capability,
        mode: Mode,
        organization: &str,
    ) -> Vec<Candidate> {
        let able = self
            .configs
            .iter()
            .filter(|supplier| supplier.kind == kind && supplier.modes.contains(&mode));
        let candidates = able.filter_map(|supplier| {
            let loaded = self
                .runtime
                .supplier(&supplier.id)
                .filter(|loaded| loaded.supports(operation))?;
            let rank = supplier.rank_for(organization);
            Some(Candidate {
                id: supplier.id.clone(),
                priority: rank.priority,
                weight: rank.weight,
                health: loaded.health(),
            })
        });
        candidates.collect()
    }

    /// Where a delivery leads that came for a supplier, with a token or without.
    pub(crate) fn resolve_event_endpoint(&self, id: &SupplierId, token: Option<&str>) -> EventEndpoint<'_> {
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

    /// Who takes the cards of a mode.
    #[must_use]
    pub fn processor(&self, mode: Mode) -> Option<&SupplierId> {
        match mode {
            Mode::Test => self.processor_test.as_ref(),
            Mode::Live => self.processor_live.as_ref(),
        }
    }
}

/// Whether an adapter reads webhooks, and the path or a signature keeps strangers
/// out. Without a secret no adapter can check a signature.
fn accepts_events(configured: &SupplierConfig, info: &PluginInfo) -> bool {
    info.capabilities.contains(&Capability::SupplierEvents)
        && (!configured.events_token.is_empty() || !info.description.secrets.is_empty())
}

/// Whether a token is the expected one, of which nothing can be learned by taking
/// the time: what is compared are digests, which nobody can choose. No token is
/// expected to be none.
fn token_matches(token: &str, expected: &str) -> bool {
    !expected.is_empty() && Sha256::digest(token) == Sha256::digest(expected)
}
