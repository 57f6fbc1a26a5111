//! A write as data: statements and what each of them expects, stored together
//! or not at all. Nothing outside the database happens between two of them.

use crate::error::DatabaseError;
use crate::statement::{Row, Statement};
use crate::wake::WorkQueueSet;
use host_domain::time::Timestamp;
use serde::Serialize;
use std::sync::Arc;

/// Statements that are committed together by [`crate::Store::commit`]. The
/// typed methods that fill it stand beside the tables that they write.
#[derive(Debug, Clone)]
#[must_use = "a write does nothing until it is committed"]
pub struct UnitOfWork {
    pub(crate) now: Timestamp,
    pub(crate) steps: Vec<ConditionalStatement>,
    /// Of which something became due earlier than whoever waits for it can know.
    pub(crate) wakes: WorkQueueSet,
    /// Of which something may have become free that was due already. Who frees it can
    /// take it: no other host is told.
    pub(crate) local_wakeups: WorkQueueSet,
    /// A value that could not be turned into JSON.
    pub(crate) encode_error: Option<DatabaseError>,
}

/// The expectation that the database did not meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Conflict {
    /// A booking of this id is there already.
    #[error("the booking exists")]
    BookingExists,
    /// The booking is not there, or was changed since it was read.
    #[error("the booking was changed by another")]
    BookingVersion,
    /// Another unfinished booking holds the same offer.
    #[error("another booking holds the offer")]
    OfferInUse,
    /// The booking's history has an entry of this sequence.
    #[error("the booking's history was continued by another")]
    BookingHistorySequence,
    /// An event of this id is there already.
    #[error("the event exists")]
    EventExists,
    /// A call with this reference happened, or may have happened.
    #[error("a call with this reference was made before")]
    AttemptExists,
    /// The call is not there, or its outcome is recorded and final.
    #[error("the call has its outcome")]
    AttemptFinished,
    /// The idempotency key was used before.
    #[error("the idempotency key is taken")]
    IdempotencyKeyExists,
    /// The idempotency key was never used.
    #[error("the idempotency key is unknown")]
    IdempotencyKeyNotFound,
    /// Another holds the job.
    #[error("another holds the job")]
    JobLeased,
    /// The job is no longer held with this token.
    #[error("the job's lease is lost")]
    LeaseLost,
    /// An API key of this id or hash is there already.
    #[error("the key exists")]
    ApiKeyExists,
    /// An instrument of this id is there already.
    #[error("the payment instrument exists")]
    InstrumentExists,
    /// The instrument is not there, or was deleted.
    #[error("the payment instrument does not exist")]
    InstrumentNotFound,
    /// The supplier told the same before.
    #[error("the supplier's event was received before")]
    SupplierEventExists,
    /// The supplier's event is not there, or something came of it already.
    #[error("the supplier's event is settled")]
    SupplierEventProcessed,
    /// A subscription of this id is there already.
    #[error("the subscription exists")]
    SubscriptionExists,
    /// The subscription is not there, or was changed since it was read.
    #[error("the subscription was changed by another")]
    SubscriptionVersion,
    /// The subscription is not there, or was deleted.
    #[error("the subscription does not exist")]
    SubscriptionNotFound,
    /// The delivery is not there, or was moved since it was read.
    #[error("the delivery was moved by another")]
    DeliveryChanged,
    /// A watch of this id is there already.
    #[error("the watch exists")]
    WatchExists,
    /// The watch is not there, or was changed since it was read.
    #[error("the watch was changed by another")]
    WatchVersion,
    /// A watch asks the question.
    #[error("a watch asks the question")]
    PriceCheckInUse,
    /// A mandate of this id is there already.
    #[error("the mandate exists")]
    MandateExists,
    /// The mandate is not there, or was moved since it was read.
    #[error("the mandate was moved by another")]
    MandateVersion,
    /// A signing key of this generation is there already.
    #[error("the mandate key exists")]
    MandateKeyExists,
}

#[derive(Debug, Clone)]
pub(crate) struct ConditionalStatement {
    pub(crate) statement: Statement,
    pub(crate) precondition: Precondition,
    /// The rows that it returns are wanted.
    pub(crate) returns_rows: bool,
}

/// What a step is to change. Where it is one row, the statement names that by a unique
/// key: it changes one or none, so that failing changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Precondition {
    /// Whatever it changes.
    AnyRows,
    /// One row, else this.
    OneRow(Conflict),
    /// One row, unless the step before it changed it, else this. Of the rows of one table
    /// the two name different ones.
    OneRowOfPair(Conflict),
}

/// What the steps of a write returned, and how many rows the last one changed.
#[derive(Debug, Default)]
pub(crate) struct ExecutionResult {
    pub(crate) rows: Vec<Row>,
    pub(crate) rows_affected: u64,
}

impl ExecutionResult {
    /// Notes how many rows a step changed, if that is what it is expected to do.
    pub(crate) fn check_rows_affected(&mut self, step: &ConditionalStatement, rows: u64) -> Result<(), Conflict> {
        let before = std::mem::replace(&mut self.rows_affected, rows);
        match step.precondition {
            Precondition::OneRow(conflict) if rows != 1 => Err(conflict),
            Precondition::OneRowOfPair(conflict) if before + rows != 1 => Err(conflict),
            Precondition::AnyRows | Precondition::OneRow(_) | Precondition::OneRowOfPair(_) => Ok(()),
        }
    }
}

impl UnitOfWork {
    /// An empty write, made at `now`: the instant that its rows are created at.
    pub const fn new(now: Timestamp) -> Self {
        Self {
            now,
            steps: Vec::new(),
            wakes: WorkQueueSet::NONE,
            local_wakeups: WorkQueueSet::NONE,
            encode_error: None,
        }
    }

    /// Whether committing it would do nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.encode_error.is_none()
    }

    /// Adds everything of another write behind what is here.
    pub fn append(&mut self, other: Self) -> &mut Self {
        self.steps.extend(other.steps);
        self.wakes.union(other.wakes);
        self.local_wakeups.union(other.local_wakeups);
        self.encode_error = self.encode_error.take().or(other.encode_error);
        self
    }

    pub(crate) fn add(&mut self, statement: Statement) -> &mut Self {
        self.push(statement, Precondition::AnyRows, false)
    }

    pub(crate) fn one(&mut self, statement: Statement, otherwise: Conflict) -> &mut Self {
        self.push(statement, Precondition::OneRow(otherwise), false)
    }

    /// Two statements of which one changes a row; see [`Expects::OneOfTwo`].
    pub(crate) fn add_expecting_one_of_pair(
        &mut self,
        first: Statement,
        second: Statement,
        otherwise: Conflict,
    ) -> &mut Self {
        self.push(first, Precondition::AnyRows, false)
            .push(second, Precondition::OneRowOfPair(otherwise), false)
    }

    pub(crate) fn add_returning(&mut self, statement: Statement) -> &mut Self {
        self.push(statement, Precondition::AnyRows, true)
    }

    fn push(&mut self, statement: Statement, expects: Precondition, returns: bool) -> &mut Self {
        self.steps.push(ConditionalStatement {
            statement,
            precondition: expects,
            returns_rows: returns,
        });
        self
    }

    /// JSON for a column; a value that has none fails the commit.
    pub(crate) fn encode_json<T: Serialize + ?Sized>(&mut self, value: &T) -> String {
        serde_json::to_string(value).unwrap_or_else(|error| {
            self.encode_error
                .get_or_insert(DatabaseError::Encode(Arc::new(error)));
            String::new()
        })
    }
}
