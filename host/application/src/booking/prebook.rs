//! Binds an offer, once for each key: commits the intent, calls the supplier, and stores its
//! response. The request differs between hotels and flights; the way it is made safe does not.

use crate::application::Application;
use crate::booking::aggregate::{BookingAggregate, BookingPhase};
use crate::booking::engine::StepOutcome;
use crate::booking::execution::{ExecutionContext, WorkflowError};
use crate::booking::interpret::{CallOutcome, Interpretation};
use crate::booking::prebook_refusal::PrebookRefusal;
use crate::booking::steps::payment::{STATEMENT_DESCRIPTOR, intent_reference};
use crate::failpoint::FailpointPhase;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::PaymentCollector;
use host_domain::id::{BookingId, PaymentId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{Payment, PaymentError};
use host_domain::supplier::{ChangeError, Checkout, RefusalReason, SupplierId};
use host_domain::time::Timestamp;
use host_runtime::{CallContext, IntentRequest, Supplier};
use host_storage::{BookingHistoryEntry, CommitError, Conflict, IdempotencyKey, UnitOfWork};
use std::sync::Arc;
use tokio::time::Instant;

/// Name of the prebook step, in failpoints and tests.
const STEP_NAME: &str = "prebook";

/// The context of a prebook request: its key, expiry and deadline.
#[derive(Debug, Clone)]
pub struct PrebookContext {
    pub key: IdempotencyKey,
    pub fingerprint: String,
    /// Time at which the offer expires.
    pub expires_at: Timestamp,
    pub use_payment_sdk: bool,
    pub request_id: String,
    pub deadline: Instant,
}

/// Successful outcomes of a prebook.
#[derive(Debug)]
pub enum PrebookOutcome<B> {
    /// Bound now. The tokens are returned only this once.
    Created {
        booking: Box<B>,
        sdk_token: Option<String>,
        checkout: Option<Checkout>,
    },
    /// Bound by an earlier call with this key; the booking is in its current state.
    Existing(Box<B>),
}

/// Reasons why a prebook fails.
#[derive(Debug, thiserror::Error)]
pub enum PrebookError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("the key was used for another request")]
    IdempotencyKeyReused,
    #[error("an earlier call with this key is still in progress")]
    IdempotencyInProgress,
    #[error("another unfinished booking uses the offer")]
    OfferInUse,
    #[error("the supplier refused the offer")]
    Refused(PrebookRefusal),
    #[error("nothing was sent to the supplier")]
    NotSent { overloaded: bool },
    #[error("the supplier's rate limit is reached")]
    RateLimited { retry_after_s: Option<u32> },
    #[error("the supplier's response did not arrive or is invalid")]
    NoResponse { timed_out: bool },
    #[error("the supplier rejected the gateway's account")]
    SupplierAccount,
    #[error("the supplier is not configured or does not support booking")]
    Unsupported,
    #[error("the secret data of the booking cannot be encrypted")]
    Seal(#[source] crate::sealer::SealError),
}

impl<E: Into<WorkflowError>> From<E> for PrebookError {
    fn from(error: E) -> Self {
        Self::Workflow(error.into())
    }
}

/// A booking that is about to be created.
pub struct NewBooking<B> {
    pub booking: B,
    /// Statements that are committed in the same transaction, for example the consumption of the
    /// mandate that the booking is made under.
    pub extra_statements: UnitOfWork,
}

impl<B: BookingAggregate> NewBooking<B> {
    /// Creates it without further statements.
    pub fn without_extras(booking: B) -> Self {
        let extra_statements = UnitOfWork::new(booking.created_at());
        Self {
            booking,
            extra_statements,
        }
    }
}

/// The supplier's response to a prebook.
pub struct BoundOffer<E> {
    /// The current price.
    pub total: Money,
    /// Whether it is what was requested, apart from the price.
    pub matches_request: bool,
    /// Time until which it can be booked, if the supplier names one.
    pub expires_at: Option<Timestamp>,
    /// Checkout of a supplier that collects payment.
    pub checkout: Option<Checkout>,
    /// Builds the booking's event from its expiry and the browser payment.
    pub into_event: Box<dyn FnOnce(Timestamp, Option<Payment>) -> E + Send>,
}

/// The closure that calls the supplier to bind the offer.
pub type PrebookCall<B> = Box<
    dyn FnOnce(
            Supplier,
            CallContext,
            B,
        ) -> BoxFuture<
            'static,
            Result<BoundOffer<<B as BookingAggregate>::Event>, ChangeError>,
        > + Send,
>;

impl Application {
    /// Returns who collects the payment for a supplier's bookings, or `None` if the supplier is not
    /// configured.
    pub fn payment_collector_of(&self, supplier: &SupplierId) -> Option<PaymentCollector> {
        let supplier = self.runtime.supplier(supplier)?;
        Some(if supplier.info().description.collects_payment {
            PaymentCollector::Supplier
        } else {
            PaymentCollector::Gateway
        })
    }

    /// Binds an offer. A repeat with the same key returns the booking of the first call. The
    /// statements of `new` are committed together with its booking or not at all.
    pub async fn prebook<B: BookingAggregate>(
        self: &Arc<Self>,
        call: PrebookContext,
        new: impl Fn() -> Result<NewBooking<B>, PrebookError>,
        ask: PrebookCall<B>,
    ) -> Result<PrebookOutcome<B>, PrebookError> {
        loop {
            if call.expires_at <= self.clock.now() {
                let existing = self.find_existing_booking(&call).await?;
                return existing.ok_or(PrebookError::Refused(PrebookRefusal::Expired));
            }
            let execution = self.execution_context(&call.request_id, call.deadline);
            if let Some(booking) = self.create_booking(new()?, &call, &execution).await? {
                let app = Arc::clone(self);
                let id: BookingId = BookingAggregate::id(&booking).clone();
                let run = async move {
                    let bind = app.bind_offer(booking, ask, &call, &execution).boxed();
                    app.with_lease(B::JOB_KIND, &id, &execution, bind).await
                };
                return self.run_to_completion(run.boxed()).await?;
            }
            if let Some(existing) = self.find_existing_booking(&call).await? {
                return Ok(existing);
            }
            // The call that had claimed the key has released it again.
        }
    }

    /// Returns the booking that an earlier call with this key created. Waits while that call is in
    /// progress.
    async fn find_existing_booking<B: BookingAggregate>(
        &self,
        call: &PrebookContext,
    ) -> Result<Option<PrebookOutcome<B>>, PrebookError> {
        loop {
            let Some(known) = self.store.idempotency_record(&call.key).await? else {
                return Ok(None);
            };
            if known.fingerprint != call.fingerprint {
                return Err(PrebookError::IdempotencyKeyReused);
            }
            if let Some(refusal) = known.refusal {
                return Err(PrebookError::Refused(PrebookRefusal::from_json(&refusal)));
            }
            let id = BookingId::parse(&known.resource_id)
                .map_err(|_| PrebookError::IdempotencyInProgress)?;
            // The lease is checked first: if no worker holds it, the booking read afterwards is in
            // the state that the last one left.
            let walked = self.is_lease_held(B::JOB_KIND, &id).await?;
            let booking = B::load(&self.store, &id)
                .await?
                .ok_or(PrebookError::IdempotencyInProgress)?;
            let unbound = matches!(booking.phase(), BookingPhase::Prebooking);
            if !unbound || !walked {
                return Ok(Some(PrebookOutcome::Existing(Box::new(booking))));
            }
            if !self.wait_for_next_poll(call.deadline).await {
                return Err(PrebookError::IdempotencyInProgress);
            }
        }
    }

    /// Stores the booking, the key and the lease in one transaction. Returns `None` if the key is
    /// already used.
    async fn create_booking<B: BookingAggregate>(
        &self,
        NewBooking {
            booking,
            extra_statements: along,
        }: NewBooking<B>,
        call: &PrebookContext,
        execution: &ExecutionContext,
    ) -> Result<Option<B>, PrebookError> {
        let mut write = UnitOfWork::new(booking.created_at());
        // The key comes first: for a repeated call, the used key is the conflict to report.
        write
            .insert_idempotency_key(&call.key, &call.fingerprint, booking.id().as_str())
            .append(along)
            .append_booking_history(
                &booking.owner().tenant,
                &accepted_history_entry(&booking, &execution.request_id),
            )
            .insert_leased_job(
                B::JOB_KIND,
                booking.id().as_str(),
                &execution.lease_token,
                self.lease_ms(),
            );
        // The booking is stored in the state in which the supplier is called. Its history has both
        // versions.
        let started = booking.apply(B::prebook_started_event(), self.clock.now())?;
        started.booking.insert(&mut write);
        let booking = started.booking.clone();
        self.append_history_and_events(&mut write, &[started], None, &execution.request_id);
        self.failpoint(STEP_NAME, FailpointPhase::StepPlanned);
        match self.store.commit(write).await {
            Ok(()) => {
                self.failpoint(STEP_NAME, FailpointPhase::IntentCommitted);
                Ok(Some(booking))
            }
            Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => Ok(None),
            Err(CommitError::Conflict(Conflict::OfferInUse)) => Err(PrebookError::OfferInUse),
            Err(CommitError::Conflict(conflict)) => {
                tracing::error!(%conflict, "an unexpected conflict prevented a new booking from being stored");
                Err(WorkflowError::TooManyConflicts(booking.id().clone()).into())
            }
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }

    async fn bind_offer<B: BookingAggregate>(
        &self,
        booking: B,
        ask: PrebookCall<B>,
        call: &PrebookContext,
        execution: &ExecutionContext,
    ) -> Result<PrebookOutcome<B>, PrebookError> {
        let Some(supplier) = self.runtime.supplier(booking.supplier()) else {
            return self
                .abort_prebook(booking, PrebookError::Unsupported, call, execution)
                .await;
        };
        let offered = booking.total();
        let context = self.call_context(&booking, execution);
        let bound = match ask(supplier, context, booking.clone()).await {
            Ok(bound) => match validate_bound_offer(bound, offered) {
                Ok(bound) => bound,
                Err(error) => return self.abort_prebook(booking, error, call, execution).await,
            },
            Err(error) => {
                let error =
                    map_supplier_error(error, offered, execution.deadline <= Instant::now());
                return self.abort_prebook(booking, error, call, execution).await;
            }
        };
        let by_browser =
            call.use_payment_sdk && booking.payment_collector() == PaymentCollector::Gateway;
        let made = match by_browser {
            true => self
                .create_browser_payment(&booking, bound.total, execution)
                .await
                .map(Some),
            false => Ok(None),
        };
        let (payment, sdk_token) = match made {
            Ok(made) => made.unzip(),
            Err(error) => return self.abort_prebook(booking, error, call, execution).await,
        };
        let expires_at = bound
            .expires_at
            .unwrap_or_else(|| self.clock.now().plus_s(self.offer_ttl_s()));
        let told = StepOutcome {
            step: STEP_NAME,
            attempt: None,
            interpretation: Interpretation {
                event: (bound.into_event)(expires_at, payment),
                outcome: CallOutcome::Succeeded,
                evidence: "bound".to_owned(),
                reference: None,
            },
        };
        let booking = self.resume_with_outcome(booking, told, execution).await?;
        Ok(PrebookOutcome::Created {
            booking: Box::new(booking),
            sdk_token,
            checkout: bound.checkout,
        })
    }

    async fn create_browser_payment<B: BookingAggregate>(
        &self,
        booking: &B,
        total: Money,
        execution: &ExecutionContext,
    ) -> Result<(Payment, String), PrebookError> {
        let processor = self
            .suppliers
            .processor(booking.owner().tenant.mode)
            .and_then(|id| self.runtime.supplier(id));
        let processor = processor.ok_or(PrebookError::Unsupported)?;
        let id = PaymentId::from_bits(self.ids.generate());
        let request = IntentRequest {
            client_reference: intent_reference(booking, &id),
            amount: total,
            description: STATEMENT_DESCRIPTOR.to_owned(),
        };
        let context = self.call_context(booking, execution);
        let intent = processor.create_intent(&context, request).await;
        let intent = intent.map_err(|error| match error {
            PaymentError::NotSent(_) => PrebookError::NotSent { overloaded: false },
            PaymentError::Declined(_) | PaymentError::Refused(_) | PaymentError::Unknown(_) => {
                PrebookError::NoResponse { timed_out: false }
            }
        })?;
        let (processor, reference) = (processor.info().id.clone(), intent.processor_reference);
        let payment =
            Payment::new_browser_payment(id, total, processor, reference, self.clock.now());
        Ok((payment, intent.token))
    }

    /// Ends a prebook that did not bind. A refusal is stored, so that a repeat of the request
    /// returns it again.
    async fn abort_prebook<B: BookingAggregate>(
        &self,
        booking: B,
        error: PrebookError,
        call: &PrebookContext,
        execution: &ExecutionContext,
    ) -> Result<PrebookOutcome<B>, PrebookError> {
        if matches!(error, PrebookError::NoResponse { .. }) {
            // The offer may have been bound. The booking is kept until the timer of this phase, and
            // nothing else, ends it.
            self.resume(booking, execution).await?;
            return Err(error);
        }
        let (id, read_version) = (booking.id().clone(), booking.version());
        let moved = booking.apply(B::prebook_refused_event(), self.clock.now())?;
        let why = error.to_string();
        let mut write =
            self.transition_statements(read_version, &[moved], Some(&why), &execution.request_id);
        write.complete_job(B::JOB_KIND, id.as_str(), &execution.lease_token);
        match &error {
            PrebookError::Refused(decision) => {
                write.store_idempotent_refusal(&call.key, &decision.to_json())
            }
            _ => write.delete_idempotency_key(&call.key),
        };
        match self.store.commit(write).await {
            Ok(()) => Err(error),
            Err(CommitError::Conflict(_)) => Err(WorkflowError::LeaseLost(id).into()),
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }
}

/// Checks the supplier's response. A higher price than offered is never bound, and neither is
/// something other than was requested.
fn validate_bound_offer<E>(
    bound: BoundOffer<E>,
    offered: Money,
) -> Result<BoundOffer<E>, PrebookError> {
    if !bound.matches_request || bound.total.currency != offered.currency {
        return Err(PrebookError::NoResponse { timed_out: false });
    }
    if bound.total.minor > offered.minor {
        let current = bound.total;
        let decision = PrebookRefusal::PriceChanged { offered, current };
        return Err(PrebookError::Refused(decision));
    }
    Ok(bound)
}

/// Returns the first entry of a booking's history.
fn accepted_history_entry<B: BookingAggregate>(
    booking: &B,
    request_id: &str,
) -> BookingHistoryEntry {
    BookingHistoryEntry {
        booking_id: booking.id().clone(),
        sequence: booking.version(),
        event: "accepted".to_owned(),
        from_status: None,
        to_status: booking.status_str().to_owned(),
        reason: None,
        request_id: Some(request_id.to_owned()),
        occurred_at: booking.created_at(),
    }
}

fn map_supplier_error(error: ChangeError, offered: Money, timed_out: bool) -> PrebookError {
    match error {
        ChangeError::Unsupported => PrebookError::Unsupported,
        ChangeError::Refused(refusal) if refusal.reason == RefusalReason::Account => {
            PrebookError::SupplierAccount
        }
        ChangeError::Refused(refusal) => {
            PrebookError::Refused(PrebookRefusal::from_supplier_refusal(&refusal, offered))
        }
        ChangeError::NotSent(_) => PrebookError::NotSent { overloaded: false },
        ChangeError::RateLimited { retry_after_s } => PrebookError::RateLimited { retry_after_s },
        ChangeError::Overloaded => PrebookError::NotSent { overloaded: true },
        ChangeError::Unknown(_) => PrebookError::NoResponse { timed_out },
    }
}

/// Builds the idempotency key of a prebook.
pub fn idempotency_key(owner: &Owner, operation: &str, key: &str) -> IdempotencyKey {
    IdempotencyKey {
        owner: owner.clone(),
        operation: operation.to_owned(),
        key: key.to_owned(),
    }
}
