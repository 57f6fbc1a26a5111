//! The steps of a flight booking.

use crate::booking::aggregate::{BookingAggregate, BookingPhase};
use crate::booking::execution::{
    CallKey, ExecutionContext, OutboundCall, StepPreparation, WorkflowError, request_digest,
};
use crate::booking::interpret::{Interpretation, flight as interpret};
use crate::booking::step_dependencies::StepDependencies;
use crate::booking::steps::hotel::SUPPLIER_NOT_CONFIGURED;
use crate::booking::steps::payment::{execute_payment_step, prepare_payment_step};
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
use host_runtime::{CallContext, Supplier};
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
        dependencies: &'a StepDependencies,
        execution: &'a ExecutionContext,
    ) -> BoxFuture<'a, Result<Interpretation<Event>, WorkflowError>> {
        let run = FlightStepRun {
            dependencies,
            booking: self,
            execution,
        };
        run.execute(step).boxed()
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

    fn expired_event(expiry: Expiry) -> Event {
        match expiry {
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
                let call = self.open_purchase().and_then(|purchase| purchase.call());
                call.map(|call| ("buy", call))
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

/// The execution of a step of a flight booking.
struct FlightStepRun<'a> {
    dependencies: &'a StepDependencies,
    booking: &'a Booking,
    execution: &'a ExecutionContext,
}

impl FlightStepRun<'_> {
    async fn execute(self, step: &Step) -> Result<Interpretation<Event>, WorkflowError> {
        let (dependencies, booking) = (self.dependencies, self.booking);
        let guarantees = dependencies.supplier_guarantees(&booking.supplier);
        let missing = || WorkflowError::BookingMissing(booking.id.clone());
        let requested_at = dependencies.base.now();
        let schedules = || {
            dependencies
                .schedule_context()
                .with_requested_at(requested_at)
        };
        Ok(match step {
            Step::Book => {
                let response = self.call_book().await;
                interpret::book_response(booking, response, self.new_payment_id(), schedules())
            }
            Step::ReconcileBooking => {
                let response = self.find_at_supplier().await;
                let payment = self.new_payment_id();
                interpret::book_lookup(booking, response, payment, guarantees, schedules())
            }
            Step::Refresh => {
                let response = self.find_at_supplier().await;
                interpret::refresh_response(booking, response, schedules())
            }
            Step::Cancel => {
                let request = cancel_request(booking).ok_or_else(missing)?;
                let response = match self.supplier() {
                    Some(supplier) => supplier.cancel_flight(&self.call_context(), request).await,
                    None => Err(supplier_not_configured()),
                };
                interpret::cancel_response(booking, response, schedules())
            }
            Step::ReconcileCancellation => {
                let response = self.find_at_supplier().await;
                interpret::cancel_lookup(booking, response, guarantees, schedules())
            }
            Step::BuyServices => {
                let request = purchase_request(booking).ok_or_else(missing)?;
                let response = match self.supplier() {
                    Some(supplier) => {
                        let context = self.call_context();
                        supplier.buy_flight_services(&context, request).await
                    }
                    None => Err(supplier_not_configured()),
                };
                interpret::purchase_response(booking, response, schedules())
            }
            Step::ReconcilePurchase => {
                let response = self.find_at_supplier().await;
                interpret::purchase_lookup(booking, response, guarantees, schedules())
            }
            Step::Payment(step) => {
                return execute_payment_step(dependencies, booking, step, self.execution).await;
            }
        })
    }

    async fn call_book(&self) -> Result<SupplierBooking, ChangeError> {
        let booking = self.booking;
        let passengers = self
            .dependencies
            .passenger_secrets
            .open(booking)
            .map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let request = BookRequest {
            client_reference: booking.id.to_string(),
            supplier_prebook: booking.supplier_prebook.clone().unwrap_or_default(),
            total: BookingAggregate::total(booking),
            contact: booking.contact.clone(),
            passengers,
        };
        let supplier = self.supplier().ok_or_else(supplier_not_configured)?;
        let response = supplier.book_flight(&self.call_context(), request).await;
        if let Ok(supplier_booking) = &response
            && Some(supplier_booking.total) != booking.ticket_total
        {
            tracing::warn!(booking = %booking.id, "the supplier booked at a different total than it bound");
        }
        response
    }

    async fn find_at_supplier(&self) -> Result<BookingLookup, ReadError> {
        let request = FindRequest {
            client_reference: self.booking.id.to_string(),
            supplier_reference: self.booking.supplier_reference.clone(),
            supplier_prebook: self.booking.supplier_prebook.clone(),
            since: self.booking.created_at,
        };
        match self.supplier() {
            Some(supplier) => {
                let context = self.call_context();
                supplier.find_flight_booking(&context, request).await
            }
            None => Err(ReadError::Misconfigured(SUPPLIER_NOT_CONFIGURED.to_owned())),
        }
    }

    fn supplier(&self) -> Option<Supplier> {
        self.dependencies.suppliers.loaded(&self.booking.supplier)
    }

    fn call_context(&self) -> CallContext {
        self.execution
            .call_context(&self.booking.owner, &self.booking.id)
    }

    /// Creates an id for the payment that a supplier that collects payment will report.
    fn new_payment_id(&self) -> PaymentId {
        PaymentId::from_bits(self.dependencies.base.ids.generate())
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
