//! A mock gateway for native tests and benchmarks. It implements the imports while a plugin runs
//! outside a component, and is not part of a component.
//!
//! ```ignore
//! let gateway = MockGateway::new()
//!     .settings(r#"{"base_url": "https://api.example"}"#)
//!     .respond_with(200, r#"{"offers": []}"#);
//! let response = gateway.run(|| MySupplier::price(request));
//! assert_eq!(gateway.requests()[0].url, "https://api.example/offers");
//! ```

mod adapter;
mod document;
mod failure;
mod mutation;
mod outcome;

pub use adapter::{check_change_failures, check_read_failures};
pub use document::{
    DocumentCheck, check_documents, check_known_fields, check_settings_schema, read_documents,
    read_fixture, with_values,
};
pub use failure::{
    check_failed_change, failures_after_sending, failures_before_sending, read_failures,
};
pub use mutation::for_each_mutation;
pub use outcome::{Outcome, outcome, refusal};

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

// The modules of these types call the gateway, so that importing them would close a circle.
use crate::bindings::imports_v1_1::stopover::host1_1_0::report::DropReason;
use crate::bindings::shared::stopover::host::http::{Error, Header, Method, Request, Response};
use crate::bindings::shared::stopover::host::log::Level;
use crate::bindings::shared::stopover::host::secret;
use crate::types::TimestampMs;

type RequestHandler = Box<dyn FnMut(&Request) -> Result<Response, Error>>;

/// A mock gateway with scripted responses, which records the requests.
pub struct MockGateway {
    state: Rc<State>,
}

struct State {
    settings: RefCell<String>,
    now_ms: Cell<TimestampMs>,
    responses: RefCell<VecDeque<Result<Response, Error>>>,
    handler: RefCell<Option<RequestHandler>>,
    requests: RefCell<Vec<Request>>,
    /// URLs of the requests that the plugin sent as reads.
    reads: RefCell<Vec<String>>,
    logs: RefCell<Vec<(Level, String)>>,
    dropped_items: RefCell<Vec<(DropReason, u32)>>,
    cache: RefCell<HashMap<String, Vec<u8>>>,
    secrets: RefCell<HashMap<String, String>>,
}

thread_local! {
    static CURRENT: RefCell<Vec<Rc<State>>> = const { RefCell::new(Vec::new()) };
}

impl Default for MockGateway {
    fn default() -> Self {
        Self::new()
    }
}

impl MockGateway {
    /// Creates a gateway with empty settings, a clock at 0 and no responses.
    pub fn new() -> Self {
        Self {
            state: Rc::new(State {
                settings: RefCell::new("{}".to_owned()),
                now_ms: Cell::new(0),
                responses: RefCell::default(),
                handler: RefCell::new(None),
                requests: RefCell::default(),
                reads: RefCell::default(),
                logs: RefCell::default(),
                dropped_items: RefCell::default(),
                cache: RefCell::default(),
                secrets: RefCell::default(),
            }),
        }
    }

    /// Creates a gateway that scripts these responses, each a status and a body.
    pub fn with_responses(responses: &[(u16, &str)]) -> Self {
        Self::new().respond_with_each(responses.iter().copied())
    }

    /// Sets the plugin's settings, a JSON object.
    #[must_use]
    pub fn settings(self, json: &str) -> Self {
        json.clone_into(&mut self.state.settings.borrow_mut());
        self
    }

    /// Sets the clock.
    #[must_use]
    pub fn now_ms(self, now_ms: TimestampMs) -> Self {
        self.state.now_ms.set(now_ms);
        self
    }

    /// Grants a secret.
    #[must_use]
    pub fn secret(self, name: &str, value: &str) -> Self {
        self.state
            .secrets
            .borrow_mut()
            .insert(name.to_owned(), value.to_owned());
        self
    }

    /// Scripts a response with this status and body, after those already scripted.
    #[must_use]
    pub fn respond_with(self, status: u16, body: impl AsRef<[u8]>) -> Self {
        self.respond(Response::new(status, body))
    }

    /// Scripts responses with these statuses and bodies, in their order.
    #[must_use]
    pub fn respond_with_each(
        self,
        responses: impl IntoIterator<Item = (u16, impl AsRef<[u8]>)>,
    ) -> Self {
        let responses = responses.into_iter();
        responses.fold(self, |gateway, (status, body)| {
            gateway.respond_with(status, body)
        })
    }

    /// Scripts a response, after those already scripted.
    #[must_use]
    pub fn respond(self, response: Response) -> Self {
        self.exchange(Ok(response))
    }

    /// Scripts an error, after the responses already scripted.
    #[must_use]
    pub fn fail_with(self, error: Error) -> Self {
        self.exchange(Err(error))
    }

    /// Scripts a response or an error, after those already scripted.
    #[must_use]
    pub fn exchange(self, result: Result<Response, Error>) -> Self {
        self.state.responses.borrow_mut().push_back(result);
        self
    }

    /// Sets a handler for every request without a scripted response, such as a small supplier or,
    /// in a benchmark, a real connection.
    #[must_use]
    pub fn handle_requests(
        self,
        handler: impl FnMut(&Request) -> Result<Response, Error> + 'static,
    ) -> Self {
        *self.state.handler.borrow_mut() = Some(Box::new(handler));
        self
    }

    /// Runs plugin code with this gateway on the current thread.
    pub fn run<T>(&self, code: impl FnOnce() -> T) -> T {
        struct RemoveOnDrop;
        impl Drop for RemoveOnDrop {
            fn drop(&mut self) {
                CURRENT.with_borrow_mut(Vec::pop);
            }
        }
        CURRENT.with_borrow_mut(|gateways| gateways.push(Rc::clone(&self.state)));
        let _guard = RemoveOnDrop;
        code()
    }

    /// Returns the requests sent so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state.requests.borrow().clone()
    }

    /// Returns method and URL of every request sent so far, without this start of the URL.
    ///
    /// # Panics
    /// Panics if a URL starts otherwise.
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub fn request_lines(&self, base_url: &str) -> Vec<String> {
        let line = |request: &Request| match request.url.strip_prefix(base_url) {
            Some(path) => format!("{} {path}", request.method.name()),
            None => panic!("{} does not start with {base_url}", request.url),
        };
        self.state.requests.borrow().iter().map(line).collect()
    }

    /// Returns the URLs of the requests that were sent by [`Request::send_read`].
    pub fn urls_of_reads(&self) -> Vec<String> {
        self.state.reads.borrow().clone()
    }

    /// Returns the JSON body of the request at this position, or `null` if it has none.
    pub fn request_json(&self, index: usize) -> serde_json::Value {
        let requests = self.state.requests.borrow();
        requests
            .get(index)
            .map(Request::body_json)
            .unwrap_or_default()
    }

    /// Returns the messages logged so far.
    pub fn logs(&self) -> Vec<(Level, String)> {
        self.state.logs.borrow().clone()
    }

    /// Returns how many items of responses the plugin reported as left out, by reason.
    pub fn dropped_items(&self) -> Vec<(DropReason, u32)> {
        self.state.dropped_items.borrow().clone()
    }

    /// Returns the number of scripted responses that were not used.
    pub fn unused_responses(&self) -> usize {
        self.state.responses.borrow().len()
    }
}

/// Readers of requests and a constructor of responses, for tests.
impl Request {
    /// Returns the JSON body, or `null` if there is none.
    pub fn body_json(&self) -> serde_json::Value {
        let body = self.body.as_deref().unwrap_or_default();
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// Returns the first header with this name.
    pub fn header_value(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|header| header.name == name)?;
        Some(&header.value)
    }
}

impl Response {
    /// Creates a response without headers.
    pub fn new(status: u16, body: impl AsRef<[u8]>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.as_ref().to_vec(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push(Header {
            name: name.to_owned(),
            value: value.to_owned(),
        });
        self
    }
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Head => "HEAD",
        }
    }
}

impl State {
    fn exchange(&self, request: &Request) -> Result<Response, Error> {
        self.requests.borrow_mut().push(request.clone());
        if let Some(result) = self.responses.borrow_mut().pop_front() {
            return result;
        }
        match self.handler.borrow_mut().as_mut() {
            Some(handler) => handler(request),
            None => Err(Error::NotSent(format!(
                "no response was scripted for {}",
                request.url
            ))),
        }
    }

    fn secret(&self, name: &str) -> Result<String, secret::Error> {
        self.secrets
            .borrow()
            .get(name)
            .cloned()
            .ok_or_else(|| secret::Error::Unknown(name.to_owned()))
    }
}

/// Returns the gateway of the code that runs on this thread. Without one it returns an empty
/// gateway, so that code without imports needs none.
fn current() -> Rc<State> {
    CURRENT
        .with_borrow(|gateways| gateways.last().cloned())
        .unwrap_or_else(|| MockGateway::new().state)
}

pub(crate) mod import {
    use hmac::{Hmac, KeyInit, Mac};
    use sha2::{Digest, Sha256};

    use super::{DropReason, Error, Level, Request, Response, TimestampMs, current};
    use crate::bindings::shared::stopover::host::secret;

    pub(crate) fn send(request: &Request) -> Result<Response, Error> {
        current().exchange(request)
    }

    pub(crate) fn send_read(request: &Request) -> Result<Response, Error> {
        let gateway = current();
        gateway.reads.borrow_mut().push(request.url.clone());
        gateway.exchange(request)
    }

    pub(crate) fn send_many(requests: &[Request]) -> Vec<Result<Response, Error>> {
        requests.iter().map(send).collect()
    }

    pub(crate) fn log(level: Level, message: &str) {
        current()
            .logs
            .borrow_mut()
            .push((level, message.to_owned()));
    }

    pub(crate) fn dropped_items(reason: DropReason, count: u32) {
        current().dropped_items.borrow_mut().push((reason, count));
    }

    pub(crate) fn now_ms() -> TimestampMs {
        current().now_ms.get()
    }

    pub(crate) fn cache_get(key: &str) -> Option<Vec<u8>> {
        current().cache.borrow().get(key).cloned()
    }

    /// Stores the value without expiry, because a native run is short.
    pub(crate) fn cache_set(key: &str, value: &[u8], _ttl_ms: u32) {
        current()
            .cache
            .borrow_mut()
            .insert(key.to_owned(), value.to_vec());
    }

    pub(crate) fn hmac_sha256(name: &str, message: &[u8]) -> Result<Vec<u8>, secret::Error> {
        let key = current().secret(name)?;
        let digest = Hmac::<Sha256>::new_from_slice(key.as_bytes())
            .map(|hmac| hmac.chain_update(message).finalize().into_bytes());
        Ok(digest.map(|bytes| bytes.to_vec()).unwrap_or_default())
    }

    pub(crate) fn sha256_with_secret(
        prefix: &[u8],
        name: &str,
        suffix: &[u8],
    ) -> Result<Vec<u8>, secret::Error> {
        let secret = current().secret(name)?;
        let hash = Sha256::new()
            .chain_update(prefix)
            .chain_update(secret.as_bytes())
            .chain_update(suffix);
        Ok(hash.finalize().to_vec())
    }

    pub(crate) fn settings() -> String {
        current().settings.borrow().clone()
    }
}
