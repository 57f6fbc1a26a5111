//! `stopover mandates`: shows and revokes mandates of a running gateway, through its admin listener.

use crate::cli::CliError;
use crate::cli::api_client::{AdminOptions, print_change, print_json};
use clap::{Args, Subcommand};
use host_domain::id::MandateId;

/// Options of `stopover mandates`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct MandatesOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show a mandate with the purchase that used it, as JSON
    Show(Subject),
    /// Permit no further purchase under a mandate
    Revoke(Subject),
}

#[derive(Debug, Args)]
struct Subject {
    /// Id of the mandate
    #[arg(value_name = "ID", value_parser = mandate_id)]
    id: MandateId,
    #[command(flatten)]
    admin: AdminOptions,
}

fn mandate_id(text: &str) -> Result<MandateId, String> {
    MandateId::parse(text).map_err(|error| error.to_string())
}

pub(super) async fn run(options: MandatesOptions) -> Result<(), CliError> {
    match options.action {
        Action::Show(subject) => {
            print_json(&subject.admin, &format!("/mandates/{}", subject.id)).await
        }
        Action::Revoke(subject) => {
            print_change(&subject.admin, &format!("/mandates/{}/revoke", subject.id)).await
        }
    }
}
