//! `stopover deliveries`: sends deliveries of a running gateway again.

use crate::cli::api_client::{ApiClient, ApiOptions, text};
use crate::cli::{CliError, print_line};
use clap::{Args, Subcommand};
use host_domain::id::DeliveryId;

/// Options of `stopover deliveries`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct DeliveriesOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Send a delivery again
    Replay(Replay),
}

#[derive(Debug, Args)]
struct Replay {
    /// Id of the delivery
    #[arg(value_name = "ID", value_parser = delivery_id)]
    id: DeliveryId,
    #[command(flatten)]
    api: ApiOptions,
}

fn delivery_id(text: &str) -> Result<DeliveryId, String> {
    DeliveryId::parse(text).map_err(|error| error.to_string())
}

pub(super) async fn run(options: DeliveriesOptions) -> Result<(), CliError> {
    let Action::Replay(replay) = options.action;
    let client = ApiClient::new(&replay.api)?;
    let path = format!("/v1/cli/deliveries/{}/replay", replay.id);
    let replayed = client.post(&path, None).await?;
    let (id, status) = (text(&replayed, "id")?, text(&replayed, "status")?);
    print_line(&format!("{id} {status}"))
}
