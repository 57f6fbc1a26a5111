//! `stopover sandbox`: runs the suppliers of test mode as a separate server.

use crate::cli::{CliError, print_line};
use anyhow::Context;
use clap::Args;
use sandbox::SandboxConfig;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};

/// Options of `stopover sandbox`.
#[derive(Debug, Args)]
pub(super) struct SandboxOptions {
    /// Folder for the sandbox's state
    #[arg(long, value_name = "DIR", default_value = "data/sandbox")]
    data_dir: PathBuf,
    /// Address of the sandbox; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
}

pub(super) async fn run(options: SandboxOptions) -> Result<(), CliError> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot handle signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot handle signals")?;
    let running = sandbox::serve(SandboxConfig::new(options.data_dir, options.listen)).await?;
    print_line(&format!("sandbox  {}", running.base_url()))?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    running.shutdown().await;
    Ok(())
}
