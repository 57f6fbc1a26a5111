//! The transitions of a booking up to the supplier's confirmation, and those that both kinds share
//! afterwards. Every match arm is a row of the transition table; any other transition is
//! impossible.

use crate::booking::aggregate::{Booking, BookingEvent, BookingKind, BookingState};
use crate::booking::{
    AbsenceRecheck, ChangeSource, Failure, InvalidTransition, Named, Notifications,
    PaymentCollector, Transition,
};
use crate::id::PaymentId;
use crate::payment::{Payment, PaymentEvent, PaymentState};
use crate::remote_call::RemoteCall;
use crate::time::Timestamp;

impl<K: BookingKind> Booking<K> {
    /// Applies an event to the booking.
    ///
    /// # Errors
    /// Returns [`InvalidTransition`] if the event does not fit the state. Then nothing changes.
    pub fn apply(
        mut self,
        event: BookingEvent<K>,
        now: Timestamp,
    ) -> Result<Transition<Self>, InvalidTransition> {
        let from_status = self.status().as_str();
        let name = event.name();
        let mut notifications = Notifications::default();
        let state = self.next_state(event, now, &mut notifications);
        self.state = state.ok_or(InvalidTransition {
            status: from_status,
            event: name,
        })?;
        self.version = self.version.saturating_add(1);
        self.updated_at = now.max(self.updated_at);
        Ok(Transition {
            booking: self,
            from_status,
            event: name,
            notifications: notifications.0,
        })
    }

    fn next_state(
        &mut self,
        event: BookingEvent<K>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<BookingState<K::BookedState>> {
        match (self.state.clone(), event) {
            (state, BookingEvent::Payment { id, event }) => {
                self.apply_payment_event(state, &id, event, now, notifications)
            }
            (state, BookingEvent::ChangeReported(source)) => {
                self.apply_change_report(state, source, now)
            }
            (BookingState::Created, BookingEvent::PrebookStarted) => {
                Some(BookingState::PrebookInProgress { started_at: now })
            }
            (
                BookingState::PrebookInProgress { .. },
                BookingEvent::PrebookConfirmed {
                    prebook,
                    expires_at,
                    payment,
                },
            ) => {
                K::apply_prebook(self, *prebook);
                self.offer_expires_at = expires_at;
                self.payments.extend(payment);
                notifications.push_booking_event(K::EVENT_TYPES.created);
                Some(BookingState::ReadyForComplete)
            }
            (
                BookingState::Created | BookingState::PrebookInProgress { .. },
                BookingEvent::PrebookRefused(failure),
            ) => Some(self.fail(failure, None, now, notifications)),
            (
                BookingState::Created | BookingState::PrebookInProgress { .. },
                BookingEvent::PrebookTimedOut,
            ) => Some(self.fail(Failure::prebook_unknown(), None, now, notifications)),
            (BookingState::ReadyForComplete, BookingEvent::OfferExpired) => {
                self.void_payments(now);
                notifications.push_booking_event(K::EVENT_TYPES.expired);
                Some(BookingState::Expired)
            }
            (BookingState::ReadyForComplete, BookingEvent::BookStarted { payment }) => {
                self.begin_completion(payment, now)
            }
            (BookingState::CompleteInProgress { book }, event) => {
                self.transition_completion(book, event, now, notifications)
            }
            (
                BookingState::Failed {
                    absence: Some(absence),
                },
                event,
            ) => apply_absence(absence, event),
            (BookingState::Booked(state), event) => {
                let state = K::apply_booked(self, state, event, now, notifications);
                state.map(BookingState::Booked)
            }
            _ => None,
        }
    }

    fn transition_completion(
        &mut self,
        book: RemoteCall,
        event: BookingEvent<K>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<BookingState<K::BookedState>> {
        let book = match (book, event) {
            (call @ RemoteCall::Pending { .. }, BookingEvent::BookSent { next_at })
                if self.is_payment_secured() =>
            {
                call.mark_sent(now, next_at)
            }
            (
                RemoteCall::Sent { .. },
                BookingEvent::BookNotSent | BookingEvent::CheckoutNotCompleted,
            ) => {
                // The payment made in the browser is kept for the next attempt. Other payments can
                // be authorized again.
                let payments = self.payments.iter_mut();
                payments
                    .filter(|payment| !payment.is_browser_payment())
                    .for_each(|payment| payment.begin_void(now));
                return Some(BookingState::ReadyForComplete);
            }
            (RemoteCall::Pending { .. }, _) => return None,
            (
                call,
                BookingEvent::BookAccepted {
                    supplier_reference,
                    next_at,
                },
            ) => {
                self.supplier_reference = supplier_reference.or(self.supplier_reference.take());
                call.mark_accepted(now, next_at)
            }
            (call, BookingEvent::BookUnresolved { next_at, absence }) => {
                call.mark_unresolved(now, next_at).record_absence(absence)
            }
            (call @ RemoteCall::Sent { .. }, BookingEvent::BookResendScheduled { at }) => {
                call.schedule_resend(at)
            }
            (
                _,
                BookingEvent::BookConfirmed {
                    supplier_booking,
                    payment,
                },
            ) => {
                self.confirmed_at = Some(now);
                let state = K::confirm(self, &supplier_booking, payment, now, notifications);
                return Some(BookingState::Booked(state));
            }
            (_, BookingEvent::BookRefused(failure)) => {
                return Some(self.fail(failure, None, now, notifications));
            }
            (
                RemoteCall::Sent { .. },
                BookingEvent::BookNotExecuted {
                    failure,
                    recheck_at,
                },
            ) => {
                let absence = AbsenceRecheck::new(now, recheck_at);
                return Some(self.fail(failure, Some(absence), now, notifications));
            }
            _ => return None,
        };
        Some(BookingState::CompleteInProgress { book })
    }

    fn begin_completion(
        &mut self,
        payment: Option<Payment>,
        now: Timestamp,
    ) -> Option<BookingState<K::BookedState>> {
        match (self.payment_collector, self.use_payment_sdk, payment) {
            (PaymentCollector::Gateway, false, Some(payment)) => self.payments.push(payment),
            (PaymentCollector::Gateway, true, None) => {
                let mut newest_first = self.payments.iter_mut().rev();
                let payment = newest_first.find(|payment| payment.is_browser_payment())?;
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
        Some(BookingState::CompleteInProgress {
            book: RemoteCall::pending(now),
        })
    }

    fn is_payment_secured(&self) -> bool {
        self.payment_collector == PaymentCollector::Supplier
            || self
                .current_payment()
                .is_some_and(|payment| payment.state == PaymentState::Authorized)
    }

    fn fail(
        &mut self,
        failure: Failure,
        absence: Option<AbsenceRecheck>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> BookingState<K::BookedState> {
        // A booking that was never prebooked was never announced to subscribers.
        let announced = self.supplier_prebook.is_some();
        self.failure = Some(failure);
        self.void_payments(now);
        if announced {
            notifications.push_booking_event(K::EVENT_TYPES.failed);
        }
        BookingState::Failed { absence }
    }

    fn void_payments(&mut self, now: Timestamp) {
        let payments = self.payments.iter_mut();
        payments.for_each(|payment| payment.begin_void(now));
    }

    /// Starts the capture of every authorized payment.
    pub(crate) fn capture_payments(&mut self, now: Timestamp) {
        let payments = self.payments.iter_mut();
        payments.for_each(|payment| payment.begin_capture(now));
    }

    /// Schedules reads after a reported change: all sent calls are reconciled now. If the supplier
    /// reported the change, a confirmed booking is refreshed, too. Returns `None` if there is
    /// nothing to read.
    fn apply_change_report(
        &mut self,
        mut state: BookingState<K::BookedState>,
        source: ChangeSource,
        now: Timestamp,
    ) -> Option<BookingState<K::BookedState>> {
        let mut reads_payments = false;
        for payment in &mut self.payments {
            reads_payments |= payment.expedite_reconcile(now);
        }
        let reads_booking = match &mut state {
            BookingState::CompleteInProgress { book } => book.expedite_reconcile(now),
            BookingState::Booked(state) => K::on_change_reported(self, state, source, now),
            BookingState::Failed {
                absence: Some(absence),
            } => source == ChangeSource::Supplier && absence.expedite(now),
            BookingState::Created
            | BookingState::PrebookInProgress { .. }
            | BookingState::ReadyForComplete
            | BookingState::Failed { absence: None }
            | BookingState::Expired => false,
        };
        (reads_booking || reads_payments).then_some(state)
    }

    fn apply_payment_event(
        &mut self,
        state: BookingState<K::BookedState>,
        id: &PaymentId,
        event: PaymentEvent,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<BookingState<K::BookedState>> {
        let payment = self.payments.iter_mut().find(|payment| payment.id == *id)?;
        *payment = payment.clone().apply(event.clone(), now).ok()?;
        let has_failed = payment.state == PaymentState::Failed;
        let is_unpaid = has_failed || payment.state == PaymentState::RequiresAction;
        notifications.push_payment_event(&event, id);
        if has_failed {
            K::on_payment_failed(self, id, now);
        }
        match state {
            BookingState::CompleteInProgress {
                book: RemoteCall::Pending { .. },
            } if is_unpaid => Some(BookingState::ReadyForComplete),
            other => Some(other),
        }
    }
}

/// Applies an event to the lookups of a booking that failed by absence. Returns `None` if the event
/// does not fit.
fn apply_absence<K: BookingKind>(
    absence: AbsenceRecheck,
    event: BookingEvent<K>,
) -> Option<BookingState<K::BookedState>> {
    let absence = match (absence.orphan.is_some(), event) {
        (false, BookingEvent::AbsenceRechecked { next_at }) => Some(AbsenceRecheck {
            due_at: next_at,
            ..absence
        }),
        (false, BookingEvent::OrphanFound(orphan)) => Some(AbsenceRecheck {
            due_at: None,
            orphan: Some(orphan),
            ..absence
        }),
        (true, BookingEvent::OrphanResolved) => None,
        (true, BookingEvent::AbsenceRechecked { .. } | BookingEvent::OrphanFound(_))
        | (false, BookingEvent::OrphanResolved)
        | (
            _,
            BookingEvent::PrebookStarted
            | BookingEvent::PrebookConfirmed { .. }
            | BookingEvent::PrebookRefused(_)
            | BookingEvent::PrebookTimedOut
            | BookingEvent::OfferExpired
            | BookingEvent::BookStarted { .. }
            | BookingEvent::BookSent { .. }
            | BookingEvent::BookNotSent
            | BookingEvent::BookAccepted { .. }
            | BookingEvent::BookUnresolved { .. }
            | BookingEvent::BookResendScheduled { .. }
            | BookingEvent::BookConfirmed { .. }
            | BookingEvent::BookRefused(_)
            | BookingEvent::BookNotExecuted { .. }
            | BookingEvent::CheckoutNotCompleted
            | BookingEvent::CancelSent { .. }
            | BookingEvent::CancelNotSent { .. }
            | BookingEvent::CancelAccepted { .. }
            | BookingEvent::CancelUnresolved { .. }
            | BookingEvent::CancelRefused(_)
            | BookingEvent::CancelNotExecuted(_)
            | BookingEvent::ChangeReported(_)
            | BookingEvent::RefreshFailed { .. }
            | BookingEvent::Kind(_)
            | BookingEvent::Payment { .. },
        ) => return None,
    };
    Some(BookingState::Failed { absence })
}

/// Applies an event to a cancellation call whose outcome is open. Returns `None` if the event does
/// not fit or decides the cancellation.
pub(crate) fn advance_cancel_call<K: BookingKind>(
    call: RemoteCall,
    event: &BookingEvent<K>,
    now: Timestamp,
) -> Option<RemoteCall> {
    match (call, event) {
        (call @ RemoteCall::Pending { .. }, BookingEvent::CancelSent { next_at }) => {
            Some(call.mark_sent(now, *next_at))
        }
        (RemoteCall::Pending { .. }, _) => None,
        (call, BookingEvent::CancelNotSent { retry_at }) => Some(call.schedule_retry(*retry_at)),
        (call, BookingEvent::CancelAccepted { next_at }) => Some(call.mark_accepted(now, *next_at)),
        (call, BookingEvent::CancelUnresolved { next_at, absence }) => Some(
            call.mark_unresolved(now, *next_at)
                .record_absence(absence.clone()),
        ),
        _ => None,
    }
}

/// Schedules a refresh after a reported change, if the supplier reported it. A processor reports
/// only payments. Returns whether a refresh was scheduled.
pub(crate) fn schedule_refresh(
    refresh: &mut Option<RemoteCall>,
    source: ChangeSource,
    now: Timestamp,
) -> bool {
    let is_supplier = source == ChangeSource::Supplier;
    if is_supplier {
        *refresh = Some(RemoteCall::for_refresh(now));
    }
    is_supplier
}
