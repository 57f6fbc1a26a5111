//! Mandates of all users as people see them.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::mandate::claims::{MandateUse, read_use};
use crate::mandate::service::{MandateError, MandateService};
use crate::storage_failure::StorageFailure;
use host_domain::account::Permission;
use host_domain::console::AnyBooking;
use host_domain::console::watch::MandateScopeFilter;
use host_domain::id::{BookingId, MandateId};
use host_domain::mandate::{Mandate, MandateRejection, MandateState, MandateStatus};
use host_domain::payment::{Payment, PaymentState};
use std::sync::Arc;

/// A mandate as a person sees it.
#[derive(Debug, Clone)]
pub struct MandateView {
    pub mandate: Mandate,
    pub status: MandateStatus,
    /// The purchase that used it, as it was signed.
    pub used: Option<MandateUse>,
    /// Whether the amount of the purchase is free again: the payment failed or was voided, and the
    /// booking makes no other payment. The mandate remains used, because it permits one purchase.
    pub is_released: bool,
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
            request.read_page(store.mandate_page(
                &scope,
                &request.filter,
                self.base.now(),
                &position
            )),
            readable_organizations(store, viewer),
        )?;
        let bookings: Vec<_> = page.items.iter().filter_map(consumer).collect();
        let bookings = store.bookings_of_either_kind_unscoped(&bookings).await?;
        Ok(ConsoleList {
            page: page.map(|mandate| self.view(viewer, mandate, &bookings)),
            organizations,
        })
    }

    /// Returns a mandate of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`].
    pub async fn find(&self, viewer: &Viewer, id: &MandateId) -> Result<MandateView, ConsoleError> {
        let mandate = self.read(viewer, id, Permission::Read).await?;
        let bookings: Vec<_> = consumer(&mandate).into_iter().collect();
        let bookings = self
            .base
            .store
            .bookings_of_either_kind_unscoped(&bookings)
            .await?;
        Ok(self.view(viewer, mandate, &bookings))
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
        self.read(viewer, id, Permission::ManageMandates).await?;
        match self.mandates.revoke_unscoped(viewer.actor(), id).await {
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
        let mandate = self.base.store.mandate_unscoped(id).await?;
        let mandate = mandate.ok_or(AccessError::NotFound)?;
        viewer.require_on(permission, &mandate.terms.owner.tenant)?;
        Ok(mandate)
    }

    /// Returns a mandate as the person sees it. `bookings` contains the one that used it.
    fn view(&self, viewer: &Viewer, mandate: Mandate, bookings: &[AnyBooking]) -> MandateView {
        let status = mandate.status(self.base.now());
        let tenant = &mandate.terms.owner.tenant;
        let may_revoke = viewer
            .require_on(Permission::ManageMandates, tenant)
            .is_ok();
        let used = match &mandate.state {
            MandateState::Active | MandateState::Revoked => None,
            MandateState::Consumed { jws, .. } => read_use(jws),
        };
        let booking = consumer(&mandate);
        let booking = booking.and_then(|id| bookings.iter().find(|booking| booking.id() == id));
        MandateView {
            is_released: booking.is_some_and(|booking| is_released(booking.payments())),
            status,
            used,
            can_revoke: may_revoke && status == MandateStatus::Active,
            mandate,
        }
    }
}

/// Returns the booking that used a mandate.
const fn consumer(mandate: &Mandate) -> Option<&BookingId> {
    match &mandate.state {
        MandateState::Active | MandateState::Revoked => None,
        MandateState::Consumed { booking, .. } => Some(booking),
    }
}

/// Returns whether payments have ended without an amount that is held or taken.
fn is_released(payments: &[Payment]) -> bool {
    let has_ended =
        |payment: &Payment| matches!(payment.state, PaymentState::Failed | PaymentState::Voided);
    !payments.is_empty() && payments.iter().all(has_ended)
}
