//! How a flight booking moves: one function, every arm a row of the table.
//! What is not here cannot be written.

use crate::booking::{Conflict, Failure, Moved, Settlement, Teller, Told};
use crate::event::EventType;
use crate::flight::booking::{
    BookedService, Booking, Event, Purchase, PurchaseState, ServiceStatus, State,
};
use crate::flight::supply::{BookingState, Prebooked};
use crate::id::PaymentId;
use crate::leg::Leg;
use crate::payment::{Payment, PaymentEvent, PaymentState};
use crate::supplier::BookingStatus;
use crate::time::Timestamp;

/// A ticket that was released while bags are being bought is read again after so long.
const REREAD_AGAIN_S: i64 = 300;

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
            Self::BookConfirmed { .. } => "book_confirmed",
            Self::BookRefused(_) => "book_refused",
            Self::CheckoutNotCompleted => "checkout_not_completed",
            Self::CancelStarted => "cancel_started",
            Self::CancelSent { .. } => "cancel_sent",
            Self::CancelNotSent { .. } => "cancel_not_sent",
            Self::CancelPending { .. } => "cancel_pending",
            Self::CancelChecked { .. } => "cancel_checked",
            Self::CancelDone(_) => "cancel_done",
            Self::CancelRefused(_) => "cancel_refused",
            Self::CancelLost(_) => "cancel_lost",
            Self::CancelHurried => "cancel_hurried",
            Self::RefundDecided(_) => "refund_decided",
            Self::PurchaseStarted { .. } => "purchase_started",
            Self::PurchaseSent { .. } => "purchase_sent",
            Self::PurchaseNotSent => "purchase_not_sent",
            Self::PurchaseChecked { .. } => "purchase_checked",
            Self::PurchaseRepeated { .. } => "purchase_repeated",
            Self::PurchaseDone(_) => "purchase_done",
            Self::PurchaseRefused(_) => "purchase_refused",
            Self::Hinted(_) => "hinted",
            Self::RereadFailed { .. } => "reread_failed",
            Self::Reread { .. } => "reread",
            Self::Payment { event, .. } => event.name(),
        }
    }
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
        match (state, event) {
            (state, Event::Payment { id, event }) => {
                self.move_payment(state, &id, event, now, told)
            }
            (state, Event::Hinted(by)) => self.hint(state, by, now),
            (state @ (State::Created | State::PrebookInProgress { .. }), event) => {
                self.next_of_prebook(&state, event, now, told)
            }
            (State::ReadyForComplete, event) => self.next_of_ready(event, now, told),
            (State::CompleteInProgress { book }, event) => {
                self.next_of_completion(book, event, now, told)
            }
            (State::Confirmed { reread }, event) => self.next_of_ticket(reread, event, now, told),
            (State::CancelInProgress { cancel }, event) => {
                self.next_of_cancellation(cancel, event, now, told)
            }
            (State::Canceled, Event::CancelHurried) => {
                self.hurry_refunds(now).then_some(State::Canceled)
            }
            (State::Canceled, Event::RefundDecided(refund)) => {
                self.decide_refund(refund, now)?;
                Some(State::Canceled)
            }
            (State::Canceled | State::Failed | State::Expired, _) => None,
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
                self.void_all(now);
                told.booking(EventType::FlightBookingExpired);
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
                let payments = self.payments.iter_mut();
                payments
                    .filter(|payment| !payment.is_by_browser())
                    .for_each(|payment| payment.begin_void(now));
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
            (_, Event::BookConfirmed { state, payment }) => {
                return Some(self.confirm(&state, payment, now, told));
            }
            (_, Event::BookRefused(failure)) => return Some(self.fail(failure, now, told)),
            _ => return None,
        };
        Some(State::CompleteInProgress { book: leg })
    }

    fn next_of_ticket(
        &mut self,
        reread: Option<Leg>,
        event: Event,
        now: Timestamp,
        told: &mut Told,
    ) -> Option<State> {
        match (reread, event) {
            (_, Event::CancelStarted) if self.open_purchase().is_none() => {
                self.cancellation_runs = self.cancellation_runs.saturating_add(1);
                self.failure = None;
                told.booking(EventType::FlightBookingCancellationStarted);
                Some(State::CancelInProgress {
                    cancel: Leg::due(now),
                })
            }
            (
                reread,
                Event::PurchaseStarted {
                    purchase,
                    services,
                    payment,
                },
            ) if self.open_purchase().is_none() && self.settlement == Settlement::Gateway => {
                self.begin_purchase(*purchase, services, *payment);
                Some(State::Confirmed { reread })
            }
            (Some(leg), Event::RereadFailed { next_at }) => Some(State::Confirmed {
                reread: Some(leg.checked(now, next_at)),
            }),
            (Some(leg), Event::Reread { state, hinted_at }) => {
                Some(self.reread(leg, &state, hinted_at, now, told))
            }
            (reread, event) => {
                self.move_purchase(event, now, told)?;
                Some(State::Confirmed { reread })
            }
        }
    }

    fn next_of_cancellation(
        &mut self,
        leg: Leg,
        event: Event,
        now: Timestamp,
        told: &mut Told,
    ) -> Option<State> {
        let leg = match (leg, event) {
            (mut leg @ Leg::Due { .. }, Event::CancelHurried) => leg.hurry(now).then_some(leg)?,
            (leg @ Leg::Due { .. }, Event::CancelSent { next_at }) => leg.sent(now, next_at),
            (Leg::Due { .. }, _) => return None,
            (leg, Event::CancelNotSent { retry_at }) => leg.retry(retry_at),
            (leg, Event::CancelPending { next_at }) => leg.pending(now, next_at),
            (leg, Event::CancelChecked { next_at }) => leg.checked(now, next_at),
            (_, Event::CancelDone(state)) => {
                self.release(&state, self.terms(now), now);
                told.booking(EventType::FlightBookingCanceled);
                return Some(State::Canceled);
            }
            (_, Event::CancelRefused(failure) | Event::CancelLost(failure)) => {
                self.failure = Some(failure);
                told.booking(EventType::FlightBookingCancellationRefused);
                return Some(State::Confirmed { reread: None });
            }
            _ => return None,
        };
        Some(State::CancelInProgress { cancel: leg })
    }

    /// A hint: whatever was sent is read back now, and so is a ticket, when it was the
    /// supplier's. None when nothing is.
    fn hint(&mut self, mut state: State, by: Teller, now: Timestamp) -> Option<State> {
        let mut of_payments = false;
        for payment in &mut self.payments {
            of_payments |= payment.hint(now);
        }
        let own = match &mut state {
            State::CompleteInProgress { book: leg } | State::CancelInProgress { cancel: leg } => {
                leg.hint(now)
            }
            State::Confirmed { reread } => {
                for purchase in &mut self.purchases {
                    if let PurchaseState::Open { buy } = &mut purchase.state {
                        buy.hint(now);
                    }
                }
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
        self.ticket = Some(bound.total);
        self.fare = bound.fare;
        self.fare_tax = bound.fare_tax;
        self.fare_conditions = bound.fare_conditions;
        self.take_journeys(bound.journeys);
        self.supplier_prebook = Some(bound.supplier_prebook);
        self.expires_at = expires_at;
        self.payments.extend(payment);
        told.booking(EventType::FlightBookingCreated);
        State::ReadyForComplete
    }

    fn begin_completion(&mut self, payment: Option<Payment>, now: Timestamp) -> Option<State> {
        match (self.settlement, self.use_payment_sdk, payment) {
            (Settlement::Gateway, false, Some(payment)) => self.payments.push(payment),
            (Settlement::Gateway, true, None) => {
                let mut payments = self.payments.iter_mut().rev();
                let payment = payments.find(|payment| payment.is_by_browser())?;
                match payment.state {
                    // The browser has acted, or not: only reading the payment tells.
                    PaymentState::RequiresAction => {
                        payment.state = PaymentState::Authorizing(Leg::due(now).sent(now, now));
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

    fn confirm(
        &mut self,
        state: &BookingState,
        payment: PaymentId,
        now: Timestamp,
        told: &mut Told,
    ) -> State {
        self.fare = state.fare.or(self.fare);
        self.fare_tax = state.fare_tax.or(self.fare_tax);
        self.confirmed_at = Some(now);
        match (self.settlement, self.ticket) {
            (Settlement::Supplier, Some(ticket)) => {
                let collected = Payment::by_supplier(payment, ticket, self.supplier.clone(), now);
                self.payments.push(collected);
            }
            (Settlement::Gateway | Settlement::Supplier, _) => {
                let payments = self.payments.iter_mut();
                payments.for_each(|payment| payment.begin_capture(now));
            }
        }
        told.booking(EventType::FlightBookingConfirmed);
        self.take_ticket(state, told);
        State::Confirmed { reread: None }
    }

    fn fail(&mut self, failure: Failure, now: Timestamp, told: &mut Told) -> State {
        // A booking that never was bindable was never announced either.
        let announced = self.supplier_prebook.is_some();
        self.failure = Some(failure);
        self.void_all(now);
        if announced {
            told.booking(EventType::FlightBookingFailed);
        }
        State::Failed
    }

    fn void_all(&mut self, now: Timestamp) {
        let payments = self.payments.iter_mut();
        payments.for_each(|payment| payment.begin_void(now));
    }

    /// What a ticket became since it was last read.
    fn reread(
        &mut self,
        leg: Leg,
        state: &BookingState,
        hinted_at: Timestamp,
        now: Timestamp,
        told: &mut Told,
    ) -> State {
        self.take_ticket(state, told);
        if state.status != BookingStatus::Canceled {
            let is_hinted_again = leg.is_hinted_after(hinted_at);
            let reread = is_hinted_again.then_some(leg);
            return State::Confirmed { reread };
        }
        if self.open_purchase().is_some() {
            // What is being bought is decided first, and nobody hints again.
            let reread = Some(leg.checked(now, now.plus_s(REREAD_AGAIN_S)));
            return State::Confirmed { reread };
        }
        // The fare's terms are about a ticket that is given back, and this one was not.
        self.release(state, None, now);
        told.booking(EventType::FlightBookingCanceled);
        State::Canceled
    }

    fn begin_purchase(
        &mut self,
        purchase: Purchase,
        services: Vec<BookedService>,
        payment: Payment,
    ) {
        self.services.extend(services);
        self.purchases.push(purchase);
        self.payments.push(payment);
    }

    /// Moves the open purchase; none when there is none or it does not fit.
    fn move_purchase(&mut self, event: Event, now: Timestamp, told: &mut Told) -> Option<()> {
        let at = self.purchases.iter().position(|p| p.leg().is_some())?;
        let purchase = self.purchases.get(at)?.clone();
        let PurchaseState::Open { buy } = purchase.state.clone() else {
            return None;
        };
        let state = match (buy, event) {
            (leg @ Leg::Due { .. }, Event::PurchaseSent { next_at })
                if self.holds(&purchase.payment) =>
            {
                PurchaseState::Open {
                    buy: leg.sent(now, next_at),
                }
            }
            (Leg::Due { .. }, _) => return None,
            (leg, Event::PurchaseChecked { next_at }) => PurchaseState::Open {
                buy: leg.checked(now, next_at),
            },
            (leg @ Leg::Sent { .. }, Event::PurchaseRepeated { at }) => PurchaseState::Open {
                buy: leg.repeat(at),
            },
            (_, Event::PurchaseDone(state)) => {
                self.take_ticket(&state, told);
                self.confirm_services(&purchase, &state);
                self.with_payment(&purchase.payment, |payment| payment.begin_capture(now));
                told.booking(EventType::FlightBookingServicesAdded);
                PurchaseState::Done
            }
            (_, Event::PurchaseRefused(failure)) => {
                self.end_purchase(&purchase, now);
                self.purchases.get_mut(at)?.failure = Some(failure);
                PurchaseState::Refused
            }
            (_, Event::PurchaseNotSent) => {
                self.end_purchase(&purchase, now);
                PurchaseState::NotSent
            }
            _ => return None,
        };
        self.purchases.get_mut(at)?.state = state;
        Some(())
    }

    /// Nothing of a purchase was bought.
    fn end_purchase(&mut self, purchase: &Purchase, now: Timestamp) {
        let services = self.services.iter_mut();
        services
            .filter(|service| purchase.services.contains(&service.id))
            .for_each(|service| service.status = ServiceStatus::Failed);
        self.with_payment(&purchase.payment, |payment| payment.begin_void(now));
    }

    fn holds(&self, payment: &PaymentId) -> bool {
        let mut payments = self.payments.iter();
        payments.any(|known| known.id == *payment && known.state == PaymentState::Authorized)
    }

    fn with_payment(&mut self, id: &PaymentId, change: impl FnOnce(&mut Payment)) {
        if let Some(payment) = self.payments.iter_mut().find(|known| known.id == *id) {
            change(payment);
        }
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
        let is_held_no_more = payment.state == PaymentState::Failed;
        let waits = is_held_no_more || payment.state == PaymentState::RequiresAction;
        told.payment_event(&event, id);
        if is_held_no_more && let Some(purchase) = self.purchase_of(id).cloned() {
            if matches!(purchase.leg(), Some(Leg::Due { .. })) {
                self.end_purchase(&purchase, now);
                let declined = self.purchases.iter_mut().find(|p| p.id == purchase.id)?;
                declined.state = PurchaseState::Declined;
            }
            return Some(state);
        }
        match state {
            State::CompleteInProgress {
                book: Leg::Due { .. },
            } if waits => Some(State::ReadyForComplete),
            other => Some(other),
        }
    }
}
