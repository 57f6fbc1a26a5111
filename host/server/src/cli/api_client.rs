//! Calls of commands to a running gateway.

use crate::cli::{CliError, ScopeOptions, print_line};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use host_application::api_key::named_mode;
use host_application::id_generator::new_request_id;
use host_domain::owner::Mode;
use reqwest::{Client, Method, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::io::{self, Write};
use std::time::Duration;

/// Time limit of a call. A call that waits for events takes up to 20 seconds.
const TIMEOUT: Duration = Duration::from_secs(40);

/// Maximum number of items that a command lists.
const LIMIT_MAX: u32 = 500;

/// Options that name a running gateway and a key for it.
#[derive(Debug, Args)]
pub(super) struct ApiOptions {
    /// URL of the gateway's API
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    url: Url,
    /// API key; better given in the environment, where other users cannot see it
    #[arg(
        long,
        value_name = "KEY",
        env = "STOPOVER_API_KEY",
        hide_env_values = true,
        value_parser = secret
    )]
    api_key: Option<SecretString>,
}

/// Options that name the admin listener of a running gateway.
#[derive(Debug, Args)]
pub(super) struct AdminOptions {
    /// URL of the gateway's admin listener
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8081")]
    admin_url: Url,
}

/// Options of a list of what users own: watches or mandates.
#[derive(Debug, Args)]
pub(super) struct OwnedList {
    #[command(flatten)]
    scope: ScopeOptions,
    /// Only what belongs to this user
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Maximum number of items, at most 500
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    admin: AdminOptions,
}

/// A client of the API, or of the admin listener.
pub(super) struct ApiClient {
    client: Client,
    url: Url,
    /// `None` for the admin listener, which requires no key.
    api_key: Option<SecretString>,
}

/// The response to a call, if it is no success.
#[derive(Debug, thiserror::Error)]
#[error("{detail}")]
pub(super) struct ApiProblem {
    pub(super) status: StatusCode,
    detail: String,
}

fn secret(text: &str) -> Result<SecretString, String> {
    Ok(text.into())
}

/// Builds the client of a command. The person who runs the command chooses the addresses.
#[expect(
    clippy::disallowed_methods,
    reason = "the addresses come from the command line, not from callers of the gateway"
)]
pub(super) fn http_client() -> Result<Client, CliError> {
    let client = Client::builder().timeout(TIMEOUT);
    client.build().context("cannot create the HTTP client")
}

impl ApiOptions {
    /// Returns the mode that the key names.
    pub(super) fn mode(&self) -> Option<Mode> {
        named_mode(self.api_key.as_ref()?.expose_secret())
    }
}

impl OwnedList {
    /// Prints the list at a path of the admin listener: id, status and organization of each item.
    pub(super) async fn print(&self, path: &str, status: Option<&str>) -> Result<(), CliError> {
        let mut parameters = self.scope.parameters();
        parameters.extend(status.map(|status| ("status", status.to_owned())));
        parameters.extend(self.user.clone().map(|user| ("user", user)));
        let client = ApiClient::of_admin_listener(&self.admin)?;
        let found = client.list(path, parameters, self.limit).await?;
        print_list(&found, self.json, |item| {
            let (id, status) = (text(item, "id")?, text(item, "status")?);
            let organization = text(item, "organization")?;
            Ok(format!("{id}  {status}  {organization}"))
        })
    }
}

impl ApiClient {
    pub(super) fn new(options: &ApiOptions) -> Result<Self, CliError> {
        let api_key = options.api_key.clone();
        let api_key = api_key.context("no API key: set STOPOVER_API_KEY, or give --api-key")?;
        Ok(Self {
            client: http_client()?,
            url: options.url.clone(),
            api_key: Some(api_key),
        })
    }

    /// Creates a client of the admin listener.
    pub(super) fn of_admin_listener(options: &AdminOptions) -> Result<Self, CliError> {
        Ok(Self {
            client: http_client()?,
            url: options.admin_url.clone(),
            api_key: None,
        })
    }

    /// Sends a GET and returns the data of the response.
    pub(super) async fn get(&self, path: &str) -> Result<Value, CliError> {
        self.call(Method::GET, path, None).await
    }

    /// Reads a list of the admin listener page by page, until there are `limit` items, at most 500, or
    /// no page is left: a page may have no items although later ones have. Says on standard error if
    /// pages are left.
    pub(super) async fn list(
        &self,
        path: &str,
        parameters: Vec<(&'static str, String)>,
        limit: u32,
    ) -> Result<Vec<Value>, CliError> {
        let limit = usize::try_from(limit.clamp(1, LIMIT_MAX))?;
        let (mut found, mut next) = (Vec::new(), None::<String>);
        loop {
            let left = ("limit", (limit - found.len()).to_string());
            let after = next.take().map(|next| ("after", next));
            let parameters = parameters.iter().cloned().chain([left]).chain(after);
            let path = path_with(path, parameters)?;
            let page = self.send(Method::GET, &path, None).await?;
            found.extend_from_slice(items(page.get("data"))?);
            found.truncate(limit);
            next = page.get("next").and_then(Value::as_str).map(str::to_owned);
            if next.is_none() || found.len() == limit {
                break;
            }
        }
        if next.is_some() {
            // The list itself is complete without this line.
            let _ = writeln!(
                io::stderr(),
                "more may match: --limit sets how many are listed, at most {LIMIT_MAX}"
            );
        }
        Ok(found)
    }

    /// Sends a POST and returns the data of the response.
    pub(super) async fn post(&self, path: &str, body: Option<&Value>) -> Result<Value, CliError> {
        self.call(Method::POST, path, body).await
    }

    /// Sends a POST that may be refused for what the body or its subject says.
    pub(super) async fn post_unless_refused(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<(), CliError> {
        match self.call(Method::POST, path, Some(body)).await {
            Ok(_) => Ok(()),
            Err(error) => match error.downcast_ref::<ApiProblem>() {
                Some(problem) if problem.status == StatusCode::UNPROCESSABLE_ENTITY => Ok(()),
                Some(_) | None => Err(error),
            },
        }
    }

    /// Sends a DELETE.
    pub(super) async fn delete(&self, path: &str) -> Result<(), CliError> {
        self.call(Method::DELETE, path, None).await?;
        Ok(())
    }

    /// Sends a request and returns the data of the response.
    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, CliError> {
        let document = self.send(method, path, body).await?;
        Ok(document.get("data").cloned().unwrap_or(Value::Null))
    }

    /// Sends a request and returns the response, `null` if it has no body. An error response becomes an
    /// [`ApiProblem`].
    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, CliError> {
        let url = self.url.join(path).context("the path is no URL")?;
        let mut request = self.client.request(method.clone(), url);
        if let Some(api_key) = &self.api_key {
            request = request.header("x-api-key", api_key.expose_secret());
        }
        if method == Method::POST {
            request = request.header("x-idempotency-key", new_request_id());
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await;
        let response = response.with_context(|| format!("cannot reach {}", self.url))?;
        let status = response.status();
        let text = response.text().await.context("the response broke off")?;
        if text.is_empty() && status.is_success() {
            return Ok(Value::Null);
        }
        let Ok(document) = serde_json::from_str::<Value>(&text) else {
            bail!(
                "{} answered {status} without JSON; check that it is the address of a gateway",
                self.url
            );
        };
        if status.is_success() {
            return Ok(document);
        }
        Err(ApiProblem::new(status, &document).into())
    }
}

impl ApiProblem {
    fn new(status: StatusCode, document: &Value) -> Self {
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        let title = text("title").unwrap_or("the gateway refused the call");
        let mut detail = match text("detail") {
            Some(detail) => format!("{title}: {detail}"),
            None => title.to_owned(),
        };
        let violations = document.get("errors").and_then(Value::as_array);
        for violation in violations.into_iter().flatten() {
            let text = |name: &str| violation.get(name).and_then(Value::as_str);
            let (pointer, why) = (text("pointer"), text("detail"));
            let (pointer, why) = (pointer.unwrap_or_default(), why.unwrap_or_default());
            detail.push_str(&format!("; {pointer}: {why}"));
        }
        Self { status, detail }
    }
}

/// Returns a path with a query of these parameters.
pub(super) fn path_with(
    path: &str,
    parameters: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<String, CliError> {
    let mut url = Url::parse("http://localhost")?;
    url.query_pairs_mut().extend_pairs(parameters);
    let query = url.query().unwrap_or_default();
    Ok(format!("{path}?{query}"))
}

/// Prints what the admin listener shows at a path, as JSON.
pub(super) async fn print_json(admin: &AdminOptions, path: &str) -> Result<(), CliError> {
    let shown = ApiClient::of_admin_listener(admin)?.get(path).await?;
    print_line(&serde_json::to_string_pretty(&shown)?)
}

/// Prints a list as a JSON array, or each item as the line that `line` returns.
pub(super) fn print_list(
    list: &[Value],
    is_json: bool,
    line: impl Fn(&Value) -> Result<String, CliError>,
) -> Result<(), CliError> {
    if is_json {
        return print_line(&serde_json::to_string_pretty(list)?);
    }
    list.iter().try_for_each(|item| print_line(&line(item)?))
}

/// Makes a change at a path of the admin listener, and prints the id and the status of what it changed.
pub(super) async fn print_change(admin: &AdminOptions, path: &str) -> Result<(), CliError> {
    let changed = ApiClient::of_admin_listener(admin)?
        .post(path, None)
        .await?;
    print_status(&changed)
}

/// Prints the id and the status in a response.
pub(super) fn print_status(data: &Value) -> Result<(), CliError> {
    let (id, status) = (text(data, "id")?, text(data, "status")?);
    print_line(&format!("{id}  {status}"))
}

/// Returns a number of a response, or 0 if it has none of this name.
pub(super) fn number(data: &Value, name: &str) -> u64 {
    data.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// Returns the items of a list in a response.
pub(super) fn items(list: Option<&Value>) -> Result<&[Value], CliError> {
    let items = list.and_then(Value::as_array);
    Ok(items.context("the response has no list")?)
}

/// Returns a text of a response.
pub(super) fn text<'a>(data: &'a Value, name: &str) -> Result<&'a str, CliError> {
    let text = data.get(name).and_then(Value::as_str);
    text.ok_or_else(|| anyhow!("the response has no {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::extract::Query;
    use axum::routing::get;
    use axum::{Json, Router};
    use serde_json::json;
    use std::collections::HashMap;
    use tokio::net::TcpListener;

    /// Starts a listener with a list of four pages, the first and the last of which have no items.
    async fn start() -> ApiClient {
        let page = async |Query(query): Query<HashMap<String, String>>| {
            assert_eq!(query["mode"], "test");
            let (items, next) = match query.get("after").map(String::as_str) {
                None => (json!([]), json!("1 &")),
                Some("1 &") => (json!([{ "id": "a" }]), json!("2")),
                Some("2") => (json!([{ "id": "b" }]), json!("3")),
                Some(_) => (json!([]), Value::Null),
            };
            Json(json!({ "data": items, "next": next }))
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let admin_url = format!("http://{}", listener.local_addr().unwrap());
        let pages = Router::new().route("/list", get(page));
        #[expect(clippy::disallowed_methods, reason = "the server ends with the test")]
        tokio::spawn(async move { axum::serve(listener, pages).await });
        let admin_url = admin_url.parse().unwrap();
        ApiClient::of_admin_listener(&AdminOptions { admin_url }).unwrap()
    }

    #[tokio::test]
    async fn list_continues_after_a_page_without_items() {
        let client = start().await;
        for (limit, expected) in [(0, 1), (1, 1), (2, 2), (3, 2), (u32::MAX, 2)] {
            let parameters = vec![("mode", "test".to_owned())];
            let found = client.list("/list", parameters, limit).await.unwrap();
            let expected = &[json!({ "id": "a" }), json!({ "id": "b" })][..expected];
            assert_eq!(found, expected, "{limit}");
        }
    }
}
