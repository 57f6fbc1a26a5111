//! Requirements of a connection pool on its sessions.

use sqlx::{Connection, Error};
use std::fmt::Debug;

/// A connection whose state at its server the pool can inspect.
pub(crate) trait Session: Connection + 'static {
    /// Identifies the session at its server.
    type Id: Debug + Send + Sync + 'static;

    /// Applies `settings` to a new connection and returns its id. Fails with [`ReadOnlyServer`] if
    /// the server accepts no writes.
    fn start(&mut self, settings: &str) -> impl Future<Output = Result<Self::Id, Error>> + Send;

    /// Tests that the server responds. Fails with [`ReadOnlyServer`] if it accepts no writes.
    fn test(&mut self) -> impl Future<Output = Result<(), Error>> + Send;

    /// Returns whether the server still works for another session.
    fn is_other_busy(
        &mut self,
        other: &Self::Id,
    ) -> impl Future<Output = Result<bool, Error>> + Send;
}

/// A server on which every write fails.
#[derive(Debug, thiserror::Error)]
#[error("the database server accepts no writes: it is a standby, or set to be read-only")]
pub(crate) struct ReadOnlyServer;

impl ReadOnlyServer {
    pub(crate) fn into_error(self) -> Error {
        Error::Configuration(self.into())
    }

    pub(crate) fn is_cause_of(error: &Error) -> bool {
        matches!(error, Error::Configuration(source) if source.is::<Self>())
    }
}
