//! `stopover webhooks`: shows and changes the webhooks of a running gateway, through its admin
//! listener.

use crate::cli::api_client::{AdminOptions, ApiClient, number, print_json, print_list, text};
use crate::cli::{CliError, mode, or_expected, organization, parse, print_line, time};
use clap::{Args, Subcommand};
use host_domain::id::SubscriptionId;
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use host_domain::webhook::SubscriptionStatus;
use serde_json::{Value, json};

/// Options of `stopover webhooks`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct WebhooksOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the webhooks of all organizations, newest first
    List(List),
    /// Show a webhook with the state of its receiver, as JSON
    Show(Subject),
    /// Send an event of type `ping` and print its delivery
    Test(Subject),
    /// Hold the events of a webhook back
    Pause(Subject),
    /// Send the events of a webhook again, also those that waited
    Resume(Subject),
    /// Replace the signing secret and print the new one; both sign for 24 hours
    RotateSecret(Subject),
    /// Send all deliveries again that failed since a time
    Recover(Recover),
    /// Delete a webhook with its deliveries
    Delete(Subject),
}

#[derive(Debug, Args)]
struct List {
    /// Mode: test or live
    #[arg(long, value_name = "MODE", default_value = "test", value_parser = mode)]
    mode: Mode,
    /// Only webhooks of this organization
    #[arg(long, value_name = "ID", value_parser = organization)]
    organization: Option<String>,
    /// Only webhooks with this status: ACTIVE, PAUSED or DISABLED
    #[arg(long, value_name = "STATUS", value_parser = webhook_status)]
    status: Option<SubscriptionStatus>,
    /// Maximum number of webhooks, at most 500
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    admin: AdminOptions,
}

#[derive(Debug, Args)]
struct Subject {
    /// Id of the webhook
    #[arg(value_name = "ID", value_parser = parse::<SubscriptionId>)]
    id: SubscriptionId,
    #[command(flatten)]
    admin: AdminOptions,
}

#[derive(Debug, Args)]
struct Recover {
    #[command(flatten)]
    subject: Subject,
    /// Time from which failed deliveries are sent again, such as 2027-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Timestamp,
}

fn webhook_status(text: &str) -> Result<SubscriptionStatus, String> {
    let status = SubscriptionStatus::parse(text);
    or_expected(status, "ACTIVE, PAUSED or DISABLED")
}

pub(super) async fn run(options: WebhooksOptions) -> Result<(), CliError> {
    match options.action {
        Action::List(options) => list(&options).await,
        Action::Show(subject) => print_json(&subject.admin, &subject.path("")).await,
        Action::Test(subject) => {
            let delivery = subject.post("/test", None).await?;
            let (id, status) = (text(&delivery, "id")?, text(&delivery, "status")?);
            print_line(&format!("{id} {status}"))
        }
        Action::Pause(subject) => print_line(&line(&subject.post("/pause", None).await?)?),
        Action::Resume(subject) => print_line(&line(&subject.post("/resume", None).await?)?),
        Action::RotateSecret(subject) => {
            let rotated = subject.post("/rotate-secret", None).await?;
            print_line(text(&rotated, "signing_secret")?)
        }
        Action::Recover(Recover { subject, since }) => {
            let body = json!({ "since": since.to_string() });
            let recovered = subject.post("/recover", Some(&body)).await?;
            let queued = number(&recovered, "queued");
            print_line(&format!("{queued} deliveries are sent again"))
        }
        Action::Delete(subject) => {
            let client = ApiClient::of_admin_listener(&subject.admin)?;
            client.delete(&subject.path("")).await?;
            print_line(&format!("{} is deleted", subject.id))
        }
    }
}

async fn list(options: &List) -> Result<(), CliError> {
    let status = options.status.map(|status| status.as_str().to_owned());
    let mut parameters = vec![("mode", options.mode.as_str().to_owned())];
    parameters.extend(options.organization.clone().map(|id| ("organization", id)));
    parameters.extend(status.map(|status| ("status", status)));
    let client = ApiClient::of_admin_listener(&options.admin)?;
    let found = client.list("/webhooks", parameters, options.limit).await?;
    print_list(&found, options.json, line)
}

/// Returns a webhook as one line: id, status, product, organization, URL, and the deliveries that
/// wait or failed in the last day.
fn line(webhook: &Value) -> Result<String, CliError> {
    Ok(format!(
        "{}  {}  {}  {}  {}  {} waiting  {} failed",
        text(webhook, "id")?,
        text(webhook, "status")?,
        text(webhook, "product")?,
        text(webhook, "organization")?,
        text(webhook, "url")?,
        number(webhook, "waiting_deliveries"),
        number(webhook, "failed_last_day"),
    ))
}

impl Subject {
    /// Returns the webhook's path on the admin listener with a suffix.
    fn path(&self, suffix: &str) -> String {
        format!("/webhooks/{}{suffix}", self.id)
    }

    /// Sends a POST to a path of the webhook and returns the data of the response.
    async fn post(&self, suffix: &str, body: Option<&Value>) -> Result<Value, CliError> {
        let client = ApiClient::of_admin_listener(&self.admin)?;
        client.post(&self.path(suffix), body).await
    }
}
