//! `stopover overview`: the figures of the overview of a running gateway, through its admin listener.

use crate::cli::api_client::{AdminOptions, path_with, print_json};
use crate::cli::{CliError, ScopeOptions, or_expected};
use clap::Args;
use host_application::reporting::overview::OverviewWindow;

/// Options of `stopover overview`.
#[derive(Debug, Args)]
pub(super) struct OverviewOptions {
    /// Window of time of the calls and bookings: hour, day or week
    #[arg(long, value_name = "WINDOW", default_value = "hour", value_parser = window)]
    window: OverviewWindow,
    #[command(flatten)]
    scope: ScopeOptions,
    #[command(flatten)]
    admin: AdminOptions,
}

fn window(text: &str) -> Result<OverviewWindow, String> {
    or_expected(OverviewWindow::parse(text), "hour, day or week")
}

pub(super) async fn run(options: &OverviewOptions) -> Result<(), CliError> {
    let mut parameters = options.scope.parameters();
    parameters.push(("window", options.window.as_str().to_owned()));
    print_json(&options.admin, &path_with("/overview", parameters)?).await
}
