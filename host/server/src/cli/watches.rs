//! `stopover watches`: shows and cancels watches of a running gateway, through its admin listener.

use crate::cli::CliError;
use crate::cli::api_client::{AdminOptions, print_change, print_json};
use clap::{Args, Subcommand};
use host_domain::id::WatchId;

/// Options of `stopover watches`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct WatchesOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show a watch with its next check, as JSON
    Show(Subject),
    /// End a watch and revoke its mandate
    Cancel(Subject),
}

#[derive(Debug, Args)]
struct Subject {
    /// Id of the watch
    #[arg(value_name = "ID", value_parser = watch_id)]
    id: WatchId,
    #[command(flatten)]
    admin: AdminOptions,
}

fn watch_id(text: &str) -> Result<WatchId, String> {
    WatchId::parse(text).map_err(|error| error.to_string())
}

pub(super) async fn run(options: WatchesOptions) -> Result<(), CliError> {
    match options.action {
        Action::Show(subject) => {
            print_json(&subject.admin, &format!("/watches/{}", subject.id)).await
        }
        Action::Cancel(subject) => {
            print_change(&subject.admin, &format!("/watches/{}/cancel", subject.id)).await
        }
    }
}
