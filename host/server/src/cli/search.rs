//! `stopover search`: what an id or a reference belongs to, through the admin listener of a running
//! gateway.

use crate::cli::api_client::{AdminOptions, ApiClient, path_with, text};
use crate::cli::{CliError, ScopeOptions, print_line};
use anyhow::bail;
use clap::Args;
use serde_json::Value;

/// Options of `stopover search`.
#[derive(Debug, Args)]
pub(super) struct SearchOptions {
    /// Any id of the gateway, a supplier's reference or a `reference_id`
    #[arg(value_name = "TEXT")]
    text: String,
    /// Print a JSON object, or `null` if nothing has the reference
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    scope: ScopeOptions,
    #[command(flatten)]
    admin: AdminOptions,
}

pub(super) async fn run(options: &SearchOptions) -> Result<(), CliError> {
    let mut parameters = options.scope.parameters();
    parameters.push(("q", options.text.clone()));
    let path = path_with("/search", parameters)?;
    let found = ApiClient::of_admin_listener(&options.admin)?
        .get(&path)
        .await?;
    if options.json {
        return print_line(&serde_json::to_string_pretty(&found)?);
    }
    if found.is_null() {
        bail!("nothing has the reference {}", options.text);
    }
    // A reference that several bookings have belongs to a list, which has no id.
    let id = found.get("id").and_then(Value::as_str).unwrap_or_default();
    print_line(format!("{}  {id}", text(&found, "type")?).trim_end())
}
