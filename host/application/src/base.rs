//! The dependencies that almost every service shares.

use crate::id_generator::IdGenerator;
use host_domain::time::{Clock, Timestamp};
use host_storage::{Store, UnitOfWork};
use std::sync::Arc;

/// The database, the clock and the generator of identifiers. Cloning is cheap.
#[derive(Clone)]
pub struct Base {
    /// The database.
    pub store: Store,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Generator of new identifiers.
    pub ids: Arc<dyn IdGenerator>,
}

impl Base {
    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Starts a unit of work at the current time.
    pub fn unit_of_work(&self) -> UnitOfWork {
        UnitOfWork::new(self.now())
    }
}
