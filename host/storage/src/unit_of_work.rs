//! The unit of work as data: statements with their preconditions, committed atomically. Nothing
//! outside the database happens between two statements.

use crate::conflict::Conflict;
use crate::error::DatabaseError;
use crate::statement::{Row, Statement};
use crate::wakeup::WorkQueueSet;
use host_domain::time::Timestamp;
use serde::Serialize;
use std::sync::Arc;

/// Statements that [`crate::Store::commit`] commits atomically. The typed methods that fill it are
/// defined next to the tables that they change.
#[derive(Debug, Clone)]
#[must_use = "a unit of work has no effect until it is committed"]
pub struct UnitOfWork {
    pub(crate) now: Timestamp,
    pub(crate) statements: Vec<ConditionalStatement>,
    /// Queues in which an item became due earlier than waiting workers know. All processes are
    /// notified.
    pub(crate) wakeups: WorkQueueSet,
    /// Queues in which a due item may have become available. Only this process is notified, because
    /// its own workers can claim the item.
    pub(crate) local_wakeups: WorkQueueSet,
    /// The error of a value that could not be encoded as JSON.
    pub(crate) encode_error: Option<DatabaseError>,
}

#[derive(Debug, Clone)]
pub(crate) struct ConditionalStatement {
    pub(crate) statement: Statement,
    pub(crate) precondition: Precondition,
    /// Whether the statement returns rows that the caller reads.
    pub(crate) returns_rows: bool,
}

/// The expected number of changed rows. A statement that expects one row names it by a unique key:
/// it changes one row or none, so a failed statement changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Precondition {
    AnyRows,
    /// Exactly one row, otherwise this conflict.
    OneRow(Conflict),
    /// Exactly one row changed by this statement and the previous one together, otherwise this
    /// conflict. The two statements match different rows of the same table.
    OneRowOfPair(Conflict),
}

/// The rows that the statements returned, and the number of rows that the last one changed.
#[derive(Debug, Default)]
pub(crate) struct ExecutionResult {
    pub(crate) rows: Vec<Row>,
    pub(crate) rows_affected: u64,
}

impl ExecutionResult {
    /// Records how many rows a statement changed and checks its precondition.
    pub(crate) fn check_rows_affected(
        &mut self,
        step: &ConditionalStatement,
        rows: u64,
    ) -> Result<(), Conflict> {
        let before = std::mem::replace(&mut self.rows_affected, rows);
        match step.precondition {
            Precondition::OneRow(conflict) if rows != 1 => Err(conflict),
            Precondition::OneRowOfPair(conflict) if before + rows != 1 => Err(conflict),
            Precondition::AnyRows | Precondition::OneRow(_) | Precondition::OneRowOfPair(_) => {
                Ok(())
            }
        }
    }
}

impl UnitOfWork {
    /// Creates an empty unit of work. Its rows get `now` as their creation time.
    pub const fn new(now: Timestamp) -> Self {
        Self {
            now,
            statements: Vec::new(),
            wakeups: WorkQueueSet::NONE,
            local_wakeups: WorkQueueSet::NONE,
            encode_error: None,
        }
    }

    /// Returns whether committing has no effect.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.encode_error.is_none()
    }

    /// Appends all statements of another unit of work.
    pub fn append(&mut self, other: Self) -> &mut Self {
        self.statements.extend(other.statements);
        self.wakeups.union(other.wakeups);
        self.local_wakeups.union(other.local_wakeups);
        self.encode_error = self.encode_error.take().or(other.encode_error);
        self
    }

    pub(crate) fn add(&mut self, statement: Statement) -> &mut Self {
        self.push(statement, Precondition::AnyRows, false)
    }

    pub(crate) fn add_expecting_one(
        &mut self,
        statement: Statement,
        otherwise: Conflict,
    ) -> &mut Self {
        self.push(statement, Precondition::OneRow(otherwise), false)
    }

    pub(crate) fn add_returning(&mut self, statement: Statement) -> &mut Self {
        self.push(statement, Precondition::AnyRows, true)
    }

    pub(crate) fn push(
        &mut self,
        statement: Statement,
        precondition: Precondition,
        returns_rows: bool,
    ) -> &mut Self {
        self.statements.push(ConditionalStatement {
            statement,
            precondition,
            returns_rows,
        });
        self
    }

    /// Encodes a column's value as JSON. A value that cannot be encoded makes the commit fail.
    pub(crate) fn encode_json<T: Serialize + ?Sized>(&mut self, value: &T) -> String {
        serde_json::to_string(value).unwrap_or_else(|error| {
            self.encode_error
                .get_or_insert(DatabaseError::Encode(Arc::new(error)));
            String::new()
        })
    }
}
