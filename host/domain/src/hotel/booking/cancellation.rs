//! Cancellations of a hotel booking: the cancelled rooms, the fee, and the refund.

use crate::booking::{Failure, Notifications, PaymentCollector};
use crate::event::EventType;
use crate::hotel::booking::{
    CancelableState, CancellationStatus, HotelBookedState, HotelBooking, HotelCancellation,
};
use crate::hotel::supplier_api::{HotelCancellationAmounts, HotelSupplierBooking};
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
        // The supplier may have refused because it cancelled rooms itself. This also replaces a
        // refresh that the cancellation displaced.
        previous.into_state(Some(RemoteCall::for_refresh(now)))
    }

    /// Completes a cancellation: cancels its rooms and starts the refund. Rooms that the supplier
    /// cancelled beyond the request are cancelled with them. Returns the new state if other rooms
    /// are still booked.
    ///
    /// If fee and refund are undecided, no money moves until an operator sets the refund.
    pub(super) fn complete_cancellation(
        &mut self,
        id: &CancellationId,
        supplier_booking: &HotelSupplierBooking,
        refund: RefundId,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<CancelableState> {
        let reported_rooms = self.rooms_canceled_by_supplier(supplier_booking);
        let amounts = self.decide_amounts(id, &reported_rooms, supplier_booking);
        let amounts = amounts.map(|(fee, back)| (fee, self.start_refund(refund, back, now)));
        let details = &mut self.details;
        let mut cancellations = details.cancellations.iter_mut();
        if let Some(cancellation) = cancellations.find(|c| c.id == *id) {
            let stated = supplier_booking.cancellation.as_ref();
            cancellation.status = CancellationStatus::Succeeded;
            cancellation.fee = amounts.map(|(fee, _)| fee);
            cancellation.refund_amount = amounts.map(|(_, refunded)| refunded);
            cancellation.supplier_reference = stated.and_then(|c| c.supplier_reference.clone());
            cancellation.completed_at = Some(now);
            for room in &mut details.rooms {
                let is_requested = cancellation.room_ids.contains(&room.id);
                if !is_requested && reported_rooms.contains(&room.id) {
                    cancellation.room_ids.push(room.id.clone());
                }
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

    /// Applies an operator's refund amount to a completed cancellation whose refund is undecided.
    /// Returns `None` if there is no such cancellation, the currency differs, or the amount is not
    /// between 0 and the price of the cancelled rooms.
    pub(super) fn decide_refund(
        &mut self,
        id: &CancellationId,
        amount: Money,
        refund: RefundId,
        now: Timestamp,
    ) -> Option<()> {
        let cancellation = self.details.cancellation(id)?;
        let price = self.price_of(|room| cancellation.room_ids.contains(&room.id));
        let fits = amount.currency == price.currency && (0..=price.minor).contains(&amount.minor);
        if !cancellation.is_refund_undecided() || !fits {
            return None;
        }
        let refunded = self.start_refund(refund, amount, now);
        let mut cancellations = self.details.cancellations.iter_mut();
        let cancellation = cancellations.find(|c| c.id == *id)?;
        cancellation.fee = Some(price.less(amount));
        cancellation.refund_amount = Some(refunded);
        Some(())
    }

    /// Starts the refund of money that the gateway collected. Returns the amount that the payer gets
    /// back.
    fn start_refund(&mut self, refund: RefundId, amount: Money, now: Timestamp) -> Money {
        match self.payment_collector {
            PaymentCollector::Supplier => amount,
            PaymentCollector::Gateway => {
                let mut newest_first = self.payments.iter_mut().rev();
                let paid = newest_first.find(|payment| payment.has_funds());
                paid.map_or(Money::zero(amount.currency), |payment| {
                    payment.begin_refund(refund, amount, now)
                })
            }
        }
    }

    /// Returns fee and refund of a cancellation, or `None` if they are undecided. They follow the
    /// amounts that the supplier states. If it states none, they follow the policy at the time of
    /// the request.
    fn decide_amounts(
        &self,
        id: &CancellationId,
        reported_rooms: &[RoomId],
        supplier_booking: &HotelSupplierBooking,
    ) -> Option<(Money, Money)> {
        let cancellation = self.details.cancellation(id)?;
        let requested = &cancellation.room_ids;
        let price =
            self.price_of(|room| requested.contains(&room.id) || reported_rooms.contains(&room.id));
        let fee = match &supplier_booking.cancellation {
            Some(stated) => self.stated_fee(stated, price)?,
            None if supplier_booking.has_unreadable_amounts => return None,
            // A cancellation that was requested and reported as refused may have taken effect
            // late. An operator decides whether the supplier keeps a fee for it.
            None if cancellation.is_supplier_initiated && self.was_requested(requested) => {
                return None;
            }
            // The policy applies to guests who decide not to come. These rooms were cancelled by
            // the supplier.
            None if cancellation.is_supplier_initiated => Money::zero(price.currency),
            None => self.fee_of(
                |room| requested.contains(&room.id),
                self.details.policy.as_ref(),
                cancellation.created_at,
            )?,
        };
        Some((fee, price.less(fee)))
    }

    /// Returns whether the client once requested in vain to cancel one of these rooms.
    fn was_requested(&self, rooms: &[RoomId]) -> bool {
        let mut cancellations = self.details.cancellations.iter();
        cancellations.any(|cancellation| match cancellation.status {
            CancellationStatus::Refused | CancellationStatus::Failed => {
                let mut room_ids = cancellation.room_ids.iter();
                !cancellation.is_supplier_initiated && room_ids.any(|room| rooms.contains(room))
            }
            CancellationStatus::InProgress | CancellationStatus::Succeeded => false,
        })
    }

    /// Returns the fee of a cancellation of rooms that cost `price`, from the amounts that the
    /// supplier states for all cancelled rooms of the booking. Returns `None` if these amounts
    /// disagree with what was paid for the rooms, or with the earlier cancellations.
    fn stated_fee(&self, stated: &HotelCancellationAmounts, price: Money) -> Option<Money> {
        let mut earlier_fees = Money::zero(price.currency);
        for cancellation in &self.details.cancellations {
            if cancellation.status == CancellationStatus::Succeeded {
                earlier_fees = earlier_fees.plus(cancellation.fee?).ok()?;
            }
        }
        let paid = self.price_of(|room| room.canceled_at.is_some());
        let paid = paid.plus(price).ok()?;
        if let Some(refund) = stated.refund
            && stated.fee.plus(refund) != Ok(paid)
        {
            return None;
        }
        let is_same_currency = stated.fee.currency == price.currency;
        let fee = stated.fee.minor.checked_sub(earlier_fees.minor)?;
        let fits = is_same_currency && (0..=price.minor).contains(&fee);
        fits.then_some(Money::new(fee, price.currency))
    }
}
