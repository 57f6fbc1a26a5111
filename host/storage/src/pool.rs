//! A connection pool. `sqlx`'s own pool pings the database whenever a connection is returned. Most
//! units of work are one statement, so that ping would double the round trips.

use deadpool::Runtime;
use deadpool::managed::{
    self, Manager, Metrics, Object, PoolError, QueueMode, RecycleError, RecycleResult, TimeoutType,
};
use sqlx::{Connection, Error};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

const TEST_TIMEOUT: Duration = Duration::from_secs(1);

/// Initial and maximum delay between attempts to connect to a server that is starting.
const CONNECT_BACKOFF: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolConfig {
    pub(crate) connections_max: u32,
    /// Maximum time to wait for a free connection or for a server that is starting.
    pub(crate) acquire_timeout: Duration,
    /// Time since its last use within which a connection is used again without a test.
    pub(crate) skip_ping_within: Duration,
    /// Age after which a connection is replaced.
    pub(crate) lifetime_max: Duration,
}

/// A bounded pool of connections to one database, opened on demand.
pub(crate) struct Pool<C: Connection + 'static> {
    pool: managed::Pool<ConnectionManager<C>>,
    acquire_timeout: Duration,
}

/// A pooled connection. If it is dropped before [`PooledConnection::release_clean`], responses may
/// be outstanding, so it is drained first. Otherwise an interrupted transaction would hold its
/// locks until the connection is used again.
pub(crate) struct PooledConnection<C: Connection + 'static> {
    /// The connection; `None` after it was discarded or released.
    object: Option<Object<ConnectionManager<C>>>,
}

struct ConnectionManager<C: Connection + 'static> {
    options: C::Options,
    config: PoolConfig,
    losses: DeadConnectionCounter,
}

/// The number of connections to a database that were found dead. After an increase, other
/// connections are probably dead too, including those of another pool.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeadConnectionCounter(Arc<AtomicU64>);

struct ManagedConnection<C> {
    connection: C,
    is_clean: bool,
    /// The value of the counter when the connection was last verified to be alive.
    verified_at_count: u64,
}

impl<C: Connection> Pool<C> {
    /// Creates the pool without opening a connection.
    pub(crate) fn new(
        options: C::Options,
        config: PoolConfig,
        losses: DeadConnectionCounter,
    ) -> Result<Self, Error> {
        let connector = ConnectionManager {
            options,
            config,
            losses,
        };
        let pool = managed::Pool::builder(connector)
            .max_size(usize::try_from(config.connections_max).unwrap_or(usize::MAX))
            .recycle_timeout(Some(TEST_TIMEOUT))
            // The most recently used connection has warm caches; the others stay idle.
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .build();
        Ok(Self {
            pool: pool.map_err(|error| Error::Configuration(error.into()))?,
            acquire_timeout: config.acquire_timeout,
        })
    }

    pub(crate) async fn acquire(&self) -> Result<PooledConnection<C>, Error> {
        let mut object = timeout(self.acquire_timeout, self.pool.get())
            .await
            .map_err(|_| Error::PoolTimedOut)?
            .map_err(map_pool_error)?;
        object.is_clean = false;
        Ok(PooledConnection {
            object: Some(object),
        })
    }

    /// Discards a dead connection and causes the others to be tested before their next use.
    pub(crate) fn discard(&self, mut connection: PooledConnection<C>) {
        drop(connection.object.take().map(Object::take));
        let losses = &self.pool.manager().losses.0;
        losses.fetch_add(1, Ordering::Relaxed);
    }

    /// Closes the pool and its idle connections. Connections in use are closed when they are
    /// released.
    pub(crate) async fn close(&self) {
        let idle = self.pool.retain(|_, _| false).removed;
        self.pool.close();
        for object in idle {
            if let Err(error) = object.connection.close().await {
                tracing::debug!(%error, "cannot close a connection to the database");
            }
        }
    }
}

impl<C: Connection> PooledConnection<C> {
    /// Releases the connection. No response may be outstanding on it.
    pub(crate) fn release_clean(mut self) {
        if let Some(object) = &mut self.object {
            object.is_clean = true;
        }
    }

    pub(crate) fn connection(&mut self) -> Result<&mut C, Error> {
        let object = self.object.as_mut().ok_or(Error::PoolClosed)?;
        Ok(&mut object.connection)
    }
}

impl<C: Connection> Drop for PooledConnection<C> {
    fn drop(&mut self) {
        let Some(object) = self.object.take().filter(|object| !object.is_clean) else {
            return;
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(drain(object))),
            Err(_) => drop(Object::take(object)),
        }
    }
}

/// Receives the outstanding responses, or discards the connection.
async fn drain<C: Connection>(mut object: Object<ConnectionManager<C>>) {
    match timeout(TEST_TIMEOUT, object.connection.ping()).await {
        Ok(Ok(())) => object.is_clean = true,
        Ok(Err(_)) | Err(_) => drop(Object::take(object)),
    }
}

impl<C: Connection> Manager for ConnectionManager<C> {
    type Type = ManagedConnection<C>;
    type Error = Error;

    async fn create(&self) -> Result<ManagedConnection<C>, Error> {
        let alive_after = self.losses.0.load(Ordering::Relaxed);
        let (mut pause, longest) = CONNECT_BACKOFF;
        loop {
            match C::connect_with(&self.options).await {
                Ok(connection) => {
                    return Ok(ManagedConnection {
                        connection,
                        is_clean: true,
                        verified_at_count: alive_after,
                    });
                }
                Err(error) if is_starting(&error) => wait(pause).await,
                Err(error) => return Err(error),
            }
            pause = longest.min(pause * 2);
        }
    }

    async fn recycle(
        &self,
        managed: &mut ManagedConnection<C>,
        metrics: &Metrics,
    ) -> RecycleResult<Error> {
        if metrics.age() > self.config.lifetime_max {
            return Err(RecycleError::message("the connection is too old"));
        }
        let losses = self.losses.0.load(Ordering::Relaxed);
        let trusted = managed.is_clean
            && managed.verified_at_count == losses
            && metrics.last_used() <= self.config.skip_ping_within;
        if !trusted {
            managed.connection.ping().await?;
            managed.verified_at_count = losses;
        }
        Ok(())
    }
}

/// Returns whether the server is starting: it first refuses connections and then reports that it is
/// starting. Callers limit the wait by their own timeout.
fn is_starting(error: &Error) -> bool {
    match error {
        Error::Io(error) => error.kind() == ErrorKind::ConnectionRefused,
        Error::Database(error) => error.is_transient_in_connect_phase(),
        _ => false,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a starting server sends no notification when it is ready"
)]
async fn wait(pause: Duration) {
    sleep(pause).await;
}

fn map_pool_error(error: PoolError<Error>) -> Error {
    match error {
        PoolError::Backend(error) => error,
        PoolError::Closed => Error::PoolClosed,
        PoolError::Timeout(TimeoutType::Wait | TimeoutType::Create | TimeoutType::Recycle) => {
            Error::PoolTimedOut
        }
        error @ (PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_)) => {
            Error::Configuration(error.to_string().into())
        }
    }
}
