//! The peers of measurements. Each runs in a process of its own, started from this program, so that
//! its cost is not counted.

mod bare;
mod fares;
mod rates;
mod supplier;

use anyhow::{Context, Result};
use clap::ValueEnum;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

pub(crate) use fares::FARES;
pub(crate) use rates::{HOTELS, OFFERS_PER_HOTEL, hotel_id};

/// The kind of a peer.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Peer {
    /// Supplier APIs that return hotel rates and fares.
    Supplier,
    /// A handler that reads a booking's row and returns its document.
    Bare,
}

/// A running peer. It ends when this value is dropped.
pub(crate) struct Running {
    process: Child,
    /// Base URL: `http://host:port`.
    pub(crate) base: String,
}

impl Running {
    pub(crate) fn id(&self) -> Result<u32> {
        self.process.id().context("the peer has ended")
    }
}

impl Peer {
    /// Starts the peer in a new process.
    pub(crate) async fn start(self, with: &str) -> Result<Running> {
        let name = self.to_possible_value().context("the peer has no name")?;
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["--peer", name.get_name(), "--with", with])
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut process = command.spawn()?;
        let output = process
            .stdout
            .take()
            .context("the peer's output is not captured")?;
        let base = BufReader::new(output)
            .lines()
            .next_line()
            .await?
            .context("the other side did not start")?;
        Ok(Running { process, base })
    }

    /// Runs the peer in this process until the process is ended.
    pub(crate) fn run(self, with: &str) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("http://{}", listener.local_addr()?);
            match self {
                Self::Supplier => supplier::serve(listener).await,
                Self::Bare => bare::serve(listener, with).await,
            }
        })
    }
}
