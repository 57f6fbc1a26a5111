//! A supplier that does something wrong once: a proxy in front of the sandbox. It
//! tells its callers apart by the header [`CALLER`], and knows no supplier's protocol.

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

/// Header by which a caller says who it is.
pub const CALLER: &str = "x-fault-caller";

/// The most of a body that is passed on: far beyond what any adapter sends.
const BODY_BYTES_MAX: usize = 1 << 20;
/// How long a slow answer takes.
const SLOW: Duration = Duration::from_secs(1);
/// How long a supplier that appears late works on a request before its answer is lost:
/// longer than the first wait for a read-back, so that the second comes soon after.
const DELAYED_EFFECT_TIME: Duration = Duration::from_millis(1_300);
/// How long after that its reads do not show what it did.
const INVISIBLE_FOR: Duration = Duration::from_millis(700);
/// When they show it at the latest: within the second that the sandbox's suppliers promise.
const VISIBLE_AFTER: Duration = Duration::from_millis(900);

/// What a supplier does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Nothing wrong.
    None,
    /// Nothing wrong, a second later.
    Slow,
    /// A documented no, and nothing done.
    Rejected,
    /// 403 in nobody's words, and nothing done.
    Forbidden,
    /// 500, and nothing done.
    ErrorBeforeEffect,
    /// 500, and all done.
    ErrorAfterEffect,
    /// No answer, and nothing done.
    TimeoutBeforeEffect,
    /// No answer, and all done.
    TimeoutAfterEffect,
    /// Done; the connection breaks in the midst of the answer.
    ConnectionReset,
    /// Done; 200 with half a document.
    MalformedResponse,
    /// Done twice, as by somebody between who repeats; the second answer comes.
    DuplicatedRequest,
    /// Done; the answer is lost, and reads do not show it at first.
    DelayedEffect,
}

impl Fault {
    /// Each of them.
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

/// The first request of a caller on a route meets a fault.
#[derive(Debug, Clone, Copy)]
pub struct PlannedFault {
    /// Method and path, e.g. `POST /rooms/*/cancel`; `*` is any text.
    pub route: &'static str,
    /// What happens to it.
    pub fault: Fault,
    /// How this supplier says no to it: a status and a body.
    pub refusal: (u16, &'static str),
}

/// A running proxy; gone when dropped.
pub struct FaultProxy {
    /// Host with port.
    pub host: String,
    desk: Arc<ProxyState>,
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
    missteps: Mutex<HashMap<String, Vec<PlannedFault>>>,
    late: Mutex<HashMap<String, DelayedRequest>>,
}

/// Something that was accepted and is done later.
#[derive(Clone)]
struct DelayedRequest {
    lost_at: Instant,
    done: watch::Receiver<bool>,
}

/// A request, as it is passed on.
#[derive(Clone)]
struct ForwardedRequest {
    caller: String,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

/// A whole answer.
struct UpstreamResponse {
    status: StatusCode,
    body: Bytes,
}

impl FaultProxy {
    /// A proxy that passes everything on once it is told where to.
    pub async fn start() -> Self {
        let desk = Arc::new(ProxyState {
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            target: OnceLock::new(),
            missteps: Mutex::default(),
            late: Mutex::default(),
        });
        let router = Router::new().fallback(serve).with_state(desk.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            host,
            desk,
            serving,
        }
    }

    /// Where everything is passed on to, e.g. `http://127.0.0.1:8090`.
    ///
    /// # Panics
    /// When that was said before.
    pub fn forward_to(&self, url: &str) {
        self.desk.target.set(url.to_owned()).expect("said once");
    }

    /// What a caller is going to meet.
    pub fn plan(&self, caller: &str, missteps: Vec<PlannedFault>) {
        locked(&self.desk.missteps).insert(caller.to_owned(), missteps);
    }

    /// What a caller was going to meet and did not.
    #[must_use]
    pub fn unmet(&self, caller: &str) -> Vec<PlannedFault> {
        let missteps = locked(&self.desk.missteps);
        missteps.get(caller).cloned().unwrap_or_default()
    }
}

fn locked<T>(what: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(State(desk): State<Arc<ProxyState>>, request: Request) -> Response {
    let came_at = Instant::now();
    let Some(asked) = ForwardedRequest::read(request).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    desk.wait_until_visible(&asked.caller, came_at).await;
    let Some(misstep) = desk.next_fault(&asked) else {
        return desk.forward(&asked).await.into_response();
    };
    match misstep.fault {
        Fault::None => desk.forward(&asked).await.into_response(),
        Fault::Slow => {
            tokio::time::sleep(SLOW).await;
            desk.forward(&asked).await.into_response()
        }
        Fault::Rejected => {
            let (status, body) = misstep.refusal;
            let status = StatusCode::from_u16(status).unwrap();
            let body = Bytes::from_static(body.as_bytes());
            UpstreamResponse { status, body }.into_response()
        }
        Fault::Forbidden => (StatusCode::FORBIDDEN, "<h1>Forbidden</h1>").into_response(),
        Fault::ErrorBeforeEffect => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Fault::ErrorAfterEffect => {
            desk.forward(&asked).await;
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
        Fault::TimeoutBeforeEffect => pending().await,
        Fault::TimeoutAfterEffect => {
            desk.forward(&asked).await;
            pending().await
        }
        Fault::ConnectionReset => desk.forward(&asked).await.into_broken_response(),
        Fault::MalformedResponse => desk.forward(&asked).await.truncate().into_response(),
        Fault::DuplicatedRequest => {
            desk.forward(&asked).await;
            desk.forward(&asked).await.into_response()
        }
        Fault::DelayedEffect => desk.forward_and_drop_response(asked).await,
    }
}

impl ProxyState {
    /// What a request meets; it is met once.
    fn next_fault(&self, asked: &ForwardedRequest) -> Option<PlannedFault> {
        let mut missteps = locked(&self.missteps);
        let planned = missteps.get_mut(&asked.caller)?;
        let met = planned.iter().position(|step| asked.is_on(step.route))?;
        Some(planned.remove(met))
    }

    async fn forward(&self, asked: &ForwardedRequest) -> UpstreamResponse {
        let target = self.target.get().expect("where to is said");
        let answer = self
            .http
            .request(asked.method.clone(), format!("{target}{}", asked.path))
            .headers(asked.headers.clone())
            .body(asked.body.clone())
            .send()
            .await
            .expect("the sandbox answers");
        UpstreamResponse {
            status: answer.status(),
            body: answer.bytes().await.expect("the sandbox answers whole"),
        }
    }

    /// Loses the answer to a request that is done later.
    async fn forward_and_drop_response(self: Arc<Self>, asked: ForwardedRequest) -> Response {
        tokio::time::sleep(DELAYED_EFFECT_TIME).await;
        let (set_done, done) = watch::channel(false);
        let lost_at = Instant::now();
        let late = DelayedRequest { lost_at, done };
        locked(&self.late).insert(asked.caller.clone(), late);
        tokio::spawn(async move {
            tokio::time::sleep(INVISIBLE_FOR).await;
            self.forward(&asked).await;
            set_done.send_replace(true);
        });
        let status = StatusCode::OK;
        let body = Bytes::from_static(b"{}");
        UpstreamResponse { status, body }.into_broken_response()
    }

    /// Keeps the promise of consistent reads, however slow this machine is: who comes
    /// after [`SEEN`] waits for what is still to be done.
    async fn wait_until_visible(&self, caller: &str, came_at: Instant) {
        let late = locked(&self.late).get(caller).cloned();
        if let Some(mut late) = late
            && came_at >= late.lost_at + VISIBLE_AFTER
        {
            let is_done = late.done.wait_for(|done| *done).await;
            assert!(is_done.is_ok(), "what was accepted is done");
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
        // What is passed on is cut in half: it has to be text.
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
        let asked = format!("{} {path}", self.method);
        match route.split_once('*') {
            Some((begin, end)) => asked.starts_with(begin) && asked.ends_with(end),
            None => asked == route,
        }
    }
}

impl UpstreamResponse {
    /// 200 with a document that ends in the middle.
    fn truncate(self) -> Self {
        Self {
            status: StatusCode::OK,
            body: self.body.slice(..self.body.len() / 2),
        }
    }

    /// The connection breaks in the midst of the body.
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
