//! What walking a booking's steps is made of: who walks, what a step begins
//! with, and why a walk stops.

use host_domain::booking::InvalidTransition;
use host_domain::id::BookingId;
use host_domain::payment::Instrument;
use host_domain::supplier::SupplierId;
use host_storage::{Attempt, AttemptOutcome, DatabaseError};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

/// Who walks the steps, and on whose behalf.
#[derive(Debug, Clone)]
pub(crate) struct ExecutionContext {
    /// The claim on the booking's work; lost when another process took it.
    pub(crate) lease_token: String,
    /// The request that caused it, or the worker's own id.
    pub(crate) request_id: String,
    /// Until when calls may take.
    pub(crate) deadline: Instant,
    /// What pays, where it was read when the walk began.
    pub(crate) instrument: Option<Instrument>,
}

/// Why a flow stopped before its end. What is stored stays true: the worker goes on from there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkflowError {
    /// The database.
    #[error("the state of the booking could not be stored or read")]
    Database(#[from] DatabaseError),
    /// The database, after the mark of a call was stored: the call may have been made.
    #[error("what came of a call could not be stored or read")]
    StorageFailedAfterSend(#[source] DatabaseError),
    /// Somebody else walks the steps of this booking now.
    #[error("the lease on booking {0} is lost")]
    LeaseLost(BookingId),
    /// The event does not fit; somebody else moved the booking.
    #[error(transparent)]
    InvalidTransition(#[from] InvalidTransition),
    /// A booking, or a part of one, that was there is gone.
    #[error("booking {0} or a part of it is gone")]
    BookingMissing(BookingId),
    /// The booking kept moving under the flow.
    #[error("booking {0} moves too fast to be stored")]
    TooManyConflicts(BookingId),
    /// The walk ended without a word.
    #[error("the walk was stopped")]
    TaskPanicked,
}

impl WorkflowError {
    /// The same of a walk that is under way.
    pub(crate) fn after_send(self) -> Self {
        match self {
            Self::Database(error) => Self::StorageFailedAfterSend(error),
            other => other,
        }
    }
}

/// What taking a step begins with.
pub(crate) enum StepPreparation<E> {
    /// Somebody is called to change something: the mark that is stored before.
    RecordThenSend(E, OutboundCall),
    /// Somebody is asked what came of a call.
    Reconcile(CallKey),
}

/// A call that was made.
#[derive(Debug, Clone)]
pub(crate) struct CallKey {
    /// The name of the step that made it.
    pub(crate) step: &'static str,
    /// Our reference there, where a booking may have several of one step.
    pub(crate) client_reference: Option<String>,
}

impl CallKey {
    /// The only one, or the last, of a step.
    pub(crate) const fn of_step(step: &'static str) -> Self {
        Self {
            step,
            client_reference: None,
        }
    }

    pub(crate) fn matches(&self, attempt: &Attempt) -> bool {
        let reference = self.client_reference.as_ref();
        attempt.call.step == self.step
            && reference.is_none_or(|reference| *reference == attempt.call.client_reference)
    }
}

/// An outward call about to be made.
pub(crate) struct OutboundCall {
    /// Supplier or processor.
    pub(crate) target: SupplierId,
    /// Our reference there.
    pub(crate) client_reference: String,
    /// Digest of what is asked for.
    pub(crate) request_digest: String,
}

/// What was asked for, as evidence: it holds names, so only its digest is kept.
pub(crate) fn request_digest(request: &impl std::fmt::Debug) -> String {
    hex::encode(Sha256::digest(format!("{request:?}")))
}

impl From<crate::flow::judge::CallOutcome> for AttemptOutcome {
    fn from(outcome: crate::flow::judge::CallOutcome) -> Self {
        use crate::flow::judge::CallOutcome;
        match outcome {
            CallOutcome::Succeeded => Self::Succeeded,
            CallOutcome::Rejected => Self::Refused,
            CallOutcome::NotSent => Self::NotSent,
            CallOutcome::Unknown => Self::Unknown,
        }
    }
}
