//! Suppliers as people see and operators change them.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::supplier::overrides::{SupplierChange, SupplierChangeError, SupplierControl};
use crate::supplier::plugin_report::{ReloadError, SupplierStatus};
use host_domain::console::TenantScope;
use host_domain::request_log::LoggedCall;
use host_domain::statistics::{CallStatistics, TimeResolution};
use host_domain::supplier::SupplierId;
use host_storage::DatabaseError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Time over which calls are counted, in milliseconds.
const WINDOW_MS: i64 = 24 * 60 * 60 * 1000;
const FAILURES_MAX: u32 = 20;

#[derive(Debug, thiserror::Error)]
pub enum ConsoleSupplierError {
    #[error(transparent)]
    Console(#[from] ConsoleError),
    #[error(transparent)]
    Change(#[from] SupplierChangeError),
    #[error(transparent)]
    Reload(#[from] ReloadError),
}

impl From<AccessError> for ConsoleSupplierError {
    fn from(error: AccessError) -> Self {
        Self::Console(error.into())
    }
}

/// A supplier with the calls of the last 24 hours that the person may see.
#[derive(Debug, Clone)]
pub struct ListedSupplier {
    pub status: SupplierStatus,
    pub calls: CallStatistics,
}

/// A supplier with everything that the person may see.
#[derive(Debug, Clone)]
pub struct SupplierDetails {
    pub status: SupplierStatus,
    /// The calls of the last 24 hours by function of the plugin, the most frequent first.
    pub functions: Vec<(String, CallStatistics)>,
    /// The last failed calls, latest first.
    pub failures: Vec<LoggedCall>,
}

/// Shows suppliers to people, and changes them for operators.
pub struct ConsoleSuppliers {
    pub(crate) base: Base,
    pub(crate) control: Arc<SupplierControl>,
}

impl ConsoleSuppliers {
    /// Returns the suppliers of the session's mode, ordered by id.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list(&self, viewer: &Viewer) -> Result<Vec<ListedSupplier>, ConsoleError> {
        let mut calls = BTreeMap::<String, CallStatistics>::new();
        for (supplier, _, counted) in self.statistics(&viewer.whole_scope()).await? {
            calls.entry(supplier).or_default().add(&counted);
        }
        let statuses = self.control.directory.statuses().into_iter();
        let of_mode = statuses.filter(|status| status.modes.contains(&viewer.mode));
        let listed = of_mode.map(|status| ListedSupplier {
            calls: calls.remove(status.summary.id.as_str()).unwrap_or_default(),
            status,
        });
        Ok(listed.collect())
    }

    /// Returns a supplier of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if none has this id.
    pub async fn find(
        &self,
        viewer: &Viewer,
        id: &SupplierId,
    ) -> Result<SupplierDetails, ConsoleError> {
        let status = self.status(viewer, id)?;
        let (store, scope) = (&self.base.store, viewer.whole_scope());
        let (statistics, failures) = futures::try_join!(
            self.statistics(&scope),
            store.failed_calls(&scope, id, FAILURES_MAX),
        )?;
        let own = statistics.into_iter();
        let own = own.filter(|(supplier, _, _)| supplier == id.as_str());
        Ok(SupplierDetails {
            status,
            functions: own.map(|(_, function, calls)| (function, calls)).collect(),
            failures,
        })
    }

    /// Changes a supplier of the session's mode on all hosts.
    ///
    /// # Errors
    /// [`ConsoleSupplierError`].
    pub async fn change(
        &self,
        viewer: &Viewer,
        id: &SupplierId,
        change: SupplierChange,
    ) -> Result<(), ConsoleSupplierError> {
        self.status(viewer, id)?;
        viewer.require_operator()?;
        Ok(self.control.change(&viewer.actor(), id, change).await?)
    }

    /// Reloads the plugin of a supplier of the session's mode, on this host.
    ///
    /// # Errors
    /// [`ConsoleSupplierError`].
    pub async fn reload(
        &self,
        viewer: &Viewer,
        id: &SupplierId,
    ) -> Result<(), ConsoleSupplierError> {
        self.status(viewer, id)?;
        viewer.require_operator()?;
        self.control.reload(&viewer.actor(), id).await?;
        Ok(())
    }

    fn status(&self, viewer: &Viewer, id: &SupplierId) -> Result<SupplierStatus, AccessError> {
        let status = self.control.directory.status(id);
        let status = status.ok_or(AccessError::NotFound)?;
        if status.modes.contains(&viewer.mode) {
            return Ok(status);
        }
        let other = status.modes.first().copied();
        Err(other.map_or(AccessError::NotFound, AccessError::OtherMode))
    }

    /// Returns the calls of the last 24 hours by supplier and function.
    async fn statistics(
        &self,
        scope: &TenantScope,
    ) -> Result<Vec<(String, String, CallStatistics)>, DatabaseError> {
        let resolution = TimeResolution::Hour;
        let since = resolution.floor(self.base.now().plus_ms(-WINDOW_MS));
        let store = &self.base.store;
        let groups = store.supplier_statistics(scope, resolution, since).await?;
        let rows = groups.into_iter();
        Ok(rows
            .map(|group| (group.name, group.operation, group.calls))
            .collect())
    }
}
