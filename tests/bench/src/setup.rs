//! The starting point of measurements: the real gateway in one process, its sandbox in another, and
//! requests that are encoded once.

use crate::http_connection::request;
use crate::report::Measured;
use anyhow::Result;
use serde_json::Value;
use std::path::PathBuf;
use tests::{Database, Server, ServerOptions, target_dir};
use tokio::runtime::Runtime;

/// Configuration without an effective rate limit.
pub(crate) const NO_RATE_LIMIT: &str = "[limits]\nrequests_per_s = 1000000\nburst = 1000000";

/// Starts a gateway with its sandbox in a separate process. `config` may continue the table
/// `limits`.
pub(crate) async fn gateway(database: Database, config: &str) -> Server {
    let options = ServerOptions::on(database).config(&format!("{NO_RATE_LIMIT}\n{config}"));
    Server::start_with_own_sandbox(options).await
}

/// Returns the configuration of the sandbox's hotels with other limits (a TOML table).
pub(crate) fn sandbox_hotels(limits: &str) -> String {
    let account = sandbox::credentials::SANDBOX_HOTELS;
    format!(
        r#"
[[suppliers]]
id = "{}"
kind = "hotel"
modes = ["test"]
component = "fake-hotels.wasm"
settings = {{ base_url = "{{sandbox}}" }}
hosts = [{{ host = "{{sandbox}}", private = true }}]
credentials = [{{ host = "{{sandbox_host}}", header = "{}", value = "{}" }}]
limits = {limits}
priority = 10
"#,
        account.account, account.header, account.value
    )
}

/// Returns the path of a plugin that `cargo xtask plugins` built.
pub(crate) fn component(name: &str) -> PathBuf {
    target_dir().join("plugins").join(format!("{name}.wasm"))
}

pub(crate) fn get(server: &Server, path: &str) -> Vec<u8> {
    let headers = [("x-api-key", server.key.as_str())];
    request("GET", &server.api, path, &headers, None)
}

pub(crate) fn post(server: &Server, path: &str, body: &Value) -> Vec<u8> {
    let headers = [("x-api-key", server.key.as_str())];
    request("POST", &server.api, path, &headers, Some(body))
}

/// Returns a POST request with a new idempotency key.
pub(crate) fn post_once(server: &Server, path: &str, body: &Value) -> Vec<u8> {
    let key = uuid::Uuid::now_v7().to_string();
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("x-idempotency-key", &key),
    ];
    request("POST", &server.api, path, &headers, Some(body))
}

/// Returns the name of a database in the ids of results.
pub(crate) const fn key(database: Database) -> &'static str {
    match database {
        Database::Sqlite => "sqlite",
        Database::Postgres => "postgresql",
    }
}

/// Measures on each database in turn.
pub(crate) fn on_both<F>(measure: impl Fn(Database) -> F) -> Result<Vec<Measured>>
where
    F: Future<Output = Result<Vec<Measured>>>,
{
    let mut values = Vec::new();
    for database in Database::BOTH {
        values.extend(block_on(measure(database))?);
    }
    Ok(values)
}

/// Runs a future on a new single-threaded runtime.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    runtime()?.block_on(work)
}

pub(crate) fn runtime() -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    Ok(builder.enable_all().build()?)
}
