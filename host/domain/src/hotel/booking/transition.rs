//! How a hotel booking moves: one function, every arm a row of the table. What
//! is not here cannot be written.

use crate::booking::{Conflict, Failure, Moved, Settlement, Teller, Told};
use crate::event::EventType;
use crate::hotel::booking::{Booking, Cancellation, CancellationStatus, Event, Held, State};
use crate::hotel::supply::{BookingState, Prebooked};
use crate::id::{CancellationId, PaymentId, RefundId, RoomId};
use crate::leg::Leg;
use crate::payment::{Payment, PaymentEvent, PaymentState};
use crate::supplier::BookingStatus;
use crate::time::Timestamp;

impl Event {
    /// Its name in histories, logs and tables.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::PrebookStarted => "prebook_started",
            Self::PrebookBound { .. } => "prebook_bound",
            Self::PrebookRefused(_) => "prebook_refused",
            Self::PrebookGivenUp => "prebook_given_up",
            Self::OfferExpired => "offer_expired",
            Self::BookStarted { .. } => "book_started",
            Self::BookSent { .. } => "book_sent",
            Self::BookNotSent => "book_not_sent",
            Self::BookPending { .. } => "book_pending",
            Self::BookChecked { .. } => "book_checked",
            Self::BookRepeated { .. } => "book_repeated",
            Self::BookConfirmed(_) => "book_confirmed",
            Self::BookRefused(_) => "book_refused",
            Self::CheckoutNotCompleted => "checkout_not_completed",
            Self::CancelStarted { .. } => "cancel_started",
            Self::CancelSent { .. } => "cancel_sent",
            Self::CancelNotSent { .. } => "cancel_not_sent",
            Self::CancelPending { .. } => "cancel_pending",
            Self::CancelChecked { .. } => "cancel_checked",
            Self::CancelDone { .. } => "cancel_done",
            Self::CancelRefused(_) => "cancel_refused",
            Self::CancelLost(_) => "cancel_lost",
            Self::Hinted(_) => "hinted",
            Self::RereadFailed { .. } => "reread_failed",
            Self::Reread { .. } => "reread",
            Self::Payment { event, .. } => event.name(),
        }
    }
}

/// Takes what is told, if anything is; whether it is news.
fn take_over<T: Clone + PartialEq>(known: &mut Option<T>, told: Option<&T>) -> bool {
    let is_news = told.is_some() && known.as_ref() != told;
    if is_news {
        *known = told.cloned();
    }
    is_news
}

impl Booking {
    /// Moves the booking.
    ///
    /// # Errors
    /// [`Conflict`] when the event does not fit the state; nothing moved.
    pub fn apply(mut self, event: Event, now: Timestamp) -> Result<Moved<Self>, Conflict> {
        let from = self.status().as_str();
        let name = event.name();
        let mut told = Told::default();
        self.state = self.next_state(event, now, &mut told).ok_or(Conflict {
            status: from,
            event: name,
        })?;
        self.version = self.version.saturating_add(1);
        self.updated_at = now.max(self.updated_at);
        Ok(Moved {
            booking: self,
            from,
            event: name,
            publish: told.0,
        })
    }

    fn next_state(&mut self, event: Event, now: Timestamp, told: &mut Told) -> Option<State> {
        let state = self.state.clone();
        if let Event::Payment { id, event } = event {
            return self.move_payment(state, &id, event, now, told);
        }
        if let Event::Hinted(by) = event {
            return self.hint(state, by, now);
        }
        match state {
            State::Created | State::PrebookInProgress { .. } => {
                self.next_of_prebook(&state, event, now, told)
            }
            State::ReadyForComplete => self.next_of_ready(event, now, told),
            State::CompleteInProgress { book } => self.next_of_completion(book, event, now, told),
            State::Confirmed { reread } => {
                self.next_of_booked(Held::Confirmed, reread, event, now, told)
            }
            State::PartiallyCanceled { reread } => {
                self.next_of_booked(Held::PartiallyCanceled, reread, event, now, told)
            }
            State::CancelInProgress {
                before,
                cancellation,
                cancel,
            } => self.next_of_cancellation(before, cancellation, cancel, event, now, told),
            State::Canceled | State::Failed | State::Expired => None,
        }
    }

    fn next_of_prebook(
        &mut self,
        state: &State,
        event: Event,
        now: Timestamp,
        told: &mut Told,
    ) -> Option<State> {
        let is_asked = matches!(state, State::PrebookInProgress { .. });
        match event {
            Event::PrebookStarted if !is_asked => Some(State::PrebookInProgress { since: now }),
            Event::PrebookBound {
                bound,
                expires_at,
                payment,
            } if is_asked => Some(self.bind(*bound, expires_at, payment, told)),
            Event::PrebookRefused(failure) => Some(self.fail(failure, now, told)),
            Event::PrebookGivenUp => Some(self.fail(Failure::prebook_unknown(), now, told)),
            _ => None,
        }
    }

    fn next_of_ready(&mut self, event: Event, now: Timestamp, told: &mut Told) -> Option<State> {
        match event {
            Event::OfferExpired => {
                self.payments
                    .iter_mut()
                    .for_each(|payment| payment.begin_void(now));
                told.booking(EventType::HotelBookingExpired);
                Some(State::Expired)
            }
            Event::BookStarted { payment } => self.begin_completion(payment, now),
            _ => None,
        }
    }

    fn next_of_completion(
        &mut self,
        leg: Leg,
        event: Event,
        now: Timestamp,
        told: &mut Told,
    ) -> Option<State> {
        let leg = match (leg, event) {
            (leg @ Leg::Due { .. }, Event::BookSent { next_at }) if self.is_paid_for() => {
                leg.sent(now, next_at)
            }
            (Leg::Sent { .. }, Event::BookNotSent | Event::CheckoutNotCompleted) => {
                // What the payer did in the browser is kept for the next try; another hold can be asked for.
                let payments = self
                    .payments
                    .iter_mut()
                    .filter(|payment| !payment.is_by_browser());
                payments.for_each(|payment| payment.begin_void(now));
                return Some(State::ReadyForComplete);
            }
            (Leg::Due { .. }, _) => return None,
            (
                leg,
                Event::BookPending {
                    supplier_reference,
                    next_at,
                },
            ) => {
                self.supplier_reference = supplier_reference.or(self.supplier_reference.take());
                leg.pending(now, next_at)
            }
            (leg, Event::BookChecked { next_at }) => leg.checked(now, next_at),
            (leg @ Leg::Sent { .. }, Event::BookRepeated { at }) => leg.repeat(at),
            (_, Event::BookConfirmed(state)) => return Some(self.confirm(&state, now, told)),
            (_, Event::BookRefused(failure)) => return Some(self.fail(failure, now, told)),
            _ => return None,
        };
        Some(State::CompleteInProgress { book: leg })
    }

    fn next_of_booked(
        &mut self,
        held: Held,
        reread: Option<Leg>,
        event: Event,
        now: Timestamp,
        told: &mut Told,
    ) -> Option<State> {
        match (reread, event) {
            (_, Event::CancelStarted { id, room_ids }) => {
                self.begin_cancellation(held, id, &room_ids, now, told)
            }
            (Some(leg), Event::RereadFailed { next_at }) => {
                Some(held.state(Some(leg.checked(now, next_at))))
            }
            (
                Some(leg),
                Event::Reread {
                    state,
                    hinted_at,
                    cancellation,
                    refund,
                },
            ) => {
                let is_hinted_again = leg.is_hinted_after(hinted_at);
                let left = self.reread(held, &state, cancellation, refund, now, told);
                Some(match left {
                    Some(left) => left.state(is_hinted_again.then_some(leg)),
                    None => State::Canceled,
                })
            }
            _ => None,
        }
    }

    fn next_of_cancellation(
        &mut self,
        before: Held,
        id: CancellationId,
        leg: Leg,
        event: Event,
        now: Timestamp,
        told: &mut Told,
    ) -> Option<State> {
        let leg = match (leg, event) {
            (leg @ Leg::Due { .. }, Event::CancelSent { next_at }) => leg.sent(now, next_at),
            (Leg::Due { .. }, _) => return None,
            (leg, Event::CancelNotSent { retry_at }) => leg.retry(retry_at),
            (leg, Event::CancelPending { next_at }) => leg.pending(now, next_at),
            (leg, Event::CancelChecked { next_at }) => leg.checked(now, next_at),
            (_, Event::CancelDone { state, refund }) => {
                let left = self.release(&id, &state, refund, now, told);
                return Some(left.map_or(State::Canceled, |left| left.state(None)));
            }
            (_, Event::CancelRefused(failure)) => {
                return Some(self.keep(
                    before,
                    &id,
                    CancellationStatus::Refused,
                    failure,
                    now,
                    told,
                ));
            }
            (_, Event::CancelLost(failure)) => {
                return Some(self.keep(
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
            before,
            cancellation: id,
            cancel: leg,
        })
    }

    /// A hint: whatever was sent is read back now, and so is a booking, when it was the
    /// supplier's. None when nothing is.
    fn hint(&mut self, mut state: State, by: Teller, now: Timestamp) -> Option<State> {
        let mut of_payments = false;
        for payment in &mut self.payments {
            of_payments |= payment.hint(now);
        }
        let own = match &mut state {
            State::CompleteInProgress { book: leg }
            | State::CancelInProgress { cancel: leg, .. } => leg.hint(now),
            State::Confirmed { reread } | State::PartiallyCanceled { reread } => {
                if by == Teller::Supplier {
                    *reread = Some(Leg::hinted(now));
                }
                by == Teller::Supplier
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

    fn bind(
        &mut self,
        bound: Prebooked,
        expires_at: Timestamp,
        payment: Option<Payment>,
        told: &mut Told,
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
        told.booking(EventType::HotelBookingCreated);
        State::ReadyForComplete
    }

    fn begin_completion(&mut self, payment: Option<Payment>, now: Timestamp) -> Option<State> {
        match (self.settlement, self.use_payment_sdk, payment) {
            (Settlement::Gateway, false, Some(payment)) => self.payments.push(payment),
            (Settlement::Gateway, true, None) => {
                let payment = self
                    .payments
                    .iter_mut()
                    .rev()
                    .find(|payment| payment.is_by_browser())?;
                match payment.state {
                    // The browser has acted, or not: only reading the payment tells.
                    PaymentState::RequiresAction => {
                        payment.state = PaymentState::Authorizing(Leg::due(now).sent(now, now))
                    }
                    PaymentState::Authorized => {}
                    _ => return None,
                }
            }
            (Settlement::Supplier, _, None) => {}
            _ => return None,
        }
        self.failure = None;
        Some(State::CompleteInProgress {
            book: Leg::due(now),
        })
    }

    fn is_paid_for(&self) -> bool {
        self.settlement == Settlement::Supplier
            || self
                .current_payment()
                .is_some_and(|payment| payment.state == PaymentState::Authorized)
    }

    fn confirm(&mut self, state: &BookingState, now: Timestamp, told: &mut Told) -> State {
        self.learn(state);
        self.confirmed_at = Some(now);
        self.payments
            .iter_mut()
            .for_each(|payment| payment.begin_capture(now));
        told.booking(EventType::HotelBookingConfirmed);
        Held::Confirmed.state(None)
    }

    /// Takes over what the supplier tells of a booking; whether any of it is news.
    fn learn(&mut self, state: &BookingState) -> bool {
        let mut is_news = take_over(
            &mut self.supplier_reference,
            Some(&state.supplier_reference),
        );
        is_news |= take_over(
            &mut self.hotel_confirmation_code,
            state.hotel_confirmation_code.as_ref(),
        );
        is_news |= take_over(&mut self.hotel_remarks, state.remarks.as_ref());
        is_news |= take_over(&mut self.policy, state.policy.as_ref());
        for known in &state.rooms {
            if let Some(room) = self.rooms.get_mut(usize::from(known.position)) {
                is_news |= take_over(
                    &mut room.hotel_confirmation_code,
                    known.hotel_confirmation_code.as_ref(),
                );
                // Callers do not see it.
                take_over(
                    &mut room.supplier_reference,
                    known.supplier_room_reference.as_ref(),
                );
            }
        }
        is_news
    }

    /// What a booking became since it was last read: how it stands, if it does.
    fn reread(
        &mut self,
        held: Held,
        state: &BookingState,
        id: CancellationId,
        refund: RefundId,
        now: Timestamp,
        told: &mut Told,
    ) -> Option<Held> {
        let is_news = self.learn(state);
        let room_ids = self.released_elsewhere(state);
        if room_ids.is_empty() {
            if is_news {
                told.booking(EventType::HotelBookingChanged);
            }
            return Some(held);
        }
        let single_rooms = state.status != BookingStatus::Canceled;
        self.cancellations.push(Cancellation {
            by_supplier: true,
            ..Cancellation::begun(id.clone(), room_ids, single_rooms, now)
        });
        self.release(&id, state, refund, now, told)
    }

    fn fail(&mut self, failure: Failure, now: Timestamp, told: &mut Told) -> State {
        // A booking that never was bindable was never announced either.
        let announced = self.supplier_prebook.is_some();
        self.failure = Some(failure);
        self.payments
            .iter_mut()
            .for_each(|payment| payment.begin_void(now));
        if announced {
            told.booking(EventType::HotelBookingFailed);
        }
        State::Failed
    }

    fn begin_cancellation(
        &mut self,
        before: Held,
        id: CancellationId,
        room_ids: &[RoomId],
        now: Timestamp,
        told: &mut Told,
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
            .push(Cancellation::begun(id.clone(), wanted, single_rooms, now));
        self.failure = None;
        told.booking(EventType::HotelBookingCancellationStarted);
        Some(State::CancelInProgress {
            before,
            cancellation: id,
            cancel: Leg::due(now),
        })
    }

    fn keep(
        &mut self,
        before: Held,
        id: &CancellationId,
        status: CancellationStatus,
        failure: Failure,
        now: Timestamp,
        told: &mut Told,
    ) -> State {
        if let Some(cancellation) = self.cancellations.iter_mut().find(|c| c.id == *id) {
            cancellation.status = status;
            cancellation.completed_at = Some(now);
            cancellation.failure = Some(failure.clone());
        }
        self.failure = Some(failure);
        told.booking(EventType::HotelBookingCancellationRefused);
        before.state(None)
    }

    fn move_payment(
        &mut self,
        state: State,
        id: &PaymentId,
        event: PaymentEvent,
        now: Timestamp,
        told: &mut Told,
    ) -> Option<State> {
        let payment = self.payments.iter_mut().find(|payment| payment.id == *id)?;
        let moved = payment.clone().apply(event.clone(), now).ok()?;
        *payment = moved;
        told.payment_event(&event, id);
        let waiting = matches!(
            payment.state,
            PaymentState::Failed | PaymentState::RequiresAction
        );
        match state {
            State::CompleteInProgress {
                book: Leg::Due { .. },
            } if waiting => Some(State::ReadyForComplete),
            other => Some(other),
        }
    }
}
