//! `stopover parked-jobs`: lists and retries the parked jobs of a running gateway, through its admin
//! listener.

use crate::cli::api_client::{AdminOptions, ApiClient, items, text};
use crate::cli::{CliError, print_line};
use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Options of `stopover parked-jobs`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct ParkedJobsOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the jobs that are no longer retried, longest parked first
    List(List),
    /// Make parked jobs due now, with all their attempts
    Retry(Retry),
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
struct Retry {
    /// Subject of the job as listed, mostly a booking
    #[arg(
        value_name = "SUBJECT",
        required_unless_present_any = ["kind", "all"]
    )]
    subject: Option<String>,
    /// Only jobs of this kind as listed
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Retry all parked jobs
    #[arg(long, conflicts_with_all = ["subject", "kind"])]
    all: bool,
    #[command(flatten)]
    admin: AdminOptions,
}

pub(super) async fn run(options: ParkedJobsOptions) -> Result<(), CliError> {
    match options.action {
        Action::List(options) => list(&options).await,
        Action::Retry(options) => retry(&options).await,
    }
}

async fn list(options: &List) -> Result<(), CliError> {
    let client = ApiClient::of_admin_listener(&options.admin)?;
    let unresolved = client.get("/unresolved").await?;
    let jobs = items(unresolved.get("parked_jobs"))?;
    if options.json {
        return print_line(&serde_json::to_string_pretty(jobs)?);
    }
    for job in jobs {
        let last_error = job.get("last_error").and_then(Value::as_str);
        let line = format!(
            "{}  {}  {}  {}",
            text(job, "parked_at")?,
            text(job, "kind")?,
            text(job, "subject")?,
            last_error.unwrap_or_default(),
        );
        print_line(line.trim_end())?;
    }
    Ok(())
}

/// Retries the jobs that match and prints them.
async fn retry(options: &Retry) -> Result<(), CliError> {
    let client = ApiClient::of_admin_listener(&options.admin)?;
    let body = json!({ "kind": options.kind, "subject": options.subject });
    let retried = client.post("/parked_jobs", Some(&body)).await?;
    let jobs = items(retried.get("jobs"))?;
    if jobs.is_empty() {
        bail!("no parked job matches; `stopover parked-jobs list` lists all");
    }
    for job in jobs {
        let (kind, subject) = (text(job, "kind")?, text(job, "subject")?);
        print_line(&format!("{kind}  {subject}"))?;
    }
    Ok(())
}
