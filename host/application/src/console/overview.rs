//! The overview within the roles of a person.

use crate::account::viewer::Viewer;
use crate::reporting::overview::{Overview, OverviewReader, OverviewWindow};
use crate::storage_failure::StorageFailure;
use std::sync::Arc;

/// Reads the overview of what a person may read.
pub struct ConsoleOverview {
    pub(crate) reader: Arc<OverviewReader>,
}

impl ConsoleOverview {
    /// Returns the overview of all organizations that the person may read, in the session's mode. Only
    /// operators see parked jobs.
    ///
    /// # Errors
    /// The database failed.
    pub async fn read(
        &self,
        viewer: &Viewer,
        window: OverviewWindow,
    ) -> Result<Overview, StorageFailure> {
        let (scope, includes_jobs) = (viewer.whole_scope(), viewer.is_operator());
        self.reader.read(&scope, window, includes_jobs).await
    }
}
