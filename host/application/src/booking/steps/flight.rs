//! The steps of a flight booking.

use crate::application::Application;
use crate::booking::aggregate::{BookingAggregate, BookingPhase};
use crate::booking::execution::{
    CallKey, ExecutionContext, OutboundCall, StepPreparation, WorkflowError, request_digest,
};
use crate::booking::interpret::{Interpretation, flight as judge};
use crate::booking::steps::hotel::SUPPLIER_NOT_CONFIGURED;
use crate::booking::steps::payment::prepare_payment_step;
use crate::id_generator::IdGenerator;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::{
    ChangeSource, Expiry, Failure, InvalidTransition, Notification, PaymentCollector, Transition,
};
use host_domain::event::Product;
use host_domain::flight::booking::{Booking, Event, State};
use host_domain::flight::step::Step;
use host_domain::flight::supplier_api::{
    BookRequest, BookingLookup, BuyRequest, CancelRequest, FindRequest, ServiceOrderItem,
    SupplierBooking, SupplierService,
};
use host_domain::id::{BookingId, EventId, PaymentId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{NextStep, Payment, PaymentEvent};
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::{ChangeError, ReadError, SupplierBookingStatus, SupplierId};
use host_domain::time::Timestamp;
use host_resources::event;
use host_storage::{DatabaseError, Store, UnitOfWork};

impl BookingAggregate for Booking {
    type Event = Event;
    type Step = Step;

    const JOB_KIND: &'static str = "flight_booking";
    const PRODUCT: Product = Product::Flight;

    fn id(&self) -> &BookingId {
        &self.id
    }

    fn owner(&self) -> &Owner {
        &self.owner
    }

    fn supplier(&self) -> &SupplierId {
        &self.supplier
    }

    fn version(&self) -> i64 {
        self.version
    }

    fn created_at(&self) -> Timestamp {
        self.created_at
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn status_str(&self) -> &'static str {
        self.status().as_str()
    }

    fn phase(&self) -> BookingPhase<'_> {
        match &self.state {
            State::Created | State::PrebookInProgress { .. } => BookingPhase::Prebooking,
            State::ReadyForComplete => BookingPhase::ReadyToComplete,
            State::CompleteInProgress { book } => BookingPhase::Completing(book),
            State::Confirmed { .. } => BookingPhase::Confirmed,
            State::CancelInProgress { .. } | State::Canceled => BookingPhase::Canceling,
            State::Failed => BookingPhase::Failed {
                was_bound: self.supplier_prebook.is_some(),
            },
            State::Expired => BookingPhase::Expired,
        }
    }

    fn payments(&self) -> &[Payment] {
        &self.payments
    }

    fn payment_collector(&self) -> PaymentCollector {
        self.payment_collector
    }

    fn uses_payment_sdk(&self) -> bool {
        self.use_payment_sdk
    }

    fn total(&self) -> Money {
        self.ticket_total.unwrap_or(self.offered_total)
    }

    fn expires_at(&self) -> Timestamp {
        self.offer_expires_at
    }

    fn apply(self, event: Event, now: Timestamp) -> Result<Transition<Self>, InvalidTransition> {
        Booking::apply(self, event, now)
    }

    fn next_step(&self, now: Timestamp) -> NextStep<Step> {
        Booking::next_step(self, now)
    }

    fn step_name(step: &Step) -> &'static str {
        step.name()
    }

    fn prepare_step(&self, step: &Step, next_at: Timestamp) -> Option<StepPreparation<Event>> {
        let mark = |event, client_reference: String, digest| {
            let call = OutboundCall {
                target: self.supplier.clone(),
                client_reference,
                request_digest: digest,
            };
            StepPreparation::RecordThenSend(event, call)
        };
        Some(match step {
            Step::Book => {
                let digest = request_digest(&(&self.supplier_prebook, self.ticket_total));
                mark(Event::BookSent { next_at }, self.id.to_string(), digest)
            }
            Step::ReconcileBooking => StepPreparation::Reconcile(CallKey::of_step("book")),
            Step::Refresh => StepPreparation::Reconcile(CallKey::of_step("reread")),
            Step::Cancel => {
                let request = cancel_request(self)?;
                let digest = request_digest(&request);
                mark(
                    Event::CancelSent { next_at },
                    request.client_reference,
                    digest,
                )
            }
            Step::ReconcileCancellation => StepPreparation::Reconcile(CallKey::of_step("cancel")),
            Step::BuyServices => {
                let request = purchase_request(self)?;
                let digest = request_digest(&request);
                mark(
                    Event::PurchaseSent { next_at },
                    request.client_reference,
                    digest,
                )
            }
            Step::ReconcilePurchase => StepPreparation::Reconcile(CallKey::of_step("buy")),
            Step::Payment(step) => return prepare_payment_step(self, step, next_at),
        })
    }

    fn execute_step<'a>(
        &'a self,
        step: &'a Step,
        app: &'a Application,
        execution: &'a ExecutionContext,
    ) -> BoxFuture<'a, Result<Interpretation<Event>, WorkflowError>> {
        app.execute_flight_step(self, step, execution).boxed()
    }

    fn payment_event(id: PaymentId, event: PaymentEvent) -> Event {
        Event::Payment { id, event }
    }

    fn prebook_started_event() -> Event {
        Event::PrebookStarted
    }

    fn prebook_refused_event() -> Event {
        Event::PrebookRefused(Failure::new(
            "prebook_failed",
            "The supplier did not bind the fare.",
        ))
    }

    fn expired_event(lapse: Expiry) -> Event {
        match lapse {
            Expiry::Prebook => Event::PrebookTimedOut,
            Expiry::Offer => Event::OfferExpired,
        }
    }

    fn change_reported_event(by: ChangeSource) -> Event {
        Event::ChangeReported(by)
    }

    fn book_started_event(payment: Option<Payment>) -> Event {
        Event::BookStarted { payment }
    }

    fn unresolved_call(&self) -> Option<(&'static str, &RemoteCall)> {
        match &self.state {
            State::CompleteInProgress { book } => Some(("book", book)),
            State::CancelInProgress { cancel } => Some(("cancel", cancel)),
            State::Confirmed { .. } => {
                let leg = self.open_purchase().and_then(|purchase| purchase.call());
                leg.map(|leg| ("buy", leg))
            }
            State::Created
            | State::PrebookInProgress { .. }
            | State::ReadyForComplete
            | State::Canceled
            | State::Failed
            | State::Expired => None,
        }
    }

    fn pending_refund_decision(&self) -> Option<fn(Money) -> Event> {
        self.is_refund_undecided()
            .then_some(Event::RefundDecided as fn(Money) -> Event)
    }

    fn resolved_event(
        &self,
        step: &'static str,
        reference: Option<&str>,
        ids: &dyn IdGenerator,
    ) -> Event {
        let failure = Failure::new;
        match (step, reference) {
            ("book", Some(reference)) => Event::BookConfirmed {
                state: Box::new(state_as_resolved(
                    self,
                    reference,
                    SupplierBookingStatus::Confirmed,
                )),
                payment: PaymentId::from_bits(ids.generate()),
            },
            ("book", None) => {
                Event::BookRefused(failure("book_failed", "The supplier has no such booking."))
            }
            ("buy", Some(reference)) => Event::PurchaseSucceeded(Box::new(state_as_resolved(
                self,
                reference,
                SupplierBookingStatus::Confirmed,
            ))),
            ("buy", None) => Event::PurchaseRefused(failure(
                "purchase_failed",
                "The supplier did not sell the extras.",
            )),
            (_, Some(reference)) => Event::CancelSucceeded(Box::new(state_as_resolved(
                self,
                reference,
                SupplierBookingStatus::Canceled,
            ))),
            (_, None) => Event::CancelRefused(failure(
                "cancel_refused",
                "The supplier refused the cancellation.",
            )),
        }
    }

    fn supplier_reference(&self) -> Option<&str> {
        self.supplier_reference.as_deref()
    }

    fn insert(&self, write: &mut UnitOfWork) {
        write.insert_flight_booking(self);
    }

    fn update(&self, read_version: i64, write: &mut UnitOfWork) {
        write.update_flight_booking(self, read_version);
    }

    fn event_payload(&self, id: &EventId, notice: &Notification) -> String {
        event::flight_event_payload(id, notice, self)
    }

    fn load<'a>(
        store: &'a Store,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>> {
        store.flight_booking_unscoped(id).boxed()
    }

    fn find_owned<'a>(
        store: &'a Store,
        owner: &'a Owner,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>> {
        store.flight_booking(owner, id).boxed()
    }
}

impl Application {
    async fn execute_flight_step(
        &self,
        booking: &Booking,
        step: &Step,
        execution: &ExecutionContext,
    ) -> Result<Interpretation<Event>, WorkflowError> {
        let promises = self.supplier_guarantees(&booking.supplier);
        let gone = || WorkflowError::BookingMissing(booking.id.clone());
        let asked_at = self.clock.now();
        let times = || self.schedule_context().with_requested_at(asked_at);
        Ok(match step {
            Step::Book => {
                let answer = self.call_flight_book(booking, execution).await;
                judge::book_response(booking, answer, self.new_payment_id(), times())
            }
            Step::ReconcileBooking => {
                let answer = self.find_flight_at_supplier(booking, execution).await;
                let payment = self.new_payment_id();
                judge::book_lookup(booking, answer, payment, promises, times())
            }
            Step::Refresh => {
                let answer = self.find_flight_at_supplier(booking, execution).await;
                judge::refresh_response(booking, answer, times())
            }
            Step::Cancel => {
                let request = cancel_request(booking).ok_or_else(gone)?;
                let answer = match self.runtime.supplier(&booking.supplier) {
                    Some(supplier) => {
                        let context = self.call_context(booking, execution);
                        supplier.cancel_flight(&context, request).await
                    }
                    None => Err(supplier_not_configured()),
                };
                judge::cancel_response(booking, answer, times())
            }
            Step::ReconcileCancellation => {
                let answer = self.find_flight_at_supplier(booking, execution).await;
                judge::cancel_lookup(booking, answer, promises, times())
            }
            Step::BuyServices => {
                let request = purchase_request(booking).ok_or_else(gone)?;
                let answer = match self.runtime.supplier(&booking.supplier) {
                    Some(supplier) => {
                        let context = self.call_context(booking, execution);
                        supplier.buy_flight_services(&context, request).await
                    }
                    None => Err(supplier_not_configured()),
                };
                judge::purchase_response(booking, answer, times())
            }
            Step::ReconcilePurchase => {
                let answer = self.find_flight_at_supplier(booking, execution).await;
                judge::purchase_lookup(booking, answer, promises, times())
            }
            Step::Payment(step) => {
                return self.execute_payment_step(booking, step, execution).await;
            }
        })
    }

    async fn call_flight_book(
        &self,
        booking: &Booking,
        execution: &ExecutionContext,
    ) -> Result<SupplierBooking, ChangeError> {
        let passengers = self
            .open_passengers(booking)
            .map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let request = BookRequest {
            client_reference: booking.id.to_string(),
            supplier_prebook: booking.supplier_prebook.clone().unwrap_or_default(),
            total: BookingAggregate::total(booking),
            contact: booking.contact.clone(),
            passengers,
        };
        let supplier = self.runtime.supplier(&booking.supplier);
        let supplier = supplier.ok_or_else(supplier_not_configured)?;
        let context = self.call_context(booking, execution);
        let answer = supplier.book_flight(&context, request).await;
        if let Ok(state) = &answer
            && Some(state.total) != booking.ticket_total
        {
            tracing::warn!(booking = %booking.id, "the supplier booked at a different total than it bound");
        }
        answer
    }

    async fn find_flight_at_supplier(
        &self,
        booking: &Booking,
        execution: &ExecutionContext,
    ) -> Result<BookingLookup, ReadError> {
        let request = FindRequest {
            client_reference: booking.id.to_string(),
            supplier_reference: booking.supplier_reference.clone(),
            supplier_prebook: booking.supplier_prebook.clone(),
            since: booking.created_at,
        };
        match self.runtime.supplier(&booking.supplier) {
            Some(supplier) => {
                let context = self.call_context(booking, execution);
                supplier.find_flight_booking(&context, request).await
            }
            None => Err(ReadError::Misconfigured(SUPPLIER_NOT_CONFIGURED.to_owned())),
        }
    }

    /// Creates an id for the payment that a supplier that collects payment will report.
    fn new_payment_id(&self) -> PaymentId {
        PaymentId::from_bits(self.ids.generate())
    }
}

fn supplier_not_configured() -> ChangeError {
    ChangeError::NotSent(SUPPLIER_NOT_CONFIGURED.to_owned())
}

fn cancel_request(booking: &Booking) -> Option<CancelRequest> {
    Some(CancelRequest {
        client_reference: booking.cancellation_client_reference(),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
    })
}

fn purchase_request(booking: &Booking) -> Option<BuyRequest> {
    let purchase = booking.open_purchase()?;
    let bought = booking.services.iter();
    let bought = bought.filter(|service| purchase.services.contains(&service.id));
    Some(BuyRequest {
        client_reference: booking.purchase_client_reference(&purchase.id),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
        total: purchase.total,
        services: bought
            .map(|service| ServiceOrderItem {
                supplier_service_id: service.supplier_service_id.clone(),
                quantity: service.quantity,
                unit_amount: service.unit_amount,
            })
            .collect(),
    })
}

/// Returns the booking as the supplier has it according to the operator.
fn state_as_resolved(
    booking: &Booking,
    supplier_reference: &str,
    status: SupplierBookingStatus,
) -> SupplierBooking {
    let on_ticket = booking.services.iter().map(|service| SupplierService {
        supplier_service_id: service.supplier_service_id.clone(),
        service_type: service.service_type,
        passenger: Some(service.passenger),
        supplier_segment_ids: service.supplier_segment_ids.clone(),
        baggage: service.baggage,
        quantity: service.quantity,
        unit_amount: service.unit_amount,
    });
    SupplierBooking {
        status,
        supplier_reference: supplier_reference.to_owned(),
        client_reference: Some(booking.id.to_string()),
        airline_pnr: booking.airline_pnr.clone(),
        total: booking.total().unwrap_or(booking.offered_total),
        fare: None,
        fare_tax: None,
        journeys: Vec::new(),
        services: on_ticket.collect(),
        changes: Vec::new(),
        cancellation: None,
    }
}
