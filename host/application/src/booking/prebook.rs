//! Binds an offer, once for each key: commits the intent, calls the supplier, and stores its
//! response. The request differs between hotels and flights; the way it is made safe does not.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::{StepOutcome, WorkflowEngine};
use crate::booking::execution::{ExecutionContext, WorkflowError};
use crate::booking::flight_prebook::{self, PrebookFlightCommand};
use crate::booking::history::{append_history_and_events, transition_statements};
use crate::booking::hotel_prebook::{self, PrebookHotelCommand};
use crate::booking::interpret::Interpretation;
use crate::booking::lease::wait_for_next_poll;
use crate::booking::passenger_secrets::PassengerSecrets;
use crate::booking::prebook_call::{BoundOffer, NewBooking, PrebookCall, PrebookContext};
use crate::booking::prebook_refusal::PrebookRefusal;
use crate::booking::steps::payment::{STATEMENT_DESCRIPTOR, intent_reference};
use crate::failpoint::FailpointPhase;
use crate::supplier::directory::SupplierDirectory;
use futures::FutureExt;
use host_domain::booking::{Booking, BookingEvent, BookingPhase, Failure, PaymentCollector};
use host_domain::flight::booking::FlightBookingDetails;
use host_domain::hotel::booking::HotelBookingDetails;
use host_domain::id::{AttemptId, BookingId, PaymentId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{Payment, PaymentError};
use host_domain::supplier::{
    ChangeError, Checkout, FailureReason, Refusal, RefusalReason, SupplierId,
};
use host_runtime::IntentRequest;
use host_storage::{
    AttemptOutcome, BookingHistoryEntry, CommitError, Conflict, DatabaseError, IdempotencyKey,
    NewAttempt, UnitOfWork,
};
use std::sync::Arc;
use tokio::time::Instant;

/// Name of the prebook step, in failpoints and tests.
const STEP_NAME: &str = "prebook";

#[derive(Debug)]
pub enum PrebookOutcome<K: BookingAggregate> {
    /// Bound now. The tokens are returned only this once.
    Created {
        booking: Box<Booking<K>>,
        sdk_token: Option<String>,
        checkout: Option<Checkout>,
    },
    /// Bound by an earlier call with this key; the booking is in its current state.
    Existing(Box<Booking<K>>),
}

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
    #[error("nothing was sent to the supplier: {reason}")]
    NotSent {
        overloaded: bool,
        reason: FailureReason,
    },
    #[error("the supplier's rate limit is reached")]
    RateLimited { retry_after_s: Option<u32> },
    #[error("the supplier's response did not arrive or is invalid: {reason}")]
    NoResponse {
        timed_out: bool,
        reason: FailureReason,
    },
    #[error("the supplier rejected the gateway's account: {message}")]
    SupplierAccount { message: String },
    #[error("the supplier is not configured or does not support booking")]
    Unsupported,
    #[error("the secret data of the booking cannot be encrypted")]
    Seal(#[source] crate::sealer::SealError),
}

impl PrebookError {
    /// Returns whether the same request cannot succeed before somebody has corrected something at
    /// the gateway or at the supplier.
    pub const fn needs_help(&self) -> bool {
        match self {
            Self::NotSent { reason, .. } | Self::NoResponse { reason, .. } => reason.needs_help,
            Self::SupplierAccount { .. } => true,
            Self::Workflow(_)
            | Self::IdempotencyKeyReused
            | Self::IdempotencyInProgress
            | Self::OfferInUse
            | Self::Refused(_)
            | Self::RateLimited { .. }
            | Self::Unsupported
            | Self::Seal(_) => false,
        }
    }
}

/// A prebook that did not bind, with its reason for operators.
struct FailedPrebook {
    error: PrebookError,
    evidence: String,
}

impl From<PrebookError> for FailedPrebook {
    fn from(error: PrebookError) -> Self {
        let evidence = error.to_string();
        Self { error, evidence }
    }
}

impl<E: Into<WorkflowError>> From<E> for PrebookError {
    fn from(error: E) -> Self {
        Self::Workflow(error.into())
    }
}

/// Turns offers into bookings: checks the price again and binds it.
pub struct PrebookService {
    pub(crate) base: Base,
    pub(crate) engine: Arc<WorkflowEngine>,
    pub(crate) suppliers: Arc<SupplierDirectory>,
    pub(crate) passenger_secrets: PassengerSecrets,
    /// Validity of an offer whose supplier names no expiry, in seconds.
    pub(crate) offer_ttl_s: i64,
}

impl PrebookService {
    /// Binds a hotel offer. A repeat with the same key returns the booking of the first call.
    pub async fn prebook_hotel(
        self: &Arc<Self>,
        command: PrebookHotelCommand,
    ) -> Result<PrebookOutcome<HotelBookingDetails>, PrebookError> {
        let id = BookingId::from_bits(self.base.ids.generate());
        let no_statements = self.base.unit_of_work();
        self.prebook_hotel_with(command, id, no_statements).await
    }

    /// Binds a hotel offer as this booking. Commits further statements with the intent, or neither.
    pub async fn prebook_hotel_with(
        self: &Arc<Self>,
        command: PrebookHotelCommand,
        id: BookingId,
        extra_statements: UnitOfWork,
    ) -> Result<PrebookOutcome<HotelBookingDetails>, PrebookError> {
        let collector = self.payment_collector_of(&command.offer.supplier);
        let collector = collector.ok_or(PrebookError::Unsupported)?;
        let new_booking = || {
            let booking = hotel_prebook::new_booking(&self.base, id.clone(), &command, collector);
            Ok((booking, extra_statements.clone()))
        };
        let call = hotel_prebook::prebook_call();
        self.prebook(command.to_context(), new_booking, call).await
    }

    /// Binds a fare. A repeat with the same key returns the booking of the first call.
    pub async fn prebook_flight(
        self: &Arc<Self>,
        mut command: PrebookFlightCommand,
    ) -> Result<PrebookOutcome<FlightBookingDetails>, PrebookError> {
        // The passengers are put in the order in which they were priced, because suppliers identify
        // them by that order.
        let passengers = &mut command.passengers;
        passengers.sort_by_key(|(_, passenger)| passenger.passenger_type);
        let collector = self.payment_collector_of(&command.offer.supplier);
        let collector = collector.ok_or(PrebookError::Unsupported)?;
        let new_booking = || {
            let booking = flight_prebook::new_booking(
                &self.base,
                &self.passenger_secrets,
                &self.suppliers,
                &command,
                collector,
            );
            let booking = booking.map_err(PrebookError::Seal)?;
            Ok((booking, self.base.unit_of_work()))
        };
        let call = flight_prebook::prebook_call(&command);
        self.prebook(command.to_context(), new_booking, call).await
    }

    /// Returns why the supplier refused to bind the hotel offer of a request that was made with a
    /// key. Returns `None` if no refusal is stored.
    pub async fn find_prebook_refusal(
        &self,
        owner: &Owner,
        key: &str,
    ) -> Result<Option<PrebookRefusal>, DatabaseError> {
        let key = IdempotencyKey::new(owner, hotel_prebook::OPERATION, key);
        let record = self.base.store.idempotency_record(&key).await?;
        let refusal = record.and_then(|record| record.refusal);
        Ok(refusal.map(|text| PrebookRefusal::from_json(&text)))
    }

    /// Returns who collects a supplier's payments, or `None` if the supplier is not configured.
    fn payment_collector_of(&self, supplier: &SupplierId) -> Option<PaymentCollector> {
        let supplier = self.suppliers.loaded(supplier)?;
        Some(if supplier.info().description.collects_payment {
            PaymentCollector::Supplier
        } else {
            PaymentCollector::Gateway
        })
    }

    /// Binds an offer. A repeat with the same key returns the booking of the first call. The
    /// statements of `new_booking` are committed together with the booking or not at all.
    async fn prebook<K: BookingAggregate>(
        self: &Arc<Self>,
        prebook: PrebookContext,
        new_booking: impl Fn() -> Result<NewBooking<K>, PrebookError>,
        call: PrebookCall<K>,
    ) -> Result<PrebookOutcome<K>, PrebookError> {
        loop {
            if prebook.expires_at <= self.base.now() {
                let existing = self.find_existing_booking(&prebook).await?;
                return existing.ok_or(PrebookError::Refused(PrebookRefusal::Expired));
            }
            let engine = &self.engine;
            let execution = engine.execution_context(&prebook.request_id, prebook.deadline);
            let created = self.create_booking(new_booking()?, &prebook, &execution);
            if let Some(booking) = created.await? {
                let service = Arc::clone(self);
                let id: BookingId = booking.id.clone();
                let run = async move {
                    let bind = service.bind_offer(booking, call, &prebook, &execution);
                    let leases = service.engine.leases();
                    let bound = leases.with_lease(K::JOB_KIND, &id, &execution, bind.boxed());
                    bound.await
                };
                return engine.run_to_completion(run.boxed()).await?;
            }
            if let Some(existing) = self.find_existing_booking(&prebook).await? {
                return Ok(existing);
            }
            // The call that had claimed the key has released it again.
        }
    }

    /// Returns the booking of an earlier call with this key. Waits while that call is in progress.
    async fn find_existing_booking<K: BookingAggregate>(
        &self,
        prebook: &PrebookContext,
    ) -> Result<Option<PrebookOutcome<K>>, PrebookError> {
        loop {
            let Some(record) = self.base.store.idempotency_record(&prebook.key).await? else {
                return Ok(None);
            };
            if record.fingerprint != prebook.fingerprint {
                return Err(PrebookError::IdempotencyKeyReused);
            }
            if let Some(refusal) = record.refusal {
                return Err(PrebookError::Refused(PrebookRefusal::from_json(&refusal)));
            }
            let id = BookingId::parse(&record.resource_id)
                .map_err(|_| PrebookError::IdempotencyInProgress)?;
            // The lease is checked first: if no worker holds it, the booking read afterwards is in
            // the state that the last one left.
            let is_running = self.engine.leases().is_held(K::JOB_KIND, &id).await?;
            let booking: Option<Booking<K>> = self.base.store.booking_unscoped(&id).await?;
            let booking = booking.ok_or(PrebookError::IdempotencyInProgress)?;
            let is_unbound = matches!(booking.phase(), BookingPhase::Prebooking);
            if !is_unbound || !is_running {
                return Ok(Some(PrebookOutcome::Existing(Box::new(booking))));
            }
            if !wait_for_next_poll(prebook.deadline).await {
                return Err(PrebookError::IdempotencyInProgress);
            }
        }
    }

    /// Stores booking, key and lease in one transaction. Returns `None` if the key is already used.
    async fn create_booking<K: BookingAggregate>(
        &self,
        (booking, extra_statements): NewBooking<K>,
        prebook: &PrebookContext,
        execution: &ExecutionContext,
    ) -> Result<Option<Booking<K>>, PrebookError> {
        let mut write = UnitOfWork::new(booking.created_at);
        let (id, tenant) = (booking.id.as_str(), &booking.owner.tenant);
        let entry = accepted_history_entry(&booking, &execution.request_id);
        let (token, lease_ms) = (&execution.lease_token, self.engine.leases().duration_ms());
        // The key comes first: for a repeated call, the used key is the conflict to report.
        write
            .insert_idempotency_key(&prebook.key, &prebook.fingerprint, id)
            .append(extra_statements)
            .append_booking_history(tenant, &entry)
            .insert_leased_job(K::JOB_KIND, id, token, lease_ms);
        // The booking is stored in the state in which the supplier is called. Its history has both
        // versions.
        let started = booking.apply(BookingEvent::PrebookStarted, self.base.now())?;
        write.insert_booking(&started.booking);
        let booking = started.booking.clone();
        let request_id = &execution.request_id;
        append_history_and_events(&self.base, &mut write, &[started], None, request_id);
        self.engine
            .hit_failpoint(STEP_NAME, FailpointPhase::StepPlanned);
        match self.base.store.commit(write).await {
            Ok(()) => {
                self.engine
                    .hit_failpoint(STEP_NAME, FailpointPhase::IntentCommitted);
                Ok(Some(booking))
            }
            Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => Ok(None),
            Err(CommitError::Conflict(Conflict::OfferInUse)) => Err(PrebookError::OfferInUse),
            Err(CommitError::Conflict(source)) => {
                let id = booking.id.clone();
                Err(WorkflowError::NotStored { id, source }.into())
            }
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }

    async fn bind_offer<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        call: PrebookCall<K>,
        prebook: &PrebookContext,
        execution: &ExecutionContext,
    ) -> Result<PrebookOutcome<K>, PrebookError> {
        let Some(supplier) = self.suppliers.loaded(&booking.supplier) else {
            let failed = PrebookError::Unsupported.into();
            return self
                .abort_prebook(booking, failed, prebook, execution)
                .await;
        };
        let offered = booking.details.booked_price();
        let context = execution.call_context(&booking.owner, &booking.id);
        let bound = call(supplier, context, booking.clone()).await;
        let timed_out = execution.deadline <= Instant::now();
        let bound = bound.map_err(|error| map_supplier_error(error, offered, timed_out));
        let bound = match bound.and_then(|bound| validate_bound_offer(bound, offered)) {
            Ok(bound) => bound,
            Err(failed) => {
                return self
                    .abort_prebook(booking, failed, prebook, execution)
                    .await;
            }
        };
        let is_browser_payment =
            prebook.use_payment_sdk && booking.payment_collector == PaymentCollector::Gateway;
        let created = match is_browser_payment {
            true => {
                let created = self.create_browser_payment(&booking, bound.total, execution);
                created.await.map(Some)
            }
            false => Ok(None),
        };
        let (payment, sdk_token) = match created {
            Ok(payment_and_token) => payment_and_token.unzip(),
            Err(error) => {
                let failed = error.into();
                return self
                    .abort_prebook(booking, failed, prebook, execution)
                    .await;
            }
        };
        let latest = || self.base.now().plus_s(self.offer_ttl_s);
        let event = BookingEvent::PrebookConfirmed {
            prebook: bound.response,
            expires_at: bound.expires_at.unwrap_or_else(latest),
            payment,
        };
        let outcome = StepOutcome {
            step: STEP_NAME,
            attempt: None,
            interpretation: Interpretation::succeeded(event, "bound"),
        };
        let resumed = self.engine.resume_with_outcome(booking, outcome, execution);
        let booking = resumed.await?;
        Ok(PrebookOutcome::Created {
            booking: Box::new(booking),
            sdk_token,
            checkout: bound.checkout,
        })
    }

    async fn create_browser_payment<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        total: Money,
        execution: &ExecutionContext,
    ) -> Result<(Payment, String), PrebookError> {
        let processor = self.suppliers.processor(booking.owner.tenant.mode);
        let processor = processor.and_then(|id| self.suppliers.loaded(id));
        let processor = processor.ok_or(PrebookError::Unsupported)?;
        let id = PaymentId::from_bits(self.base.ids.generate());
        let request = IntentRequest {
            client_reference: intent_reference(booking, &id),
            amount: total,
            description: STATEMENT_DESCRIPTOR.to_owned(),
        };
        let context = execution.call_context(&booking.owner, &booking.id);
        let intent = processor.create_intent(&context, request).await;
        let intent = intent.map_err(|error| match error {
            PaymentError::NotSent(reason) => PrebookError::NotSent {
                overloaded: false,
                reason,
            },
            PaymentError::Unknown(reason) => PrebookError::NoResponse {
                timed_out: false,
                reason,
            },
            error @ (PaymentError::Declined(_) | PaymentError::Refused(_)) => {
                PrebookError::NoResponse {
                    timed_out: false,
                    reason: FailureReason::needing_help(error.to_string()),
                }
            }
        })?;
        let (processor, reference) = (processor.info().id.clone(), intent.processor_reference);
        let payment =
            Payment::new_browser_payment(id, total, processor, reference, self.base.now());
        Ok((payment, intent.token))
    }

    /// Ends a prebook that did not bind, and records why for operators. A refusal is stored for
    /// repeats of the request.
    async fn abort_prebook<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        FailedPrebook { error, evidence }: FailedPrebook,
        prebook: &PrebookContext,
        execution: &ExecutionContext,
    ) -> Result<PrebookOutcome<K>, PrebookError> {
        tracing::warn!(
            booking = %booking.id,
            supplier = %booking.supplier,
            step = STEP_NAME,
            evidence,
            request_id = execution.request_id,
            "the prebook failed"
        );
        let outcome = match matches!(error, PrebookError::Refused(_)) {
            true => AttemptOutcome::Refused,
            false => AttemptOutcome::NotSent,
        };
        let mut write = self.base.unit_of_work();
        self.append_attempt(&mut write, &booking, outcome, &evidence);
        if matches!(error, PrebookError::NoResponse { .. }) {
            // The offer may have been bound. The booking is kept until the timer of this phase, and
            // nothing else, ends it.
            self.base.try_commit(write).await?;
            self.engine.resume(booking, execution).await?;
            return Err(error);
        }
        let (id, read_version) = (booking.id.clone(), booking.version);
        let failure = Failure::new("prebook_failed", K::TEXTS.prebook_failed);
        let transition = [booking.apply(BookingEvent::PrebookRefused(failure), self.base.now())?];
        let (reason, request_id) = (Some(evidence.as_str()), &execution.request_id);
        let transitions =
            transition_statements(&self.base, read_version, &transition, reason, request_id);
        write.append(transitions);
        write.complete_job(K::JOB_KIND, id.as_str(), &execution.lease_token);
        match &error {
            PrebookError::Refused(refusal) => {
                write.store_idempotent_refusal(&prebook.key, &refusal.to_json())
            }
            _ => write.delete_idempotency_key(&prebook.key),
        };
        match self.base.try_commit(write).await? {
            true => Err(error),
            false => Err(WorkflowError::LeaseLost(id).into()),
        }
    }

    /// Adds the failed call to the booking's attempts. A prebook reserves nothing and charges
    /// nothing, so it has no effect even if its response is missing.
    fn append_attempt<K: BookingAggregate>(
        &self,
        write: &mut UnitOfWork,
        booking: &Booking<K>,
        outcome: AttemptOutcome,
        evidence: &str,
    ) {
        let (tenant, supplier) = (&booking.owner.tenant, &booking.supplier);
        let loaded = self.suppliers.loaded(supplier);
        let digest = loaded.map(|supplier| supplier.info().digest.clone());
        let attempt = NewAttempt {
            id: AttemptId::from_bits(self.base.ids.generate()),
            booking_id: booking.id.clone(),
            step: STEP_NAME.to_owned(),
            target: supplier.clone(),
            client_reference: booking.id.to_string(),
            plugin_digest: digest.unwrap_or_default(),
            request_digest: String::new(),
        };
        write.record_attempt(tenant, &attempt);
        write.finish_attempt(tenant, &attempt.id, outcome, None, Some(evidence));
    }
}

/// Checks the supplier's response. A higher price than offered is never bound, and neither is
/// something other than was requested.
fn validate_bound_offer<K: BookingAggregate>(
    bound: BoundOffer<K>,
    offered: Money,
) -> Result<BoundOffer<K>, FailedPrebook> {
    if !bound.matches_request || bound.total.currency != offered.currency {
        let message = "the supplier bound something other than was requested";
        let error = PrebookError::NoResponse {
            timed_out: false,
            reason: FailureReason::needing_help(message),
        };
        return Err(error.into());
    }
    if bound.total.minor > offered.minor {
        let current = bound.total;
        let refusal = PrebookRefusal::PriceChanged { offered, current };
        return Err(FailedPrebook {
            error: PrebookError::Refused(refusal),
            evidence: format!("the supplier bound at {current}, but offered at {offered}"),
        });
    }
    Ok(bound)
}

fn accepted_history_entry<K: BookingAggregate>(
    booking: &Booking<K>,
    request_id: &str,
) -> BookingHistoryEntry {
    BookingHistoryEntry {
        booking_id: booking.id.clone(),
        sequence: booking.version,
        event: "accepted".to_owned(),
        from_status: None,
        to_status: booking.status().as_str().to_owned(),
        reason: None,
        request_id: Some(request_id.to_owned()),
        occurred_at: booking.created_at,
    }
}

fn map_supplier_error(error: ChangeError, offered: Money, timed_out: bool) -> FailedPrebook {
    let evidence = match &error {
        ChangeError::Refused(Refusal {
            supplier_code: Some(code),
            ..
        }) => format!("{error} ({code})"),
        error => error.to_string(),
    };
    let error = match error {
        ChangeError::Unsupported => PrebookError::Unsupported,
        ChangeError::Refused(refusal) if refusal.reason == RefusalReason::Account => {
            PrebookError::SupplierAccount {
                message: refusal.message,
            }
        }
        ChangeError::Refused(refusal) => {
            PrebookError::Refused(PrebookRefusal::from_supplier_refusal(&refusal, offered))
        }
        ChangeError::NotSent(reason) => PrebookError::NotSent {
            overloaded: false,
            reason,
        },
        ChangeError::RateLimited { retry_after_s } => PrebookError::RateLimited { retry_after_s },
        error @ ChangeError::Overloaded => PrebookError::NotSent {
            overloaded: true,
            reason: error.to_string().into(),
        },
        ChangeError::Unknown(reason) => PrebookError::NoResponse { timed_out, reason },
    };
    FailedPrebook { error, evidence }
}
