//! Connections that are kept for whoever needs one next. A pool of its own, because
//! `sqlx`'s asks the database for a sign of life each time that one is given back: for
//! what is mostly one statement that is a second way to the server and back.

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

/// The longest that a test of a connection may take.
const TEST_TIMEOUT: Duration = Duration::from_secs(1);

/// Between two tries to connect to a server that starts: first, and at most.
const CONNECT_BACKOFF: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// What a pool keeps, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolConfig {
    pub(crate) connections_max: u32,
    /// For a free connection, and for a server that starts.
    pub(crate) acquire_timeout: Duration,
    /// One that was used this recently is not tested before it is used again.
    pub(crate) skip_ping_within: Duration,
    /// An older one is replaced.
    pub(crate) lifetime_max: Duration,
}

/// At most so many connections to one database, made when they are needed.
pub(crate) struct Pool<C: Connection + 'static> {
    pool: managed::Pool<ConnectionManager<C>>,
    acquire_timeout: Duration,
}

/// A connection on loan. Given back before everything that was asked of it was answered,
/// which is told by [`Held::answered`], it first comes to rest: a transaction that was cut
/// short would hold its locks until somebody needs the connection.
pub(crate) struct PooledConnection<C: Connection + 'static> {
    /// None when it is given up, or dropped.
    kept: Option<Object<ConnectionManager<C>>>,
}

/// Makes connections and tests them.
struct ConnectionManager<C: Connection + 'static> {
    options: C::Options,
    keeping: PoolConfig,
    losses: DeadConnectionCounter,
}

/// How many connections to a database were found dead: then their fellows probably are,
/// too, also those of another pool.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeadConnectionCounter(Arc<AtomicU64>);

impl DeadConnectionCounter {
    fn number(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

struct ManagedConnection<C> {
    connection: C,
    is_clean: bool,
    /// The losses when it was last known to be alive.
    verified_at_count: u64,
}

impl<C: Connection> Pool<C> {
    /// Connects to nothing yet.
    pub(crate) fn new(
        options: C::Options,
        keeping: PoolConfig,
        losses: DeadConnectionCounter,
    ) -> Result<Self, Error> {
        let connector = ConnectionManager {
            options,
            keeping,
            losses,
        };
        let pool = managed::Pool::builder(connector)
            .max_size(usize::try_from(keeping.connections_max).unwrap_or(usize::MAX))
            .recycle_timeout(Some(TEST_TIMEOUT))
            // The last one used has what it needs at hand; the others come to rest.
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .build();
        Ok(Self {
            pool: pool.map_err(|error| Error::Configuration(error.into()))?,
            acquire_timeout: keeping.acquire_timeout,
        })
    }

    pub(crate) async fn acquire(&self) -> Result<PooledConnection<C>, Error> {
        let got = timeout(self.acquire_timeout, self.pool.get()).await;
        let mut kept = got.map_err(|_| Error::PoolTimedOut)?.map_err(map_pool_error)?;
        kept.is_clean = false;
        Ok(PooledConnection { kept: Some(kept) })
    }

    /// Lets go of a dead connection, and has the others tested.
    pub(crate) fn discard(&self, mut held: PooledConnection<C>) {
        drop(held.kept.take().map(Object::take));
        let losses = &self.pool.manager().losses.0;
        losses.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives out none any more, and says goodbye on those that rest. Those on loan are
    /// closed when they are given back.
    pub(crate) async fn close(&self) {
        let at_rest = self.pool.retain(|_, _| false).removed;
        self.pool.close();
        for kept in at_rest {
            if let Err(error) = kept.connection.close().await {
                tracing::debug!(%error, "closing a connection to the database failed");
            }
        }
    }
}

impl<C: Connection> PooledConnection<C> {
    /// Nothing more is to come on it.
    pub(crate) fn release_clean(mut self) {
        if let Some(kept) = &mut self.kept {
            kept.is_clean = true;
        }
    }

    pub(crate) fn connection(&mut self) -> Result<&mut C, Error> {
        let kept = self.kept.as_mut().ok_or(Error::PoolClosed)?;
        Ok(&mut kept.connection)
    }
}

impl<C: Connection> Drop for PooledConnection<C> {
    fn drop(&mut self) {
        let Some(kept) = self.kept.take().filter(|kept| !kept.is_clean) else {
            return;
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(drain(kept))),
            Err(_) => drop(Object::take(kept)),
        }
    }
}

/// What is still to come on it comes, or it is let go.
async fn drain<C: Connection>(mut kept: Object<ConnectionManager<C>>) {
    match timeout(TEST_TIMEOUT, kept.connection.ping()).await {
        Ok(Ok(())) => kept.is_clean = true,
        Ok(Err(_)) | Err(_) => drop(Object::take(kept)),
    }
}

impl<C: Connection> Manager for ConnectionManager<C> {
    type Type = ManagedConnection<C>;
    type Error = Error;

    async fn create(&self) -> Result<ManagedConnection<C>, Error> {
        let alive_after = self.losses.number();
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

    async fn recycle(&self, kept: &mut ManagedConnection<C>, metrics: &Metrics) -> RecycleResult<Error> {
        if metrics.age() > self.keeping.lifetime_max {
            return Err(RecycleError::message("it is old"));
        }
        let losses = self.losses.number();
        let trusted = kept.is_clean
            && kept.verified_at_count == losses
            && metrics.last_used() <= self.keeping.skip_ping_within;
        if !trusted {
            kept.connection.ping().await?;
            kept.verified_at_count = losses;
        }
        Ok(())
    }
}

/// A server that starts refuses connections at first, or says that it starts. Who waits
/// for a connection gives up by its own time.
fn is_starting(error: &Error) -> bool {
    match error {
        Error::Io(error) => error.kind() == ErrorKind::ConnectionRefused,
        Error::Database(error) => error.is_transient_in_connect_phase(),
        _ => false,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a server that starts tells nobody when it has started"
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
