//! Suppliers as configured and loaded: who could be asked. The choice among them
//! is the domain's.

use crate::config::{Config, SupplierConfig};
use host_domain::owner::Mode;
use host_domain::routing::Candidate;
use host_domain::supplier::{Kind, Operation, SupplierId};
use host_runtime::{LoadError, Runtime};
use std::path::PathBuf;

/// What the configuration says, joined with what the runtime knows.
pub struct Suppliers {
    configured: Vec<SupplierConfig>,
    processor_test: Option<SupplierId>,
    processor_live: Option<SupplierId>,
    plugins_dir: PathBuf,
    runtime: Runtime,
}

impl Suppliers {
    /// Takes them from the configuration; loads nothing.
    #[must_use]
    pub fn new(config: &Config, plugins_dir: PathBuf, runtime: Runtime) -> Self {
        Self {
            configured: config.suppliers.clone(),
            processor_test: config.processor(Mode::Test).cloned(),
            processor_live: config.processor(Mode::Live).cloned(),
            plugins_dir,
            runtime,
        }
    }

    /// Loads every one. One that cannot be loaded does not keep the others, or
    /// the server, from working: it is logged, and is down.
    pub async fn load(&self) -> Vec<(SupplierId, LoadError)> {
        let mut failed = Vec::new();
        for supplier in &self.configured {
            if let Err(error) = self.runtime.load(supplier.plugin(&self.plugins_dir)).await {
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
    pub async fn reload(&self, id: &SupplierId) -> Result<host_runtime::PluginInfo, LoadError> {
        let supplier = self
            .configured(id)
            .ok_or_else(|| LoadError::NotLoaded(id.clone()))?;
        self.runtime.load(supplier.plugin(&self.plugins_dir)).await
    }

    /// Every one that is configured, in the order of the configuration.
    #[must_use]
    pub fn all(&self) -> &[SupplierConfig] {
        &self.configured
    }

    /// One that is configured.
    #[must_use]
    pub fn configured(&self, id: &SupplierId) -> Option<&SupplierConfig> {
        self.configured.iter().find(|supplier| supplier.id == *id)
    }

    /// Those that could be asked: of this kind and mode, loaded, and exporting
    /// the operation.
    #[must_use]
    pub fn candidates(
        &self,
        kind: Kind,
        operation: Operation,
        mode: Mode,
        organization: &str,
    ) -> Vec<Candidate> {
        let able = self
            .configured
            .iter()
            .filter(|supplier| supplier.kind == kind && supplier.modes.contains(&mode));
        let candidates = able.filter_map(|supplier| {
            let loaded = self
                .runtime
                .supplier(&supplier.id)
                .filter(|loaded| loaded.supports(operation))?;
            let rank = supplier.rank(organization);
            Some(Candidate {
                id: supplier.id.clone(),
                priority: rank.priority,
                weight: rank.weight,
                health: loaded.health(),
            })
        });
        candidates.collect()
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
