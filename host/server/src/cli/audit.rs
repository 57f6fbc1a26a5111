//! `stopover audit`: lists and verifies the audit log, even while the server is running.

use crate::cli::{CliError, ConfigSource, open_base, or_expected, print_line};
use clap::{Args, Subcommand};
use host_application::audit::service::{AuditRow, AuditService};
use host_domain::audit::{AuditFilter, AuditScope};
use host_domain::page::CursorRequest;

/// Number of entries that are read at a time.
const PAGE_LIMIT: u32 = 500;

/// Options of `stopover audit`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct AuditOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check that no entry was changed, added or removed
    Verify(Verify),
    /// List entries, latest first
    List(List),
}

#[derive(Debug, Args)]
struct Verify {
    /// Hash of an earlier head, as this command, the dashboard and the log show it; finds a cut-off end
    #[arg(long, value_name = "HASH", value_parser = hash)]
    head: Option<String>,
    #[command(flatten)]
    source: ConfigSource,
}

#[derive(Debug, Args)]
struct List {
    /// Print each entry as a line of JSON
    #[arg(long)]
    json: bool,
    /// Maximum number of entries; default is all
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u32>,
    #[command(flatten)]
    source: ConfigSource,
}

fn hash(text: &str) -> Result<String, String> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = is_hash.then(|| text.to_owned());
    or_expected(hash, "64 hexadecimal digits")
}

pub(super) async fn run(options: AuditOptions) -> Result<(), CliError> {
    let source = match &options.action {
        Action::Verify(verify) => &verify.source,
        Action::List(list) => &list.source,
    };
    let base = open_base(&source.load()?).await?;
    let audit = AuditService::new(base.clone());
    let done = match options.action {
        Action::Verify(options) => verify(&audit, options.head.as_deref()).await,
        Action::List(options) => list(&audit, options.json, options.limit).await,
    };
    base.store.close().await;
    done
}

async fn verify(audit: &AuditService, head: Option<&str>) -> Result<(), CliError> {
    let head = match head {
        Some(hash) => audit.verify_with_head(hash).await?,
        None => audit.verify().await?,
    };
    print_line(&format!(
        "the audit log is intact: {} entries, head {}",
        head.sequence, head.hash
    ))
}

async fn list(audit: &AuditService, as_json: bool, limit: Option<u32>) -> Result<(), CliError> {
    let mut left = limit.unwrap_or(u32::MAX);
    let mut after = None;
    loop {
        let page = CursorRequest {
            after,
            limit: left.min(PAGE_LIMIT),
        };
        let filter = AuditFilter::default();
        let page = audit.list(&AuditScope::ALL, &filter, &page).await?.page;
        left = left.saturating_sub(u32::try_from(page.items.len()).unwrap_or(u32::MAX));
        for row in page.items {
            let line = match as_json {
                true => row.into_json().to_string(),
                false => line(&row),
            };
            print_line(&line)?;
        }
        after = page.next;
        if after.is_none() || left == 0 {
            return Ok(());
        }
    }
}

/// Returns an entry as one line: number, time, actor, action, target and organization.
fn line(row: &AuditRow) -> String {
    let Some(entry) = &row.entry else {
        return format!("{}  cannot be read", row.sequence);
    };
    let change = &entry.change;
    let actor = [change.actor.kind.as_str(), &change.actor.name];
    let organization = change.organization.as_deref().unwrap_or_default();
    format!(
        "{}  {}  {}  {}  {}  {organization}",
        row.sequence,
        change.at,
        actor.join(" ").trim_end(),
        change.action,
        change.target.id,
    )
}
