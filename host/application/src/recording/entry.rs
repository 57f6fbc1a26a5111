//! Entries that are queued for the log, and their conversion to rows. Bodies and paths are redacted here, in
//! the task that writes.

use crate::recording::redact::{BodyKind, redact_bodies, redact_uri};
use bytes::Bytes;
use host_domain::id::{BookingId, KeyId, RequestLogId};
use host_domain::owner::{Mode, Owner};
use host_domain::request_log::{LoggedBodies, LoggedBody, LoggedCall, LoggedRequest};
use host_domain::time::Timestamp;
use http::{Method, Uri};
use std::sync::Arc;

/// The body of a request or response.
#[derive(Debug, Clone, Default)]
pub struct CapturedBody {
    /// Length of the whole body in bytes.
    pub bytes: u64,
    /// The body. `None` if it is too long.
    pub content: Option<Bytes>,
}

/// The bodies of an API call.
#[derive(Debug, Clone, Default)]
pub struct CapturedBodies {
    pub request: CapturedBody,
    pub response: CapturedBody,
}

/// An API call that waits to be written.
#[derive(Debug)]
pub(super) struct QueuedRequest {
    pub(super) owner: Option<Owner>,
    /// Mode of a call without owner.
    pub(super) mode: Mode,
    pub(super) request_id: Arc<str>,
    pub(super) at: Timestamp,
    pub(super) method: Method,
    pub(super) route: Option<String>,
    pub(super) uri: Uri,
    pub(super) status: u16,
    pub(super) duration_us: u64,
    pub(super) key: Option<KeyId>,
    pub(super) code: Option<&'static str>,
    pub(super) bodies: Option<CapturedBodies>,
}

#[derive(Debug)]
pub(super) enum QueuedEntry {
    Request(Box<QueuedRequest>),
    Call(Box<LoggedCall>),
}

impl QueuedEntry {
    /// Returns the memory that the entry occupies besides a constant amount.
    pub(super) fn body_bytes(&self) -> usize {
        match self {
            Self::Request(request) => request.body_bytes(),
            Self::Call(_) => 0,
        }
    }
}

impl QueuedRequest {
    pub(super) fn body_bytes(&self) -> usize {
        let length = |body: &CapturedBody| body.content.as_ref().map_or(0, Bytes::len);
        let bodies = self.bodies.as_ref();
        bodies.map_or(0, |bodies| {
            length(&bodies.request) + length(&bodies.response)
        })
    }

    /// Converts the call to a row of the log. `bits` are random.
    pub(super) fn into_row(self, bits: u128, host: &str) -> (LoggedRequest, Option<LoggedBodies>) {
        // Only operators see calls to unknown paths, because a path may be anything.
        let owner = self.owner.filter(|_| self.route.is_some());
        let (organization, mode, user) = match owner {
            Some(Owner { tenant, user }) => (tenant.organization, tenant.mode, user),
            None => (String::new(), self.mode, String::new()),
        };
        let (uri, route) = (&self.uri, self.route.as_deref());
        let path = redact_uri(route, uri.path(), uri.query());
        let is_failure = self.status >= 400;
        let kind = if is_failure {
            BodyKind::Problem
        } else {
            BodyKind::Written
        };
        let bodies = self.bodies.map(|bodies| logged(&bodies, kind));
        // A read does not touch a booking.
        let is_read = self.method.is_safe() && !is_failure;
        let booking = (!is_read)
            .then(|| booking_in(&path).or_else(|| booking_in_response(bodies.as_ref())))
            .flatten();
        let request = LoggedRequest {
            id: RequestLogId::at(self.at, bits),
            organization,
            mode,
            request_id: self.request_id.to_string(),
            at: self.at,
            method: method_name(&self.method).to_owned(),
            route: self.route.unwrap_or_else(|| "unknown".to_owned()),
            path,
            status: self.status,
            duration_us: self.duration_us,
            key: self.key,
            user,
            booking,
            code: self.code.map(str::to_owned),
            host: host.to_owned(),
        };
        (request, bodies)
    }
}

fn logged(bodies: &CapturedBodies, response_kind: BodyKind) -> LoggedBodies {
    let CapturedBodies { request, response } = bodies;
    let (request_text, response_text) = redact_bodies(
        request.content.as_deref(),
        (response.content.as_deref(), response_kind),
    );
    LoggedBodies {
        request: LoggedBody {
            bytes: request.bytes,
            text: request_text,
        },
        response: LoggedBody {
            bytes: response.bytes,
            text: response_text,
        },
    }
}

/// Returns the name of a method. Methods are client input.
pub(super) fn method_name(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let name = known.into_iter().find(|name| *name == method.as_str());
    name.unwrap_or("OTHER")
}

/// Returns the booking that a path names.
fn booking_in(path: &str) -> Option<BookingId> {
    let path = path.split('?').next().unwrap_or_default();
    path.split('/')
        .find_map(|segment| BookingId::parse(segment).ok())
}

/// Returns the booking that a response is about: its own id, or that of the booking that it names.
fn booking_in_response(bodies: Option<&LoggedBodies>) -> Option<BookingId> {
    let text = bodies?.response.text.as_deref()?;
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let data = value.get("data").unwrap_or(&value);
    let mut members = ["booking_id", "id"].into_iter();
    members.find_map(|name| BookingId::parse(data.get(name)?.as_str()?).ok())
}
