//! The error of use cases that fail only for lack of access or because of the database.

use crate::console::access::AccessError;
use crate::storage_failure::StorageFailure;
use host_storage::DatabaseError;

#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("the data could not be read or stored")]
    Storage(#[from] StorageFailure),
}

impl From<DatabaseError> for ConsoleError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}
