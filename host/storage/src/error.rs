//! Errors of the database, classified by how the caller can react.

use crate::conflict::Conflict;
use std::error::Error;
use std::sync::Arc;

/// A cause that several callers of one transaction may share.
type Cause = Arc<dyn Error + Send + Sync>;

/// A read or a write that failed because of the database.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DatabaseError {
    /// The database is down, restarting, full or too busy. Nothing was written; the caller may
    /// retry later.
    #[error("the database is unavailable; try again later")]
    Unavailable(#[source] Cause),
    /// It is unknown whether the commit is stored, because the database failed or did not respond during
    /// it. The caller must read before it repeats the changes.
    #[error("it is unknown whether the commit is stored; read the data before repeating it")]
    CommitUnknown(#[source] Cause),
    /// A stored value that does not have the form that this version writes.
    #[error("column {column} holds a value that cannot be decoded")]
    Decode {
        column: &'static str,
        #[source]
        source: Cause,
    },
    #[error("a value cannot be encoded for the database")]
    Encode(#[source] Cause),
    /// The database rejected a statement, which is a defect of this program or its schema.
    #[error("the database rejected a statement")]
    InvalidStatement(#[source] Cause),
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

/// An error of a commit. Nothing of the [`crate::UnitOfWork`] was stored unless the variant says
/// otherwise.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommitError {
    #[error("not written: {0}")]
    Conflict(Conflict),
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl CommitError {
    #[must_use]
    pub fn conflict(&self) -> Option<Conflict> {
        match self {
            Self::Conflict(conflict) => Some(*conflict),
            Self::Database(_) => None,
        }
    }

    /// Converts the error of a unit of work that has no preconditions.
    pub(crate) fn into_database(self) -> DatabaseError {
        match self {
            Self::Conflict(conflict) => {
                DatabaseError::InvalidStatement(Arc::new(Unexpected(conflict)))
            }
            Self::Database(error) => error,
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("unexpected conflict: {0}")]
struct Unexpected(Conflict);

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("unknown database address: use sqlite:PATH or postgres://USER@HOST/NAME")]
    UnknownScheme,
    /// An in-memory database was requested. Each connection would see a database of its own.
    #[error("connections cannot share an in-memory database: use the path of a file")]
    InMemory,
    #[error("the database's address cannot be parsed")]
    Address(#[source] sqlx::Error),
    #[error("the database cannot be opened")]
    Connect(#[source] Box<dyn Error + Send + Sync>),
    /// The database has the schema of an earlier development version. It was not changed.
    #[error(
        "the database was created by an earlier development version, whose schema cannot be \
         migrated; create a new database, or keep using that version"
    )]
    EarlierSchema,
}

#[derive(Debug, thiserror::Error)]
#[error("the database's schema cannot be brought up to date")]
pub struct MigrateError(#[source] Box<dyn Error + Send + Sync>);

impl OpenError {
    pub(crate) fn connect(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Connect(source.into())
    }
}

impl From<sqlx::Error> for OpenError {
    fn from(error: sqlx::Error) -> Self {
        Self::connect(error)
    }
}

impl MigrateError {
    pub(crate) fn new(source: impl Error + Send + Sync + 'static) -> Self {
        Self(source.into())
    }
}
