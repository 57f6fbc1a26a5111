//! `stopover migrate`: the schema, apart from serving.

use crate::app::open_store;
use crate::cli::{Failure, Source, say};
use crate::config::Environment;
use clap::Args;

/// Options of `stopover migrate`.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    source: Source,
}

pub(super) async fn run(options: Options) -> Result<(), Failure> {
    let config = options.source.load(&Environment::from_process())?;
    let store = open_store(&config).await?;
    let migrated = store.migrate().await;
    store.close().await;
    migrated?;
    say("the database's schema is up to date")
}
