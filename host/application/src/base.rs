//! The dependencies that almost every service shares.

use crate::id_generator::IdGenerator;
use host_domain::time::{Clock, Timestamp};
use host_storage::{CommitError, Conflict, DatabaseError, Store, UnitOfWork};
use std::sync::Arc;

/// The database, the clock and the generator of identifiers. Cloning is cheap.
#[derive(Clone)]
pub struct Base {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdGenerator>,
}

impl Base {
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn unit_of_work(&self) -> UnitOfWork {
        UnitOfWork::new(self.now())
    }

    /// Commits a write. Returns `false` if a precondition fails because another process was faster.
    pub async fn try_commit(&self, write: UnitOfWork) -> Result<bool, DatabaseError> {
        match self.store.commit(write).await {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(_)) => Ok(false),
            Err(CommitError::Database(error)) => Err(error),
        }
    }

    /// Commits a write. Returns `false` if this precondition is not met.
    pub async fn commit_unless(
        &self,
        conflict: Conflict,
        write: UnitOfWork,
    ) -> Result<bool, CommitError> {
        match self.store.commit(write).await {
            Err(CommitError::Conflict(found)) if found == conflict => Ok(false),
            result => result.map(|()| true),
        }
    }
}
