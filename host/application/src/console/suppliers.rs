//! Suppliers as people see and operators change them.

use crate::account::viewer::Viewer;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::supplier::overrides::{SupplierChange, SupplierChangeError, SupplierControl};
use crate::supplier::plugin_report::{ReloadError, SupplierStatus};
use crate::supplier::reader::{ListedSupplier, SupplierDetails, SupplierReader};
use host_domain::supplier::SupplierId;
use std::sync::Arc;

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

/// Shows suppliers to people, and changes them for operators.
pub struct ConsoleSuppliers {
    pub(crate) control: Arc<SupplierControl>,
    pub(crate) reader: Arc<SupplierReader>,
}

impl ConsoleSuppliers {
    /// Returns the suppliers of the session's mode, ordered by id.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list(&self, viewer: &Viewer) -> Result<Vec<ListedSupplier>, ConsoleError> {
        Ok(self.reader.list(&viewer.whole_scope()).await?)
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
        self.status(viewer, id)?;
        let found = self.reader.find(&viewer.whole_scope(), id).await?;
        Ok(found.ok_or(AccessError::NotFound)?)
    }

    /// Changes a supplier of the session's mode on all processes.
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

    /// Reloads the plugin of a supplier of the session's mode, on this process.
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
}
