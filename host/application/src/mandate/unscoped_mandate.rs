//! Mandates of all organizations, for people and operators.

use crate::context::RequestContext;
use crate::mandate::service::{MandateError, MandateService};
use host_domain::audit::Actor;
use host_domain::console::TenantScope;
use host_domain::console::watch::MandateScopeFilter;
use host_domain::id::MandateId;
use host_domain::mandate::Mandate;
use host_domain::page::{CursorPage, CursorRequest};
use host_storage::DatabaseError;

impl MandateService {
    /// Returns a page of the mandates of a scope, newest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list_unscoped(
        &self,
        scope: &TenantScope,
        filter: &MandateScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<Mandate>, DatabaseError> {
        let (store, now) = (&self.base.store, self.base.now());
        store.mandate_page(scope, filter, now, page).await
    }

    /// Returns a mandate of any owner.
    ///
    /// # Errors
    /// [`MandateError::NotFound`] or [`MandateError::Storage`].
    pub async fn find_unscoped(&self, id: &MandateId) -> Result<Mandate, MandateError> {
        let found = self.base.store.mandate_unscoped(id).await?;
        found.ok_or(MandateError::NotFound)
    }

    /// Revokes a mandate of any owner, as [`MandateService::revoke`] does.
    ///
    /// # Errors
    /// As of [`MandateService::revoke`].
    pub async fn revoke_unscoped(
        &self,
        actor: Actor,
        id: &MandateId,
    ) -> Result<Mandate, MandateError> {
        let tenant = self.find_unscoped(id).await?.terms.owner.tenant;
        let context = RequestContext::for_change(actor, tenant);
        self.revoke(&context, id, None).await
    }
}
