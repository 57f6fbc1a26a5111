//! Failures of the database as callers of the application see them.

use host_storage::{CommitError, DatabaseError};
use std::error::Error;

/// Reason why data could not be read or stored. Each variant holds the cause.
#[derive(Debug, thiserror::Error)]
pub enum StorageFailure {
    /// The database cannot be reached. Nothing was written; the caller may retry later.
    #[error(transparent)]
    Unavailable(Box<dyn Error + Send + Sync>),
    /// It is unknown whether the commit is stored.
    #[error(transparent)]
    CommitUnknown(Box<dyn Error + Send + Sync>),
    /// A defect, such as a stored value that cannot be decoded or an unexpected conflict.
    #[error(transparent)]
    Internal(Box<dyn Error + Send + Sync>),
}

impl From<DatabaseError> for StorageFailure {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Unavailable(_) | DatabaseError::Closed => {
                Self::Unavailable(error.into())
            }
            DatabaseError::CommitUnknown(_) => Self::CommitUnknown(error.into()),
            DatabaseError::Decode { .. }
            | DatabaseError::Encode(_)
            | DatabaseError::InvalidStatement(_) => Self::Internal(error.into()),
        }
    }
}

/// Conflicts that matter to a caller must be handled before this conversion.
impl From<CommitError> for StorageFailure {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Database(error) => error.into(),
            conflict @ CommitError::Conflict(_) => Self::Internal(conflict.into()),
        }
    }
}
