//! A simulated travel market: a hotel supplier, two flight suppliers and a card processor behind
//! one HTTP server, with a ledger of all effects. The crate must not depend on its callers.

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
};

use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

pub mod credentials;

mod clock;
mod connection;
mod control;
mod flight;
mod hotel;
mod journal;
mod ledger;
mod money;
mod payments;
mod request;
mod state;

pub use crate::clock::{Clock, system_clock};

/// Name of the state file in the data directory.
pub const STATE_FILE: &str = "sandbox.sqlite3";

/// Configuration of a sandbox.
#[derive(Clone)]
pub struct SandboxConfig {
    /// Data directory. It is created if missing. One process at a time may use it.
    pub data_dir: PathBuf,
    /// Address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    pub clock: Clock,
}

impl SandboxConfig {
    /// Creates a configuration with the machine's clock.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>, listen: SocketAddr) -> Self {
        Self {
            data_dir: data_dir.into(),
            listen,
            clock: system_clock(),
        }
    }
}

/// The reason why a sandbox does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the data directory {} cannot be created", path.display())]
    DataDirectory {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the state in {} cannot be opened; is another sandbox using it?", path.display())]
    Open {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("the state in {} cannot be read", path.display())]
    Read {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("the sandbox cannot listen on {listen}")]
    Listen {
        listen: SocketAddr,
        source: std::io::Error,
    },
}

/// A running sandbox. Dropping it stops it at once, as a killed process would.
pub struct SandboxHandle {
    addr: SocketAddr,
    stopping: CancellationToken,
    tasks: JoinSet<()>,
}

impl SandboxHandle {
    /// Returns `http://address:port`, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> String {
        base_url(self.addr)
    }

    /// Stops accepting connections, gives running requests two seconds to finish, and closes the
    /// state.
    pub async fn shutdown(mut self) {
        self.stopping.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Opens the state, binds the address and serves in the background.
///
/// # Errors
/// Fails if the data directory, the state or the address cannot be used.
pub async fn serve(config: SandboxConfig) -> Result<SandboxHandle, StartError> {
    tokio::fs::create_dir_all(&config.data_dir)
        .await
        .map_err(|source| StartError::DataDirectory {
            path: config.data_dir.clone(),
            source,
        })?;
    let path = config.data_dir.join(STATE_FILE);
    let (journal, writer, stored) = match journal::open(&path) {
        Ok(opened) => opened,
        Err(source) => return Err(StartError::Open { path, source }),
    };
    let records = state::SandboxRecords::restore(stored)
        .map_err(|source| StartError::Read { path, source })?;
    let cannot_listen = |source| StartError::Listen {
        listen: config.listen,
        source,
    };
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(cannot_listen)?;
    let addr = listener.local_addr().map_err(cannot_listen)?;

    let stopping = CancellationToken::new();
    let app = state::SandboxState::new(
        records,
        apply_due_change,
        journal,
        config.clock,
        base_url(addr),
        stopping.clone(),
    );
    let mut tasks = JoinSet::new();
    tasks.spawn_blocking(|| writer.run());
    tasks.spawn(connection::run_listener(
        listener,
        router(app),
        stopping.clone(),
    ));
    Ok(SandboxHandle {
        addr,
        stopping,
        tasks,
    })
}

fn apply_due_change(records: &mut state::SandboxRecords, subject: &state::ScheduledSubject) {
    match subject {
        state::ScheduledSubject::HotelBooking(id) => hotel::apply_due_change(records, id),
        state::ScheduledSubject::FlightOrder(id) => flight::apply_due_change(records, id),
    }
}

fn router(app: state::SandboxState) -> axum::Router {
    axum::Router::new()
        .nest("/lodge/v1", hotel::routes())
        .nest("/skylane", flight::skylane::routes())
        .nest("/jetbridge/v3", flight::jetbridge::routes())
        .nest("/tillway/v1", payments::routes())
        .nest("/control", control::routes())
        .merge(hotel::photo_routes())
        .merge(flight::logo_routes())
        .merge(flight::jetbridge::checkout_routes())
        .with_state(app)
}

/// Returns the URL that works on the same machine, even if the sandbox listens on every address.
fn base_url(addr: SocketAddr) -> String {
    let mut reached = addr;
    if addr.ip().is_unspecified() {
        reached.set_ip(match addr {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{reached}")
}
