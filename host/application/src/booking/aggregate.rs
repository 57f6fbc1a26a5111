//! The interface of a booking, for hotels or flights, that the workflow uses.

use crate::booking::execution::{ExecutionContext, StepPreparation, WorkflowError};
use crate::booking::interpret::Interpretation;
use crate::booking::step_dependencies::StepDependencies;
use crate::id_generator::IdGenerator;
use futures::future::BoxFuture;
use host_domain::booking::{
    ChangeSource, Expiry, InvalidTransition, Notification, PaymentCollector, Transition,
};
use host_domain::event::Product;
use host_domain::id::{BookingId, EventId, PaymentId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{NextStep, Payment, PaymentEvent};
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, Store, UnitOfWork};
use std::fmt::Debug;

/// The phase of a booking with regard to its completion.
#[derive(Debug, Clone, Copy)]
pub enum BookingPhase<'a> {
    /// The offer is not bound yet.
    Prebooking,
    /// The offer is bound, and the caller has to complete the booking.
    ReadyToComplete,
    /// The booking is being paid and booked.
    Completing(&'a RemoteCall),
    /// The booking is confirmed.
    Confirmed,
    /// The booking was confirmed, and is cancelled or being cancelled since.
    Canceling,
    /// The booking failed.
    Failed {
        /// Whether the offer was bound before.
        was_bound: bool,
    },
    /// The booking expired before it was completed.
    Expired,
}

/// A booking whose steps the workflow executes.
pub trait BookingAggregate: Clone + Debug + Send + Sync + Sized + 'static {
    /// An event that changes the booking.
    type Event: Clone + Debug + Send + Sync;
    /// A step, which makes one call about the booking.
    type Step: Clone + Debug + Send + Sync;

    /// The kind of the background job that executes its steps.
    const JOB_KIND: &'static str;
    /// The product that its events belong to.
    const PRODUCT: Product;

    fn id(&self) -> &BookingId;
    fn owner(&self) -> &Owner;
    fn supplier(&self) -> &SupplierId;
    fn version(&self) -> i64;
    fn created_at(&self) -> Timestamp;
    fn updated_at(&self) -> Timestamp;
    fn status_str(&self) -> &'static str;
    fn phase(&self) -> BookingPhase<'_>;
    fn payments(&self) -> &[Payment];
    fn payment_collector(&self) -> PaymentCollector;
    fn uses_payment_sdk(&self) -> bool;
    /// Returns the bound total, or the offered one while nothing is bound.
    fn total(&self) -> Money;
    /// Returns the time until which it can be completed.
    fn expires_at(&self) -> Timestamp;

    fn apply(
        self,
        event: Self::Event,
        now: Timestamp,
    ) -> Result<Transition<Self>, InvalidTransition>;
    fn next_step(&self, now: Timestamp) -> NextStep<Self::Step>;
    fn step_name(step: &Self::Step) -> &'static str;
    /// Returns what has to be prepared before a step, or `None` if the part of the booking that the
    /// step concerns no longer exists. If the response of the call is lost, the call is reconciled
    /// at `next_at`.
    fn prepare_step(
        &self,
        step: &Self::Step,
        next_at: Timestamp,
    ) -> Option<StepPreparation<Self::Event>>;
    /// Makes the call of a step after its intent is committed.
    fn execute_step<'a>(
        &'a self,
        step: &'a Self::Step,
        dependencies: &'a StepDependencies,
        execution: &'a ExecutionContext,
    ) -> BoxFuture<'a, Result<Interpretation<Self::Event>, WorkflowError>>;

    fn payment_event(id: PaymentId, event: PaymentEvent) -> Self::Event;
    fn prebook_started_event() -> Self::Event;
    fn prebook_refused_event() -> Self::Event;
    /// Returns the event for an expiry.
    fn expired_event(expiry: Expiry) -> Self::Event;
    fn change_reported_event(by: ChangeSource) -> Self::Event;
    fn book_started_event(payment: Option<Payment>) -> Self::Event;
    /// Returns the call to the supplier whose outcome may be unknown, with the name of its step.
    fn unresolved_call(&self) -> Option<(&'static str, &RemoteCall)>;
    /// Returns the event for an operator's refund amount, or `None` unless the booking has a
    /// cancellation whose refund is undecided.
    fn pending_refund_decision(&self) -> Option<fn(Money) -> Self::Event> {
        None
    }
    /// Returns the event for an operator's decision about a call. With a reference the call
    /// succeeded; without one it was not executed.
    fn resolved_event(
        &self,
        step: &'static str,
        reference: Option<&str>,
        ids: &dyn IdGenerator,
    ) -> Self::Event;
    fn supplier_reference(&self) -> Option<&str>;

    fn insert(&self, write: &mut UnitOfWork);
    fn update(&self, read_version: i64, write: &mut UnitOfWork);
    fn event_payload(&self, id: &EventId, notice: &Notification) -> String;
    /// Loads a booking of any owner.
    fn load<'a>(
        store: &'a Store,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>>;
    /// Loads a booking if it belongs to this owner.
    fn find_owned<'a>(
        store: &'a Store,
        owner: &'a Owner,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>>;

    /// Returns the payment with this id.
    fn payment(&self, id: &PaymentId) -> Result<&Payment, WorkflowError> {
        let mut payments = self.payments().iter();
        let found = payments.find(|payment| payment.id == *id);
        found.ok_or_else(|| WorkflowError::BookingMissing(self.id().clone()))
    }
}
