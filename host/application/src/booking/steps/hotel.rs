//! The steps of a hotel booking.

use crate::booking::aggregate::{BookingAggregate, BookingPhase};
use crate::booking::execution::{
    CallKey, ExecutionContext, OutboundCall, StepPreparation, WorkflowError, request_digest,
};
use crate::booking::interpret::{Interpretation, hotel as interpret};
use crate::booking::step_dependencies::StepDependencies;
use crate::booking::steps::payment::{execute_payment_step, prepare_payment_step};
use crate::id_generator::IdGenerator;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::{
    ChangeSource, Expiry, Failure, InvalidTransition, Notification, PaymentCollector, Transition,
};
use host_domain::event::Product;
use host_domain::hotel::booking::{Booking, CancellationStatus, Event, State};
use host_domain::hotel::step::Step;
use host_domain::hotel::supplier_api::{
    BookRequest, BookingLookup, CancelRequest, FindRequest, RoomReference, SupplierBooking,
};
use host_domain::id::{BookingId, CancellationId, EventId, PaymentId, RefundId};
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

    const JOB_KIND: &'static str = "hotel_booking";
    const PRODUCT: Product = Product::Hotel;

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
            State::CancelInProgress { .. } | State::PartiallyCanceled { .. } | State::Canceled => {
                BookingPhase::Canceling
            }
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
        self.total
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
        Some(match step {
            Step::Book => {
                let request = book_request(self);
                let call = OutboundCall {
                    target: self.supplier.clone(),
                    client_reference: request.client_reference.clone(),
                    request_digest: request_digest(&request),
                };
                StepPreparation::RecordThenSend(
                    Event::BookSent {
                        reconcile_at: next_at,
                    },
                    call,
                )
            }
            Step::ReconcileBooking => StepPreparation::Reconcile(CallKey::of_step("book")),
            Step::Refresh => StepPreparation::Reconcile(CallKey::of_step("reread")),
            Step::Cancel => {
                let request = cancel_request(self)?;
                let call = OutboundCall {
                    target: self.supplier.clone(),
                    client_reference: request.client_reference.clone(),
                    request_digest: request_digest(&request),
                };
                StepPreparation::RecordThenSend(Event::CancelSent { next_at }, call)
            }
            Step::ReconcileCancellation => StepPreparation::Reconcile(CallKey::of_step("cancel")),
            Step::Payment(step) => return prepare_payment_step(self, step, next_at),
        })
    }

    fn execute_step<'a>(
        &'a self,
        step: &'a Step,
        dependencies: &'a StepDependencies,
        execution: &'a ExecutionContext,
    ) -> BoxFuture<'a, Result<Interpretation<Event>, WorkflowError>> {
        let run = HotelStepRun {
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
            "The supplier did not bind the offer.",
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
            State::CancelInProgress { cancel, .. } => Some(("cancel", cancel)),
            State::Created
            | State::PrebookInProgress { .. }
            | State::ReadyForComplete
            | State::Confirmed { .. }
            | State::PartiallyCanceled { .. }
            | State::Canceled
            | State::Failed
            | State::Expired => None,
        }
    }

    fn resolved_event(
        &self,
        step: &'static str,
        reference: Option<&str>,
        ids: &dyn IdGenerator,
    ) -> Event {
        match (step, reference) {
            ("book", Some(reference)) => {
                let state = state_as_resolved(self, reference, SupplierBookingStatus::Confirmed);
                Event::BookConfirmed(Box::new(state))
            }
            ("book", None) => Event::BookRefused(Failure::new(
                "book_failed",
                "The supplier has no such booking.",
            )),
            (_, Some(reference)) => Event::CancelSucceeded {
                supplier_booking: Box::new(state_as_resolved(
                    self,
                    reference,
                    SupplierBookingStatus::Canceled,
                )),
                refund: RefundId::from_bits(ids.generate()),
            },
            (_, None) => Event::CancelRefused(Failure::new(
                "cancel_refused",
                "The supplier refused the cancellation.",
            )),
        }
    }

    fn supplier_reference(&self) -> Option<&str> {
        self.supplier_reference.as_deref()
    }

    fn insert(&self, write: &mut UnitOfWork) {
        write.insert_hotel_booking(self);
    }

    fn update(&self, read_version: i64, write: &mut UnitOfWork) {
        write.update_hotel_booking(self, read_version);
    }

    fn event_payload(&self, id: &EventId, notice: &Notification) -> String {
        event::hotel_event_payload(id, notice, self)
    }

    fn load<'a>(
        store: &'a Store,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>> {
        store.hotel_booking_unscoped(id).boxed()
    }

    fn find_owned<'a>(
        store: &'a Store,
        owner: &'a Owner,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>> {
        store.hotel_booking(owner, id).boxed()
    }
}

/// The execution of a step of a hotel booking.
struct HotelStepRun<'a> {
    dependencies: &'a StepDependencies,
    booking: &'a Booking,
    execution: &'a ExecutionContext,
}

impl HotelStepRun<'_> {
    async fn execute(self, step: &Step) -> Result<Interpretation<Event>, WorkflowError> {
        let (dependencies, booking) = (self.dependencies, self.booking);
        let requested_at = dependencies.base.now();
        let schedules = || {
            dependencies
                .schedule_context()
                .with_requested_at(requested_at)
        };
        match step {
            Step::Book => Ok(self.call_book().await),
            Step::ReconcileBooking => {
                let response = self.find_at_supplier().await;
                let guarantees = dependencies.supplier_guarantees(&booking.supplier);
                Ok(interpret::book_lookup(
                    booking,
                    response,
                    guarantees,
                    schedules(),
                ))
            }
            Step::Refresh => {
                let response = self.find_at_supplier().await;
                let cancellation = CancellationId::from_bits(dependencies.base.ids.generate());
                let refund = self.new_refund_id();
                Ok(interpret::refresh_response(
                    booking,
                    response,
                    cancellation,
                    refund,
                    schedules(),
                ))
            }
            Step::Cancel => self.call_cancel().await,
            Step::ReconcileCancellation => {
                let response = self.find_at_supplier().await;
                let guarantees = dependencies.supplier_guarantees(&booking.supplier);
                let refund = self.new_refund_id();
                Ok(interpret::cancel_lookup(
                    booking,
                    response,
                    refund,
                    guarantees,
                    schedules(),
                ))
            }
            Step::Payment(step) => {
                execute_payment_step(dependencies, booking, step, self.execution).await
            }
        }
    }

    async fn call_book(&self) -> Interpretation<Event> {
        let booking = self.booking;
        let response = match self.supplier() {
            Some(supplier) => {
                let request = book_request(booking);
                supplier.book_hotel(&self.call_context(), request).await
            }
            None => Err(ChangeError::NotSent(SUPPLIER_NOT_CONFIGURED.to_owned())),
        };
        if let Ok(supplier_booking) = &response
            && supplier_booking.total != booking.total
        {
            tracing::warn!(booking = %booking.id, "the supplier booked at a different total than it bound");
        }
        interpret::book_response(booking, response, self.dependencies.schedule_context())
    }

    async fn call_cancel(&self) -> Result<Interpretation<Event>, WorkflowError> {
        let booking = self.booking;
        let request = cancel_request(booking)
            .ok_or_else(|| WorkflowError::BookingMissing(booking.id.clone()))?;
        let response = match self.supplier() {
            Some(supplier) => {
                let (context, currency) = (self.call_context(), booking.total.currency);
                supplier.cancel_hotel(&context, request, currency).await
            }
            None => Err(ChangeError::NotSent(SUPPLIER_NOT_CONFIGURED.to_owned())),
        };
        let refund = self.new_refund_id();
        let schedules = self.dependencies.schedule_context();
        Ok(interpret::cancel_response(
            booking, response, refund, schedules,
        ))
    }

    async fn find_at_supplier(&self) -> Result<BookingLookup, ReadError> {
        let request = FindRequest {
            client_reference: self.booking.id.to_string(),
            supplier_reference: self.booking.supplier_reference.clone(),
            supplier_prebook: self.booking.supplier_prebook.clone(),
        };
        match self.supplier() {
            Some(supplier) => {
                let context = self.call_context();
                supplier.find_hotel_booking(&context, request).await
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

    fn new_refund_id(&self) -> RefundId {
        RefundId::from_bits(self.dependencies.base.ids.generate())
    }
}

/// Reason for not making a call: its supplier was removed from the configuration.
pub const SUPPLIER_NOT_CONFIGURED: &str = "the supplier is not configured";

fn book_request(booking: &Booking) -> BookRequest {
    BookRequest {
        client_reference: booking.id.to_string(),
        supplier_prebook: booking.supplier_prebook.clone().unwrap_or_default(),
        supplier_hotel_id: booking.hotel.supplier_hotel_id.clone(),
        stay: booking.stay.clone(),
        total: booking.total,
        contact: booking.contact.clone(),
        rooms: guests_by_room(booking),
    }
}

/// Returns the guests of each room.
pub fn guests_by_room(booking: &Booking) -> Vec<Vec<host_domain::hotel::Guest>> {
    let rooms = booking.rooms.iter();
    rooms
        .map(|room| room.guests.iter().map(|(_, guest)| guest.clone()).collect())
        .collect()
}

pub fn cancel_request(booking: &Booking) -> Option<CancelRequest> {
    let running = booking
        .cancellations
        .iter()
        .find(|c| c.status == CancellationStatus::InProgress)?;
    let rooms = booking
        .rooms
        .iter()
        .enumerate()
        .filter(|(_, room)| running.is_partial && running.room_ids.contains(&room.id));
    let rooms = rooms.filter_map(|(position, room)| {
        Some(RoomReference {
            position: u8::try_from(position).ok()?,
            supplier_room_reference: room.supplier_reference.clone(),
        })
    });
    Some(CancelRequest {
        client_reference: booking.cancellation_client_reference(&running.id),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
        rooms: rooms.collect(),
    })
}

/// Returns the booking as the supplier has it according to the operator.
fn state_as_resolved(
    booking: &Booking,
    supplier_reference: &str,
    status: SupplierBookingStatus,
) -> SupplierBooking {
    SupplierBooking {
        status,
        supplier_reference: supplier_reference.to_owned(),
        client_reference: Some(booking.id.to_string()),
        total: booking.total,
        hotel_confirmation_code: booking.hotel_confirmation_code.clone(),
        remarks: booking.hotel_remarks.clone(),
        rooms: Vec::new(),
        policy: booking.policy.clone(),
        cancellation: None,
    }
}
