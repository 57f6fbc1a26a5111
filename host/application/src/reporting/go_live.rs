//! The checklist of an integration before it goes live.

use crate::base::Base;
use host_domain::console::go_live::GoLiveStep;
use host_storage::DatabaseError;

/// A reader of the checklist of organizations.
pub struct GoLiveReader {
    pub(crate) base: Base,
}

impl GoLiveReader {
    /// Returns all steps in their order, each with whether it has happened in one of the
    /// organizations, in either mode. `None` means all organizations.
    ///
    /// # Errors
    /// The database failed.
    pub async fn read(
        &self,
        organizations: Option<&[String]>,
    ) -> Result<Vec<(GoLiveStep, bool)>, DatabaseError> {
        let (store, now) = (&self.base.store, self.base.now());
        let done = store.go_live_steps(organizations, now).await?;
        let steps = GoLiveStep::ALL.into_iter();
        Ok(steps.map(|step| (step, done.contains(&step))).collect())
    }
}
