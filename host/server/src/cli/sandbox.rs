//! `stopover sandbox`: the suppliers of test mode, as a server of their own.

use crate::cli::{CliError, print_line};
use anyhow::Context;
use clap::Args;
use sandbox::SandboxConfig;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};

/// Options of `stopover sandbox`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Folder that its state is kept in
    #[arg(long, value_name = "DIR", default_value = "data/sandbox")]
    data_dir: PathBuf,
    /// Its address; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
}

pub(super) async fn run(options: Options) -> Result<(), CliError> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen to signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen to signals")?;
    let running = sandbox::serve(SandboxConfig::new(options.data_dir, options.listen)).await?;
    print_line(&format!("sandbox  {}", running.base_url()))?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    running.shutdown().await;
    Ok(())
}
