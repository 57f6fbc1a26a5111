//! What the flows need of a booking, of hotels or of flights.

use crate::app::Application;
use crate::flow::judge::Interpretation;
use crate::flow::step::{StepPreparation, WorkflowError, ExecutionContext};
use crate::id::IdGenerator;
use futures::future::BoxFuture;
use host_domain::booking::{InvalidTransition, Expiry, Transition, Notification, PaymentCollector, ChangeSource};
use host_domain::event::Product;
use host_domain::id::{BookingId, EventId, PaymentId};
use host_domain::leg::RemoteCall;
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{NextStep, Payment, PaymentEvent};
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, Store, UnitOfWork};
use std::fmt::Debug;

/// Where a booking stands, as far as completing it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BookingPhase<'a> {
    /// Not bound yet.
    Prebooking,
    /// Bound; waits for the caller.
    ReadyToComplete,
    /// Being paid and booked.
    Completing(&'a RemoteCall),
    /// Booked.
    Confirmed,
    /// Booked, and being cancelled or cancelled.
    Canceling,
    /// Came to nothing.
    Failed {
        /// After it was bound.
        was_bound: bool,
    },
    /// Was not completed in time.
    Expired,
}

/// A booking whose steps can be walked.
pub(crate) trait BookingAggregate: Clone + Debug + Send + Sync + Sized + 'static {
    /// What happens to it.
    type Event: Clone + Debug + Send + Sync;
    /// A call to make about it.
    type Step: Clone + Debug + Send + Sync;

    /// The kind of background work that drives it.
    const JOB_KIND: &'static str;
    /// What its events are about.
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
    /// What was offered, then what is bound.
    fn total(&self) -> Money;
    /// Until when it can be completed.
    fn expires_at(&self) -> Timestamp;

    fn apply(self, event: Self::Event, now: Timestamp) -> Result<Transition<Self>, InvalidTransition>;
    fn next_step(&self, now: Timestamp) -> NextStep<Self::Step>;
    fn step_name(step: &Self::Step) -> &'static str;
    /// What a step begins with; none when what it is about is gone. A call whose answer
    /// is lost is read back at `next_at`.
    fn prepare_step(&self, step: &Self::Step, next_at: Timestamp) -> Option<StepPreparation<Self::Event>>;
    /// Makes the call of a step, after its mark is stored.
    fn execute_step<'a>(
        &'a self,
        step: &'a Self::Step,
        app: &'a Application,
        walker: &'a ExecutionContext,
    ) -> BoxFuture<'a, Result<Interpretation<Self::Event>, WorkflowError>>;

    fn payment_event(id: PaymentId, event: PaymentEvent) -> Self::Event;
    fn prebook_started_event() -> Self::Event;
    fn prebook_refused_event() -> Self::Event;
    /// What happens when its time is over.
    fn expired_event(lapse: Expiry) -> Self::Event;
    fn change_reported_event(by: ChangeSource) -> Self::Event;
    fn book_started_event(payment: Option<Payment>) -> Self::Event;
    /// The call whose outcome may be unknown, by the name of its step.
    fn unresolved_call(&self) -> Option<(&'static str, &RemoteCall)>;
    /// What happens when an operator says how much a cancellation gives back; none
    /// unless nobody else could.
    fn pending_refund_decision(&self) -> Option<fn(Money) -> Self::Event> {
        None
    }
    /// An operator says how it ended: done, under this reference, or not.
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
    /// Whoever it belongs to.
    fn load<'a>(
        store: &'a Store,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>>;
    /// Of this owner only.
    fn find_owned<'a>(
        store: &'a Store,
        owner: &'a Owner,
        id: &'a BookingId,
    ) -> BoxFuture<'a, Result<Option<Self>, DatabaseError>>;

    /// A payment by its id.
    fn payment(&self, id: &PaymentId) -> Result<&Payment, WorkflowError> {
        let mut payments = self.payments().iter();
        let found = payments.find(|payment| payment.id == *id);
        found.ok_or_else(|| WorkflowError::BookingMissing(self.id().clone()))
    }
}
