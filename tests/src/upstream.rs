//! A supplier's server on this machine: answers by a table of routes, and keeps
//! every request as it came. Knows nothing of any supplier.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The most of a request's body that is kept: far beyond what any adapter sends.
const BODY_BYTES_MAX: usize = 1 << 20;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Method and path, e.g. `GET /v1/hotels`.
    pub route: String,
    /// As in the URL; empty when there is none.
    pub query: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body; null when it is empty or no JSON.
    pub body: Value,
    /// The body as it came.
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

    /// The only value of a header; none when it is missing or came twice.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value)
    }
}

/// The routes of requests, in order.
#[must_use]
pub fn routes(received: &[ReceivedRequest]) -> Vec<&str> {
    let routes = received.iter().map(|request| request.route.as_str());
    routes.collect()
}

/// How many of the requests came on a route.
#[must_use]
pub fn count(received: &[ReceivedRequest], route: &str) -> usize {
    let of_route = received.iter().filter(|request| request.route == route);
    of_route.count()
}

/// An answer to a request.
#[derive(Debug, Clone)]
pub struct MockResponse {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl MockResponse {
    /// A body, and nothing said of it beside its being JSON.
    #[must_use]
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.into(),
        }
    }

    /// JSON.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, body.to_string())
    }

    /// No body.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: String::new(),
        }
    }

    /// With a header.
    #[must_use]
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

/// A running upstream; gone when dropped.
pub struct MockServer {
    /// `http://` and host with port.
    pub url: String,
    desk: Arc<MockServerState>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl MockServer {
    /// An upstream without routes.
    pub async fn start() -> Self {
        let desk = Arc::new(MockServerState::default());
        let router = Router::new().fallback(receive).with_state(desk.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, desk, serving }
    }

    /// Host with port.
    #[must_use]
    pub fn host(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Answers a route from now on, e.g. `GET /hotels`; with `*` at its end, all
    /// that begin so and have no route of their own.
    pub fn on(&self, route: &str, answer: impl Fn(&ReceivedRequest) -> MockResponse + Send + Sync + 'static) {
        self.desk
            .routes
            .lock()
            .unwrap()
            .insert(route.to_owned(), Arc::new(answer));
    }

    /// What came since the last time that it was taken, in order; it stays.
    #[must_use]
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.desk.received.lock().unwrap().clone()
    }

    /// What came since the last time that it was taken, in order.
    #[must_use]
    pub fn take_received(&self) -> Vec<ReceivedRequest> {
        let mut received = self.desk.received.lock().unwrap();
        std::mem::take(&mut *received)
    }
}

async fn receive(State(desk): State<Arc<MockServerState>>, request: Request) -> Response {
    let received = ReceivedRequest::read(request).await.unwrap();
    let answer = match desk.route(&received.route) {
        Some(route) => route(&received),
        None => MockResponse::new(501, format!("no route {}", received.route)),
    };
    desk.received
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
