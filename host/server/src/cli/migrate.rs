//! `stopover migrate`: applies database migrations without serving.

use crate::cli::{CliError, ConfigSource, print_line};
use clap::Args;
use host_application::application::open_store;

/// Options of `stopover migrate`.
#[derive(Debug, Args)]
pub(super) struct MigrateOptions {
    #[command(flatten)]
    source: ConfigSource,
}

pub(super) async fn run(options: MigrateOptions) -> Result<(), CliError> {
    let config = options.source.load()?;
    let store = open_store(&config).await?;
    let migrated = store.migrate().await;
    store.close().await;
    migrated?;
    print_line("the database's schema is up to date")
}
