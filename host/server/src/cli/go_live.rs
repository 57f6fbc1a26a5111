//! `stopover go-live`: the checklist before going live, through the admin listener of a running
//! gateway.

use crate::cli::api_client::{AdminOptions, ApiClient, items, path_with, text};
use crate::cli::{CliError, organization, print_line};
use clap::Args;
use serde_json::Value;

/// Options of `stopover go-live`.
#[derive(Debug, Args)]
pub(super) struct GoLiveOptions {
    /// The organization that goes live; without it, a step is done if any organization has done it
    #[arg(long, value_name = "ID", value_parser = organization)]
    organization: Option<String>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    admin: AdminOptions,
}

pub(super) async fn run(options: &GoLiveOptions) -> Result<(), CliError> {
    let organization = options.organization.clone();
    let parameters = organization.map(|id| ("organization", id));
    let path = path_with("/go-live", parameters)?;
    let steps = ApiClient::of_admin_listener(&options.admin)?
        .get(&path)
        .await?;
    if options.json {
        return print_line(&serde_json::to_string_pretty(&steps)?);
    }
    for step in items(Some(&steps))? {
        let is_done = step.get("done").and_then(Value::as_bool) == Some(true);
        let state = if is_done { "done" } else { "open" };
        print_line(&format!("{state}  {}", text(step, "step")?))?;
    }
    Ok(())
}
