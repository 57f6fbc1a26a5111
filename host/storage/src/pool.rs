//! A pool of connections to PostgreSQL. `sqlx`'s own pool pings the database whenever a connection is returned. Most
//! units of work are one statement, so that ping would double the round trips.

use crate::abandoned::{Inspector, ResponseEnd};
use crate::postgres_session::{PgSessionId, ReadOnlyServer, start_session, test_session};
use deadpool::Runtime;
use deadpool::managed::{
    self, Manager, Metrics, Object, PoolError, QueueMode, RecycleError, RecycleResult, TimeoutType,
};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, Error, PgConnection};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

const TEST_TIMEOUT: Duration = Duration::from_secs(1);

/// Initial and maximum delay between attempts to connect to a server that is starting.
const CONNECT_BACKOFF: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

#[derive(Debug, Clone)]
pub(crate) struct PoolConfig {
    /// The pool's name in the metrics.
    pub(crate) name: &'static str,
    /// Maximum number of connections, including those whose response nobody waits for any more.
    pub(crate) connections_max: u32,
    /// Connections that are kept for reads. Writes that a server does not confirm occupy theirs.
    pub(crate) read_only_connections: u32,
    /// Maximum time to wait for a free connection or for a server that is starting.
    pub(crate) acquire_timeout: Duration,
    /// Time since its last use within which a connection is used again without a test.
    pub(crate) skip_ping_within: Duration,
    /// Age after which a connection is replaced.
    pub(crate) lifetime_max: Duration,
    /// Statements that a new connection executes first.
    pub(crate) settings: String,
}

/// The use of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A bounded pool of connections to one database, opened on demand.
pub(crate) struct Pool {
    pool: managed::Pool<ConnectionManager>,
    inspector: Arc<Inspector>,
    acquire_timeout: Duration,
    /// Limits the connections that write.
    write_permits: Arc<Semaphore>,
    /// Set when the pool is closed.
    closed: watch::Sender<bool>,
}

/// A pooled connection. If it is dropped before [`PooledConnection::release_clean`], responses may
/// be outstanding, so it is drained first. Otherwise an interrupted transaction would hold its
/// locks until the connection is used again. Until then it counts as one of the pool's connections.
pub(crate) struct PooledConnection {
    /// The connection; `None` after it was discarded or released.
    object: Option<Object<ConnectionManager>>,
    inspector: Arc<Inspector>,
    closed: watch::Receiver<bool>,
    write_permit: Option<OwnedSemaphorePermit>,
}

struct ConnectionManager {
    options: PgConnectOptions,
    config: PoolConfig,
    health: ServerHealth,
}

/// Health of a database's server, which all pools of the database share.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerHealth(Arc<HealthState>);

#[derive(Debug, Default)]
struct HealthState {
    /// The number of signs that connections are of no use: one was found dead, did not respond, or
    /// led to a server that rejects writes. After an increase, every other connection is tested
    /// before its next use, including those of another pool.
    suspicions: AtomicU64,
    /// Whether the last new connection led to a server that accepts no writes.
    is_read_only: AtomicBool,
}

struct ManagedConnection {
    connection: PgConnection,
    id: PgSessionId,
    is_clean: bool,
    /// The number of suspicions when the connection was last tested.
    tested_at_count: u64,
}

impl ServerHealth {
    fn suspicions(&self) -> u64 {
        self.0.suspicions.load(Ordering::Relaxed)
    }

    fn suspect(&self) {
        self.0.suspicions.fetch_add(1, Ordering::Relaxed);
    }

    fn is_read_only(&self) -> bool {
        self.0.is_read_only.load(Ordering::Relaxed)
    }

    fn set_read_only(&self, is_read_only: bool) {
        if self.0.is_read_only.swap(is_read_only, Ordering::Relaxed) == is_read_only {
            return;
        }
        if is_read_only {
            tracing::error!(
                "the database server accepts no writes: it is a standby, or set to be read-only; connecting again until it accepts them"
            );
        } else {
            tracing::info!("the database server accepts writes again");
        }
    }
}

impl Pool {
    /// Creates the pool without opening a connection.
    pub(crate) fn new(
        options: PgConnectOptions,
        config: PoolConfig,
        health: ServerHealth,
    ) -> Result<Self, Error> {
        let size = usize::try_from(config.connections_max).unwrap_or(Semaphore::MAX_PERMITS);
        let reserved = usize::try_from(config.read_only_connections).unwrap_or(usize::MAX);
        let writing = size.saturating_sub(reserved).max(1);
        let acquire_timeout = config.acquire_timeout;
        // A caller that finds every connection abandoned gets one after about the time that it
        // waits anyway.
        let inspector = Inspector::new(options.clone(), config.name, acquire_timeout);
        let connector = ConnectionManager {
            options,
            config,
            health,
        };
        let pool = managed::Pool::builder(connector)
            .max_size(size)
            .recycle_timeout(Some(TEST_TIMEOUT))
            // The most recently used connection has warm caches; the others stay idle.
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .build();
        Ok(Self {
            pool: pool.map_err(|error| Error::Configuration(error.into()))?,
            inspector: Arc::new(inspector),
            acquire_timeout,
            write_permits: Arc::new(Semaphore::new(writing.min(Semaphore::MAX_PERMITS))),
            closed: watch::Sender::new(false),
        })
    }

    pub(crate) async fn acquire(&self, access: Access) -> Result<PooledConnection, Error> {
        let acquired = timeout(self.acquire_timeout, self.acquire_unlimited(access));
        acquired.await.unwrap_or_else(|_| {
            Err(match self.pool.manager().health.is_read_only() {
                true => ReadOnlyServer.into_error(),
                false => Error::PoolTimedOut,
            })
        })
    }

    async fn acquire_unlimited(&self, access: Access) -> Result<PooledConnection, Error> {
        let write_permit = match access {
            Access::Read => None,
            Access::Write => {
                let permit = Arc::clone(&self.write_permits).acquire_owned().await;
                Some(permit.map_err(|_| Error::PoolClosed)?)
            }
        };
        let mut object = self.pool.get().await.map_err(map_pool_error)?;
        object.is_clean = false;
        Ok(PooledConnection {
            object: Some(object),
            inspector: Arc::clone(&self.inspector),
            closed: self.closed.subscribe(),
            write_permit,
        })
    }

    /// Discards a connection that is dead or leads to a server that rejects writes. Causes the
    /// others to be tested before their next use.
    pub(crate) fn discard(&self, mut connection: PooledConnection) {
        drop(connection.object.take().map(Object::take));
        self.pool.manager().health.suspect();
    }

    /// Stops waiting for a response. The connection still counts until the server has responded or
    /// ended the session. Causes the others to be tested before their next use.
    pub(crate) fn abandon(&self, connection: PooledConnection) {
        drop(connection);
        self.pool.manager().health.suspect();
    }

    /// Closes the pool, its idle connections and those whose response nobody waits for. Other
    /// connections in use are closed when they are released.
    pub(crate) async fn close(&self) {
        let idle = self.pool.retain(|_, _| false).removed;
        self.pool.close();
        self.write_permits.close();
        self.closed.send_replace(true);
        for object in idle {
            if let Err(error) = object.connection.close().await {
                tracing::debug!(%error, "cannot close a connection to the database");
            }
        }
    }
}

impl PooledConnection {
    /// Releases the connection. No response may be outstanding on it.
    pub(crate) fn release_clean(mut self) {
        if let Some(object) = &mut self.object {
            object.is_clean = true;
        }
    }

    pub(crate) fn connection(&mut self) -> Result<&mut PgConnection, Error> {
        let object = self.object.as_mut().ok_or(Error::PoolClosed)?;
        Ok(&mut object.connection)
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let Some(object) = self.object.take().filter(|object| !object.is_clean) else {
            return;
        };
        let Ok(runtime) = Handle::try_current() else {
            drop(Object::take(object));
            return;
        };
        let inspector = Arc::clone(&self.inspector);
        let drained = drain(object, inspector, self.closed.clone());
        let permit = self.write_permit.take();
        runtime.spawn(async move {
            drained.await;
            drop(permit);
        });
    }
}

/// Receives the outstanding responses, or discards the connection. Meanwhile the connection counts
/// as one of the pool's.
async fn drain(
    mut object: Object<ConnectionManager>,
    inspector: Arc<Inspector>,
    closed: watch::Receiver<bool>,
) {
    let managed = &mut *object;
    let end = inspector
        .await_response(&mut managed.connection, &managed.id, closed)
        .await;
    match end {
        ResponseEnd::Received => object.is_clean = true,
        ResponseEnd::ConnectionLost | ResponseEnd::SessionIdle | ResponseEnd::PoolClosed => {
            drop(Object::take(object));
        }
    }
}

impl Manager for ConnectionManager {
    type Type = ManagedConnection;
    type Error = Error;

    async fn create(&self) -> Result<ManagedConnection, Error> {
        let tested_at_count = self.health.suspicions();
        let (mut pause, longest) = CONNECT_BACKOFF;
        loop {
            // This rarely runs and has a large state, which callers would carry otherwise.
            let connected = Box::pin(connect(&self.options, &self.config.settings));
            match connected.await {
                Ok((connection, id)) => {
                    self.health.set_read_only(false);
                    return Ok(ManagedConnection {
                        connection,
                        id,
                        is_clean: true,
                        tested_at_count,
                    });
                }
                Err(error) if ReadOnlyServer::is_cause_of(&error) => {
                    self.health.set_read_only(true);
                    wait(pause).await;
                }
                Err(error) if is_starting(&error) => wait(pause).await,
                Err(error) => return Err(error),
            }
            pause = longest.min(pause * 2);
        }
    }

    async fn recycle(
        &self,
        managed: &mut ManagedConnection,
        metrics: &Metrics,
    ) -> RecycleResult<Error> {
        if metrics.age() > self.config.lifetime_max {
            return Err(RecycleError::message("the connection is too old"));
        }
        let suspicions = self.health.suspicions();
        let trusted = managed.is_clean
            && managed.tested_at_count == suspicions
            && metrics.last_used() <= self.config.skip_ping_within;
        if !trusted {
            test_session(&mut managed.connection).await?;
            managed.tested_at_count = suspicions;
        }
        Ok(())
    }
}

async fn connect(
    options: &PgConnectOptions,
    settings: &str,
) -> Result<(PgConnection, PgSessionId), Error> {
    let mut connection = PgConnection::connect_with(options).await?;
    let id = start_session(&mut connection, settings).await?;
    Ok((connection, id))
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
    reason = "a server sends no notification when it has started or accepts writes"
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
