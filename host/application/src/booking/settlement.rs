//! Decisions of operators about calls with an unknown outcome. A decision is stored in the
//! transaction of the outcome. The decision waits while the gateway looks the outcome up.

use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::booking::resolution::{
    CallSelector, OPERATOR_EVIDENCE, Resolution, ResolutionRequest, ResolutionService, ResolveError,
};
use crate::booking::settlement_job::{SETTLEMENT_RETRY_S, job_subject};
use crate::id_generator;
use crate::storage_failure::StorageFailure;
use host_domain::audit::{Actor, AuditAction};
use host_domain::booking::BookingStatus;
use host_domain::id::{AttemptId, BookingId, SettlementId};
use host_domain::owner::Tenant;
use host_domain::settlement::{SETTLEMENT_JOB_KIND, SettlementChoice, SettlementState};
use host_storage::{Attempt, Conflict, DatabaseError, SettlementDecision, UnitOfWork};
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum length of a note.
pub const NOTE_CHARS_MAX: usize = 1000;

/// A decision and its reason.
#[derive(Debug, Clone)]
pub struct NewSettlement {
    pub resolution: Resolution,
    /// The reason, as the operator wrote it.
    pub note: String,
    /// The [`decidable_state`](crate::booking::resolution::decidable_state) that the operator saw.
    /// `None` for any.
    pub seen_state: Option<String>,
}

/// Result of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettlementResult {
    /// The booking's status afterwards.
    Applied(BookingStatus),
    /// A lookup of the outcome is under way. The decision is applied afterwards.
    Waiting,
}

#[derive(Debug, thiserror::Error)]
pub enum SettlementError {
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error("the note must have 1 to {NOTE_CHARS_MAX} characters")]
    InvalidNote,
    #[error("another operator has decided about the call")]
    AlreadyDecided(Box<SettlementDecision>),
    /// The other side has told the gateway the outcome.
    #[error("the outcome of the call is known meanwhile")]
    OutcomeKnown { evidence: Option<String> },
    #[error("the decision could not be read or stored")]
    Storage(#[from] StorageFailure),
}

impl From<DatabaseError> for SettlementError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WithdrawError {
    #[error("no decision about the booking waits")]
    NothingWaits,
    #[error(
        "decisions about several calls of the booking wait; select one with `client_reference`"
    )]
    AmbiguousCall,
    #[error("the decision could not be read or stored")]
    Storage(#[from] StorageFailure),
}

/// Stores, applies and withdraws decisions.
pub struct SettlementService {
    pub(crate) base: Base,
    pub(crate) resolutions: Arc<ResolutionService>,
}

impl SettlementService {
    /// Applies a decision at once.
    ///
    /// # Errors
    /// [`ResolveError`]. [`ResolveError::InProgress`] also if another decision waits.
    pub async fn apply(
        &self,
        actor: &Actor,
        booking: &BookingId,
        call: CallSelector<'_>,
        new: &NewSettlement,
    ) -> Result<BookingStatus, ResolveError> {
        let request_id = id_generator::new_request_id();
        let request = ResolutionRequest {
            call,
            resolution: new.resolution.clone(),
            seen_state: new.seen_state.as_deref(),
            request_id: &request_id,
            statements: Box::new(|tenant, attempt| {
                self.decision_write(
                    actor,
                    tenant,
                    booking,
                    attempt,
                    new,
                    SettlementState::Applied,
                )
            }),
        };
        self.resolutions.resolve(booking, request).await
    }

    /// Applies a decision, or keeps it until the lookup that is under way has ended.
    ///
    /// # Errors
    /// [`SettlementError`].
    pub async fn settle(
        &self,
        actor: &Actor,
        attempt: &Attempt,
        new: &NewSettlement,
    ) -> Result<SettlementResult, SettlementError> {
        let note_chars = new.note.trim().chars().count();
        if !(1..=NOTE_CHARS_MAX).contains(&note_chars) {
            return Err(SettlementError::InvalidNote);
        }
        let (booking, call) = (
            &attempt.call.booking_id,
            CallSelector::Attempt(&attempt.call.id),
        );
        match self.apply(actor, booking, call, new).await {
            Ok(status) => Ok(SettlementResult::Applied(status)),
            Err(ResolveError::InProgress) => self.store_waiting(actor, attempt, new).await,
            Err(error @ (ResolveError::NothingUnresolved(_) | ResolveError::StateChanged(_))) => {
                Err(self.no_effect_reason(attempt, error).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Stores a decision about a call that another process works on.
    async fn store_waiting(
        &self,
        actor: &Actor,
        attempt: &Attempt,
        new: &NewSettlement,
    ) -> Result<SettlementResult, SettlementError> {
        let (tenant, call) = (&attempt.tenant, &attempt.call);
        let current = self.current_attempt(attempt).await?;
        if !current.is_some_and(|attempt| attempt.outcome.is_unresolved()) {
            return Err(self
                .no_effect_reason(attempt, ResolveError::InProgress)
                .await?);
        }
        let state = SettlementState::Waiting;
        let booking = &call.booking_id;
        let write = self.decision_write(actor, tenant, booking, Some(&call.id), new, state);
        let committed = self.base.commit_unless(Conflict::SettlementWaiting, write);
        match committed.await.map_err(StorageFailure::from)? {
            true => Ok(SettlementResult::Waiting),
            false => Err(self
                .no_effect_reason(attempt, ResolveError::InProgress)
                .await?),
        }
    }

    /// Withdraws a decision that waits. Returns whether it was still waiting.
    ///
    /// # Errors
    /// The database failed.
    pub async fn withdraw(
        &self,
        actor: &Actor,
        decision: &SettlementDecision,
    ) -> Result<bool, StorageFailure> {
        let tenant = &decision.tenant;
        let mut write = self.base.unit_of_work();
        let state = SettlementState::Withdrawn;
        let result = format!("Withdrawn by {}", actor_name(actor));
        write.end_settlement(tenant, &decision.id, state, Some(&result));
        // The job finds nothing to apply and ends, also if it is parked.
        let subject = job_subject(tenant, &decision.id);
        write.schedule_job(SETTLEMENT_JOB_KIND, &subject, self.base.now());
        let action = AuditAction::BookingSettlementWithdrawn;
        let change = AuditChange::new(action, decision.booking_id.as_str()).of_tenant(tenant);
        let change = change.before(withdrawn_change(decision, decision.state));
        let change = change.after(withdrawn_change(decision, state));
        audit_in(&mut write, &self.base, actor, change);
        let withdrawn = self.base.commit_unless(Conflict::SettlementEnded, write);
        withdrawn.await.map_err(StorageFailure::from)
    }

    /// Withdraws the only decision that waits about the calls of a booking, or about its call with
    /// this client reference.
    ///
    /// # Errors
    /// [`WithdrawError`].
    pub async fn withdraw_by_reference(
        &self,
        actor: &Actor,
        booking: &BookingId,
        client_reference: Option<&str>,
    ) -> Result<(), WithdrawError> {
        let store = &self.base.store;
        let waiting = store
            .waiting_settlements_unscoped(booking, client_reference)
            .await;
        match waiting.map_err(StorageFailure::from)?.as_slice() {
            [] => Err(WithdrawError::NothingWaits),
            [only] => match self.withdraw(actor, only).await? {
                true => Ok(()),
                false => Err(WithdrawError::NothingWaits),
            },
            [_, ..] => Err(WithdrawError::AmbiguousCall),
        }
    }

    /// Returns why a decision about a call has no effect. `otherwise` is the reason if nobody has
    /// decided about the call and it is still open.
    async fn no_effect_reason(
        &self,
        attempt: &Attempt,
        otherwise: ResolveError,
    ) -> Result<SettlementError, SettlementError> {
        let (tenant, id) = (&attempt.tenant, &attempt.call.id);
        let current = self.current_attempt(attempt).await?;
        let is_open = current
            .as_ref()
            .is_some_and(|attempt| attempt.outcome.is_unresolved());
        let evidence = current.and_then(|attempt| attempt.evidence);
        let is_by_operator = evidence.as_deref() == Some(OPERATOR_EVIDENCE);
        let latest = self.base.store.latest_settlement(tenant, id).await?;
        // An earlier decision may be about an earlier outcome of the call.
        let decision =
            latest.filter(|latest| latest.state == SettlementState::Waiting || is_by_operator);
        Ok(match decision {
            Some(decision) => SettlementError::AlreadyDecided(Box::new(decision)),
            None if is_open => SettlementError::Resolve(otherwise),
            None => SettlementError::OutcomeKnown { evidence },
        })
    }

    async fn current_attempt(&self, attempt: &Attempt) -> Result<Option<Attempt>, DatabaseError> {
        let (tenant, call) = (&attempt.tenant, &attempt.call);
        let attempts = self.base.store.attempts(tenant, &call.booking_id).await?;
        Ok(attempts.into_iter().find(|known| known.call.id == call.id))
    }

    /// Returns the statements that store a decision. A call without a record has only an entry in
    /// the audit log.
    fn decision_write(
        &self,
        actor: &Actor,
        tenant: &Tenant,
        booking: &BookingId,
        attempt: Option<&AttemptId>,
        new: &NewSettlement,
        state: SettlementState,
    ) -> UnitOfWork {
        let mut write = self.base.unit_of_work();
        let (choice, refund, reference) = match &new.resolution {
            Resolution::Done { reference } => (SettlementChoice::Done, None, reference.clone()),
            Resolution::NotDone => (SettlementChoice::NotDone, None, None),
            Resolution::Refund(amount) => (SettlementChoice::Refund, Some(*amount), None),
        };
        let note = new.note.trim();
        let change = AuditChange::new(AuditAction::BookingSettled, booking.as_str());
        let change = change.of_tenant(tenant).after(json!({
            "call": attempt.map(AttemptId::as_str),
            "choice": choice.as_str(),
            "refund": refund.map(|refund| refund.to_string()),
            "reference": reference,
            "note": note,
            "state": state.as_str(),
        }));
        audit_in(&mut write, &self.base, actor, change);
        let Some(attempt) = attempt else {
            return write;
        };
        let decision = SettlementDecision {
            tenant: tenant.clone(),
            id: SettlementId::from_bits(self.base.ids.generate()),
            booking_id: booking.clone(),
            attempt_id: attempt.clone(),
            choice,
            refund,
            reference,
            note: note.to_owned(),
            decided_by: actor_name(actor).to_owned(),
            decided_at: self.base.now(),
            state,
            result: None,
            seen_state: new.seen_state.clone(),
        };
        write.insert_settlement(&decision);
        if state == SettlementState::Waiting {
            let subject = job_subject(tenant, &decision.id);
            let due_at = self.base.now().plus_s(SETTLEMENT_RETRY_S);
            write.schedule_job(SETTLEMENT_JOB_KIND, &subject, due_at);
        }
        write
    }
}

/// Returns what the audit log has of a decision that is withdrawn.
fn withdrawn_change(decision: &SettlementDecision, state: SettlementState) -> Value {
    json!({
        "call": decision.attempt_id.as_str(),
        "choice": decision.choice.as_str(),
        "state": state.as_str(),
    })
}

/// Returns the name of an actor, or its kind if it has none.
fn actor_name(actor: &Actor) -> &str {
    if actor.name.is_empty() {
        return actor.kind.as_str();
    }
    &actor.name
}
