//! `stopover mandates`: lists, shows and revokes mandates of a running gateway, through its admin
//! listener.

use crate::cli::api_client::{AdminOptions, OwnedList, print_change, print_json};
use crate::cli::{CliError, or_expected, parse};
use clap::{Args, Subcommand};
use host_domain::id::MandateId;
use host_domain::mandate::MandateStatus;

/// Options of `stopover mandates`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct MandatesOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List mandates, newest first
    List(List),
    /// Show a mandate with the purchase that used it, as JSON
    Show(Subject),
    /// Permit no further purchase under a mandate
    Revoke(Subject),
}

#[derive(Debug, Args)]
struct List {
    /// Only mandates with this status, such as ACTIVE
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Option<MandateStatus>,
    #[command(flatten)]
    list: OwnedList,
}

#[derive(Debug, Args)]
struct Subject {
    /// Id of the mandate
    #[arg(value_name = "ID", value_parser = parse::<MandateId>)]
    id: MandateId,
    #[command(flatten)]
    admin: AdminOptions,
}

fn status(text: &str) -> Result<MandateStatus, String> {
    or_expected(MandateStatus::parse(text), "a status such as ACTIVE")
}

pub(super) async fn run(options: MandatesOptions) -> Result<(), CliError> {
    match options.action {
        Action::List(List { status, list }) => {
            list.print("/mandates", status.map(MandateStatus::as_str))
                .await
        }
        Action::Show(subject) => {
            print_json(&subject.admin, &format!("/mandates/{}", subject.id)).await
        }
        Action::Revoke(subject) => {
            print_change(&subject.admin, &format!("/mandates/{}/revoke", subject.id)).await
        }
    }
}
