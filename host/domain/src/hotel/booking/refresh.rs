//! Merges what a supplier reports about a hotel booking into the stored booking.

use crate::booking::Notifications;
use crate::event::EventType;
use crate::hotel::booking::{CancelableState, HotelBooking, HotelCancellation};
use crate::hotel::supplier_api::HotelSupplierBooking;
use crate::id::{CancellationId, RefundId};
use crate::supplier::SupplierBookingStatus;
use crate::time::Timestamp;

/// Replaces the known value if the supplier reports one. Returns whether the value changed.
fn update_if_changed<T: Clone + PartialEq>(known: &mut Option<T>, reported: Option<&T>) -> bool {
    let is_changed = reported.is_some() && known.as_ref() != reported;
    if is_changed {
        *known = reported.cloned();
    }
    is_changed
}

impl HotelBooking {
    /// Merges the booking as the supplier reports it. Returns whether anything visible changed.
    pub(super) fn merge_supplier_booking(
        &mut self,
        supplier_booking: &HotelSupplierBooking,
    ) -> bool {
        let mut is_changed = update_if_changed(
            &mut self.supplier_reference,
            Some(&supplier_booking.supplier_reference),
        );
        is_changed |= update_if_changed(
            &mut self.details.hotel_confirmation_code,
            supplier_booking.hotel_confirmation_code.as_ref(),
        );
        is_changed |= update_if_changed(
            &mut self.details.hotel_remarks,
            supplier_booking.remarks.as_ref(),
        );
        let reported = supplier_booking.policy.clone();
        let policy = match &self.details.policy {
            // The same terms with other details are no change.
            Some(known) => reported
                .filter(|policy| !policy.has_terms_of(known))
                .map(|policy| policy.with_details_of(known)),
            None => reported,
        };
        is_changed |= update_if_changed(&mut self.details.policy, policy.as_ref());
        for known in &supplier_booking.rooms {
            if let Some(room) = self.details.rooms.get_mut(usize::from(known.position)) {
                is_changed |= update_if_changed(
                    &mut room.hotel_confirmation_code,
                    known.hotel_confirmation_code.as_ref(),
                );
                // API clients do not see this reference, so it does not count as a change.
                update_if_changed(
                    &mut room.supplier_reference,
                    known.supplier_room_reference.as_ref(),
                );
            }
        }
        is_changed
    }

    /// Applies the result of a refresh. Returns the state of the rooms that are
    /// still booked, or `None` if all are cancelled.
    pub(super) fn apply_refresh(
        &mut self,
        previous: CancelableState,
        supplier_booking: &HotelSupplierBooking,
        id: CancellationId,
        refund: RefundId,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<CancelableState> {
        let is_changed = self.merge_supplier_booking(supplier_booking);
        if is_changed && self.rooms_canceled_by_supplier(supplier_booking).is_empty() {
            notifications.push_booking_event(EventType::HotelBookingChanged);
        }
        self.cancel_reported_rooms(previous, supplier_booking, id, refund, now, notifications)
    }

    /// Cancels the rooms that are booked here but cancelled at the supplier, and starts their
    /// refund. Returns the state of the rooms that are still booked, or `None` if all are cancelled.
    pub(super) fn cancel_reported_rooms(
        &mut self,
        previous: CancelableState,
        supplier_booking: &HotelSupplierBooking,
        id: CancellationId,
        refund: RefundId,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<CancelableState> {
        let room_ids = self.rooms_canceled_by_supplier(supplier_booking);
        if room_ids.is_empty() {
            return Some(previous);
        }
        let is_partial = supplier_booking.status != SupplierBookingStatus::Canceled;
        self.details.cancellations.push(HotelCancellation {
            is_supplier_initiated: true,
            ..HotelCancellation::new(id.clone(), room_ids, is_partial, now)
        });
        self.complete_cancellation(&id, supplier_booking, refund, now, notifications)
    }
}
