//! The transitions of a hotel booking, in one function. Every match arm is a row of the transition
//! table; any other transition is impossible.

use crate::booking::{
    ChangeSource, Failure, InvalidTransition, Notifications, PaymentCollector, Transition,
};
use crate::event::EventType;
use crate::hotel::booking::{BookedState, Booking, Cancellation, CancellationStatus, Event, State};
use crate::hotel::supplier_api::{PrebookResponse, SupplierBooking};
use crate::id::{CancellationId, PaymentId, RefundId, RoomId};
use crate::payment::{Payment, PaymentEvent, PaymentState};
use crate::remote_call::RemoteCall;
use crate::supplier::SupplierBookingStatus;
use crate::time::Timestamp;

impl Event {
    /// Returns the name used in histories, logs and tables.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::PrebookStarted => "prebook_started",
            Self::PrebookConfirmed { .. } => "prebook_bound",
            Self::PrebookRefused(_) => "prebook_refused",
            Self::PrebookTimedOut => "prebook_given_up",
            Self::OfferExpired => "offer_expired",
            Self::BookStarted { .. } => "book_started",
            Self::BookSent { .. } => "book_sent",
            Self::BookNotSent => "book_not_sent",
            Self::BookAccepted { .. } => "book_pending",
            Self::BookUnresolved { .. } => "book_checked",
            Self::BookResendScheduled { .. } => "book_repeated",
            Self::BookConfirmed(_) => "book_confirmed",
            Self::BookRefused(_) => "book_refused",
            Self::CheckoutNotCompleted => "checkout_not_completed",
            Self::CancelStarted { .. } => "cancel_started",
            Self::CancelSent { .. } => "cancel_sent",
            Self::CancelNotSent { .. } => "cancel_not_sent",
            Self::CancelAccepted { .. } => "cancel_pending",
            Self::CancelUnresolved { .. } => "cancel_checked",
            Self::CancelSucceeded { .. } => "cancel_done",
            Self::CancelRefused(_) => "cancel_refused",
            Self::CancelNotExecuted(_) => "cancel_lost",
            Self::ChangeReported(_) => "hinted",
            Self::RefreshFailed { .. } => "reread_failed",
            Self::Refreshed { .. } => "reread",
            Self::Payment { event, .. } => event.name(),
        }
    }
}

/// Replaces the known value if the supplier reports one. Returns whether the value changed.
fn update_if_changed<T: Clone + PartialEq>(known: &mut Option<T>, told: Option<&T>) -> bool {
    let is_news = told.is_some() && known.as_ref() != told;
    if is_news {
        *known = told.cloned();
    }
    is_news
}

impl Booking {
    /// Applies an event to the booking.
    ///
    /// # Errors
    /// Returns [`InvalidTransition`] if the event does not fit the state. Then nothing changes.
    pub fn apply(
        mut self,
        event: Event,
        now: Timestamp,
    ) -> Result<Transition<Self>, InvalidTransition> {
        let from = self.status().as_str();
        let name = event.name();
        let mut told = Notifications::default();
        self.state = self
            .next_state(event, now, &mut told)
            .ok_or(InvalidTransition {
                status: from,
                event: name,
            })?;
        self.version = self.version.saturating_add(1);
        self.updated_at = now.max(self.updated_at);
        Ok(Transition {
            booking: self,
            from_status: from,
            event: name,
            notifications: told.0,
        })
    }

    fn next_state(
        &mut self,
        event: Event,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        let state = self.state.clone();
        if let Event::Payment { id, event } = event {
            return self.apply_payment_event(state, &id, event, now, told);
        }
        if let Event::ChangeReported(by) = event {
            return self.on_change_reported(state, by, now);
        }
        match state {
            State::Created | State::PrebookInProgress { .. } => {
                self.transition_prebook(&state, event, now, told)
            }
            State::ReadyForComplete => self.transition_ready(event, now, told),
            State::CompleteInProgress { book } => {
                self.transition_completion(book, event, now, told)
            }
            State::Confirmed { refresh } => {
                self.transition_booked(BookedState::Confirmed, refresh, event, now, told)
            }
            State::PartiallyCanceled { refresh } => {
                self.transition_booked(BookedState::PartiallyCanceled, refresh, event, now, told)
            }
            State::CancelInProgress {
                previous,
                cancellation,
                cancel,
            } => self.transition_cancellation(previous, cancellation, cancel, event, now, told),
            State::Canceled | State::Failed | State::Expired => None,
        }
    }

    fn transition_prebook(
        &mut self,
        state: &State,
        event: Event,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        let is_asked = matches!(state, State::PrebookInProgress { .. });
        match event {
            Event::PrebookStarted if !is_asked => {
                Some(State::PrebookInProgress { started_at: now })
            }
            Event::PrebookConfirmed {
                prebook,
                expires_at,
                payment,
            } if is_asked => Some(self.apply_prebook(*prebook, expires_at, payment, told)),
            Event::PrebookRefused(failure) => Some(self.fail(failure, now, told)),
            Event::PrebookTimedOut => Some(self.fail(Failure::prebook_unknown(), now, told)),
            _ => None,
        }
    }

    fn transition_ready(
        &mut self,
        event: Event,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        match event {
            Event::OfferExpired => {
                self.payments
                    .iter_mut()
                    .for_each(|payment| payment.begin_void(now));
                told.push_booking_event(EventType::HotelBookingExpired);
                Some(State::Expired)
            }
            Event::BookStarted { payment } => self.begin_completion(payment, now),
            _ => None,
        }
    }

    fn transition_completion(
        &mut self,
        leg: RemoteCall,
        event: Event,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        let leg = match (leg, event) {
            (
                leg @ RemoteCall::Pending { .. },
                Event::BookSent {
                    reconcile_at: next_at,
                },
            ) if self.is_payment_secured() => leg.mark_sent(now, next_at),
            (RemoteCall::Sent { .. }, Event::BookNotSent | Event::CheckoutNotCompleted) => {
                // The payment made in the browser is kept for the next attempt. Other payments can
                // be authorized again.
                let payments = self
                    .payments
                    .iter_mut()
                    .filter(|payment| !payment.is_browser_payment());
                payments.for_each(|payment| payment.begin_void(now));
                return Some(State::ReadyForComplete);
            }
            (RemoteCall::Pending { .. }, _) => return None,
            (
                leg,
                Event::BookAccepted {
                    supplier_reference,
                    next_at,
                },
            ) => {
                self.supplier_reference = supplier_reference.or(self.supplier_reference.take());
                leg.mark_accepted(now, next_at)
            }
            (leg, Event::BookUnresolved { next_at }) => leg.mark_unresolved(now, next_at),
            (leg @ RemoteCall::Sent { .. }, Event::BookResendScheduled { at }) => {
                leg.schedule_resend(at)
            }
            (_, Event::BookConfirmed(state)) => return Some(self.confirm(&state, now, told)),
            (_, Event::BookRefused(failure)) => return Some(self.fail(failure, now, told)),
            _ => return None,
        };
        Some(State::CompleteInProgress { book: leg })
    }

    fn transition_booked(
        &mut self,
        held: BookedState,
        reread: Option<RemoteCall>,
        event: Event,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        match (reread, event) {
            (_, Event::CancelStarted { id, room_ids }) => {
                self.begin_cancellation(held, id, &room_ids, now, told)
            }
            (Some(call), Event::RefreshFailed { next_at }) => {
                Some(held.into_state(Some(call.mark_unresolved(now, next_at))))
            }
            (
                Some(call),
                Event::Refreshed {
                    state,
                    change_reported_at,
                    cancellation,
                    refund,
                },
            ) => {
                let is_hinted_again = call.is_change_reported_after(change_reported_at);
                let left = self.apply_refresh(held, &state, cancellation, refund, now, told);
                Some(match left {
                    Some(left) => left.into_state(is_hinted_again.then_some(call)),
                    None => State::Canceled,
                })
            }
            _ => None,
        }
    }

    fn transition_cancellation(
        &mut self,
        before: BookedState,
        id: CancellationId,
        leg: RemoteCall,
        event: Event,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        let leg = match (leg, event) {
            (leg @ RemoteCall::Pending { .. }, Event::CancelSent { next_at }) => {
                leg.mark_sent(now, next_at)
            }
            (RemoteCall::Pending { .. }, _) => return None,
            (leg, Event::CancelNotSent { retry_at }) => leg.schedule_retry(retry_at),
            (leg, Event::CancelAccepted { next_at }) => leg.mark_accepted(now, next_at),
            (leg, Event::CancelUnresolved { next_at }) => leg.mark_unresolved(now, next_at),
            (
                _,
                Event::CancelSucceeded {
                    supplier_booking,
                    refund,
                },
            ) => {
                let left = self.complete_cancellation(&id, &supplier_booking, refund, now, told);
                return Some(left.map_or(State::Canceled, |left| left.into_state(None)));
            }
            (_, Event::CancelRefused(failure)) => {
                return Some(self.end_cancellation_without_effect(
                    before,
                    &id,
                    CancellationStatus::Refused,
                    failure,
                    now,
                    told,
                ));
            }
            (_, Event::CancelNotExecuted(failure)) => {
                return Some(self.end_cancellation_without_effect(
                    before,
                    &id,
                    CancellationStatus::Failed,
                    failure,
                    now,
                    told,
                ));
            }
            _ => return None,
        };
        Some(State::CancelInProgress {
            previous: before,
            cancellation: id,
            cancel: leg,
        })
    }

    /// Schedules reads after a reported change: all sent calls are reconciled now. If the supplier
    /// reported the change, the booking is refreshed, too. Returns `None` if there is nothing to
    /// read.
    fn on_change_reported(
        &mut self,
        mut state: State,
        by: ChangeSource,
        now: Timestamp,
    ) -> Option<State> {
        let mut of_payments = false;
        for payment in &mut self.payments {
            of_payments |= payment.expedite_reconcile(now);
        }
        let own = match &mut state {
            State::CompleteInProgress { book: leg }
            | State::CancelInProgress { cancel: leg, .. } => leg.expedite_reconcile(now),
            State::Confirmed { refresh } | State::PartiallyCanceled { refresh } => {
                if by == ChangeSource::Supplier {
                    *refresh = Some(RemoteCall::for_refresh(now));
                }
                by == ChangeSource::Supplier
            }
            State::Created
            | State::PrebookInProgress { .. }
            | State::ReadyForComplete
            | State::Canceled
            | State::Failed
            | State::Expired => false,
        };
        (own || of_payments).then_some(state)
    }

    fn apply_prebook(
        &mut self,
        bound: PrebookResponse,
        expires_at: Timestamp,
        payment: Option<Payment>,
        told: &mut Notifications,
    ) -> State {
        for (room, rate) in self.rooms.iter_mut().zip(bound.rooms) {
            room.name = rate.name;
            room.board = rate.board;
            room.board_name = rate.board_name;
            room.total = rate.total;
            room.due_at_property = rate.due_at_property;
            room.policy = Some(rate.policy);
        }
        self.hotel = bound.hotel;
        self.total = bound.total;
        self.policy = Some(bound.policy);
        self.promotions = bound.promotions;
        self.loyalty = bound.loyalty;
        self.supplier_prebook = Some(bound.supplier_prebook);
        self.offer_expires_at = expires_at;
        self.payments.extend(payment);
        told.push_booking_event(EventType::HotelBookingCreated);
        State::ReadyForComplete
    }

    fn begin_completion(&mut self, payment: Option<Payment>, now: Timestamp) -> Option<State> {
        match (self.payment_collector, self.use_payment_sdk, payment) {
            (PaymentCollector::Gateway, false, Some(payment)) => self.payments.push(payment),
            (PaymentCollector::Gateway, true, None) => {
                let payment = self
                    .payments
                    .iter_mut()
                    .rev()
                    .find(|payment| payment.is_browser_payment())?;
                match payment.state {
                    // Only a read of the payment shows whether the payer has acted in the browser.
                    PaymentState::RequiresAction => {
                        payment.state =
                            PaymentState::Authorizing(RemoteCall::pending(now).mark_sent(now, now))
                    }
                    PaymentState::Authorized => {}
                    _ => return None,
                }
            }
            (PaymentCollector::Supplier, _, None) => {}
            _ => return None,
        }
        self.failure = None;
        Some(State::CompleteInProgress {
            book: RemoteCall::pending(now),
        })
    }

    fn is_payment_secured(&self) -> bool {
        self.payment_collector == PaymentCollector::Supplier
            || self
                .current_payment()
                .is_some_and(|payment| payment.state == PaymentState::Authorized)
    }

    fn confirm(
        &mut self,
        state: &SupplierBooking,
        now: Timestamp,
        told: &mut Notifications,
    ) -> State {
        self.merge_supplier_booking(state);
        self.confirmed_at = Some(now);
        self.payments
            .iter_mut()
            .for_each(|payment| payment.begin_capture(now));
        told.push_booking_event(EventType::HotelBookingConfirmed);
        BookedState::Confirmed.into_state(None)
    }

    /// Merges the booking as the supplier reports it. Returns whether anything visible changed.
    fn merge_supplier_booking(&mut self, state: &SupplierBooking) -> bool {
        let mut is_news = update_if_changed(
            &mut self.supplier_reference,
            Some(&state.supplier_reference),
        );
        is_news |= update_if_changed(
            &mut self.hotel_confirmation_code,
            state.hotel_confirmation_code.as_ref(),
        );
        is_news |= update_if_changed(&mut self.hotel_remarks, state.remarks.as_ref());
        is_news |= update_if_changed(&mut self.policy, state.policy.as_ref());
        for known in &state.rooms {
            if let Some(room) = self.rooms.get_mut(usize::from(known.position)) {
                is_news |= update_if_changed(
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
        is_news
    }

    /// Applies the result of a refresh. Returns the new state, or `None` if all rooms are
    /// cancelled.
    fn apply_refresh(
        &mut self,
        held: BookedState,
        state: &SupplierBooking,
        id: CancellationId,
        refund: RefundId,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<BookedState> {
        let is_news = self.merge_supplier_booking(state);
        let room_ids = self.rooms_canceled_by_supplier(state);
        if room_ids.is_empty() {
            if is_news {
                told.push_booking_event(EventType::HotelBookingChanged);
            }
            return Some(held);
        }
        let single_rooms = state.status != SupplierBookingStatus::Canceled;
        self.cancellations.push(Cancellation {
            is_supplier_initiated: true,
            ..Cancellation::new(id.clone(), room_ids, single_rooms, now)
        });
        self.complete_cancellation(&id, state, refund, now, told)
    }

    fn fail(&mut self, failure: Failure, now: Timestamp, told: &mut Notifications) -> State {
        // A booking that was never prebooked was never announced to subscribers.
        let announced = self.supplier_prebook.is_some();
        self.failure = Some(failure);
        self.payments
            .iter_mut()
            .for_each(|payment| payment.begin_void(now));
        if announced {
            told.push_booking_event(EventType::HotelBookingFailed);
        }
        State::Failed
    }

    fn begin_cancellation(
        &mut self,
        before: BookedState,
        id: CancellationId,
        room_ids: &[RoomId],
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        let standing = || self.rooms.iter().filter(|room| room.canceled_at.is_none());
        let wanted: Vec<RoomId> = if room_ids.is_empty() {
            standing().map(|room| room.id.clone()).collect()
        } else {
            standing()
                .filter(|room| room_ids.contains(&room.id))
                .map(|room| room.id.clone())
                .collect()
        };
        let all_stand = room_ids.iter().all(|id| wanted.contains(id));
        if wanted.is_empty() || !all_stand {
            return None;
        }
        let single_rooms = !room_ids.is_empty();
        self.cancellations
            .push(Cancellation::new(id.clone(), wanted, single_rooms, now));
        self.failure = None;
        told.push_booking_event(EventType::HotelBookingCancellationStarted);
        Some(State::CancelInProgress {
            previous: before,
            cancellation: id,
            cancel: RemoteCall::pending(now),
        })
    }

    fn end_cancellation_without_effect(
        &mut self,
        before: BookedState,
        id: &CancellationId,
        status: CancellationStatus,
        failure: Failure,
        now: Timestamp,
        told: &mut Notifications,
    ) -> State {
        if let Some(cancellation) = self.cancellations.iter_mut().find(|c| c.id == *id) {
            cancellation.status = status;
            cancellation.completed_at = Some(now);
            cancellation.failure = Some(failure.clone());
        }
        self.failure = Some(failure);
        told.push_booking_event(EventType::HotelBookingCancellationRefused);
        before.into_state(None)
    }

    fn apply_payment_event(
        &mut self,
        state: State,
        id: &PaymentId,
        event: PaymentEvent,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        let payment = self.payments.iter_mut().find(|payment| payment.id == *id)?;
        let transition = payment.clone().apply(event.clone(), now).ok()?;
        *payment = transition;
        told.push_payment_event(&event, id);
        let waiting = matches!(
            payment.state,
            PaymentState::Failed | PaymentState::RequiresAction
        );
        match state {
            State::CompleteInProgress {
                book: RemoteCall::Pending { .. },
            } if waiting => Some(State::ReadyForComplete),
            other => Some(other),
        }
    }
}
