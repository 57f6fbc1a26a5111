//! Captures what the request log records of an API call. Bodies are copied as they pass by, those of
//! successful reads only while the log takes them.

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use host_application::api_key::named_mode;
use host_application::context::RequestContext;
use host_application::recording::recorder::{
    CapturedBodies, CapturedBody, RequestRecord, TrafficRecorder,
};
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use http::{Method, Uri};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum length of a body that is kept in memory for the log.
const BODY_BYTES_MAX: usize = 64 << 10;

/// Returns whether calls of a route are recorded: those of the API and those to unknown paths. The
/// commands that read the log would record themselves.
pub(crate) fn is_recorded(recorder: &TrafficRecorder, route: Option<&str>) -> bool {
    let is_call = |route: &str| route.starts_with("/v1/") && !route.starts_with("/v1/cli/");
    recorder.is_on() && route.is_none_or(is_call)
}

/// An API call that is being recorded.
pub(crate) struct Capture {
    uri: Uri,
    /// Mode that the key names, whether it is valid or not.
    mode: Mode,
    request_body: Option<Arc<Mutex<BodyCopy>>>,
}

#[derive(Default)]
struct BodyCopy {
    bytes: u64,
    /// The body so far. Empty if it is too long.
    content: BytesMut,
}

/// Facts about an API call that has ended.
pub(crate) struct CapturedCall<'a> {
    pub(crate) request_id: &'a Arc<str>,
    pub(crate) context: Option<&'a RequestContext>,
    pub(crate) method: &'a Method,
    pub(crate) route: Option<&'a str>,
    pub(crate) at: Timestamp,
    pub(crate) duration: Duration,
    pub(crate) code: Option<&'static str>,
}

impl Capture {
    /// Begins to capture a request. Its body is copied while a handler reads it.
    pub(crate) fn begin(request: &mut Request) -> Self {
        let key = request.headers().get("x-api-key");
        let key = key.and_then(|key| key.to_str().ok());
        let mode = key.and_then(named_mode).unwrap_or(Mode::Test);
        let uri = request.uri().clone();
        let request_body = (!request.method().is_safe()).then(|| {
            let copy = Arc::<Mutex<BodyCopy>>::default();
            let body = std::mem::take(request.body_mut());
            *request.body_mut() = copying(body, Arc::clone(&copy));
            copy
        });
        Self {
            uri,
            mode,
            request_body,
        }
    }

    /// Records the call and its response.
    pub(crate) async fn finish(
        self,
        recorder: &TrafficRecorder,
        response: &mut Response,
        call: CapturedCall<'_>,
    ) {
        let status = response.status().as_u16();
        let bodies = match &self.request_body {
            None if status < 400 && !recorder.takes_read_body() => None,
            copy => Some(CapturedBodies {
                request: copy.as_deref().map(finished).unwrap_or_default(),
                response: response_body(response).await,
            }),
        };
        self.record(recorder, status, bodies, &call);
    }

    /// Records a call that ended without response.
    pub(crate) fn finish_without_response(
        self,
        recorder: &TrafficRecorder,
        status: u16,
        call: &CapturedCall<'_>,
    ) {
        let bodies = CapturedBodies {
            request: self
                .request_body
                .as_deref()
                .map(finished)
                .unwrap_or_default(),
            response: CapturedBody::default(),
        };
        self.record(recorder, status, Some(bodies), call);
    }

    fn record(
        &self,
        recorder: &TrafficRecorder,
        status: u16,
        bodies: Option<CapturedBodies>,
        call: &CapturedCall<'_>,
    ) {
        recorder.record_request(RequestRecord {
            request_id: call.request_id,
            context: call.context,
            mode: self.mode,
            at: call.at,
            method: call.method,
            route: call.route,
            uri: &self.uri,
            status,
            duration: call.duration,
            code: call.code,
            bodies,
        });
    }
}

/// Returns a body that copies what is read from it.
fn copying(body: Body, copy: Arc<Mutex<BodyCopy>>) -> Body {
    if body.is_end_stream() {
        return body;
    }
    Body::from_stream(body.into_data_stream().inspect_ok(move |chunk: &Bytes| {
        let mut copy = copy.lock().unwrap_or_else(PoisonError::into_inner);
        copy.bytes = copy.bytes.saturating_add(chunk.len() as u64);
        if copy.bytes <= BODY_BYTES_MAX as u64 {
            copy.content.extend_from_slice(chunk);
        } else {
            copy.content = BytesMut::new();
        }
    }))
}

fn finished(copy: &Mutex<BodyCopy>) -> CapturedBody {
    let mut copy = copy.lock().unwrap_or_else(PoisonError::into_inner);
    let content = std::mem::take(&mut copy.content).freeze();
    CapturedBody {
        bytes: copy.bytes,
        content: Some(content).filter(|content| !content.is_empty()),
    }
}

/// Returns the body of a response that is in memory as a whole. Streams are not captured.
async fn response_body(response: &mut Response) -> CapturedBody {
    let Some(bytes) = response.body().size_hint().exact() else {
        return CapturedBody::default();
    };
    let mut captured = CapturedBody {
        bytes,
        content: None,
    };
    if (1..=BODY_BYTES_MAX as u64).contains(&bytes) {
        let body = std::mem::take(response.body_mut());
        match to_bytes(body, BODY_BYTES_MAX).await {
            Ok(content) => {
                *response.body_mut() = Body::from(content.clone());
                captured.content = Some(content);
            }
            // A body in memory can be read.
            Err(error) => tracing::error!(
                %error,
                "the body of a response is lost and the caller got an empty one; \
                 the request can be repeated, report the error as a bug"
            ),
        }
    }
    captured
}
