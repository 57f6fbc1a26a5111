//! Connections whose response nobody waits for any more.
//!
//! The server may work on for such a session, for example while a commit waits for a standby that
//! is away. Closing the connection would not end that session, so it has to count until the server
//! has ended it.

use crate::postgres_session::{PgSessionId, is_session_busy};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, Error, PgConnection};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, interval_at, timeout};

/// Connections whose response nobody waits for any more, by pool.
pub const ABANDONED_CONNECTIONS: &str = "stopover_database_abandoned_connections";

/// Time within which a response is expected that the caller did not wait for.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum time to ask the server about another session.
const INSPECTION_TIMEOUT: Duration = Duration::from_secs(2);

/// Waits for the end of abandoned sessions. It asks the server on a connection of its own, because
/// those of the pool may all be abandoned.
pub(crate) struct Inspector {
    options: PgConnectOptions,
    pool_name: &'static str,
    interval: Duration,
    /// Limits the inspections to one additional connection.
    permit: Semaphore,
}

/// The end of the wait for an abandoned response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseEnd {
    /// Every outstanding response was received. The connection can be used again.
    Received,
    ConnectionLost,
    /// The server does not work for the session, or does not have it: the request or the response
    /// was lost on the way, or another server has taken over.
    SessionIdle,
    PoolClosed,
}

impl Inspector {
    pub(crate) fn new(
        options: PgConnectOptions,
        pool_name: &'static str,
        interval: Duration,
    ) -> Self {
        // Makes the metric visible before the first connection is abandoned.
        metrics::gauge!(ABANDONED_CONNECTIONS, "pool" => pool_name).increment(0.0);
        Self {
            options,
            pool_name,
            interval,
            permit: Semaphore::new(1),
        }
    }

    /// Waits for the outstanding responses of a connection, for as long as its server works.
    pub(crate) async fn await_response(
        &self,
        connection: &mut PgConnection,
        id: &PgSessionId,
        mut closed: watch::Receiver<bool>,
    ) -> ResponseEnd {
        let mut response = pin!(connection.ping());
        if let Ok(received) = timeout(RESPONSE_TIMEOUT, &mut response).await {
            return ResponseEnd::of(received);
        }
        let _count = AbandonedCount::new(self.pool_name);
        tokio::select! {
            received = &mut response => ResponseEnd::of(received),
            () = self.wait_until_idle(id) => ResponseEnd::SessionIdle,
            _ = closed.wait_for(|closed| *closed) => ResponseEnd::PoolClosed,
        }
    }

    async fn wait_until_idle(&self, id: &PgSessionId) {
        let mut ticks = interval_at(Instant::now() + self.interval, self.interval);
        loop {
            ticks.tick().await;
            let permit = self.permit.acquire().await;
            // If the server cannot be asked, the session may be busy.
            let answer = timeout(INSPECTION_TIMEOUT, self.is_busy(id)).await;
            drop(permit);
            match answer {
                Ok(Ok(false)) => return,
                Ok(Ok(true)) => {}
                Ok(Err(error)) => {
                    tracing::debug!(%error, session = ?id, "cannot ask the database about an abandoned session");
                }
                Err(_) => {
                    tracing::debug!(session = ?id, "no response of the database about an abandoned session");
                }
            }
        }
    }

    async fn is_busy(&self, id: &PgSessionId) -> Result<bool, Error> {
        let mut connection = PgConnection::connect_with(&self.options).await?;
        let is_busy = is_session_busy(&mut connection, id).await?;
        connection.close().await?;
        Ok(is_busy)
    }
}

impl ResponseEnd {
    fn of(received: Result<(), Error>) -> Self {
        match received {
            Ok(()) => Self::Received,
            Err(_) => Self::ConnectionLost,
        }
    }
}

/// Counts an abandoned connection in the metric until it is dropped.
struct AbandonedCount {
    pool_name: &'static str,
}

impl AbandonedCount {
    fn new(pool_name: &'static str) -> Self {
        metrics::gauge!(ABANDONED_CONNECTIONS, "pool" => pool_name).increment(1.0);
        Self { pool_name }
    }
}

impl Drop for AbandonedCount {
    fn drop(&mut self) {
        metrics::gauge!(ABANDONED_CONNECTIONS, "pool" => self.pool_name).decrement(1.0);
    }
}
