//! A running sandbox and the calls of the tests.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use reqwest::{Client, Method, Response};
use sandbox::{SandboxConfig, SandboxHandle, credentials::Credential};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Start of the tests' clock: 2026-11-21T09:00:00Z.
const START_MS: i64 = 1_795_251_600_000;

pub(crate) struct Market {
    running: SandboxHandle,
    client: Client,
    clock: Arc<AtomicI64>,
    data_dir: TempDir,
}

impl Market {
    pub(crate) async fn open() -> Self {
        let data_dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(AtomicI64::new(START_MS));
        let running = start(&data_dir, &clock).await;
        Self {
            running,
            client: client(),
            clock,
            data_dir,
        }
    }

    /// Restarts as after `kill -9`: nothing is finished, and the file stays as it is.
    pub(crate) async fn restart_after_kill(self) -> Self {
        let Self {
            running,
            client,
            clock,
            data_dir,
        } = self;
        drop(running);
        let running = start(&data_dir, &clock).await;
        Self {
            running,
            client,
            clock,
            data_dir,
        }
    }

    pub(crate) async fn restart_after_shutdown(self) -> Self {
        let Self {
            running,
            client,
            clock,
            data_dir,
        } = self;
        running.shutdown().await;
        let running = start(&data_dir, &clock).await;
        Self {
            running,
            client,
            clock,
            data_dir,
        }
    }

    pub(crate) fn config(&self) -> SandboxConfig {
        SandboxConfig::new(self.data_dir.path(), loopback())
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.running.base_url())
    }

    pub(crate) fn advance_ms(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    async fn send(
        &self,
        method: Method,
        key: Option<Credential>,
        path: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<Response> {
        let mut request = self.client.request(method, self.url(path));
        if let Some(key) = key {
            request = request.header(key.header, key.value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        request.send().await
    }

    pub(crate) async fn get(&self, key: Credential, path: &str) -> (u16, Value) {
        answer(self.send(Method::GET, Some(key), path, None).await).await
    }

    pub(crate) async fn post(&self, key: Credential, path: &str, body: &Value) -> (u16, Value) {
        answer(self.send(Method::POST, Some(key), path, Some(body)).await).await
    }

    /// Posts and returns the body as text.
    pub(crate) async fn post_raw(
        &self,
        key: Credential,
        path: &str,
        body: &Value,
    ) -> (u16, String) {
        let response = self.send(Method::POST, Some(key), path, Some(body)).await;
        let response = response.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Returns whether the connection breaks before any byte of a response.
    pub(crate) async fn post_is_cut(&self, key: Credential, path: &str, body: &Value) -> bool {
        match self.send(Method::POST, Some(key), path, Some(body)).await {
            Ok(response) => panic!("a response arrived: {}", response.status()),
            Err(error) => error.is_request() && !error.is_timeout() && !error.is_connect(),
        }
    }

    /// Returns whether no response comes although the connection stays open.
    pub(crate) async fn get_hangs(&self, key: Credential, path: &str) -> bool {
        let request = self
            .client
            .get(self.url(path))
            .header(key.header, key.value)
            .timeout(Duration::from_millis(150));
        match request.send().await {
            Ok(response) => panic!("a response arrived: {}", response.status()),
            Err(error) => error.is_timeout(),
        }
    }

    pub(crate) async fn open_get(&self, path: &str) -> (u16, Value) {
        answer(self.send(Method::GET, None, path, None).await).await
    }

    pub(crate) async fn open_post(&self, path: &str, body: &Value) -> (u16, Value) {
        answer(self.send(Method::POST, None, path, Some(body)).await).await
    }

    pub(crate) async fn get_text(&self, path: &str) -> (u16, String) {
        let response = self.send(Method::GET, None, path, None).await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Returns kind and amount of the ledger entries whose client reference begins with `prefix`.
    pub(crate) async fn ledger(&self, prefix: &str) -> Vec<(String, f64)> {
        let path = format!("/control/ledger?client_reference={prefix}");
        let (status, rows) = self.open_get(&path).await;
        assert_eq!(status, 200);
        let row = |row: &Value| {
            let kind = row["kind"].as_str().unwrap().to_owned();
            (kind, row["amount"].as_f64().unwrap())
        };
        rows.as_array().unwrap().iter().map(row).collect()
    }

    pub(crate) async fn pay(&self, token: &Value) -> u16 {
        let body = json!({ "token": token });
        self.open_post("/control/pay", &body).await.0
    }
}

/// Converts expected ledger entries to the type of [`Market::ledger`].
pub(crate) fn rows(expected: &[(&str, f64)]) -> Vec<(String, f64)> {
    let row = |(kind, amount): &(&str, f64)| ((*kind).to_owned(), *amount);
    expected.iter().map(row).collect()
}

async fn start(data_dir: &TempDir, clock: &Arc<AtomicI64>) -> SandboxHandle {
    let clock = Arc::clone(clock);
    let mut config = SandboxConfig::new(data_dir.path(), loopback());
    config.clock = Arc::new(move || clock.load(Ordering::SeqCst));
    sandbox::serve(config).await.unwrap()
}

fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the tests reach a loopback address and nothing else"
)]
fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

async fn answer(response: reqwest::Result<Response>) -> (u16, Value) {
    let response = response.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    (status, body)
}
