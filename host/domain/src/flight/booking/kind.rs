//! The rules of the life cycle that only flight bookings have.

use crate::booking::{
    BookedCall, BookingEvent, BookingKind, BookingStatus, ChangeSource, LifecycleEventTypes, Named,
    Notifications, PaymentCollector, ReportedBooking, advance_cancel_call, schedule_refresh,
};
use crate::event::{EventType, Product};
use crate::flight::booking::{
    FlightBookedState, FlightBooking, FlightBookingDetails, FlightEvent, ServicePurchaseState,
};
use crate::flight::supplier_api::{FlightPrebookResponse, FlightSupplierBooking};
use crate::id::PaymentId;
use crate::money::Money;
use crate::payment::{Payment, PaymentState};
use crate::remote_call::RemoteCall;
use crate::supplier::SupplierBookingStatus;
use crate::time::Timestamp;

/// Seconds until a ticket is refreshed again that was cancelled while services were being bought.
const REFRESH_RETRY_S: i64 = 300;

/// A step that only flight bookings have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlightStep {
    BuyServices,
    /// Reconciles a purchase whose outcome is unknown.
    FindPurchase,
}

impl Named for FlightStep {
    fn name(&self) -> &'static str {
        match self {
            Self::BuyServices => "buy",
            Self::FindPurchase => "find_purchase",
        }
    }
}

impl ReportedBooking for FlightSupplierBooking {
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
        Some((amounts.fee, Some(amounts.refund)))
    }

    fn has_unreadable_amounts(&self) -> bool {
        self.has_unreadable_amounts
    }
}

impl BookingKind for FlightBookingDetails {
    const PRODUCT: Product = Product::Flight;
    const EVENT_TYPES: LifecycleEventTypes = LifecycleEventTypes {
        created: EventType::FlightBookingCreated,
        failed: EventType::FlightBookingFailed,
        expired: EventType::FlightBookingExpired,
    };

    type BookedState = FlightBookedState;
    type PrebookResponse = FlightPrebookResponse;
    type SupplierBooking = FlightSupplierBooking;
    type Event = FlightEvent;
    type Step = FlightStep;

    fn booked_price(&self) -> Money {
        self.ticket_total.unwrap_or(self.offered_total)
    }

    fn personal_texts(&self) -> Vec<&str> {
        let passengers = self.passengers.iter();
        let names = passengers.flat_map(|one| [&one.first_name, &one.last_name]);
        let contact = [&self.contact.email, &self.contact.phone];
        contact
            .into_iter()
            .chain(names)
            .map(String::as_str)
            .collect()
    }

    fn apply_prebook(booking: &mut FlightBooking, prebook: FlightPrebookResponse) {
        let details = &mut booking.details;
        details.ticket_total = Some(prebook.total);
        details.fare = prebook.fare;
        details.fare_tax = prebook.fare_tax;
        details.ticket.fee = prebook.details.fee;
        details.fare_conditions = prebook.fare_conditions;
        details.ticket.update(prebook.details);
        booking.merge_journeys(prebook.journeys.into_iter().map(Some).collect());
        booking.supplier_prebook = Some(prebook.supplier_prebook);
    }

    fn confirm(
        booking: &mut FlightBooking,
        supplier_booking: &FlightSupplierBooking,
        payment: PaymentId,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> FlightBookedState {
        match (booking.payment_collector, booking.details.ticket_total) {
            (PaymentCollector::Supplier, Some(ticket)) => {
                let supplier = booking.supplier.clone();
                let collected = Payment::new_supplier_collected(payment, ticket, supplier, now);
                booking.payments.push(collected);
            }
            (PaymentCollector::Gateway | PaymentCollector::Supplier, _) => {
                booking.capture_payments(now);
            }
        }
        notifications.push_booking_event(EventType::FlightBookingConfirmed);
        booking.merge_supplier_booking(supplier_booking, notifications);
        FlightBookedState::Confirmed { refresh: None }
    }

    fn apply_booked(
        booking: &mut FlightBooking,
        state: FlightBookedState,
        event: BookingEvent<Self>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<FlightBookedState> {
        match (state, event) {
            (FlightBookedState::Confirmed { refresh }, event) => {
                booking.transition_ticketed(refresh, event, now, notifications)
            }
            (
                FlightBookedState::CancelInProgress {
                    requested_at,
                    cancel,
                },
                event,
            ) => booking.transition_cancellation(requested_at, cancel, event, now, notifications),
            (FlightBookedState::Canceled, BookingEvent::Kind(FlightEvent::CancelExpedited)) => {
                booking
                    .expedite_refunds(now)
                    .then_some(FlightBookedState::Canceled)
            }
            (
                FlightBookedState::Canceled,
                BookingEvent::Kind(FlightEvent::RefundDecided(refund)),
            ) => {
                booking.decide_refund(refund, now)?;
                Some(FlightBookedState::Canceled)
            }
            (FlightBookedState::Canceled, _) => None,
        }
    }

    fn on_change_reported(
        booking: &mut FlightBooking,
        state: &mut FlightBookedState,
        source: ChangeSource,
        now: Timestamp,
    ) -> bool {
        match state {
            FlightBookedState::CancelInProgress { cancel, .. } => cancel.expedite_reconcile(now),
            FlightBookedState::Confirmed { refresh } => {
                for purchase in &mut booking.details.purchases {
                    if let ServicePurchaseState::InProgress { call } = &mut purchase.state {
                        call.expedite_reconcile(now);
                    }
                }
                schedule_refresh(refresh, source, now)
            }
            FlightBookedState::Canceled => false,
        }
    }

    fn on_payment_failed(booking: &mut FlightBooking, payment: &PaymentId, now: Timestamp) {
        booking.decline_purchase(payment, now);
    }

    fn pays_for_services(&self, payment: &PaymentId) -> bool {
        self.purchase_for_payment(payment).is_some()
    }

    fn booked_status(state: &FlightBookedState) -> BookingStatus {
        match state {
            FlightBookedState::Confirmed { .. } => BookingStatus::Confirmed,
            FlightBookedState::CancelInProgress { .. } => BookingStatus::CancelInProgress,
            FlightBookedState::Canceled => BookingStatus::Canceled,
        }
    }

    fn kind_step(booking: &FlightBooking) -> Option<(Timestamp, FlightStep)> {
        let purchase = booking.open_purchase()?;
        let payment = booking.payment(&purchase.payment)?;
        let call = purchase.call()?;
        match call {
            RemoteCall::Pending { due_at, .. } => (payment.state == PaymentState::Authorized)
                .then_some((*due_at, FlightStep::BuyServices)),
            RemoteCall::Sent { .. } | RemoteCall::Accepted { .. } => {
                Some((call.due_at(), FlightStep::FindPurchase))
            }
        }
    }

    fn booked_call(state: &FlightBookedState) -> Option<BookedCall<'_>> {
        match state {
            FlightBookedState::Confirmed { refresh } => refresh.as_ref().map(BookedCall::Refresh),
            FlightBookedState::CancelInProgress { cancel, .. } => Some(BookedCall::Cancel(cancel)),
            FlightBookedState::Canceled => None,
        }
    }
}

impl FlightBooking {
    fn transition_ticketed(
        &mut self,
        refresh: Option<RemoteCall>,
        event: BookingEvent<FlightBookingDetails>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<FlightBookedState> {
        match (refresh, event) {
            (Some(call), BookingEvent::RefreshFailed { next_at }) => {
                let refresh = Some(call.mark_unresolved(now, next_at));
                Some(FlightBookedState::Confirmed { refresh })
            }
            (
                Some(call),
                BookingEvent::Kind(FlightEvent::Refreshed {
                    supplier_booking,
                    change_reported_at,
                }),
            ) => {
                let is_reported_again = call.is_change_reported_after(change_reported_at);
                Some(self.apply_refresh(
                    call,
                    is_reported_again,
                    &supplier_booking,
                    now,
                    notifications,
                ))
            }
            (_, BookingEvent::Kind(FlightEvent::CancelStarted))
                if self.open_purchase().is_none() =>
            {
                let count = self.details.cancellation_count;
                self.details.cancellation_count = count.saturating_add(1);
                self.failure = None;
                notifications.push_booking_event(EventType::FlightBookingCancellationStarted);
                Some(FlightBookedState::CancelInProgress {
                    requested_at: now,
                    cancel: RemoteCall::pending(now),
                })
            }
            (
                refresh,
                BookingEvent::Kind(FlightEvent::PurchaseStarted {
                    purchase,
                    services,
                    payment,
                }),
            ) if self.open_purchase().is_none()
                && self.payment_collector == PaymentCollector::Gateway =>
            {
                self.begin_purchase(*purchase, services, *payment);
                Some(FlightBookedState::Confirmed { refresh })
            }
            (refresh, BookingEvent::Kind(event)) => {
                self.apply_purchase_event(event, now, notifications)?;
                Some(FlightBookedState::Confirmed { refresh })
            }
            _ => None,
        }
    }

    fn transition_cancellation(
        &mut self,
        requested_at: Timestamp,
        cancel: RemoteCall,
        event: BookingEvent<FlightBookingDetails>,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<FlightBookedState> {
        let is_sent = !matches!(cancel, RemoteCall::Pending { .. });
        let cancel = match event {
            BookingEvent::Kind(FlightEvent::CancelExpedited) if !is_sent => {
                let mut cancel = cancel;
                cancel.expedite(now).then_some(cancel)?
            }
            BookingEvent::Kind(FlightEvent::CancelSucceeded(supplier_booking)) if is_sent => {
                let terms = self.refund_by_fare_terms(requested_at);
                self.complete_cancellation(&supplier_booking, terms, now);
                notifications.push_booking_event(EventType::FlightBookingCanceled);
                return Some(FlightBookedState::Canceled);
            }
            BookingEvent::CancelRefused(failure) | BookingEvent::CancelNotExecuted(failure)
                if is_sent =>
            {
                self.failure = Some(failure);
                notifications.push_booking_event(EventType::FlightBookingCancellationRefused);
                // The airline may have refused because it cancelled the ticket itself. This also
                // replaces a refresh that the cancellation displaced.
                let refresh = Some(RemoteCall::for_refresh(now));
                return Some(FlightBookedState::Confirmed { refresh });
            }
            event => advance_cancel_call(cancel, &event, now)?,
        };
        Some(FlightBookedState::CancelInProgress {
            requested_at,
            cancel,
        })
    }

    /// Applies the result of a refresh. `is_reported_again` is whether another change was
    /// reported meanwhile. Returns the new state.
    fn apply_refresh(
        &mut self,
        call: RemoteCall,
        is_reported_again: bool,
        supplier_booking: &FlightSupplierBooking,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> FlightBookedState {
        self.merge_supplier_booking(supplier_booking, notifications);
        if supplier_booking.status != SupplierBookingStatus::Canceled {
            let refresh = is_reported_again.then_some(call);
            return FlightBookedState::Confirmed { refresh };
        }
        if self.open_purchase().is_some() {
            // The outcome of the purchase must be known first. The supplier does not report the
            // change again, so the refresh is repeated.
            let refresh = Some(call.mark_unresolved(now, now.plus_s(REFRESH_RETRY_S)));
            return FlightBookedState::Confirmed { refresh };
        }
        // The fare's terms apply to a cancellation by the customer. Here another party cancelled
        // the ticket.
        self.complete_cancellation(supplier_booking, None, now);
        notifications.push_booking_event(EventType::FlightBookingCanceled);
        FlightBookedState::Canceled
    }
}
