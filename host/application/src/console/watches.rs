//! Watches of all users as people see them.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::storage_failure::StorageFailure;
use crate::watch::service::{WatchError, WatchService};
use host_domain::account::Permission;
use host_domain::console::watch::WatchScopeFilter;
use host_domain::id::WatchId;
use host_domain::money::Money;
use host_domain::time::Timestamp;
use host_domain::watch::{ObservedPrice, Watch, WatchTarget};
use host_storage::{ScheduledWatch, WatchDetails};
use std::sync::Arc;

/// A watch as a person sees it.
#[derive(Debug, Clone)]
pub struct WatchView {
    pub watch: Watch,
    /// `None` before the first check.
    pub last_observed: Option<ObservedPrice>,
    /// `None` if the watch can no longer change.
    pub next_check_at: Option<Timestamp>,
    /// The prices that differed from the previous one, oldest first.
    pub prices: Vec<ObservedPrice>,
    /// The name of the watched hotel, if it is known.
    pub hotel_name: Option<String>,
    /// Whether the person may cancel the watch, and it can be cancelled.
    pub can_cancel: bool,
}

/// The outcome of a request to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    Canceled,
    /// The watch has ended, or it is buying.
    NotCancelable,
}

/// Lists and cancels watches within the roles of a person.
pub struct ConsoleWatches {
    pub(crate) base: Base,
    pub(crate) watches: Arc<WatchService>,
}

impl ConsoleWatches {
    /// Returns a page of watches of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if the organization is somebody else's.
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<WatchScopeFilter>,
    ) -> Result<ConsoleList<WatchView>, ConsoleError> {
        let scope = viewer.scope(request.organization.as_deref())?;
        let (store, position) = (&self.base.store, request.page());
        let (page, organizations) = futures::try_join!(
            request.read_page(store.watch_page(&scope, &request.filter, &position)),
            readable_organizations(store, viewer),
        )?;
        let details = store.watch_details(scope.mode, &page.items).await?;
        Ok(ConsoleList {
            page: page.map(|watch| view(viewer, watch, &details)),
            organizations,
        })
    }

    /// Returns a watch of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`].
    pub async fn find(&self, viewer: &Viewer, id: &WatchId) -> Result<WatchView, ConsoleError> {
        let watch = self.read(viewer, id, Permission::Read).await?;
        let watches = [watch];
        let details = self.base.store.watch_details(viewer.mode, &watches);
        let details = details.await?;
        let [watch] = watches;
        Ok(view(viewer, watch, &details))
    }

    /// Ends a watch of the session's mode and revokes its mandate.
    ///
    /// # Errors
    /// [`ConsoleError::Access`].
    pub async fn cancel(
        &self,
        viewer: &Viewer,
        id: &WatchId,
    ) -> Result<CancelOutcome, ConsoleError> {
        self.read(viewer, id, Permission::ManageWatches).await?;
        match self.watches.cancel_unscoped(viewer.actor(), id).await {
            Ok(_) => Ok(CancelOutcome::Canceled),
            Err(WatchError::InvalidTransition(_)) => Ok(CancelOutcome::NotCancelable),
            Err(WatchError::NotFound) => Err(AccessError::NotFound.into()),
            Err(WatchError::Storage(error)) => Err(StorageFailure::from(error).into()),
            Err(error @ WatchError::TooManyConflicts) => {
                Err(StorageFailure::Unavailable(error.into()).into())
            }
            // Only other operations on watches fail in these ways.
            Err(
                error @ (WatchError::EventNotFound
                | WatchError::NoAutoBook
                | WatchError::Query(_)
                | WatchError::InstrumentNotFound
                | WatchError::Mandate(_)
                | WatchError::Idempotency(_)),
            ) => Err(StorageFailure::Internal(error.into()).into()),
        }
    }

    async fn read(
        &self,
        viewer: &Viewer,
        id: &WatchId,
        permission: Permission,
    ) -> Result<ScheduledWatch, ConsoleError> {
        let watch = self.base.store.scheduled_watch_unscoped(id).await?;
        let watch = watch.ok_or(AccessError::NotFound)?;
        viewer.require_on(permission, &watch.stored.watch.owner.tenant)?;
        Ok(watch)
    }
}

fn view(viewer: &Viewer, found: ScheduledWatch, details: &WatchDetails) -> WatchView {
    let price_check = found.stored.price_check_id();
    let watch = found.stored.watch;
    let currency = watch.query.stay.currency;
    let prices = details.prices.get(&price_check).into_iter().flatten();
    let prices = prices.map(|price| ObservedPrice {
        observed_at: price.observed_at,
        total: price.total_minor.map(|minor| Money::new(minor, currency)),
    });
    let hotel_name = match &watch.query.target {
        WatchTarget::Hotel { hotel_id } => details.hotel_names.get(hotel_id).cloned(),
        WatchTarget::Trip { .. } => None,
    };
    let tenant = &watch.owner.tenant;
    let may_cancel = viewer.require_on(Permission::ManageWatches, tenant).is_ok();
    WatchView {
        last_observed: found.stored.last_observed,
        next_check_at: found.next_check_at,
        prices: prices.collect(),
        hotel_name,
        can_cancel: may_cancel && watch.status().is_cancelable(),
        watch,
    }
}
