//! Mandates of all users as people see them.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::console::viewer_context::viewer_context;
use crate::mandate::service::{MandateError, MandateService};
use crate::storage_failure::StorageFailure;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use host_domain::account::Permission;
use host_domain::console::watch::MandateScopeFilter;
use host_domain::id::MandateId;
use host_domain::mandate::{Mandate, MandateRejection, MandateState, MandateStatus};
use host_domain::money::{Currency, Money};
use host_domain::time::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// The purchase that used a mandate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MandateUse {
    pub amount: Money,
    /// Time of the use, to the second.
    pub at: Timestamp,
}

/// A mandate as a person sees it.
#[derive(Debug, Clone)]
pub struct MandateView {
    pub mandate: Mandate,
    pub status: MandateStatus,
    /// The purchase that used it, as it was signed.
    pub used: Option<MandateUse>,
    /// Whether the person may revoke the mandate, and it can be revoked.
    pub can_revoke: bool,
}

/// Result of a request to revoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevokeOutcome {
    Revoked,
    /// The mandate was used or has expired.
    NotRevocable(MandateRejection),
}

/// Lists and revokes mandates within the roles of a person.
pub struct ConsoleMandates {
    pub(crate) base: Base,
    pub(crate) mandates: Arc<MandateService>,
}

impl ConsoleMandates {
    /// Returns a page of mandates of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if the organization is somebody else's.
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<MandateScopeFilter>,
    ) -> Result<ConsoleList<MandateView>, ConsoleError> {
        let scope = viewer.scope(request.organization.as_deref())?;
        let (store, position) = (&self.base.store, request.page());
        let (page, organizations) = futures::try_join!(
            store.mandate_page(&scope, &request.filter, self.base.now(), &position),
            readable_organizations(store, viewer),
        )?;
        Ok(ConsoleList {
            page: page.map(|mandate| self.view(viewer, mandate)),
            organizations,
        })
    }

    /// Returns a mandate of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`].
    pub async fn find(&self, viewer: &Viewer, id: &MandateId) -> Result<MandateView, ConsoleError> {
        let mandate = self.read(viewer, id, Permission::Read).await?;
        Ok(self.view(viewer, mandate))
    }

    /// Revokes a mandate of the session's mode. Revoking it again changes nothing.
    ///
    /// # Errors
    /// [`ConsoleError::Access`].
    pub async fn revoke(
        &self,
        viewer: &Viewer,
        id: &MandateId,
    ) -> Result<RevokeOutcome, ConsoleError> {
        let mandate = self.read(viewer, id, Permission::ManageMandates).await?;
        let context = viewer_context(viewer, mandate.terms.owner.tenant);
        match self.mandates.revoke(&context, id, None).await {
            Ok(_) => Ok(RevokeOutcome::Revoked),
            Err(MandateError::Invalid(rejection)) => Ok(RevokeOutcome::NotRevocable(rejection)),
            Err(MandateError::NotFound) => Err(AccessError::NotFound.into()),
            Err(MandateError::Storage(error)) => Err(StorageFailure::from(error).into()),
            Err(error @ MandateError::TooManyConflicts) => {
                Err(StorageFailure::Unavailable(error.into()).into())
            }
            // Only other operations on mandates fail in these ways.
            Err(
                error @ (MandateError::OtherUser
                | MandateError::InstrumentNotFound
                | MandateError::Idempotency(_)
                | MandateError::SigningKey(_)
                | MandateError::Claims(_)),
            ) => Err(StorageFailure::Internal(error.into()).into()),
        }
    }

    async fn read(
        &self,
        viewer: &Viewer,
        id: &MandateId,
        permission: Permission,
    ) -> Result<Mandate, ConsoleError> {
        let mandate = self.base.store.any_mandate(id).await?;
        let mandate = mandate.ok_or(AccessError::NotFound)?;
        viewer.require_on(permission, &mandate.terms.owner.tenant)?;
        Ok(mandate)
    }

    fn view(&self, viewer: &Viewer, mandate: Mandate) -> MandateView {
        let status = mandate.status(self.base.now());
        let tenant = &mandate.terms.owner.tenant;
        let may_revoke = viewer
            .require_on(Permission::ManageMandates, tenant)
            .is_ok();
        let used = match &mandate.state {
            MandateState::Active | MandateState::Revoked => None,
            MandateState::Consumed { jws, .. } => read_use(jws),
        };
        MandateView {
            status,
            used,
            can_revoke: may_revoke && status == MandateStatus::Active,
            mandate,
        }
    }
}

/// Returns the use that a closed payment mandate states. Returns `None` if it cannot be read. The
/// signature is not checked: the caller shows what is stored.
fn read_use(jws: &str) -> Option<MandateUse> {
    let payload = URL_SAFE_NO_PAD.decode(jws.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    let amount = claims.get("payment_amount")?;
    let currency = Currency::parse(amount.get("currency")?.as_str()?).ok()?;
    Some(MandateUse {
        amount: Money::new(amount.get("amount")?.as_i64()?, currency),
        at: Timestamp(0).plus_s(claims.get("iat")?.as_i64()?),
    })
}
