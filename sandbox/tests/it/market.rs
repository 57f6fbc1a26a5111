//! A running sandbox and the calls of the tests.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use reqwest::{Client, Method, RequestBuilder};
use sandbox::{
    SandboxConfig, SandboxHandle,
    credentials::{
        Credential, SANDBOX_HOTELS, SANDBOX_MINI, SANDBOX_PAYMENTS, SUPPLIER_A, SUPPLIER_B,
    },
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Start of the tests' clock: 2026-11-21T09:00:00Z.
const START_MS: i64 = 1_795_251_600_000;

/// The API of a supplier as one of its accounts uses it.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    key: Credential,
    path: &'static str,
    /// JSON pointer to the code in the response of an error.
    code: &'static str,
}

const fn api(key: Credential, path: &'static str, code: &'static str) -> Api {
    Api { key, path, code }
}

pub(crate) const LODGE: Api = api(SANDBOX_HOTELS, "/lodge/v1", "/error/code");
pub(crate) const LODGE_MINI: Api = api(SANDBOX_MINI, "/lodge/v1", "/error/code");
pub(crate) const SKYLANE: Api = api(SUPPLIER_A, "/skylane", "/errors/0/code");
pub(crate) const JETBRIDGE: Api = api(SUPPLIER_B, "/jetbridge/v3", "/fault/no");
pub(crate) const TILLWAY: Api = api(SANDBOX_PAYMENTS, "/tillway/v1", "/code");

pub(crate) struct Market {
    running: Option<SandboxHandle>,
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
            running: Some(running),
            client: client(),
            clock,
            data_dir,
        }
    }

    /// Restarts as after `kill -9`: nothing is finished, and the file stays as it is.
    pub(crate) async fn restart_after_kill(&mut self) {
        self.running = None;
        self.running = Some(start(&self.data_dir, &self.clock).await);
    }

    pub(crate) async fn restart_after_shutdown(&mut self) {
        self.running.take().unwrap().shutdown().await;
        self.running = Some(start(&self.data_dir, &self.clock).await);
    }

    pub(crate) fn config(&self) -> SandboxConfig {
        SandboxConfig::new(self.data_dir.path(), loopback())
    }

    fn url(&self, path: &str) -> String {
        let running = self.running.as_ref().unwrap();
        format!("{}{path}", running.base_url())
    }

    pub(crate) fn advance_ms(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    fn request(&self, method: Method, api: Api, path: &str) -> RequestBuilder {
        let url = self.url(&[api.path, path].concat());
        let request = self.client.request(method, url);
        request.header(api.key.header, api.key.value)
    }

    /// Posts and returns the body as text.
    pub(crate) async fn post_raw(&self, api: Api, path: &str, body: &Value) -> (u16, String) {
        text(self.request(Method::POST, api, path).json(body)).await
    }

    /// Returns whether the connection breaks before any byte of a response.
    pub(crate) async fn post_is_cut(&self, api: Api, path: &str, body: &Value) -> bool {
        match self
            .request(Method::POST, api, path)
            .json(body)
            .send()
            .await
        {
            Ok(response) => panic!("a response arrived: {}", response.status()),
            Err(error) => error.is_request() && !error.is_timeout() && !error.is_connect(),
        }
    }

    /// Returns whether no response comes although the connection stays open.
    pub(crate) async fn get_hangs(&self, api: Api, path: &str) -> bool {
        let request = self.request(Method::GET, api, path);
        match request.timeout(Duration::from_millis(150)).send().await {
            Ok(response) => panic!("a response arrived: {}", response.status()),
            Err(error) => error.is_timeout(),
        }
    }

    pub(crate) async fn open_get(&self, path: &str) -> (u16, Value) {
        answer(self.client.get(self.url(path))).await
    }

    pub(crate) async fn open_post(&self, path: &str, body: &Value) -> (u16, Value) {
        answer(self.client.post(self.url(path)).json(body)).await
    }

    /// Gets a document by its URL.
    pub(crate) async fn get_text(&self, url: &Value) -> (u16, String) {
        text(self.client.get(url.as_str().unwrap())).await
    }

    pub(crate) async fn pay(&self, token: &Value) -> u16 {
        let body = json!({ "token": token });
        self.open_post("/control/pay", &body).await.0
    }
}

/// Returns a body with members replaced or added.
pub(crate) fn with(mut body: Value, members: Value) -> Value {
    let Value::Object(members) = members else {
        panic!("not an object: {members}")
    };
    body.as_object_mut().unwrap().extend(members);
    body
}

pub(crate) async fn get(market: &Market, api: Api, path: &str) -> (u16, Value) {
    answer(market.request(Method::GET, api, path)).await
}

/// Returns the body of a response with status 200.
pub(crate) async fn get_ok(market: &Market, api: Api, path: &str) -> Value {
    let (status, answer) = get(market, api, path).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

pub(crate) async fn post(market: &Market, api: Api, path: &str, body: &Value) -> (u16, Value) {
    answer(market.request(Method::POST, api, path).json(body)).await
}

/// Returns the body of a response with this status.
pub(crate) async fn post_ok(
    market: &Market,
    api: Api,
    path: &str,
    body: &Value,
    status: u16,
) -> Value {
    let (actual, answer) = post(market, api, path, body).await;
    assert_eq!(actual, status, "{answer}");
    answer
}

/// Asserts the status and the code of the error that a POST returns.
pub(crate) async fn assert_refused(
    market: &Market,
    api: Api,
    path: &str,
    body: &Value,
    status: u16,
    code: impl Into<Value>,
) {
    let (actual, answer) = post(market, api, path, body).await;
    let actual = (actual, answer.pointer(api.code));
    assert_eq!(actual, (status, Some(&code.into())), "{answer}");
}

/// Asserts kind and amount of the ledger entries whose client reference begins with `prefix`.
pub(crate) async fn assert_ledger(market: &Market, prefix: &str, expected: &[(&str, f64)]) {
    let path = format!("/control/ledger?client_reference={prefix}");
    let (status, entries) = market.open_get(&path).await;
    assert_eq!(status, 200);
    let entry = |entry: &Value| json!([entry["kind"], entry["amount"]]);
    let entries: Vec<Value> = entries.as_array().unwrap().iter().map(entry).collect();
    assert_eq!(json!(entries), json!(expected), "{prefix}");
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

async fn answer(request: RequestBuilder) -> (u16, Value) {
    let (status, text) = text(request).await;
    let body = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    (status, body)
}

async fn text(request: RequestBuilder) -> (u16, String) {
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}
