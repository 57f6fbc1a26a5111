//! `stopover deliveries`: lists deliveries of a running gateway and sends them again.

use crate::cli::api_client::{AdminOptions, ApiClient, ApiOptions, number, print_list, text};
use crate::cli::{CliError, event_type, mode, or_expected, organization, parse, print_line, time};
use anyhow::bail;
use clap::{Args, Subcommand};
use host_domain::event::EventType;
use host_domain::id::{DeliveryId, SubscriptionId};
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use host_domain::webhook::DeliveryStatus;
use serde_json::{Map, Value};
use std::time::Duration;

/// Interval at which the progress of a replay is asked for.
const INTERVAL: Duration = Duration::from_millis(500);

/// Options of `stopover deliveries`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct DeliveriesOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the latest deliveries of all organizations
    List(List),
    /// Send a delivery again
    Replay(Replay),
    /// Send all deliveries that match again, and wait until all are queued
    ReplayAll(ReplayAll),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    filter: Filter,
    /// Maximum number of deliveries, at most 500
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    admin: AdminOptions,
}

#[derive(Debug, Args)]
struct Replay {
    /// Id of the delivery
    #[arg(value_name = "ID", value_parser = parse::<DeliveryId>)]
    id: DeliveryId,
    #[command(flatten)]
    api: ApiOptions,
}

#[derive(Debug, Args)]
struct ReplayAll {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    admin: AdminOptions,
}

/// Options that select deliveries.
#[derive(Debug, Args)]
struct Filter {
    /// Mode: test or live
    #[arg(long, value_name = "MODE", default_value = "test", value_parser = mode)]
    mode: Mode,
    /// Only deliveries of this organization
    #[arg(long, value_name = "ID", value_parser = organization)]
    organization: Option<String>,
    /// Only deliveries with this status: PENDING, PUBLISHED, DELIVERED or FAILED, or `waiting` for
    /// those that are pending or published
    #[arg(long, value_name = "STATUS", value_parser = delivery_status)]
    status: Option<String>,
    /// Only deliveries to this webhook
    #[arg(long, value_name = "ID", value_parser = parse::<SubscriptionId>)]
    webhook: Option<SubscriptionId>,
    /// Only deliveries of events of this type, such as hotel.booking.confirmed
    #[arg(long, value_name = "TYPE", value_parser = event_type)]
    event: Option<EventType>,
    /// Only deliveries that were created at this time or later, such as 2027-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<Timestamp>,
    /// Only deliveries that were created at this time or earlier
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<Timestamp>,
}

fn delivery_status(text: &str) -> Result<String, String> {
    let is_valid = text == "waiting" || DeliveryStatus::parse(text).is_some();
    let status = is_valid.then(|| text.to_owned());
    or_expected(status, "PENDING, PUBLISHED, DELIVERED, FAILED or waiting")
}

impl Filter {
    /// Returns the parameters of the admin listener that are set.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let parameters = [
            ("mode", Some(self.mode.as_str().to_owned())),
            ("organization", self.organization.clone()),
            ("status", self.status.clone()),
            (
                "webhook",
                self.webhook.as_ref().map(SubscriptionId::to_string),
            ),
            ("event", self.event.map(|event| event.as_str().to_owned())),
            ("from", self.from.map(|at| at.to_string())),
            ("to", self.to.map(|at| at.to_string())),
        ];
        let set = parameters.into_iter();
        set.filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

pub(super) async fn run(options: DeliveriesOptions) -> Result<(), CliError> {
    match options.action {
        Action::List(options) => list(&options).await,
        Action::Replay(options) => replay(&options).await,
        Action::ReplayAll(options) => replay_all(&options).await,
    }
}

async fn list(options: &List) -> Result<(), CliError> {
    let client = ApiClient::of_admin_listener(&options.admin)?;
    let found = client.list("/deliveries", options.filter.parameters(), options.limit);
    print_list(&found.await?, options.json, |delivery| {
        Ok(format!(
            "{}  {}  {}  {}  {}",
            text(delivery, "created_at")?,
            text(delivery, "status")?,
            text(delivery, "event_type")?,
            text(delivery, "organization")?,
            text(delivery, "id")?,
        ))
    })
}

async fn replay(options: &Replay) -> Result<(), CliError> {
    let client = ApiClient::new(&options.api)?;
    let path = format!("/v1/cli/deliveries/{}/replay", options.id);
    let replayed = client.post(&path, None).await?;
    let (id, status) = (text(&replayed, "id")?, text(&replayed, "status")?);
    print_line(&format!("{id} {status}"))
}

/// Begins a bulk replay and prints its numbers when it ends.
async fn replay_all(options: &ReplayAll) -> Result<(), CliError> {
    let client = ApiClient::of_admin_listener(&options.admin)?;
    let parameters = options.filter.parameters().into_iter();
    let body = parameters.map(|(name, value)| (name.to_owned(), Value::from(value)));
    let body = Value::from(body.collect::<Map<_, _>>());
    let mut replay = client.post("/deliveries/replays", Some(&body)).await?;
    let path = format!("/deliveries/replays/{}", text(&replay, "id")?);
    while text(&replay, "state")? == "running" {
        wait().await;
        replay = client.get(&path).await?;
    }
    let (replayed, skipped) = (number(&replay, "replayed"), number(&replay, "skipped"));
    let total = number(&replay, "deliveries");
    print_line(&format!(
        "{replayed} of {total} replayed, {skipped} skipped"
    ))?;
    match text(&replay, "state")? {
        "finished" => Ok(()),
        state => bail!("the replay is {state}"),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command asks for the progress at an interval"
)]
async fn wait() {
    tokio::time::sleep(INTERVAL).await;
}
