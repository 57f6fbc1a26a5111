//! Types used to execute a booking's steps: the execution context, what is prepared before a step,
//! and the errors that stop a workflow.

use crate::booking::interpret::CallOutcome;
use host_domain::booking::{Booking, BookingKind, InvalidTransition};
use host_domain::id::BookingId;
use host_domain::payment::Instrument;
use host_domain::personal::PersonalWords;
use host_domain::remote_call::AttemptOutcome;
use host_domain::supplier::{ChangeError, FailureReason, SupplierId};
use host_runtime::CallContext;
use host_storage::{Attempt, Conflict, DatabaseError};
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// The context in which steps are executed: lease, request and deadline.
#[derive(Debug, Clone)]
pub struct ExecutionContext {
    /// Token of the workflow's lease. It is invalid once another process takes the lease.
    pub lease_token: String,
    /// Id of the request that caused the run, or the worker's own id.
    pub request_id: String,
    pub deadline: Instant,
    /// Payment instrument, if it was read when the run began.
    pub instrument: Option<Instrument>,
    /// Findings of the run for the caller.
    pub findings: RunFindings,
}

/// Why a call had no effect and may be repeated, for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotSentCause {
    /// A repeat may succeed at any time.
    #[default]
    Temporary,
    /// The supplier's limit is reached. It states after how many seconds to repeat the call, or
    /// nothing.
    RateLimited { retry_after_s: Option<u32> },
    /// A repeat cannot succeed before somebody has corrected something.
    RequiresCorrection,
}

impl NotSentCause {
    /// Returns why a change was not sent, or `None` if it was sent or may have been sent.
    pub const fn of_change(error: &ChangeError) -> Option<Self> {
        match error {
            ChangeError::NotSent(reason) => Some(Self::of_reason(reason)),
            ChangeError::RateLimited { retry_after_s } => Some(Self::RateLimited {
                retry_after_s: *retry_after_s,
            }),
            ChangeError::Overloaded => Some(Self::Temporary),
            ChangeError::Unsupported | ChangeError::RefusedByAdapter(_) => {
                Some(Self::RequiresCorrection)
            }
            ChangeError::Refused(_) | ChangeError::Unknown(_) => None,
        }
    }

    pub const fn of_reason(reason: &FailureReason) -> Self {
        match reason.requires_correction {
            true => Self::RequiresCorrection,
            false => Self::Temporary,
        }
    }
}

/// Findings of a run of a workflow that the booking does not keep. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct RunFindings {
    not_sent: Arc<Mutex<NotSentCause>>,
    is_checkout_incomplete: Arc<AtomicBool>,
}

impl RunFindings {
    /// Records why the latest call was not sent.
    pub fn record_not_sent(&self, cause: NotSentCause) {
        *self.not_sent.lock().unwrap_or_else(PoisonError::into_inner) = cause;
    }

    /// Returns why the latest call that was not sent was not.
    pub fn not_sent_cause(&self) -> NotSentCause {
        *self.not_sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the supplier refused to book because the payer has not paid at its checkout.
    pub fn record_incomplete_checkout(&self) {
        self.is_checkout_incomplete.store(true, Ordering::Relaxed);
    }

    pub fn is_checkout_incomplete(&self) -> bool {
        self.is_checkout_incomplete.load(Ordering::Relaxed)
    }
}

impl ExecutionContext {
    pub fn call_context<K: BookingKind>(&self, booking: &Booking<K>) -> CallContext {
        let tenant = &booking.owner.tenant;
        CallContext {
            request_id: self.request_id.clone(),
            organization: tenant.organization.clone(),
            mode: Some(tenant.mode),
            booking: Some(booking.id.to_string()),
            personal: PersonalWords::new(booking.details.personal_texts()),
            deadline: self.deadline,
        }
    }
}

/// Reasons why a workflow stopped before its end. What is stored stays valid: a worker resumes from
/// there.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    /// The database failed before a call was recorded as sent.
    #[error("the state of the booking could not be read or stored")]
    Database(#[from] DatabaseError),
    #[error("a call was sent, but its outcome could not be read or stored")]
    StorageFailedAfterSend(#[source] DatabaseError),
    #[error("the lease on booking {0} is lost")]
    LeaseLost(BookingId),
    /// The event does not fit, because another process changed the booking.
    #[error(transparent)]
    InvalidTransition(#[from] InvalidTransition),
    #[error("booking {0} or a part of it no longer exists")]
    BookingMissing(BookingId),
    #[error("booking {0} changed too often meanwhile to store an outcome")]
    TooManyConflicts(BookingId),
    /// The rules of the state machine lead from step to step without an end.
    #[error("booking {0} exceeded the maximum number of steps in one run")]
    TooManySteps(BookingId),
    /// An unexpected conflict prevented the insert. New rows have no version or lease to conflict
    /// with. Nothing was sent.
    #[error("new booking {id} could not be stored")]
    NotStored { id: BookingId, source: Conflict },
    #[error("the workflow task ended without a result")]
    TaskPanicked,
}

impl WorkflowError {
    /// Converts a database error to the one for a run that has already sent a call.
    pub fn after_send(self) -> Self {
        match self {
            Self::Database(error) => Self::StorageFailedAfterSend(error),
            other => other,
        }
    }
}

/// The record that is committed, or looked up, before the call of a step.
pub enum StepRecord<E> {
    /// The call makes a change. This event and this call are committed before it is sent.
    Intent(E, OutboundCall),
    /// The call reads what became of this earlier call.
    Reconcile(CallKey),
}

/// The identity of a call that was made.
#[derive(Debug, Clone)]
pub struct CallKey {
    pub step: &'static str,
    /// The gateway's reference at the other side, if a booking may have several calls of one step.
    pub client_reference: Option<String>,
}

impl CallKey {
    /// Identifies the only or the latest call of a step.
    pub const fn of_step(step: &'static str) -> Self {
        Self {
            step,
            client_reference: None,
        }
    }

    pub fn matches(&self, attempt: &Attempt) -> bool {
        let reference = self.client_reference.as_ref();
        attempt.call.step == self.step
            && reference.is_none_or(|reference| *reference == attempt.call.client_reference)
    }
}

pub struct OutboundCall {
    pub target: SupplierId,
    pub client_reference: String,
    pub request_digest: String,
}

/// Returns a digest of a request as evidence. The request contains names, so it is not stored.
pub fn request_digest(request: &impl std::fmt::Debug) -> String {
    hex::encode(Sha256::digest(format!("{request:?}")))
}

impl From<CallOutcome> for AttemptOutcome {
    fn from(outcome: CallOutcome) -> Self {
        match outcome {
            CallOutcome::Succeeded => Self::Succeeded,
            CallOutcome::Refused => Self::Refused,
            CallOutcome::NotSent => Self::NotSent,
            CallOutcome::Unknown => Self::Unknown,
        }
    }
}
