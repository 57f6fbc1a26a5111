//! `stopover migrate`: applies database migrations without serving.

use crate::app::open_store;
use crate::cli::{CliError, ConfigSource, print_line};
use crate::config::Environment;
use clap::Args;

/// Options of `stopover migrate`.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    source: ConfigSource,
}

pub(super) async fn run(options: Options) -> Result<(), CliError> {
    let config = options.source.load(&Environment::from_process())?;
    let store = open_store(&config).await?;
    let migrated = store.migrate().await;
    store.close().await;
    migrated?;
    print_line("the database's schema is up to date")
}
