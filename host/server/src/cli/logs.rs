//! `stopover logs`: API calls of a running gateway.

use crate::cli::api_client::{ApiClient, ApiOptions, text};
use crate::cli::{CliError, or_expected, print_line};
use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use host_application::recording::reader::CALLS_MAX;
use host_domain::id::RequestLogId;
use host_domain::request_log::StatusFilter;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Interval at which new calls are requested.
const INTERVAL: Duration = Duration::from_secs(1);
/// Each read begins this time before the latest call, because hosts write their calls in batches.
const OVERLAP_MS: i64 = 5_000;
/// Number of calls that are remembered, because reads overlap.
const KNOWN_CALLS_MAX: usize = 10_000;

/// Options of `stopover logs`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct LogsOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the latest API calls of the key's organization and mode
    Tail(Tail),
}

#[derive(Debug, Args)]
struct Tail {
    /// Wait for further calls and show them
    #[arg(long)]
    follow: bool,
    /// Only calls with this status, such as 404, or class of statuses, such as 5xx
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Option<String>,
    /// Print each call as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: ApiOptions,
}

fn status(text: &str) -> Result<String, String> {
    let known = StatusFilter::parse(text).map(|_| text.to_owned());
    or_expected(known, "a status such as 404, or a class such as 5xx")
}

pub(super) async fn run(options: LogsOptions) -> Result<(), CliError> {
    let Action::Tail(tail) = options.action;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        result = show(&tail) => result,
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    }
}

async fn show(tail: &Tail) -> Result<(), CliError> {
    let client = ApiClient::new(&tail.api)?;
    let mut known = KnownCalls::default();
    let mut after = None;
    loop {
        let calls = read(&client, tail, after.as_ref()).await?;
        for call in &calls {
            if known.insert(text(call, "id")?) {
                print_call(call, tail.json)?;
            }
        }
        if !tail.follow {
            return Ok(());
        }
        // More calls follow a full answer at once.
        let is_full = calls.len() >= usize::try_from(CALLS_MAX)?;
        if let Some(last) = calls.last() {
            let last = RequestLogId::parse(text(last, "id")?)?;
            let time = last.time().context("the response has an unknown id")?;
            let overlap = RequestLogId::lowest_at(time.plus_ms(-OVERLAP_MS));
            after = Some(if is_full { last } else { overlap });
        }
        if !is_full {
            wait().await;
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command asks for new calls at an interval"
)]
async fn wait() {
    tokio::time::sleep(INTERVAL).await;
}

async fn read(
    client: &ApiClient,
    tail: &Tail,
    after: Option<&RequestLogId>,
) -> Result<Vec<Value>, CliError> {
    let mut query = Vec::new();
    query.extend(
        tail.status
            .as_ref()
            .map(|status| format!("status={status}")),
    );
    query.extend(after.map(|after| format!("after={after}")));
    let path = format!("/v1/cli/requests?{}", query.join("&"));
    let mut data = client.get(&path).await?;
    let calls = data.get_mut("requests").map(Value::take);
    match calls {
        Some(Value::Array(calls)) => Ok(calls),
        _ => Err(anyhow!("the response has no requests")),
    }
}

fn print_call(call: &Value, as_json: bool) -> Result<(), CliError> {
    if as_json {
        return print_line(&call.to_string());
    }
    let number = |name: &str| call.get(name).and_then(Value::as_u64).unwrap_or_default();
    let code = call.get("code").and_then(Value::as_str).unwrap_or_default();
    let line = format!(
        "{} {} {:<6} {} {}.{} ms {} {code}",
        text(call, "at")?,
        number("status"),
        text(call, "method")?,
        text(call, "path")?,
        number("duration_us") / 1000,
        number("duration_us") % 1000 / 100,
        text(call, "request_id")?,
    );
    print_line(line.trim_end())
}

/// The calls that were shown last.
#[derive(Default)]
struct KnownCalls {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl KnownCalls {
    /// Adds a call. Returns `false` if it is known.
    fn insert(&mut self, id: &str) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > KNOWN_CALLS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}
