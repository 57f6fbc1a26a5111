//! Bookings as people look for them and follow them.

use crate::account::viewer::Viewer;
use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::booking::reader::read_timeline;
use crate::console::access::AccessError;
use crate::console::booking_people::BookingPeople;
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::console::visible_actors::VisibleActors;
use crate::storage_failure::StorageFailure;
use crate::supplier::directory::SupplierDirectory;
use host_domain::account::Permission;
use host_domain::audit::AuditAction;
use host_domain::console::AnyBooking;
use host_domain::console::booking::{BookingScopeFilter, TimelineContent, TimelineEntry};
use host_domain::id::BookingId;
use host_domain::supplier::SupplierId;
use std::sync::Arc;

/// A page of bookings.
#[derive(Debug, Clone)]
pub struct BookingList {
    pub list: ConsoleList<AnyBooking>,
    /// The suppliers of the session's mode, to choose from.
    pub suppliers: Vec<SupplierId>,
}

/// A booking with all that happened to it.
#[derive(Debug, Clone)]
pub struct BookingDetails {
    pub booking: AnyBooking,
    pub people: BookingPeople,
    /// Oldest first, at most [`TIMELINE_MAX`](crate::booking::reader::TIMELINE_MAX).
    pub timeline: Vec<TimelineEntry>,
    /// Whether the person may read the personal data.
    pub can_reveal: bool,
}

/// Lists bookings and shows one, within the roles of a person.
pub struct ConsoleBookings {
    pub(crate) base: Base,
    pub(crate) suppliers: Arc<SupplierDirectory>,
}

impl ConsoleBookings {
    /// Returns a page of bookings of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if the organization is somebody else's.
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<BookingScopeFilter>,
    ) -> Result<BookingList, ConsoleError> {
        let scope = viewer.scope(request.organization.as_deref())?;
        let (store, position) = (&self.base.store, request.page());
        let (page, organizations) = futures::try_join!(
            request.read_page(store.booking_page(&scope, &request.filter, &position)),
            readable_organizations(store, viewer),
        )?;
        let suppliers = self.suppliers.list(viewer.mode).into_iter();
        Ok(BookingList {
            list: ConsoleList {
                page,
                organizations,
            },
            suppliers: suppliers.map(|supplier| supplier.id).collect(),
        })
    }

    /// Returns a booking of the session's mode, with masked personal data.
    ///
    /// # Errors
    /// [`ConsoleError::Access`].
    pub async fn find(
        &self,
        viewer: &Viewer,
        id: &BookingId,
    ) -> Result<BookingDetails, ConsoleError> {
        let booking = self.read(viewer, id).await?;
        let people = BookingPeople::masked(&booking);
        self.details(viewer, id, booking, people).await
    }

    /// Returns a booking of the session's mode with its personal data, and records that the person
    /// has read them.
    ///
    /// # Errors
    /// [`ConsoleError::Access`].
    pub async fn reveal(
        &self,
        viewer: &Viewer,
        id: &BookingId,
    ) -> Result<BookingDetails, ConsoleError> {
        let booking = self.read(viewer, id).await?;
        let tenant = &booking.owner().tenant;
        viewer.require_on(Permission::RevealPersonalData, tenant)?;
        let mut write = self.base.unit_of_work();
        let change = AuditChange::new(AuditAction::BookingRevealed, id.as_str()).of_tenant(tenant);
        audit_in(&mut write, &self.base, &viewer.actor(), change);
        let recorded = self.base.store.commit(write).await;
        recorded.map_err(StorageFailure::from)?;
        let people = BookingPeople::revealed(&booking);
        self.details(viewer, id, booking, people).await
    }

    async fn read(&self, viewer: &Viewer, id: &BookingId) -> Result<AnyBooking, ConsoleError> {
        let booking = self.base.store.booking_of_either_kind_unscoped(id).await?;
        let booking = booking.ok_or(AccessError::NotFound)?;
        viewer.require_on(Permission::Read, &booking.owner().tenant)?;
        Ok(booking)
    }

    async fn details(
        &self,
        viewer: &Viewer,
        id: &BookingId,
        booking: AnyBooking,
        people: BookingPeople,
    ) -> Result<BookingDetails, ConsoleError> {
        let tenant = &booking.owner().tenant;
        let mut timeline = read_timeline(&self.base, tenant, id).await?;
        let actors = timeline.iter().filter_map(|entry| {
            let TimelineContent::Action { actor, .. } = &entry.content else {
                return None;
            };
            Some(actor.as_str())
        });
        let visible = VisibleActors::among(&self.base.store, viewer, actors).await?;
        for entry in &mut timeline {
            if let TimelineContent::Action { actor, .. } = &mut entry.content {
                visible.mask_name(actor);
            }
        }
        let reveal = Permission::RevealPersonalData;
        Ok(BookingDetails {
            timeline,
            can_reveal: viewer.require_on(reveal, tenant).is_ok(),
            booking,
            people,
        })
    }
}
