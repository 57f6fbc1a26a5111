//! Cancellations of a hotel booking: the cancelled rooms, the fee, and the refund.

use crate::booking::{Notifications, PaymentCollector};
use crate::event::EventType;
use crate::hotel::booking::{BookedState, Booking, Cancellation, CancellationStatus, Room};
use crate::hotel::supplier_api::SupplierBooking;
use crate::id::{CancellationId, RefundId, RoomId};
use crate::money::Money;
use crate::supplier::SupplierBookingStatus;
use crate::time::Timestamp;

impl Cancellation {
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

impl Booking {
    /// Returns the rooms that are booked here but cancelled at the supplier.
    pub(super) fn rooms_canceled_by_supplier(&self, state: &SupplierBooking) -> Vec<RoomId> {
        let is_released = |position: usize| match state.status {
            SupplierBookingStatus::Canceled => true,
            SupplierBookingStatus::PartiallyCanceled => state
                .rooms
                .iter()
                .any(|room| usize::from(room.position) == position && room.canceled),
            SupplierBookingStatus::Confirmed
            | SupplierBookingStatus::Pending
            | SupplierBookingStatus::CancelPending
            | SupplierBookingStatus::Failed(_) => false,
        };
        let rooms = self.rooms.iter().enumerate();
        rooms
            .filter(|(position, room)| room.canceled_at.is_none() && is_released(*position))
            .map(|(_, room)| room.id.clone())
            .collect()
    }

    /// Completes a cancellation: cancels its rooms and starts the refund. Returns the new state if
    /// other rooms are still booked.
    pub(super) fn complete_cancellation(
        &mut self,
        id: &CancellationId,
        state: &SupplierBooking,
        refund: RefundId,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<BookedState> {
        let released = self.canceled_total(id);
        let (fee, back) = self.fee_and_refund(id, state, released, now);
        let room_ids = self
            .cancellations
            .iter()
            .find(|c| c.id == *id)
            .map(|c| c.room_ids.clone())
            .unwrap_or_default();
        for room in self
            .rooms
            .iter_mut()
            .filter(|room| room_ids.contains(&room.id))
        {
            room.canceled_at.get_or_insert(now);
        }
        let given_back = match self.payment_collector {
            PaymentCollector::Supplier => back,
            PaymentCollector::Gateway => self.start_refund(refund, back, now),
        };
        if let Some(cancellation) = self.cancellations.iter_mut().find(|c| c.id == *id) {
            cancellation.status = CancellationStatus::Succeeded;
            cancellation.fee = Some(fee);
            cancellation.refund_amount = Some(given_back);
            cancellation.supplier_reference = state
                .cancellation
                .as_ref()
                .and_then(|c| c.supplier_reference.clone());
            cancellation.completed_at = Some(now);
        }
        self.failure = None;
        if self.rooms.iter().all(|room| room.canceled_at.is_some()) {
            self.canceled_at = Some(now);
            told.push_booking_event(EventType::HotelBookingCanceled);
            None
        } else {
            told.push_booking_event(EventType::HotelBookingPartiallyCanceled);
            Some(BookedState::PartiallyCanceled)
        }
    }

    fn start_refund(&mut self, refund: RefundId, amount: Money, now: Timestamp) -> Money {
        let taken = self
            .payments
            .iter_mut()
            .rev()
            .find(|payment| payment.has_funds());
        taken.map_or(Money::zero(amount.currency), |payment| {
            payment.begin_refund(refund, amount, now)
        })
    }

    /// Returns the price of the rooms of a cancellation.
    fn canceled_total(&self, id: &CancellationId) -> Money {
        let Some(cancellation) = self.cancellations.iter().find(|c| c.id == *id) else {
            return Money::zero(self.total.currency);
        };
        let stays =
            |room: &&Room| room.canceled_at.is_none() && !cancellation.room_ids.contains(&room.id);
        let staying: i64 = self
            .rooms
            .iter()
            .filter(stays)
            .map(|room| room.total.minor)
            .sum();
        self.active_total()
            .less(Money::new(staying, self.total.currency))
    }

    /// Returns fee and refund. They come from the supplier if it reports a fee in the booking's
    /// currency, otherwise from the policy.
    fn fee_and_refund(
        &self,
        id: &CancellationId,
        state: &SupplierBooking,
        released: Money,
        now: Timestamp,
    ) -> (Money, Money) {
        if let Some(amounts) = &state.cancellation
            && amounts.fee.currency == released.currency
        {
            let fee = amounts.fee.at_most(released);
            return (fee, released.less(fee));
        }
        let cancellation = self.cancellations.iter().find(|c| c.id == *id);
        let fee = match cancellation {
            // The policy applies to guests who decide not to come. These rooms were cancelled by
            // the supplier.
            Some(c) if c.is_supplier_initiated => Money::zero(released.currency),
            Some(c) if c.is_partial => {
                let rooms = self
                    .rooms
                    .iter()
                    .filter(|room| c.room_ids.contains(&room.id));
                let fees = rooms.map(|room| {
                    room.policy
                        .as_ref()
                        .map_or(room.total, |p| p.fee_at(now, room.total))
                        .minor
                });
                Money::new(fees.sum(), released.currency).at_most(released)
            }
            _ => self
                .policy
                .as_ref()
                .map_or(released, |p| p.fee_at(now, released)),
        };
        (fee, released.less(fee))
    }
}
