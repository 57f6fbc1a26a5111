//! Cancellations of a hotel booking: the cancelled rooms, the fee, and the refund.

use crate::booking::{Failure, Notifications, PaymentCollector};
use crate::event::EventType;
use crate::hotel::booking::{
    CancelableState, CancellationStatus, HotelBookedState, HotelBooking, HotelCancellation, Room,
};
use crate::hotel::supplier_api::HotelSupplierBooking;
use crate::hotel::types::CancellationPolicy;
use crate::id::{CancellationId, RefundId, RoomId};
use crate::money::Money;
use crate::remote_call::RemoteCall;
use crate::supplier::SupplierBookingStatus;
use crate::time::Timestamp;

impl HotelCancellation {
    pub(super) fn new(
        id: CancellationId,
        room_ids: Vec<RoomId>,
        is_partial: bool,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            status: CancellationStatus::InProgress,
            room_ids,
            is_partial,
            is_supplier_initiated: false,
            fee: None,
            refund_amount: None,
            supplier_reference: None,
            created_at: now,
            completed_at: None,
            failure: None,
        }
    }
}

impl HotelBooking {
    /// Returns the rooms that are booked here but cancelled at the supplier.
    pub(super) fn rooms_canceled_by_supplier(
        &self,
        supplier_booking: &HotelSupplierBooking,
    ) -> Vec<RoomId> {
        let is_released = |position: usize| match supplier_booking.status {
            SupplierBookingStatus::Canceled => true,
            SupplierBookingStatus::PartiallyCanceled => supplier_booking
                .rooms
                .iter()
                .any(|room| usize::from(room.position) == position && room.canceled),
            SupplierBookingStatus::Confirmed
            | SupplierBookingStatus::Pending
            | SupplierBookingStatus::CancelPending
            | SupplierBookingStatus::Failed(_) => false,
        };
        let rooms = self.details.rooms.iter().enumerate();
        rooms
            .filter(|(position, room)| room.canceled_at.is_none() && is_released(*position))
            .map(|(_, room)| room.id.clone())
            .collect()
    }

    /// Starts a cancellation of the given rooms, or of all rooms that are booked. Returns `None` if
    /// one of the rooms is not booked.
    pub(super) fn begin_cancellation(
        &mut self,
        previous: CancelableState,
        id: CancellationId,
        room_ids: &[RoomId],
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<HotelBookedState> {
        let is_partial = !room_ids.is_empty();
        let rooms = self.details.rooms.iter();
        let requested: Vec<RoomId> = rooms
            .filter(|room| room.canceled_at.is_none())
            .filter(|room| !is_partial || room_ids.contains(&room.id))
            .map(|room| room.id.clone())
            .collect();
        let are_all_active = room_ids.iter().all(|id| requested.contains(id));
        if requested.is_empty() || !are_all_active {
            return None;
        }
        let cancellation = HotelCancellation::new(id.clone(), requested, is_partial, now);
        self.details.cancellations.push(cancellation);
        self.failure = None;
        notifications.push_booking_event(EventType::HotelBookingCancellationStarted);
        Some(HotelBookedState::CancelInProgress {
            previous,
            cancellation: id,
            cancel: RemoteCall::pending(now),
        })
    }

    /// Ends a cancellation that left the rooms booked.
    pub(super) fn end_cancellation_without_effect(
        &mut self,
        previous: CancelableState,
        id: &CancellationId,
        status: CancellationStatus,
        failure: Failure,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> HotelBookedState {
        if let Some(cancellation) = self.details.cancellations.iter_mut().find(|c| c.id == *id) {
            cancellation.status = status;
            cancellation.completed_at = Some(now);
            cancellation.failure = Some(failure.clone());
        }
        self.failure = Some(failure);
        notifications.push_booking_event(EventType::HotelBookingCancellationRefused);
        previous.into_state(None)
    }

    /// Completes a cancellation: cancels its rooms and starts the refund. Returns the new state if
    /// other rooms are still booked.
    pub(super) fn complete_cancellation(
        &mut self,
        id: &CancellationId,
        supplier_booking: &HotelSupplierBooking,
        refund: RefundId,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<CancelableState> {
        let released = self.canceled_total(id);
        let (fee, back) = self.fee_and_refund(id, supplier_booking, released, now);
        let given_back = match self.payment_collector {
            PaymentCollector::Supplier => back,
            PaymentCollector::Gateway => self.start_refund(refund, back, now),
        };
        let details = &mut self.details;
        if let Some(cancellation) = details.cancellations.iter_mut().find(|c| c.id == *id) {
            let amounts = supplier_booking.cancellation.as_ref();
            cancellation.status = CancellationStatus::Succeeded;
            cancellation.fee = Some(fee);
            cancellation.refund_amount = Some(given_back);
            cancellation.supplier_reference = amounts.and_then(|c| c.supplier_reference.clone());
            cancellation.completed_at = Some(now);
            for room in &mut details.rooms {
                if cancellation.room_ids.contains(&room.id) {
                    room.canceled_at.get_or_insert(now);
                }
            }
        }
        self.failure = None;
        let mut rooms = self.details.rooms.iter();
        if rooms.all(|room| room.canceled_at.is_some()) {
            self.canceled_at = Some(now);
            notifications.push_booking_event(EventType::HotelBookingCanceled);
            None
        } else {
            notifications.push_booking_event(EventType::HotelBookingPartiallyCanceled);
            Some(CancelableState::PartiallyCanceled)
        }
    }

    fn start_refund(&mut self, refund: RefundId, amount: Money, now: Timestamp) -> Money {
        let mut newest_first = self.payments.iter_mut().rev();
        let paid = newest_first.find(|payment| payment.has_funds());
        paid.map_or(Money::zero(amount.currency), |payment| {
            payment.begin_refund(refund, amount, now)
        })
    }

    /// Returns the price of the rooms of a cancellation.
    fn canceled_total(&self, id: &CancellationId) -> Money {
        let currency = self.details.total.currency;
        let Some(cancellation) = self.details.cancellation(id) else {
            return Money::zero(currency);
        };
        let stays =
            |room: &&Room| room.canceled_at.is_none() && !cancellation.room_ids.contains(&room.id);
        let staying = self.details.rooms.iter().filter(stays);
        let staying = staying.map(|room| room.total.minor).sum();
        self.active_total().less(Money::new(staying, currency))
    }

    /// Returns fee and refund. They come from the supplier if it reports a fee in the booking's
    /// currency, otherwise from the policy.
    fn fee_and_refund(
        &self,
        id: &CancellationId,
        supplier_booking: &HotelSupplierBooking,
        released: Money,
        now: Timestamp,
    ) -> (Money, Money) {
        if let Some(amounts) = &supplier_booking.cancellation
            && amounts.fee.currency == released.currency
        {
            let fee = amounts.fee.at_most(released);
            return (fee, released.less(fee));
        }
        let fee = |policy: Option<&CancellationPolicy>, price| {
            policy.map_or(price, |policy| policy.fee_at(now, price))
        };
        let details = &self.details;
        let fee = match details.cancellation(id) {
            // The policy applies to guests who decide not to come. These rooms were cancelled by
            // the supplier.
            Some(c) if c.is_supplier_initiated => Money::zero(released.currency),
            Some(c) if c.is_partial => {
                let rooms = details.rooms.iter();
                let rooms = rooms.filter(|room| c.room_ids.contains(&room.id));
                let fees = rooms.map(|room| fee(room.policy.as_ref(), room.total).minor);
                Money::new(fees.sum(), released.currency).at_most(released)
            }
            _ => fee(details.policy.as_ref(), released),
        };
        (fee, released.less(fee))
    }
}
