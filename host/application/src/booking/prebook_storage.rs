//! Commits of a prebook: its intent and its outcome. A commit without a response is repeated until
//! the database answers, also after the caller has stopped waiting. The booking then continues or
//! ends, and its key is freed, as soon as the database is reachable.

use crate::booking::aggregate::BookingAggregate;
use crate::booking::commit_repeats::CommitRepeats;
use crate::booking::engine::StepOutcome;
use crate::booking::execution::{ExecutionContext, WorkflowError};
use crate::booking::history::{append_history_and_events, transition_statements};
use crate::booking::interpret::Interpretation;
use crate::booking::prebook::{
    FailedPrebook, PrebookError, PrebookOutcome, PrebookService, STEP_NAME,
};
use crate::booking::prebook_call::{NewBooking, PrebookContext};
use crate::booking::prebook_refusal::PrebookRefusal;
use crate::failpoint::FailpointPhase;
use host_domain::booking::{Booking, BookingEvent, BookingPhase, Failure, PaymentCollector};
use host_domain::id::{AttemptId, BookingId};
use host_domain::payment::PaymentError;
use host_domain::personal::PersonalWords;
use host_domain::remote_call::AttemptOutcome;
use host_domain::supplier::{FailureReason, SupplierId};
use host_storage::{
    BookingHistoryEntry, CommitError, Conflict, DatabaseError, NewAttempt, ReadBooking, UnitOfWork,
};

/// Outcome of a failed prebook.
enum PrebookEnd<'a> {
    Refused(&'a PrebookRefusal),
    /// The supplier may have made a checkout.
    Unresolved {
        timed_out: bool,
        reason: &'a FailureReason,
    },
    NoResponse,
    /// The supplier has bound nothing.
    NotBound,
}

impl<'a> PrebookEnd<'a> {
    const fn of(error: &'a PrebookError, collector: PaymentCollector) -> Self {
        match (error, collector) {
            (PrebookError::Refused(refusal), _) => Self::Refused(refusal),
            (PrebookError::NoResponse { timed_out, reason }, PaymentCollector::Supplier) => {
                Self::Unresolved {
                    timed_out: *timed_out,
                    reason,
                }
            }
            (PrebookError::NoResponse { .. }, PaymentCollector::Gateway) => Self::NoResponse,
            (
                PrebookError::Workflow(_)
                | PrebookError::IdempotencyKeyReused
                | PrebookError::IdempotencyInProgress
                | PrebookError::OfferInUse
                | PrebookError::NotSent { .. }
                | PrebookError::RateLimited { .. }
                | PrebookError::Unresolved { .. }
                | PrebookError::Unconfirmed { .. }
                | PrebookError::PaymentNotCreated { .. }
                | PrebookError::NoProcessor
                | PrebookError::SupplierAccount { .. }
                | PrebookError::Unsupported
                | PrebookError::Seal(_),
                _,
            ) => Self::NotBound,
        }
    }
}

/// Returns what is known about the call that failed.
const fn attempt_outcome(error: &PrebookError) -> AttemptOutcome {
    match error {
        PrebookError::Refused(_)
        | PrebookError::SupplierAccount { .. }
        | PrebookError::PaymentNotCreated {
            error:
                PaymentError::Declined(_) | PaymentError::Refused(_) | PaymentError::RefusedByAdapter(_),
            ..
        } => AttemptOutcome::Refused,
        PrebookError::NoResponse { .. }
        | PrebookError::Unresolved { .. }
        | PrebookError::PaymentNotCreated {
            error: PaymentError::Unknown(_),
            ..
        } => AttemptOutcome::Unknown,
        PrebookError::Workflow(_)
        | PrebookError::IdempotencyKeyReused
        | PrebookError::IdempotencyInProgress
        | PrebookError::OfferInUse
        | PrebookError::NotSent { .. }
        | PrebookError::RateLimited { .. }
        | PrebookError::Unconfirmed { .. }
        | PrebookError::PaymentNotCreated {
            error: PaymentError::NotSent(_),
            ..
        }
        | PrebookError::NoProcessor
        | PrebookError::Unsupported
        | PrebookError::Seal(_) => AttemptOutcome::NotSent,
    }
}

impl PrebookService {
    /// Stores booking, key and lease in one transaction. Returns `None` if the key is already used.
    pub(super) async fn create_booking<K: BookingAggregate>(
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
        match self.commit_creation(&booking.id, write, prebook).await {
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
            Err(CommitError::Database(DatabaseError::CommitUnknown(_))) => {
                Err(PrebookError::Unconfirmed {
                    booking: booking.id,
                })
            }
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }

    /// Commits a new booking. If the response is lost, repeats the commit: the key is then claimed
    /// by this booking, or nothing of it was stored and the repetition stores it.
    async fn commit_creation(
        &self,
        id: &BookingId,
        write: UnitOfWork,
        prebook: &PrebookContext,
    ) -> Result<(), CommitError> {
        let mut repeats = CommitRepeats::after_lost_response(self.shutdown.clone());
        let mut is_repeated = false;
        loop {
            let stored = match self.base.store.commit(write.clone()).await {
                Err(conflict @ CommitError::Conflict(Conflict::IdempotencyKeyExists))
                    if is_repeated =>
                {
                    match self.base.store.idempotency_record(&prebook.key).await {
                        Ok(Some(record)) if record.resource_id == id.as_str() => Ok(()),
                        Ok(_) => Err(conflict),
                        Err(error) => Err(error.into()),
                    }
                }
                result => result,
            };
            let Err(CommitError::Database(error)) = &stored else {
                return stored;
            };
            if !repeats.wait_after(error).await {
                return stored;
            }
            log_repetition(id, error);
            is_repeated = true;
        }
    }

    /// Stores that the supplier bound the offer.
    pub(super) async fn store_bound<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        event: BookingEvent<K>,
        execution: &ExecutionContext,
    ) -> Result<Booking<K>, WorkflowError> {
        let mut repeats = CommitRepeats::until_stored(self.shutdown.clone());
        let mut is_repeated = false;
        loop {
            let outcome = StepOutcome {
                step: STEP_NAME,
                attempt: None,
                interpretation: Interpretation::succeeded(event.clone(), "bound"),
            };
            let stored = self
                .engine
                .resume_with_outcome(booking.clone(), outcome, execution);
            match stored.await {
                Err(WorkflowError::Database(error)) => {
                    if !repeats.wait_after(&error).await {
                        return Err(error.into());
                    }
                    log_repetition(&booking.id, &error);
                    is_repeated = true;
                }
                // The first commit happened, and only its response was lost.
                Err(WorkflowError::InvalidTransition(_) | WorkflowError::LeaseLost(_))
                    if is_repeated =>
                {
                    let id = booking.id;
                    let current = self.base.store.booking_unscoped::<K>(&id).await?;
                    let is_bound =
                        |known: &Booking<K>| matches!(known.phase(), BookingPhase::ReadyToComplete);
                    let bound = current.filter(is_bound);
                    return bound.ok_or(WorkflowError::LeaseLost(id));
                }
                result => return result,
            }
        }
    }

    /// Ends a prebook that did not bind, and records why for operators. A refusal is stored for
    /// repeats of the request; otherwise its key is freed. If the supplier may have made a checkout,
    /// the booking is kept until its timer ends it.
    pub(super) async fn abort_prebook<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        failed: FailedPrebook,
        prebook: &PrebookContext,
        execution: &ExecutionContext,
    ) -> Result<PrebookOutcome<K>, PrebookError> {
        let FailedPrebook { error, evidence } = failed;
        let personal = PersonalWords::new(booking.details.personal_texts());
        let evidence = personal.mask(&evidence);
        let target = if let PrebookError::PaymentNotCreated { processor, .. } = &error {
            processor
        } else {
            &booking.supplier
        };
        tracing::warn!(
            booking = %booking.id,
            supplier = %target,
            step = STEP_NAME,
            evidence = &*evidence,
            request_id = execution.request_id,
            "the prebook failed: the offer is not bound; `evidence` has the cause, and the caller gets the error"
        );
        let end = PrebookEnd::of(&error, booking.payment_collector);
        let mut write = self.base.unit_of_work();
        let outcome = attempt_outcome(&error);
        self.append_attempt(&mut write, &booking, target, outcome, &evidence);
        let event = match &end {
            PrebookEnd::Unresolved { timed_out, reason } => {
                self.base.try_commit(write).await?;
                return Err(PrebookError::Unresolved {
                    booking: self.engine.resume(booking, execution).await?.id,
                    timed_out: *timed_out,
                    reason: (*reason).clone(),
                });
            }
            PrebookEnd::NoResponse => BookingEvent::PrebookTimedOut,
            PrebookEnd::Refused(_) | PrebookEnd::NotBound => {
                let failure = Failure::new("prebook_failed", K::TEXTS.prebook_failed);
                BookingEvent::PrebookRefused(failure)
            }
        };
        let (id, read) = (booking.id.clone(), ReadBooking::of(&booking));
        let transition = [booking.apply(event, self.base.now())?];
        let (reason, request_id) = (Some(&*evidence), &execution.request_id);
        let transitions = transition_statements(&self.base, &read, &transition, reason, request_id);
        write
            .append(transitions)
            .complete_job(K::JOB_KIND, id.as_str(), &execution.lease_token);
        match end {
            PrebookEnd::Refused(refusal) => {
                write.store_idempotent_refusal(&prebook.key, &refusal.to_json())
            }
            PrebookEnd::Unresolved { .. } | PrebookEnd::NoResponse | PrebookEnd::NotBound => {
                write.delete_idempotency_key(&prebook.key)
            }
        };
        self.commit_end::<K>(id, write).await?;
        Err(error)
    }

    /// Adds the failed call to the booking's attempts. A prebook reserves nothing and charges
    /// nothing, so one of unknown outcome is not listed as unresolved.
    fn append_attempt<K: BookingAggregate>(
        &self,
        write: &mut UnitOfWork,
        booking: &Booking<K>,
        target: &SupplierId,
        outcome: AttemptOutcome,
        evidence: &str,
    ) {
        let loaded = self.suppliers.loaded(target);
        let digest = loaded.map(|supplier| supplier.info().digest.clone());
        let attempt = NewAttempt {
            id: AttemptId::from_bits(self.base.ids.generate()),
            booking_id: booking.id.clone(),
            step: STEP_NAME.to_owned(),
            target: target.clone(),
            client_reference: booking.id.to_string(),
            plugin_digest: digest.unwrap_or_default(),
            request_digest: String::new(),
        };
        let tenant = &booking.owner.tenant;
        write.record_attempt(tenant, &attempt);
        write.finish_attempt(tenant, &attempt.id, outcome, None, Some(evidence));
    }

    /// Commits the end of a prebook under the run's lease.
    async fn commit_end<K: BookingAggregate>(
        &self,
        id: BookingId,
        write: UnitOfWork,
    ) -> Result<(), WorkflowError> {
        let mut repeats = CommitRepeats::until_stored(self.shutdown.clone());
        let mut is_repeated = false;
        loop {
            match self.base.store.commit(write.clone()).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Conflict(_)) => {
                    // After a repetition, the first commit may have happened.
                    let current = self.base.store.booking_unscoped::<K>(&id).await?;
                    let has_ended = current.is_some_and(|known| {
                        matches!(known.phase(), BookingPhase::Failed { .. }) && is_repeated
                    });
                    return match has_ended {
                        true => Ok(()),
                        false => Err(WorkflowError::LeaseLost(id)),
                    };
                }
                Err(CommitError::Database(error)) => {
                    if !repeats.wait_after(&error).await {
                        return Err(error.into());
                    }
                    log_repetition(&id, &error);
                    is_repeated = true;
                }
            }
        }
    }
}

fn log_repetition(id: &BookingId, error: &DatabaseError) {
    tracing::warn!(booking = %id, error = error as &dyn std::error::Error, "a commit of a prebook has no response and is repeated");
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
