//! An adapter as a component and in a native environment: the gateway's HTTP client library with
//! the same options, without the gateway's checks.

use crate::peer::Running;
use crate::plugin::load;
use anyhow::Result;
use host_runtime::{CallSink, Supplier};
use serde_json::Value;
use std::rc::Rc;
use std::sync::Arc;
use stopover_sdk::http;
use stopover_sdk::testing::MockGateway;
use tokio::runtime::Runtime;

/// The same adapter as a component and as native code.
pub(crate) struct AdapterPair {
    pub(crate) runtime: Rc<Runtime>,
    pub(crate) component: Supplier,
    pub(crate) native: MockGateway,
}

impl AdapterPair {
    /// Loads a component and its native environment. `sink` receives a record of every call of the
    /// component.
    pub(crate) fn new(
        runtime: &Rc<Runtime>,
        upstream: &Running,
        component: &str,
        settings: Value,
        sink: Arc<dyn CallSink>,
    ) -> Result<Self> {
        let native = gateway(runtime, &settings)?;
        let component = runtime.block_on(load(component, settings, &upstream.base, sink))?;
        Ok(Self {
            runtime: Rc::clone(runtime),
            component,
            native,
        })
    }
}

/// Returns the functions that replace the adapter's imports.
fn gateway(runtime: &Rc<Runtime>, settings: &Value) -> Result<MockGateway> {
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .gzip(true)
        .tcp_nodelay(true)
        .build()?;
    let runtime = Rc::clone(runtime);
    let transport = move |request: &http::Request| {
        let sent = runtime.block_on(send(&client, request));
        sent.map_err(|error| http::Error::ConnectionLost(error.to_string()))
    };
    Ok(MockGateway::new()
        .settings(&settings.to_string())
        .handle_requests(transport))
}

async fn send(
    client: &reqwest::Client,
    request: &http::Request,
) -> reqwest::Result<http::Response> {
    let method = match request.method {
        http::Method::Post => reqwest::Method::POST,
        _ => reqwest::Method::GET,
    };
    let mut sending = client.request(method, &request.url);
    for header in &request.headers {
        sending = sending.header(&header.name, &header.value);
    }
    let answer = sending
        .body(request.body.clone().unwrap_or_default())
        .send()
        .await?;
    let headers = answer.headers().iter().map(|(name, value)| http::Header {
        name: name.as_str().to_owned(),
        value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
    });
    let (status, headers) = (answer.status().as_u16(), headers.collect());
    Ok(http::Response {
        status,
        headers,
        body: answer.bytes().await?.to_vec(),
    })
}
