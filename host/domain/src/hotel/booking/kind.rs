//! The rules of the life cycle that only hotel bookings have.

use crate::booking::{
    BookedCall, BookingEvent, BookingKind, BookingStatus, ChangeSource, LifecycleEventTypes, Named,
    Notifications, ReportedBooking, advance_cancel_call, schedule_refresh,
};
use crate::event::{EventType, Product};
use crate::hotel::booking::{
    CancelableState, CancellationStatus, HotelBookedState, HotelBooking, HotelBookingDetails,
    HotelEvent,
};
use crate::hotel::supplier_api::{HotelPrebookResponse, HotelSupplierBooking};
use crate::hotel::types::{HotelSummary, RoomRate};
use crate::id::{CancellationId, PaymentId, RefundId};
use crate::money::Money;
use crate::remote_call::RemoteCall;
use crate::supplier::SupplierBookingStatus;
use crate::time::Timestamp;

/// A step that only hotel bookings have. There is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HotelStep {}

impl Named for HotelStep {
    fn name(&self) -> &'static str {
        match *self {}
    }
}

impl ReportedBooking for HotelSupplierBooking {
    fn status(&self) -> &SupplierBookingStatus {
        &self.status
    }

    fn supplier_reference(&self) -> &str {
        &self.supplier_reference
    }

    fn total(&self) -> Money {
        self.total
    }

    fn stated_cancellation_amounts(&self) -> Option<(Money, Option<Money>)> {
        let amounts = self.cancellation.as_ref()?;
        Some((amounts.fee, amounts.refund))
    }

    fn has_unreadable_amounts(&self) -> bool {
        self.has_unreadable_amounts
    }
}

impl BookingKind for HotelBookingDetails {
    const PRODUCT: Product = Product::Hotel;
    const EVENT_TYPES: LifecycleEventTypes = LifecycleEventTypes {
        created: EventType::HotelBookingCreated,
        failed: EventType::HotelBookingFailed,
        expired: EventType::HotelBookingExpired,
    };

    type BookedState = HotelBookedState;
    type PrebookResponse = HotelPrebookResponse;
    type SupplierBooking = HotelSupplierBooking;
    type Event = HotelEvent;
    type Step = HotelStep;

    fn booked_price(&self) -> Money {
        self.total
    }

    fn personal_texts(&self) -> Vec<&str> {
        let contact = &self.contact;
        let guests = self.rooms.iter().flat_map(|room| &room.guests);
        let names = guests.flat_map(|(_, guest)| [&guest.first_name, &guest.last_name]);
        let contact = [
            &contact.first_name,
            &contact.last_name,
            &contact.email,
            &contact.phone,
        ];
        contact
            .into_iter()
            .chain(names)
            .map(String::as_str)
            .collect()
    }

    fn apply_prebook(booking: &mut HotelBooking, prebook: HotelPrebookResponse) {
        let details = &mut booking.details;
        for (room, rate) in details.rooms.iter_mut().zip(prebook.rooms) {
            // Names every field, so that the compiler reports a new one.
            let RoomRate {
                name,
                board,
                board_name,
                total,
                due_at_property,
                policy,
                details,
            } = rate;
            if !name.is_empty() {
                room.name = name;
            }
            (room.board, room.board_name) = (board, board_name);
            (room.total, room.due_at_property) = (total, due_at_property);
            (room.policy, room.details) = (Some(policy), details);
        }
        details.hotel = with_known_summary(prebook.hotel, &details.hotel);
        details.total = prebook.total;
        details.policy = Some(prebook.policy);
        // Some suppliers state these only with the offer.
        if !prebook.promotions.is_empty() {
            details.promotions = prebook.promotions;
        }
        details.loyalty = prebook.loyalty.or(details.loyalty.take());
        booking.supplier_prebook = Some(prebook.supplier_prebook);
    }

    fn confirm(
        booking: &mut HotelBooking,
        supplier_booking: &HotelSupplierBooking,
        _payment: PaymentId,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> HotelBookedState {
        booking.merge_supplier_booking(supplier_booking);
        booking.capture_payments(now);
        notifications.push_booking_event(EventType::HotelBookingConfirmed);
        // The supplier may have cancelled rooms before the confirmation was read. A later read may
        // meet an outdated copy of its data, which does not show that.
        let cancellation = CancellationId::of(booking.id.as_str(), 1);
        let refund = RefundId::of(booking.id.as_str(), 1);
        let active = booking.cancel_reported_rooms(
            CancelableState::Confirmed,
            supplier_booking,
            cancellation,
            refund,
            now,
            notifications,
        );
        let is_unclear = supplier_booking.contradicts_itself();
        HotelBookedState::new(active, is_unclear.then(|| RemoteCall::for_refresh(now)))
    }

    fn apply_booked(
        booking: &mut HotelBooking,
        state: HotelBookedState,
        event: BookingEvent<Self>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<HotelBookedState> {
        if let BookingEvent::Kind(HotelEvent::RefundDecided {
            cancellation,
            amount,
            refund,
        }) = event
        {
            booking.decide_refund(&cancellation, amount, refund, now)?;
            return Some(state);
        }
        let (active, refresh) = match state {
            HotelBookedState::Confirmed { refresh } => (CancelableState::Confirmed, refresh),
            HotelBookedState::PartiallyCanceled { refresh } => {
                (CancelableState::PartiallyCanceled, refresh)
            }
            HotelBookedState::CancelInProgress {
                previous,
                cancellation: id,
                cancel,
            } => {
                return booking.transition_cancellation(
                    previous,
                    id,
                    cancel,
                    event,
                    now,
                    notifications,
                );
            }
            HotelBookedState::Canceled => return None,
        };
        booking.transition_active(active, refresh, event, now, notifications)
    }

    fn on_change_reported(
        _booking: &mut HotelBooking,
        state: &mut HotelBookedState,
        source: ChangeSource,
        now: Timestamp,
    ) -> bool {
        match state {
            HotelBookedState::CancelInProgress { cancel, .. } => cancel.expedite_reconcile(now),
            HotelBookedState::Confirmed { refresh }
            | HotelBookedState::PartiallyCanceled { refresh } => {
                schedule_refresh(refresh, source, now)
            }
            HotelBookedState::Canceled => false,
        }
    }

    fn booked_status(state: &HotelBookedState) -> BookingStatus {
        match state {
            HotelBookedState::Confirmed { .. } => BookingStatus::Confirmed,
            HotelBookedState::CancelInProgress { .. } => BookingStatus::CancelInProgress,
            HotelBookedState::PartiallyCanceled { .. } => BookingStatus::PartiallyCanceled,
            HotelBookedState::Canceled => BookingStatus::Canceled,
        }
    }

    fn booked_call(state: &HotelBookedState) -> Option<BookedCall<'_>> {
        match state {
            HotelBookedState::Confirmed { refresh }
            | HotelBookedState::PartiallyCanceled { refresh } => {
                refresh.as_ref().map(BookedCall::Refresh)
            }
            HotelBookedState::CancelInProgress { cancel, .. } => Some(BookedCall::Cancel(cancel)),
            HotelBookedState::Canceled => None,
        }
    }
}

/// Adds what is known of the hotel and not stated again. A supplier may fail to read the content of
/// a hotel, and then state its id as the name.
fn with_known_summary(stated: HotelSummary, known: &HotelSummary) -> HotelSummary {
    if stated.supplier_hotel_id != known.supplier_hotel_id {
        return stated;
    }
    let has_name = !stated.name.is_empty() && stated.name != stated.supplier_hotel_id;
    let or_known = |stated: String, known: &String, is_stated| match is_stated {
        true => stated,
        false => known.clone(),
    };
    let has_address = !stated.address.is_empty();
    HotelSummary {
        supplier_hotel_id: stated.supplier_hotel_id,
        name: or_known(stated.name, &known.name, has_name),
        address: or_known(stated.address, &known.address, has_address),
        location: stated.location.or(known.location),
        time_zone: stated.time_zone.or_else(|| known.time_zone.clone()),
    }
}

impl HotelBooking {
    /// Applies an event to a booking of which at least one room is booked.
    fn transition_active(
        &mut self,
        state: CancelableState,
        refresh: Option<RemoteCall>,
        event: BookingEvent<HotelBookingDetails>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<HotelBookedState> {
        match (refresh, event) {
            (_, BookingEvent::Kind(HotelEvent::CancelStarted { id, room_ids })) => {
                self.begin_cancellation(state, id, &room_ids, now, notifications)
            }
            (refresh, BookingEvent::Kind(HotelEvent::PolicyRead(policy))) => {
                self.details.policy = Some(policy);
                notifications.push_booking_event(EventType::HotelBookingChanged);
                Some(state.into_state(refresh))
            }
            (Some(call), BookingEvent::RefreshFailed { next_at }) => {
                Some(state.into_state(Some(call.mark_unresolved(now, next_at))))
            }
            (
                Some(call),
                BookingEvent::Kind(HotelEvent::Refreshed {
                    supplier_booking,
                    change_reported_at,
                    cancellation,
                    refund,
                }),
            ) => {
                let is_reported_again = call.is_change_reported_after(change_reported_at);
                let active = self.apply_refresh(
                    state,
                    &supplier_booking,
                    cancellation,
                    refund,
                    now,
                    notifications,
                );
                let refresh = is_reported_again.then_some(call);
                Some(HotelBookedState::new(active, refresh))
            }
            _ => None,
        }
    }

    fn transition_cancellation(
        &mut self,
        previous: CancelableState,
        id: CancellationId,
        cancel: RemoteCall,
        event: BookingEvent<HotelBookingDetails>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<HotelBookedState> {
        let is_sent = !matches!(cancel, RemoteCall::Pending { .. });
        let (status, failure) = match event {
            BookingEvent::Kind(HotelEvent::CancelSucceeded {
                supplier_booking,
                refund,
            }) if is_sent => {
                let active =
                    self.complete_cancellation(&id, &supplier_booking, refund, now, notifications);
                return Some(HotelBookedState::new(active, None));
            }
            BookingEvent::CancelRefused(failure) if is_sent => {
                (CancellationStatus::Refused, failure)
            }
            BookingEvent::CancelNotExecuted(failure) if is_sent => {
                (CancellationStatus::Failed, failure)
            }
            event => {
                return Some(HotelBookedState::CancelInProgress {
                    previous,
                    cancellation: id,
                    cancel: advance_cancel_call(cancel, &event, now)?,
                });
            }
        };
        Some(self.end_cancellation_without_effect(
            previous,
            &id,
            status,
            failure,
            now,
            notifications,
        ))
    }
}
