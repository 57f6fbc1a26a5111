//! The checklist of an integration before it goes live.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::failure::ConsoleError;
use crate::console::list::readable_organizations;
use host_domain::console::go_live::GoLiveStep;

/// The checklist of an organization, or of all that a person may read.
#[derive(Debug, Clone)]
pub struct GoLiveChecklist {
    /// All steps in their order, each with whether it has happened.
    pub steps: Vec<(GoLiveStep, bool)>,
    /// The organizations that the person may read, to choose from.
    pub organizations: Vec<String>,
}

pub struct GoLiveService {
    pub(crate) base: Base,
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
        let (store, now) = (&self.base.store, self.base.now());
        let (done, organizations) = futures::try_join!(
            store.go_live_steps(scope.organizations.as_deref(), now),
            readable_organizations(store, viewer),
        )?;
        let steps = GoLiveStep::ALL.into_iter();
        Ok(GoLiveChecklist {
            steps: steps.map(|step| (step, done.contains(&step))).collect(),
            organizations,
        })
    }
}
