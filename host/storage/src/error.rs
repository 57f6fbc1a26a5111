//! What can go wrong with the database, by what the caller can do about it.

use crate::write::Conflict;
use std::error::Error;
use std::sync::Arc;

/// A cause that several callers of one transaction may share.
type Cause = Arc<dyn Error + Send + Sync>;

/// A read or a write that did not succeed for reasons of the database.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DatabaseError {
    /// Down, restarting, full or too busy. Nothing was written; try again later.
    #[error("the database is not available")]
    Unavailable(#[source] Cause),
    /// The connection ended while a commit was being answered: it was written,
    /// or it was not. Read before repeating.
    #[error("the database did not say whether it committed")]
    CommitUnknown(#[source] Cause),
    /// A stored value that is not what this version writes.
    #[error("column {column} holds a value that cannot be read")]
    Decode {
        /// Where.
        column: &'static str,
        /// Why.
        #[source]
        source: Cause,
    },
    /// A value that cannot be stored.
    #[error("a value cannot be stored")]
    Encode(#[source] Cause),
    /// The database refused a statement: a fault of this program or its schema.
    #[error("the database refused a statement")]
    Refused(#[source] Cause),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl DatabaseError {
    pub(crate) fn unreadable(
        column: &'static str,
        source: impl Error + Send + Sync + 'static,
    ) -> Self {
        Self::Decode {
            column,
            source: Arc::new(source),
        }
    }

    pub(crate) fn unavailable(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Unavailable(Arc::new(source))
    }

    pub(crate) fn commit_unknown(source: impl Error + Send + Sync + 'static) -> Self {
        Self::CommitUnknown(Arc::new(source))
    }
}

/// Nothing of the [`crate::Write`] was stored, unless it says otherwise.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommitError {
    /// The world is not as the write expected it.
    #[error("not written: {0}")]
    Conflict(Conflict),
    /// The database did not do it.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl CommitError {
    /// The expectation that failed, if one did.
    #[must_use]
    pub fn conflict(&self) -> Option<Conflict> {
        match self {
            Self::Conflict(conflict) => Some(*conflict),
            Self::Database(_) => None,
        }
    }

    /// For writes without an expectation.
    pub(crate) fn into_database(self) -> DatabaseError {
        match self {
            Self::Conflict(conflict) => DatabaseError::Refused(Arc::new(Unexpected(conflict))),
            Self::Database(error) => error,
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("unexpected conflict: {0}")]
struct Unexpected(Conflict);

/// The store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Neither `sqlite:PATH` nor `postgres://…`.
    #[error("a database is named sqlite:PATH or postgres://USER@HOST/NAME")]
    UnknownScheme,
    /// Every connection would see a database of its own.
    #[error("a database in memory cannot be shared between connections: name a file")]
    InMemory,
    /// The rest of the address cannot be read.
    #[error("the database's address cannot be read")]
    Address(#[source] sqlx::Error),
    /// It does not answer.
    #[error("the database cannot be opened")]
    Connect(#[source] sqlx::Error),
}

/// The schema cannot be brought up to date.
#[derive(Debug, thiserror::Error)]
#[error("the database's schema cannot be brought up to date")]
pub struct MigrateError(#[source] pub(crate) sqlx::migrate::MigrateError);
