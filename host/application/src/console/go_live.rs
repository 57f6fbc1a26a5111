//! The checklist of an integration before it goes live.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::failure::ConsoleError;
use crate::console::list::readable_organizations;
use crate::reporting::go_live::GoLiveReader;
use host_domain::console::go_live::GoLiveStep;
use std::sync::Arc;

/// The checklist of an organization, or of all that a person may read.
#[derive(Debug, Clone)]
pub struct GoLiveChecklist {
    /// All steps in their order, each with whether it has happened.
    pub steps: Vec<(GoLiveStep, bool)>,
    /// The organizations that the person may read, to choose from.
    pub organizations: Vec<String>,
}

/// Reads the checklist within the roles of a person.
pub struct GoLiveService {
    pub(crate) base: Base,
    pub(crate) reader: Arc<GoLiveReader>,
}

impl GoLiveService {
    /// Returns the checklist. It covers both modes.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if the organization is somebody else's.
    pub async fn read(
        &self,
        viewer: &Viewer,
        organization: Option<&str>,
    ) -> Result<GoLiveChecklist, ConsoleError> {
        let scope = viewer.scope(organization)?;
        let (steps, organizations) = futures::try_join!(
            self.reader.read(scope.organizations.as_deref()),
            readable_organizations(&self.base.store, viewer),
        )?;
        Ok(GoLiveChecklist {
            steps,
            organizations,
        })
    }
}
