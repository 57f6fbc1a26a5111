//! The transitions of a flight booking, in one function. Every match arm is a row of the transition
//! table; any other transition is impossible.

use crate::booking::{
    ChangeSource, Failure, InvalidTransition, Notifications, PaymentCollector, Transition,
};
use crate::event::EventType;
use crate::flight::booking::{
    BookedService, Booking, Event, ServicePurchase, ServicePurchaseState, ServiceStatus, State,
};
use crate::flight::supplier_api::{PrebookResponse, SupplierBooking};
use crate::id::PaymentId;
use crate::payment::{Payment, PaymentEvent, PaymentState};
use crate::remote_call::RemoteCall;
use crate::supplier::SupplierBookingStatus;
use crate::time::Timestamp;

/// Seconds until a ticket is refreshed again that was cancelled while services were being bought.
const REFRESH_RETRY_S: i64 = 300;

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
            Self::BookConfirmed { .. } => "book_confirmed",
            Self::BookRefused(_) => "book_refused",
            Self::CheckoutNotCompleted => "checkout_not_completed",
            Self::CancelStarted => "cancel_started",
            Self::CancelSent { .. } => "cancel_sent",
            Self::CancelNotSent { .. } => "cancel_not_sent",
            Self::CancelAccepted { .. } => "cancel_pending",
            Self::CancelUnresolved { .. } => "cancel_checked",
            Self::CancelSucceeded(_) => "cancel_done",
            Self::CancelRefused(_) => "cancel_refused",
            Self::CancelNotExecuted(_) => "cancel_lost",
            Self::CancelExpedited => "cancel_hurried",
            Self::RefundDecided(_) => "refund_decided",
            Self::PurchaseStarted { .. } => "purchase_started",
            Self::PurchaseSent { .. } => "purchase_sent",
            Self::PurchaseNotSent => "purchase_not_sent",
            Self::PurchaseUnresolved { .. } => "purchase_checked",
            Self::PurchaseResendScheduled { .. } => "purchase_repeated",
            Self::PurchaseSucceeded(_) => "purchase_done",
            Self::PurchaseRefused(_) => "purchase_refused",
            Self::ChangeReported(_) => "hinted",
            Self::RefreshFailed { .. } => "reread_failed",
            Self::Refreshed { .. } => "reread",
            Self::Payment { event, .. } => event.name(),
        }
    }
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
        match (state, event) {
            (state, Event::Payment { id, event }) => {
                self.apply_payment_event(state, &id, event, now, told)
            }
            (state, Event::ChangeReported(by)) => self.on_change_reported(state, by, now),
            (state @ (State::Created | State::PrebookInProgress { .. }), event) => {
                self.transition_prebook(&state, event, now, told)
            }
            (State::ReadyForComplete, event) => self.transition_ready(event, now, told),
            (State::CompleteInProgress { book }, event) => {
                self.transition_completion(book, event, now, told)
            }
            (State::Confirmed { refresh }, event) => {
                self.transition_ticketed(refresh, event, now, told)
            }
            (State::CancelInProgress { cancel }, event) => {
                self.transition_cancellation(cancel, event, now, told)
            }
            (State::Canceled, Event::CancelExpedited) => {
                self.expedite_refunds(now).then_some(State::Canceled)
            }
            (State::Canceled, Event::RefundDecided(refund)) => {
                self.decide_refund(refund, now)?;
                Some(State::Canceled)
            }
            (State::Canceled | State::Failed | State::Expired, _) => None,
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
            Event::PrebookStarted if !is_asked => Some(State::PrebookInProgress { since: now }),
            Event::PrebookConfirmed {
                bound,
                expires_at,
                payment,
            } if is_asked => Some(self.apply_prebook(*bound, expires_at, payment, told)),
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
                self.void_all(now);
                told.push_booking_event(EventType::FlightBookingExpired);
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
            (leg @ RemoteCall::Pending { .. }, Event::BookSent { next_at })
                if self.is_payment_secured() =>
            {
                leg.mark_sent(now, next_at)
            }
            (RemoteCall::Sent { .. }, Event::BookNotSent | Event::CheckoutNotCompleted) => {
                // The payment made in the browser is kept for the next attempt. Other payments can
                // be authorized again.
                let payments = self.payments.iter_mut();
                payments
                    .filter(|payment| !payment.is_browser_payment())
                    .for_each(|payment| payment.begin_void(now));
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
            (_, Event::BookConfirmed { state, payment }) => {
                return Some(self.confirm(&state, payment, now, told));
            }
            (_, Event::BookRefused(failure)) => return Some(self.fail(failure, now, told)),
            _ => return None,
        };
        Some(State::CompleteInProgress { book: leg })
    }

    fn transition_ticketed(
        &mut self,
        reread: Option<RemoteCall>,
        event: Event,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        match (reread, event) {
            (_, Event::CancelStarted) if self.open_purchase().is_none() => {
                self.cancellation_count = self.cancellation_count.saturating_add(1);
                self.failure = None;
                told.push_booking_event(EventType::FlightBookingCancellationStarted);
                Some(State::CancelInProgress {
                    cancel: RemoteCall::pending(now),
                })
            }
            (
                reread,
                Event::PurchaseStarted {
                    purchase,
                    services,
                    payment,
                },
            ) if self.open_purchase().is_none()
                && self.payment_collector == PaymentCollector::Gateway =>
            {
                self.begin_purchase(*purchase, services, *payment);
                Some(State::Confirmed { refresh: reread })
            }
            (Some(call), Event::RefreshFailed { next_at }) => Some(State::Confirmed {
                refresh: Some(call.mark_unresolved(now, next_at)),
            }),
            (
                Some(call),
                Event::Refreshed {
                    state,
                    change_reported_at,
                },
            ) => Some(self.apply_refresh(call, &state, change_reported_at, now, told)),
            (reread, event) => {
                self.apply_purchase_event(event, now, told)?;
                Some(State::Confirmed { refresh: reread })
            }
        }
    }

    fn transition_cancellation(
        &mut self,
        leg: RemoteCall,
        event: Event,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<State> {
        let leg = match (leg, event) {
            (mut leg @ RemoteCall::Pending { .. }, Event::CancelExpedited) => {
                leg.expedite(now).then_some(leg)?
            }
            (leg @ RemoteCall::Pending { .. }, Event::CancelSent { next_at }) => {
                leg.mark_sent(now, next_at)
            }
            (RemoteCall::Pending { .. }, _) => return None,
            (leg, Event::CancelNotSent { retry_at }) => leg.schedule_retry(retry_at),
            (leg, Event::CancelAccepted { next_at }) => leg.mark_accepted(now, next_at),
            (leg, Event::CancelUnresolved { next_at }) => leg.mark_unresolved(now, next_at),
            (_, Event::CancelSucceeded(state)) => {
                self.complete_cancellation(&state, self.refund_by_fare_terms(now), now);
                told.push_booking_event(EventType::FlightBookingCanceled);
                return Some(State::Canceled);
            }
            (_, Event::CancelRefused(failure) | Event::CancelNotExecuted(failure)) => {
                self.failure = Some(failure);
                told.push_booking_event(EventType::FlightBookingCancellationRefused);
                return Some(State::Confirmed { refresh: None });
            }
            _ => return None,
        };
        Some(State::CancelInProgress { cancel: leg })
    }

    /// Schedules reads after a reported change: all sent calls are reconciled now. If the supplier
    /// reported the change, the ticket is refreshed, too. Returns `None` if there is nothing to
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
            State::CompleteInProgress { book: leg } | State::CancelInProgress { cancel: leg } => {
                leg.expedite_reconcile(now)
            }
            State::Confirmed { refresh } => {
                for purchase in &mut self.purchases {
                    if let ServicePurchaseState::InProgress { call } = &mut purchase.state {
                        call.expedite_reconcile(now);
                    }
                }
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
        self.ticket_total = Some(bound.total);
        self.fare = bound.fare;
        self.fare_tax = bound.fare_tax;
        self.fare_conditions = bound.fare_conditions;
        self.merge_journeys(bound.journeys);
        self.supplier_prebook = Some(bound.supplier_prebook);
        self.offer_expires_at = expires_at;
        self.payments.extend(payment);
        told.push_booking_event(EventType::FlightBookingCreated);
        State::ReadyForComplete
    }

    fn begin_completion(&mut self, payment: Option<Payment>, now: Timestamp) -> Option<State> {
        match (self.payment_collector, self.use_payment_sdk, payment) {
            (PaymentCollector::Gateway, false, Some(payment)) => self.payments.push(payment),
            (PaymentCollector::Gateway, true, None) => {
                let mut payments = self.payments.iter_mut().rev();
                let payment = payments.find(|payment| payment.is_browser_payment())?;
                match payment.state {
                    // Only a read of the payment shows whether the payer has acted in the browser.
                    PaymentState::RequiresAction => {
                        payment.state =
                            PaymentState::Authorizing(RemoteCall::pending(now).mark_sent(now, now));
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
        payment: PaymentId,
        now: Timestamp,
        told: &mut Notifications,
    ) -> State {
        self.fare = state.fare.or(self.fare);
        self.fare_tax = state.fare_tax.or(self.fare_tax);
        self.confirmed_at = Some(now);
        match (self.payment_collector, self.ticket_total) {
            (PaymentCollector::Supplier, Some(ticket)) => {
                let collected =
                    Payment::new_supplier_collected(payment, ticket, self.supplier.clone(), now);
                self.payments.push(collected);
            }
            (PaymentCollector::Gateway | PaymentCollector::Supplier, _) => {
                let payments = self.payments.iter_mut();
                payments.for_each(|payment| payment.begin_capture(now));
            }
        }
        told.push_booking_event(EventType::FlightBookingConfirmed);
        self.merge_supplier_booking(state, told);
        State::Confirmed { refresh: None }
    }

    fn fail(&mut self, failure: Failure, now: Timestamp, told: &mut Notifications) -> State {
        // A booking that was never prebooked was never announced to subscribers.
        let announced = self.supplier_prebook.is_some();
        self.failure = Some(failure);
        self.void_all(now);
        if announced {
            told.push_booking_event(EventType::FlightBookingFailed);
        }
        State::Failed
    }

    fn void_all(&mut self, now: Timestamp) {
        let payments = self.payments.iter_mut();
        payments.for_each(|payment| payment.begin_void(now));
    }

    /// Applies the result of a refresh and returns the new state.
    fn apply_refresh(
        &mut self,
        leg: RemoteCall,
        state: &SupplierBooking,
        hinted_at: Timestamp,
        now: Timestamp,
        told: &mut Notifications,
    ) -> State {
        self.merge_supplier_booking(state, told);
        if state.status != SupplierBookingStatus::Canceled {
            let is_hinted_again = leg.is_change_reported_after(hinted_at);
            let refresh = is_hinted_again.then_some(leg);
            return State::Confirmed { refresh };
        }
        if self.open_purchase().is_some() {
            // The outcome of the purchase must be known first. The supplier does not report the
            // change again, so the refresh is repeated.
            let refresh = Some(leg.mark_unresolved(now, now.plus_s(REFRESH_RETRY_S)));
            return State::Confirmed { refresh };
        }
        // The fare's terms apply to a cancellation by the customer. Here another party cancelled
        // the ticket.
        self.complete_cancellation(state, None, now);
        told.push_booking_event(EventType::FlightBookingCanceled);
        State::Canceled
    }

    fn begin_purchase(
        &mut self,
        purchase: ServicePurchase,
        services: Vec<BookedService>,
        payment: Payment,
    ) {
        self.services.extend(services);
        self.purchases.push(purchase);
        self.payments.push(payment);
    }

    /// Applies an event to the purchase in progress. Returns `None` if there is none or the event
    /// does not fit.
    fn apply_purchase_event(
        &mut self,
        event: Event,
        now: Timestamp,
        told: &mut Notifications,
    ) -> Option<()> {
        let at = self.purchases.iter().position(|p| p.call().is_some())?;
        let purchase = self.purchases.get(at)?.clone();
        let ServicePurchaseState::InProgress { call: buy } = purchase.state.clone() else {
            return None;
        };
        let state = match (buy, event) {
            (leg @ RemoteCall::Pending { .. }, Event::PurchaseSent { next_at })
                if self.is_authorized(&purchase.payment) =>
            {
                ServicePurchaseState::InProgress {
                    call: leg.mark_sent(now, next_at),
                }
            }
            (RemoteCall::Pending { .. }, _) => return None,
            (leg, Event::PurchaseUnresolved { next_at }) => ServicePurchaseState::InProgress {
                call: leg.mark_unresolved(now, next_at),
            },
            (leg @ RemoteCall::Sent { .. }, Event::PurchaseResendScheduled { at }) => {
                ServicePurchaseState::InProgress {
                    call: leg.schedule_resend(at),
                }
            }
            (_, Event::PurchaseSucceeded(state)) => {
                self.merge_supplier_booking(&state, told);
                self.confirm_services(&purchase, &state);
                self.with_payment(&purchase.payment, |payment| payment.begin_capture(now));
                told.push_booking_event(EventType::FlightBookingServicesAdded);
                ServicePurchaseState::Succeeded
            }
            (_, Event::PurchaseRefused(failure)) => {
                self.fail_purchase(&purchase, now);
                self.purchases.get_mut(at)?.failure = Some(failure);
                ServicePurchaseState::Refused
            }
            (_, Event::PurchaseNotSent) => {
                self.fail_purchase(&purchase, now);
                ServicePurchaseState::NotSent
            }
            _ => return None,
        };
        self.purchases.get_mut(at)?.state = state;
        Some(())
    }

    /// Records that nothing of a purchase was bought: its services failed and its payment is
    /// voided.
    fn fail_purchase(&mut self, purchase: &ServicePurchase, now: Timestamp) {
        let services = self.services.iter_mut();
        services
            .filter(|service| purchase.services.contains(&service.id))
            .for_each(|service| service.status = ServiceStatus::Failed);
        self.with_payment(&purchase.payment, |payment| payment.begin_void(now));
    }

    fn is_authorized(&self, payment: &PaymentId) -> bool {
        let mut payments = self.payments.iter();
        payments.any(|known| known.id == *payment && known.state == PaymentState::Authorized)
    }

    fn with_payment(&mut self, id: &PaymentId, change: impl FnOnce(&mut Payment)) {
        if let Some(payment) = self.payments.iter_mut().find(|known| known.id == *id) {
            change(payment);
        }
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
        let is_held_no_more = payment.state == PaymentState::Failed;
        let waits = is_held_no_more || payment.state == PaymentState::RequiresAction;
        told.push_payment_event(&event, id);
        if is_held_no_more && let Some(purchase) = self.purchase_for_payment(id).cloned() {
            if matches!(purchase.call(), Some(RemoteCall::Pending { .. })) {
                self.fail_purchase(&purchase, now);
                let declined = self.purchases.iter_mut().find(|p| p.id == purchase.id)?;
                declined.state = ServicePurchaseState::Declined;
            }
            return Some(state);
        }
        match state {
            State::CompleteInProgress {
                book: RemoteCall::Pending { .. },
            } if waits => Some(State::ReadyForComplete),
            other => Some(other),
        }
    }
}
