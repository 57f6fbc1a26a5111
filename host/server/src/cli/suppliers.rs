//! `stopover suppliers`: shows and changes the suppliers of a running gateway, through its admin
//! listener.

use crate::cli::api_client::{AdminOptions, ApiClient, items, print_json, text};
use crate::cli::{CliError, parse, print_line};
use clap::{Args, Subcommand};
use host_domain::supplier::SupplierId;
use serde_json::{Value, json};

/// Options of `stopover suppliers`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct SuppliersOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the suppliers with their state on the gateway process that answers
    List(List),
    /// Show a supplier with its plugin, its calls of the last 24 hours and its last failures, as JSON
    Show(Subject),
    /// End new requests to a supplier, on all gateway processes
    Drain(Subject),
    /// Begin to route new requests to a drained supplier again, on all gateway processes
    Undrain(Subject),
    /// Load the plugin's file again, on the gateway process that answers
    Reload(Subject),
    /// Set priority and weight for all organizations, on all gateway processes
    Rank(Rank),
}

#[derive(Debug, Args)]
struct List {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    admin: AdminOptions,
}

#[derive(Debug, Args)]
struct Subject {
    /// Id of the supplier
    #[arg(value_name = "ID", value_parser = parse::<SupplierId>)]
    id: SupplierId,
    #[command(flatten)]
    admin: AdminOptions,
}

#[derive(Debug, Args)]
struct Rank {
    /// Id of the supplier
    #[arg(value_name = "ID", value_parser = parse::<SupplierId>)]
    id: SupplierId,
    /// Lower values are called first
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "weight",
        allow_negative_numbers = true
    )]
    priority: Option<i32>,
    /// Share of calls among suppliers of equal priority
    #[arg(long, value_name = "NUMBER", requires = "priority")]
    weight: Option<u32>,
    /// Restore priority and weight of the configuration
    #[arg(
        long,
        conflicts_with = "priority",
        required_unless_present = "priority"
    )]
    reset: bool,
    #[command(flatten)]
    admin: AdminOptions,
}

pub(super) async fn run(options: SuppliersOptions) -> Result<(), CliError> {
    match options.action {
        Action::List(options) => list(&options).await,
        Action::Show(subject) => {
            print_json(&subject.admin, &format!("/suppliers/{}", subject.id)).await
        }
        Action::Drain(subject) => change(&subject.admin, &subject.id, "drain", None).await,
        Action::Undrain(subject) => change(&subject.admin, &subject.id, "undrain", None).await,
        Action::Rank(rank) => {
            let body = match rank.reset {
                true => json!({}),
                false => json!({ "priority": rank.priority, "weight": rank.weight }),
            };
            change(&rank.admin, &rank.id, "rank", Some(&body)).await
        }
        Action::Reload(subject) => {
            let client = ApiClient::of_admin_listener(&subject.admin)?;
            let path = format!("/plugins/{}/reload", subject.id);
            let plugin = client.post(&path, None).await?;
            let (version, digest) = (text(&plugin, "version")?, text(&plugin, "digest")?);
            print_line(&format!("{}  {version}  {digest}", subject.id))
        }
    }
}

async fn list(options: &List) -> Result<(), CliError> {
    let client = ApiClient::of_admin_listener(&options.admin)?;
    let suppliers = client.get("/suppliers").await?;
    if options.json {
        return print_line(&serde_json::to_string_pretty(&suppliers)?);
    }
    for supplier in items(Some(&suppliers))? {
        print_line(&line(supplier)?)?;
    }
    Ok(())
}

/// Changes a supplier and prints its state.
async fn change(
    admin: &AdminOptions,
    id: &SupplierId,
    action: &str,
    body: Option<&Value>,
) -> Result<(), CliError> {
    let client = ApiClient::of_admin_listener(admin)?;
    let path = format!("/suppliers/{id}/{action}");
    let supplier = client.post(&path, body).await?;
    print_line(&line(&supplier)?)
}

/// Returns a supplier as one line: id, kind, modes, health, priority and weight, and `drained` if no
/// new requests are routed to it.
fn line(supplier: &Value) -> Result<String, CliError> {
    let number = |name: &str| supplier.get(name).map(Value::to_string).unwrap_or_default();
    let modes = supplier.get("modes").and_then(Value::as_array);
    let modes = modes.into_iter().flatten().filter_map(Value::as_str);
    let is_drained = supplier.get("is_drained").and_then(Value::as_bool) == Some(true);
    let line = format!(
        "{}  {}  {}  {}  priority {}  weight {}  {}",
        text(supplier, "id")?,
        text(supplier, "kind")?,
        modes.collect::<Vec<_>>().join(","),
        text(supplier, "health")?,
        number("priority"),
        number("weight"),
        if is_drained { "drained" } else { "" },
    );
    Ok(line.trim_end().to_owned())
}
