//! `stopover keys`: manages API keys, even while the server is running.

use crate::cli::{
    CliError, ConfigSource, actor, mode, open_base, or_expected, organization, parse, print_line,
};
use anyhow::bail;
use clap::{Args, Subcommand};
use host_application::api_key::service::{ApiKeyService, NewApiKey, is_key_name, parse_expiry};
use host_application::context::ApiKeyScope;
use host_domain::id::KeyId;
use host_domain::owner::{Mode, Tenant};
use host_domain::time::Timestamp;
use host_storage::ApiKey;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

/// Options of `stopover keys`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct KeysOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a key and print it; it cannot be shown again
    Create(Create),
    /// List keys, without the secret key text
    List(List),
    /// Revoke a key; it stops working within 5 seconds
    Revoke(Revoke),
}

#[derive(Debug, Args)]
struct Create {
    /// Organization of the key: 1 to 64 of [A-Za-z0-9._-]
    #[arg(long, value_name = "ID", value_parser = organization)]
    organization: String,
    /// Mode of the key: test or live
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Mode,
    /// Scopes: read, book, webhooks, admin; default is all but admin
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', value_parser = scope)]
    scopes: Vec<ApiKeyScope>,
    /// Display name
    #[arg(long, value_name = "NAME", default_value = "", value_parser = name)]
    name: String,
    /// Expiry: a date (end of day, UTC) or a timestamp
    #[arg(long, value_name = "DATE", value_parser = expiry)]
    expires: Option<Timestamp>,
    #[command(flatten)]
    source: ConfigSource,
}

#[derive(Debug, Args)]
struct List {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: ConfigSource,
}

#[derive(Debug, Args)]
struct Revoke {
    /// Id of the key, as `keys list` shows it
    #[arg(value_parser = parse::<KeyId>)]
    id: KeyId,
    #[command(flatten)]
    source: ConfigSource,
}

fn scope(text: &str) -> Result<ApiKeyScope, String> {
    or_expected(
        ApiKeyScope::from_name(text.trim()),
        "read, book, webhooks or admin",
    )
}

fn name(text: &str) -> Result<String, String> {
    let valid = is_key_name(text).then(|| text.to_owned());
    or_expected(
        valid,
        "at most 100 characters, none of them a control character",
    )
}

fn expiry(text: &str) -> Result<Timestamp, String> {
    let valid = "a date (2027-01-31) or a timestamp (2027-01-31T12:00:00Z)";
    or_expected(parse_expiry(text), valid)
}

pub(super) async fn run(options: KeysOptions) -> Result<(), CliError> {
    let source = match &options.action {
        Action::Create(create) => &create.source,
        Action::List(list) => &list.source,
        Action::Revoke(revoke) => &revoke.source,
    };
    let base = open_base(&source.load()?).await?;
    let keys = ApiKeyService::new(base.clone());
    let done = run_action(&keys, base.now(), options.action).await;
    base.store.close().await;
    done
}

async fn run_action(keys: &ApiKeyService, now: Timestamp, action: Action) -> Result<(), CliError> {
    match action {
        Action::Create(options) => create(keys, options).await,
        Action::List(options) => list(keys, now, options.json).await,
        Action::Revoke(revoke) => {
            if !keys.revoke(&actor(), &revoke.id).await? {
                bail!("there is no key {}", revoke.id);
            }
            print_line(&format!("{} is revoked", revoke.id))
        }
    }
}

async fn create(keys: &ApiKeyService, options: Create) -> Result<(), CliError> {
    let mut scopes = options.scopes;
    if scopes.is_empty() {
        scopes = ApiKeyScope::DEFAULT.to_vec();
    }
    let new = NewApiKey {
        tenant: Tenant {
            organization: options.organization,
            mode: options.mode,
        },
        name: options.name,
        scopes,
        expires_at: options.expires,
    };
    print_line(keys.create(&actor(), new).await?.key.expose_secret())
}

async fn list(keys: &ApiKeyService, now: Timestamp, as_json: bool) -> Result<(), CliError> {
    let keys = keys.list(None).await?;
    if as_json {
        let keys: Vec<Value> = keys.iter().map(to_json).collect();
        return print_line(&serde_json::to_string_pretty(&keys)?);
    }
    for key in keys {
        let state = key.status(now).as_str();
        let (organization, mode) = (key.tenant.organization, key.tenant.mode.as_str());
        let (id, masked_key, scopes) = (key.id, key.masked_key, key.scopes.join(","));
        let name = key.name;
        print_line(&format!(
            "{id}  {organization}  {mode}  {masked_key}  {scopes}  {state}  {name}"
        ))?;
    }
    Ok(())
}

fn to_json(key: &ApiKey) -> Value {
    let at = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": key.id.as_str(),
        "name": key.name,
        "organization": key.tenant.organization,
        "mode": key.tenant.mode.as_str(),
        "scopes": key.scopes,
        "created_at": key.created_at.to_string(),
        "expires_at": at(key.expires_at),
        "last_used_at": at(key.last_used_at),
        "revoked_at": at(key.revoked_at),
    })
}
