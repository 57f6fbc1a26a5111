//! Watches of all organizations, for people and operators.

use crate::context::RequestContext;
use crate::watch::service::{WatchError, WatchService};
use host_domain::audit::Actor;
use host_domain::console::TenantScope;
use host_domain::console::watch::WatchScopeFilter;
use host_domain::id::WatchId;
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::time::Timestamp;
use host_domain::watch::{ObservedPrice, Watch};
use host_storage::{DatabaseError, ScheduledWatch};

/// A watch with the last price and the time of the next check.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedWatch {
    pub watch: Watch,
    /// `None` before the first check.
    pub last_observed: Option<ObservedPrice>,
    /// `None` if the watch can no longer change.
    pub next_check_at: Option<Timestamp>,
}

impl From<ScheduledWatch> for ListedWatch {
    fn from(scheduled: ScheduledWatch) -> Self {
        Self {
            watch: scheduled.stored.watch,
            last_observed: scheduled.stored.last_observed,
            next_check_at: scheduled.next_check_at,
        }
    }
}

impl WatchService {
    /// Returns a page of the watches of a scope, newest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list_unscoped(
        &self,
        scope: &TenantScope,
        filter: &WatchScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<ListedWatch>, DatabaseError> {
        let found = self.base.store.watch_page(scope, filter, page).await?;
        Ok(found.map(ListedWatch::from))
    }

    /// Returns a watch of any owner.
    ///
    /// # Errors
    /// [`WatchError::NotFound`] or [`WatchError::Storage`].
    pub async fn find_unscoped(&self, id: &WatchId) -> Result<ListedWatch, WatchError> {
        let found = self.base.store.scheduled_watch_unscoped(id).await?;
        found.map(ListedWatch::from).ok_or(WatchError::NotFound)
    }

    /// Ends a watch of any owner, as [`WatchService::cancel`] does, and returns it.
    ///
    /// # Errors
    /// As of [`WatchService::cancel`].
    pub async fn cancel_unscoped(
        &self,
        actor: Actor,
        id: &WatchId,
    ) -> Result<ListedWatch, WatchError> {
        let owner = self.find_unscoped(id).await?.watch.owner;
        let context = RequestContext {
            owner: owner.clone(),
            ..RequestContext::for_change(actor, owner.tenant)
        };
        self.cancel(&context, id).await?;
        self.find_unscoped(id).await
    }
}
