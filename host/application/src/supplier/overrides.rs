//! Changes that operators make to suppliers while the gateway runs. They are stored, so that they
//! hold on all processes and after a restart.

use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::plugin_report::{PluginReport, ReloadError};
use host_domain::audit::{Actor, AuditAction};
use host_domain::supplier::{Rank, SupplierId, SupplierOverride};
use host_storage::DatabaseError;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Interval at which changes of other processes are read.
pub(crate) const REFRESH_INTERVAL: Duration = Duration::from_secs(2);

/// Maximum absolute value of a priority, and maximum weight.
const RANK_MAX: u32 = 1_000_000;

/// A change of a supplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupplierChange {
    /// Ends or begins to route new requests to the supplier.
    Drained(bool),
    /// Sets priority and weight for all organizations. `None` restores the configuration's.
    Rank(Option<Rank>),
}

#[derive(Debug, thiserror::Error)]
pub enum SupplierChangeError {
    #[error("no supplier with this id is configured")]
    NotConfigured,
    #[error(
        "the priority must be between -{RANK_MAX} and {RANK_MAX}, the weight at most {RANK_MAX}"
    )]
    InvalidRank,
    #[error("the change could not be stored")]
    Storage(#[from] StorageFailure),
}

/// Changes suppliers and applies the changes of all processes.
pub struct SupplierControl {
    pub(crate) base: Base,
    pub(crate) directory: Arc<SupplierDirectory>,
}

impl SupplierControl {
    /// Reads the changes of all processes and applies them.
    pub(crate) async fn refresh(&self) -> Result<(), DatabaseError> {
        let overrides = self.base.store.supplier_overrides().await?;
        self.directory
            .set_overrides(overrides.into_iter().collect());
        Ok(())
    }

    /// Stores a change. It holds at once on this process, and within seconds on others.
    ///
    /// # Errors
    /// [`SupplierChangeError`].
    pub async fn change(
        &self,
        actor: &Actor,
        id: &SupplierId,
        change: SupplierChange,
    ) -> Result<(), SupplierChangeError> {
        if self.directory.config(id).is_none() {
            return Err(SupplierChangeError::NotConfigured);
        }
        let before = self.directory.override_of(id);
        let mut write = self.base.unit_of_work();
        let (action, after) = match change {
            SupplierChange::Drained(is_drained) => {
                write.set_supplier_drained(id, is_drained);
                let after = SupplierOverride {
                    is_drained,
                    ..before
                };
                (AuditAction::SupplierDrained, after)
            }
            SupplierChange::Rank(rank) => {
                if rank.is_some_and(|rank| !is_valid(rank)) {
                    return Err(SupplierChangeError::InvalidRank);
                }
                write.set_supplier_rank(id, rank);
                (
                    AuditAction::SupplierRanked,
                    SupplierOverride { rank, ..before },
                )
            }
        };
        let audit = AuditChange::new(action, id.as_str());
        let audit = audit.before(facts(before)).after(facts(after));
        audit_in(&mut write, &self.base, actor, audit);
        let stored = self.base.store.commit(write).await;
        stored.map_err(StorageFailure::from)?;
        self.refresh().await.map_err(StorageFailure::from)?;
        Ok(())
    }

    /// Reloads a supplier's plugin on this process. It is recorded before, so that no reload is
    /// missing in the audit log.
    ///
    /// # Errors
    /// [`ReloadError`]; the plugin that is loaded stays in use.
    pub async fn reload(
        &self,
        actor: &Actor,
        id: &SupplierId,
    ) -> Result<PluginReport, ReloadError> {
        if self.directory.config(id).is_none() {
            return Err(ReloadError::NotConfigured);
        }
        let plugins = self.directory.loaded_plugins();
        let mut plugins = plugins.into_iter();
        let loaded = plugins.find(|report| report.id == id.as_str());
        let before = loaded.map_or(Value::Null, |report| json!({ "digest": report.digest }));
        let mut write = self.base.unit_of_work();
        let audit = AuditChange::new(AuditAction::SupplierReloaded, id.as_str()).before(before);
        audit_in(&mut write, &self.base, actor, audit);
        let stored = self.base.store.commit(write).await;
        stored.map_err(|error| ReloadError::Storage(error.into()))?;
        self.directory.reload(id).await
    }
}

fn is_valid(rank: Rank) -> bool {
    rank.priority.unsigned_abs() <= RANK_MAX && rank.weight <= RANK_MAX
}

fn facts(supplier: SupplierOverride) -> Value {
    json!({
        "is_drained": supplier.is_drained,
        "priority": supplier.rank.map(|rank| rank.priority),
        "weight": supplier.rank.map(|rank| rank.weight),
    })
}
