//! A proxy in front of the sandbox that injects a fault once. It distinguishes its callers by the
//! header [`CALLER`] and is independent of any supplier's protocol.

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use std::collections::HashMap;
use std::future::pending;
use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Header in which a caller names itself.
pub const CALLER: &str = "x-fault-caller";

/// Maximum size of a body that is forwarded; far more than any adapter sends.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Delay of a slow response.
const SLOW: Duration = Duration::from_secs(1);
/// Time for which a supplier with a delayed effect processes a request before the response is lost.
/// It is longer than the first wait before a reconciliation, so that the second follows soon after.
const DELAYED_EFFECT_TIME: Duration = Duration::from_millis(1_300);
/// Time after the lost response in which reads do not show the effect. It is longer than the second
/// after which the reads of the sandbox's suppliers are consistent: the supplier still works on the
/// call.
const INVISIBLE_FOR: Duration = Duration::from_secs(4);
/// Time after the lost response from which reads show the effect. It is within the time limit of a
/// call, which is six seconds where this fault is used.
const VISIBLE_AFTER: Duration = Duration::from_millis(5_500);

/// What the proxy does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The request succeeds.
    None,
    /// The request succeeds one second later.
    Slow,
    /// A documented refusal without effect.
    Rejected,
    /// 403 in no supplier's format, without effect.
    Forbidden,
    /// 500 without effect.
    ErrorBeforeEffect,
    /// 500 with effect.
    ErrorAfterEffect,
    /// No response and no effect.
    TimeoutBeforeEffect,
    /// No response, but the effect takes place.
    TimeoutAfterEffect,
    /// The effect takes place; the connection breaks in the middle of the response.
    ConnectionReset,
    /// The effect takes place; the response is 200 with half a document.
    MalformedResponse,
    /// The effect takes place twice, as if an intermediary repeated the request; the second
    /// response is returned.
    DuplicatedRequest,
    /// The effect takes place; the response is lost, and reads do not show the effect at first.
    DelayedEffect,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 12] = [
        Self::None,
        Self::Slow,
        Self::Rejected,
        Self::Forbidden,
        Self::ErrorBeforeEffect,
        Self::ErrorAfterEffect,
        Self::TimeoutBeforeEffect,
        Self::TimeoutAfterEffect,
        Self::ConnectionReset,
        Self::MalformedResponse,
        Self::DuplicatedRequest,
        Self::DelayedEffect,
    ];
}

/// A fault that the first request of a caller on a route meets.
#[derive(Debug, Clone)]
pub struct PlannedFault {
    /// Method and path, e.g. `POST /rooms/*/cancel`; `*` matches any text.
    pub route: &'static str,
    /// Fault that is injected.
    pub fault: Fault,
    /// Status and body with which this supplier refuses the request.
    pub refusal: (u16, String),
}

/// A running proxy. It stops when dropped.
pub struct FaultProxy {
    /// URL: `http://` and host with port.
    pub url: String,
    state: Arc<ProxyState>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

struct ProxyState {
    http: reqwest::Client,
    target: OnceLock<String>,
    planned_faults: Mutex<HashMap<String, Vec<PlannedFault>>>,
    late: Mutex<HashMap<String, DelayedRequest>>,
    /// The last request of each caller that was answered with an error and not forwarded.
    dropped: Mutex<HashMap<String, ForwardedRequest>>,
}

/// A request that was accepted and takes effect later.
#[derive(Clone)]
struct DelayedRequest {
    lost_at: Instant,
    done: watch::Receiver<bool>,
}

/// A request as it is forwarded.
#[derive(Clone)]
struct ForwardedRequest {
    caller: String,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

/// A complete response.
struct UpstreamResponse {
    status: StatusCode,
    body: Bytes,
}

impl FaultProxy {
    /// Starts a proxy that forwards requests as soon as its target is set.
    pub async fn start() -> Self {
        let state = Arc::new(ProxyState {
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            target: OnceLock::new(),
            planned_faults: Mutex::default(),
            late: Mutex::default(),
            dropped: Mutex::default(),
        });
        let router = Router::new().fallback(serve).with_state(state.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            state,
            serving,
        }
    }

    /// Sets the target of all requests, e.g. `http://127.0.0.1:8090`.
    ///
    /// # Panics
    /// Panics if the target is already set.
    pub fn forward_to(&self, url: &str) {
        self.state
            .target
            .set(url.to_owned())
            .expect("the target is set once");
    }

    /// Plans the faults that a caller will meet.
    pub fn plan(&self, caller: &str, planned_faults: Vec<PlannedFault>) {
        locked(&self.state.planned_faults).insert(caller.to_owned(), planned_faults);
    }

    /// Forwards the request of a caller that met [`Fault::ErrorBeforeEffect`]: its effect takes
    /// place now. Returns whether the target accepted it.
    pub async fn deliver_dropped(&self, caller: &str) -> bool {
        let dropped = locked(&self.state.dropped).remove(caller);
        let Some(request) = dropped else { return false };
        self.state.forward(&request).await.status.is_success()
    }

    /// Returns the planned faults that a caller has not met.
    pub fn remaining_faults(&self, caller: &str) -> Vec<PlannedFault> {
        let planned_faults = locked(&self.state.planned_faults);
        planned_faults.get(caller).cloned().unwrap_or_default()
    }
}

fn locked<T>(what: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(State(state): State<Arc<ProxyState>>, request: Request) -> Response {
    let came_at = Instant::now();
    let Some(request) = ForwardedRequest::read(request).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    state.wait_until_visible(&request.caller, came_at).await;
    let Some(planned_fault) = state.next_fault(&request) else {
        return state.forward(&request).await.into_response();
    };
    match planned_fault.fault {
        Fault::None => state.forward(&request).await.into_response(),
        Fault::Slow => {
            tokio::time::sleep(SLOW).await;
            state.forward(&request).await.into_response()
        }
        Fault::Rejected => {
            let (status, body) = planned_fault.refusal;
            let status = StatusCode::from_u16(status).unwrap();
            let body = Bytes::from(body);
            UpstreamResponse { status, body }.into_response()
        }
        Fault::Forbidden => (StatusCode::FORBIDDEN, "<h1>Forbidden</h1>").into_response(),
        Fault::ErrorBeforeEffect => {
            locked(&state.dropped).insert(request.caller.clone(), request);
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
        Fault::ErrorAfterEffect => {
            state.forward(&request).await;
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
        Fault::TimeoutBeforeEffect => pending().await,
        Fault::TimeoutAfterEffect => {
            state.forward(&request).await;
            pending().await
        }
        Fault::ConnectionReset => state.forward(&request).await.into_broken_response(),
        Fault::MalformedResponse => state.forward(&request).await.truncate().into_response(),
        Fault::DuplicatedRequest => {
            state.forward(&request).await;
            state.forward(&request).await.into_response()
        }
        Fault::DelayedEffect => state.forward_and_drop_response(request).await,
    }
}

impl ProxyState {
    /// Removes and returns the planned fault of a request.
    fn next_fault(&self, request: &ForwardedRequest) -> Option<PlannedFault> {
        let mut planned_faults = locked(&self.planned_faults);
        let planned = planned_faults.get_mut(&request.caller)?;
        let met = planned.iter().position(|step| request.is_on(step.route))?;
        Some(planned.remove(met))
    }

    async fn forward(&self, request: &ForwardedRequest) -> UpstreamResponse {
        let target = self.target.get().expect("the target is set");
        let answer = self
            .http
            .request(request.method.clone(), format!("{target}{}", request.path))
            .headers(request.headers.clone())
            .body(request.body.clone())
            .send()
            .await
            .expect("the sandbox responds");
        UpstreamResponse {
            status: answer.status(),
            body: answer
                .bytes()
                .await
                .expect("the sandbox responds completely"),
        }
    }

    /// Forwards a request and drops the response. The effect takes place later.
    async fn forward_and_drop_response(self: Arc<Self>, request: ForwardedRequest) -> Response {
        tokio::time::sleep(DELAYED_EFFECT_TIME).await;
        let (set_done, done) = watch::channel(false);
        let lost_at = Instant::now();
        let late = DelayedRequest { lost_at, done };
        locked(&self.late).insert(request.caller.clone(), late);
        tokio::spawn(async move {
            tokio::time::sleep(INVISIBLE_FOR).await;
            self.forward(&request).await;
            set_done.send_replace(true);
        });
        let status = StatusCode::OK;
        let body = Bytes::from_static(b"{}");
        UpstreamResponse { status, body }.into_broken_response()
    }

    /// Keeps the guarantee of consistent reads on a slow machine: a request that arrives after
    /// [`VISIBLE_AFTER`] waits until the delayed effect has taken place.
    async fn wait_until_visible(&self, caller: &str, came_at: Instant) {
        let late = locked(&self.late).get(caller).cloned();
        if let Some(mut late) = late
            && came_at >= late.lost_at + VISIBLE_AFTER
        {
            let is_done = late.done.wait_for(|done| *done).await;
            assert!(is_done.is_ok(), "an accepted request takes effect");
        }
    }
}

impl ForwardedRequest {
    async fn read(request: Request) -> Option<Self> {
        let (head, body) = request.into_parts();
        let mut headers = head.headers;
        let caller = headers.remove(CALLER)?.to_str().ok()?.to_owned();
        for of_connection in [header::HOST, header::CONTENT_LENGTH, header::CONNECTION] {
            headers.remove(of_connection);
        }
        // Responses are cut in half, so they must not be compressed.
        headers.remove(header::ACCEPT_ENCODING);
        Some(Self {
            caller,
            method: head.method,
            path: head.uri.path_and_query()?.to_string(),
            headers,
            body: to_bytes(body, BODY_BYTES_MAX).await.ok()?,
        })
    }

    fn is_on(&self, route: &str) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        let request = format!("{} {path}", self.method);
        match route.split_once('*') {
            Some((begin, end)) => request.starts_with(begin) && request.ends_with(end),
            None => request == route,
        }
    }
}

impl UpstreamResponse {
    /// Returns a 200 response with a document that ends in the middle.
    fn truncate(self) -> Self {
        Self {
            status: StatusCode::OK,
            body: self.body.slice(..self.body.len() / 2),
        }
    }

    /// Returns a response whose connection breaks in the middle of the body.
    fn into_broken_response(self) -> Response {
        let announced = self.body.len();
        let half = self.body.slice(..announced / 2);
        let broken = Error::from(ErrorKind::BrokenPipe);
        let parts = stream::iter([Ok(half), Err(broken)]);
        Response::builder()
            .status(self.status)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONTENT_LENGTH, announced)
            .body(Body::from_stream(parts))
            .unwrap()
    }
}

impl IntoResponse for UpstreamResponse {
    fn into_response(self) -> Response {
        let json = [(header::CONTENT_TYPE, "application/json")];
        (self.status, json, self.body).into_response()
    }
}
