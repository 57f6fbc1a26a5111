//! `stopover keys`: manages API keys, even while the server is running.

use crate::cli::{CliError, ConfigSource, print_line};
use crate::system_clock::SystemClock;
use anyhow::bail;
use clap::{Args, Subcommand};
use host_application::api_key::{self, NewApiKey};
use host_application::application::open_store;
use host_application::context::ApiKeyScope;
use host_application::id_generator::{IdGenerator, UuidV7Generator};
use host_domain::id::KeyId;
use host_domain::owner::{Mode, Tenant};
use host_domain::time::{Clock, Date, Timestamp};
use host_storage::{ApiKey, Store};
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
    #[arg(value_parser = key_id)]
    id: KeyId,
    #[command(flatten)]
    source: ConfigSource,
}

fn key_id(text: &str) -> Result<KeyId, String> {
    KeyId::parse(text).map_err(|error| error.to_string())
}

fn organization(text: &str) -> Result<String, String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_valid = (1..=64).contains(&text.len()) && text.bytes().all(is_allowed);
    let valid = is_valid.then(|| text.to_owned());
    valid.ok_or_else(|| "1 to 64 of [A-Za-z0-9._-]".to_owned())
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::parse(text).ok_or_else(|| "test or live".to_owned())
}

fn scope(text: &str) -> Result<ApiKeyScope, String> {
    ApiKeyScope::from_name(text.trim()).ok_or_else(|| "read, book, webhooks or admin".to_owned())
}

fn name(text: &str) -> Result<String, String> {
    let is_valid = text.chars().count() <= 100 && !text.chars().any(char::is_control);
    let valid = is_valid.then(|| text.to_owned());
    valid.ok_or_else(|| "at most 100 characters, none of them a control character".to_owned())
}

fn expiry(text: &str) -> Result<Timestamp, String> {
    if let Some(at) = Timestamp::parse(text) {
        return Ok(at);
    }
    let date: Option<Date> = Some(text)
        .filter(|text| text.len() == 10)
        .and_then(|text| text.parse().ok());
    let end = date
        .and_then(|date| date.tomorrow().ok())
        .and_then(|next| Timestamp::parse(&format!("{next}T00:00:00Z")));
    end.ok_or_else(|| "a date (2027-01-31) or a timestamp (2027-01-31T12:00:00Z)".to_owned())
}

pub(super) async fn run(options: KeysOptions) -> Result<(), CliError> {
    let source = match &options.action {
        Action::Create(create) => &create.source,
        Action::List(list) => &list.source,
        Action::Revoke(revoke) => &revoke.source,
    };
    let store = open_store(&source.load()?).await?;
    store.migrate().await?;
    let done = run_action(&store, options.action).await;
    store.close().await;
    done
}

async fn run_action(store: &Store, action: Action) -> Result<(), CliError> {
    match action {
        Action::Create(options) => create(store, options).await,
        Action::List(options) => list(store, options.json).await,
        Action::Revoke(revoke) => {
            if !store.revoke_api_key(&revoke.id, SystemClock.now()).await? {
                bail!("there is no key {}", revoke.id);
            }
            print_line(&format!("{} is revoked", revoke.id))
        }
    }
}

async fn create(store: &Store, options: Create) -> Result<(), CliError> {
    let mut scopes = options.scopes;
    if scopes.is_empty() {
        scopes = ApiKeyScope::DEFAULT.to_vec();
    }
    scopes.sort_unstable();
    scopes.dedup();
    let new = NewApiKey {
        tenant: Tenant {
            organization: options.organization,
            mode: options.mode,
        },
        name: options.name,
        scopes,
        expires_at: options.expires,
    };
    let id = KeyId::from_bits(UuidV7Generator.generate());
    let key = api_key::create_api_key(store, new, id, SystemClock.now()).await?;
    print_line(key.expose_secret())
}

async fn list(store: &Store, as_json: bool) -> Result<(), CliError> {
    let keys = store.api_keys(None).await?;
    if as_json {
        let keys: Vec<Value> = keys.iter().map(to_json).collect();
        return print_line(&serde_json::to_string_pretty(&keys)?);
    }
    for key in keys {
        let state = key.revoked_at.map_or("good", |_| "revoked");
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
