//! A mock of a supplier's server. It responds by a table of routes and records every request. It is
//! independent of any supplier.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum size of a recorded body; far more than any adapter sends.
const BODY_BYTES_MAX: usize = 1 << 20;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Method and path, e.g. `GET /v1/hotels`.
    pub route: String,
    /// Query as in the URL; empty if there is none.
    pub query: String,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body; null if it is empty or not JSON.
    pub body: Value,
    /// Body as text.
    pub text: String,
}

impl ReceivedRequest {
    /// Reads a request to its end.
    pub(crate) async fn read(request: Request) -> Result<Self, axum::Error> {
        let (head, body) = request.into_parts();
        let body = to_bytes(body, BODY_BYTES_MAX).await?;
        let headers = head.headers.iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.to_string(), value)
        });
        Ok(Self {
            route: format!("{} {}", head.method, head.uri.path()),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers: headers.collect(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
            text: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    /// Returns the value of a header, or `None` if it is missing or occurs more than once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value)
    }
}

/// Returns the configuration of a supplier at `url` whose requests get these headers.
pub fn supplier_at(
    url: &str,
    id: &str,
    kind: &str,
    component: &str,
    headers: &[(&str, &str)],
) -> String {
    let host = url.trim_start_matches("http://");
    let credentials = headers.iter().map(|(header, value)| {
        format!("{{ host = \"{host}\", header = \"{header}\", value = \"{value}\" }}")
    });
    let credentials = credentials.collect::<Vec<_>>().join(", ");
    format!(
        r#"
        [[suppliers]]
        id = "{id}"
        kind = "{kind}"
        modes = ["test"]
        component = "{component}"
        settings = {{ base_url = "{url}" }}
        hosts = [{{ host = "{url}", private = true }}]
        credentials = [{credentials}]
        "#
    )
}

/// Returns the routes of requests, in order.
pub fn routes(received: &[ReceivedRequest]) -> Vec<&str> {
    let routes = received.iter().map(|request| request.route.as_str());
    routes.collect()
}

/// Counts the requests on a route.
pub fn count(received: &[ReceivedRequest], route: &str) -> usize {
    let of_route = received.iter().filter(|request| request.route == route);
    of_route.count()
}

/// A response to a request.
#[derive(Debug, Clone)]
pub struct MockResponse {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl MockResponse {
    /// Creates a response with a body and the content type of JSON.
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.into(),
        }
    }

    /// Creates a response with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, body.to_string())
    }

    /// Creates a response without a body.
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: String::new(),
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

type Route = Arc<dyn Fn(&ReceivedRequest) -> MockResponse + Send + Sync>;

#[derive(Default)]
struct MockServerState {
    routes: Mutex<BTreeMap<String, Route>>,
    received: Mutex<Vec<ReceivedRequest>>,
}

/// A running mock server. It stops when dropped.
pub struct MockServer {
    /// URL: `http://` and host with port.
    pub url: String,
    state: Arc<MockServerState>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl MockServer {
    /// Starts a mock server without routes.
    pub async fn start() -> Self {
        let state = Arc::new(MockServerState::default());
        let router = Router::new().fallback(receive).with_state(state.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            state,
            serving,
        }
    }

    /// Returns host and port.
    pub fn host(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Sets the response on a route, e.g. `GET /hotels`. A route that ends with `*` matches all
    /// requests that begin so and have no route of their own.
    pub fn on(
        &self,
        route: &str,
        answer: impl Fn(&ReceivedRequest) -> MockResponse + Send + Sync + 'static,
    ) {
        self.state
            .routes
            .lock()
            .unwrap()
            .insert(route.to_owned(), Arc::new(answer));
    }

    /// Returns the requests since the last [`take_received`](Self::take_received), in order, and
    /// keeps them.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.state.received.lock().unwrap().clone()
    }

    /// Returns the requests since the last call, in order, and removes them.
    pub fn take_received(&self) -> Vec<ReceivedRequest> {
        let mut received = self.state.received.lock().unwrap();
        std::mem::take(&mut *received)
    }
}

async fn receive(State(state): State<Arc<MockServerState>>, request: Request) -> Response {
    let received = ReceivedRequest::read(request).await.unwrap();
    let answer = match state.route(&received.route) {
        Some(route) => route(&received),
        None => MockResponse::new(501, format!("no route {}", received.route)),
    };
    state
        .received
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(received);
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(answer.body)).unwrap()
}

impl MockServerState {
    fn route(&self, asked: &str) -> Option<Route> {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = |route: &str| {
            route
                .strip_suffix('*')
                .is_some_and(|at| asked.starts_with(at))
        };
        let longest = || {
            let mut fitting = routes.iter().filter(|(route, _)| begins(route));
            fitting.next_back().map(|(_, answer)| answer)
        };
        routes.get(asked).or_else(longest).cloned()
    }
}
