//! `stopover watches`: lists, shows and cancels watches of a running gateway, through its admin listener.

use crate::cli::api_client::{AdminOptions, OwnedList, print_change, print_json};
use crate::cli::{CliError, or_expected, parse};
use clap::{Args, Subcommand};
use host_domain::id::WatchId;
use host_domain::watch::WatchStatus;

/// Options of `stopover watches`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct WatchesOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List watches, newest first
    List(List),
    /// Show a watch with its next check, as JSON
    Show(Subject),
    /// End a watch and revoke its mandate
    Cancel(Subject),
}

#[derive(Debug, Args)]
struct List {
    /// Only watches with this status, such as active
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Option<WatchStatus>,
    #[command(flatten)]
    list: OwnedList,
}

#[derive(Debug, Args)]
struct Subject {
    /// Id of the watch
    #[arg(value_name = "ID", value_parser = parse::<WatchId>)]
    id: WatchId,
    #[command(flatten)]
    admin: AdminOptions,
}

fn status(text: &str) -> Result<WatchStatus, String> {
    or_expected(WatchStatus::parse(text), "a status such as active")
}

pub(super) async fn run(options: WatchesOptions) -> Result<(), CliError> {
    match options.action {
        Action::List(List { status, list }) => {
            list.print("/watches", status.map(WatchStatus::as_str))
                .await
        }
        Action::Show(subject) => {
            print_json(&subject.admin, &format!("/watches/{}", subject.id)).await
        }
        Action::Cancel(subject) => {
            print_change(&subject.admin, &format!("/watches/{}/cancel", subject.id)).await
        }
    }
}
