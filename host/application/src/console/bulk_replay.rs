//! Replays of all deliveries that match a filter, as people begin and stop them.

use crate::account::viewer::Viewer;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::webhook::bulk_replay::{BulkReplayError, BulkReplayService};
use host_domain::account::Permission;
use host_domain::console::TenantScope;
use host_domain::id::BulkReplayId;
use host_domain::webhook::BulkReplay;
use host_domain::webhook::list::DeliveryScopeFilter;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum ConsoleBulkReplayError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    BulkReplay(#[from] BulkReplayError),
}

/// Begins, shows and stops bulk replays within the roles of a person.
pub struct ConsoleBulkReplays {
    pub(crate) bulk_replays: Arc<BulkReplayService>,
}

impl ConsoleBulkReplays {
    /// Begins to replay the deliveries that match now, in one organization or in all in which the
    /// person may do so.
    ///
    /// # Errors
    /// [`ConsoleBulkReplayError`].
    pub async fn begin(
        &self,
        viewer: &Viewer,
        organization: Option<&str>,
        filter: DeliveryScopeFilter,
    ) -> Result<BulkReplayId, ConsoleBulkReplayError> {
        let scope = replay_scope(viewer, organization)?;
        let (actor, account) = (viewer.actor(), Some(&viewer.account));
        let begun = self.bulk_replays.begin(&actor, account, scope, filter);
        Ok(begun.await?.id)
    }

    /// Checks whether the person may begin a bulk replay, before the values of its filter are judged.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn check_permitted(
        &self,
        viewer: &Viewer,
        organization: Option<&str>,
    ) -> Result<(), AccessError> {
        replay_scope(viewer, organization).map(|_| ())
    }

    /// Returns the person's latest bulk replay of the session's mode, if it runs or has ended
    /// within the last hour.
    ///
    /// # Errors
    /// The database failed.
    pub async fn latest(&self, viewer: &Viewer) -> Result<Option<BulkReplay>, ConsoleError> {
        let latest = self.bulk_replays.latest(&viewer.account, viewer.mode);
        Ok(latest.await?)
    }

    /// Stops a bulk replay of the person. Deliveries that are replayed already are sent. One that
    /// has ended stays as it is.
    ///
    /// # Errors
    /// [`AccessError::NotFound`] if it is somebody else's.
    pub async fn stop(
        &self,
        viewer: &Viewer,
        id: &BulkReplayId,
    ) -> Result<(), ConsoleBulkReplayError> {
        let bulk_replay = self.bulk_replays.find(id).await?;
        if bulk_replay.account.as_ref() != Some(&viewer.account) {
            return Err(AccessError::NotFound.into());
        }
        if bulk_replay.mode != viewer.mode {
            return Err(AccessError::OtherMode(bulk_replay.mode).into());
        }
        self.bulk_replays.stop(&viewer.actor(), id).await?;
        Ok(())
    }
}

/// Returns the organizations in which the person may replay deliveries.
fn replay_scope(viewer: &Viewer, organization: Option<&str>) -> Result<TenantScope, AccessError> {
    let permission = Permission::ReplayDeliveries;
    let organizations = match organization {
        Some(organization) => {
            viewer.require(permission, organization)?;
            Some(vec![organization.to_owned()])
        }
        None => viewer.organizations_with(permission),
    };
    if organizations.as_ref().is_some_and(Vec::is_empty) {
        return Err(AccessError::Forbidden);
    }
    Ok(TenantScope {
        organizations,
        mode: viewer.mode,
    })
}
