//! Contents of the page of an API call.

use crate::page::PageContext;
use crate::pages::requests::curl::curl;
use crate::pages::requests::view::{call_path, status_tone};
use crate::text::{TimeText, bytes, count, duration_us, words};
use crate::waterfall::{Waterfall, WaterfallSpan};
use askama::Template;
use host_application::recording::reader::RequestDetails;
use host_domain::request_log::{LoggedBody, LoggedCall, LoggedCallKind, LoggedRequest};
use host_domain::time::Timestamp;

#[derive(Template)]
#[template(path = "request.html")]
pub(super) struct RequestPage {
    pub(super) page: PageContext,
    pub(super) request_id: String,
    pub(super) method: String,
    pub(super) route: String,
    pub(super) path: String,
    pub(super) organization: String,
    pub(super) user: String,
    pub(super) key: String,
    pub(super) booking: String,
    pub(super) host: String,
    pub(super) tone: &'static str,
    pub(super) status: u16,
    pub(super) at: TimeText,
    pub(super) duration: String,
    /// The code of the problem and its documentation, empty for none.
    pub(super) code: String,
    pub(super) code_url: String,
    /// `None` for reads whose body the log did not take.
    pub(super) bodies: Option<[BodyText; 2]>,
    pub(super) waterfall: Option<Waterfall>,
    /// The number of suppliers' calls in words.
    pub(super) calls: String,
    pub(super) curl: String,
    pub(super) others: Vec<OtherCall>,
}

/// The body of a request or a response.
pub(super) struct BodyText {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    /// JSON on several lines, empty if it was not recorded.
    pub(super) text: String,
    pub(super) size: String,
    pub(super) is_empty: bool,
}

/// Another call with the same id.
pub(super) struct OtherCall {
    pub(super) path: String,
    pub(super) title: String,
    pub(super) tone: &'static str,
    pub(super) status: u16,
    pub(super) at: TimeText,
}

impl RequestPage {
    pub(super) fn new(page: PageContext, found: RequestDetails, api_url: &str) -> Self {
        let RequestDetails {
            request,
            others,
            bodies,
            calls,
        } = found;
        let code = request.code.clone().unwrap_or_default();
        Self {
            curl: curl(api_url, &request, bodies.as_ref()),
            calls: count(calls.len(), "call"),
            waterfall: waterfall(&request, calls),
            others: others.iter().map(OtherCall::new).collect(),
            bodies: bodies.map(|bodies| {
                [
                    BodyText::new("request-body", "Request body", bodies.request),
                    BodyText::new("response-body", "Response body", bodies.response),
                ]
            }),
            code_url: match code.as_str() {
                "" => String::new(),
                code => format!("{api_url}/docs/errors/{code}"),
            },
            code,
            page: page
                .titled(format!("Request {}", request.request_id))
                .about(&request.organization),
            tone: status_tone(request.status),
            status: request.status,
            at: TimeText::new(request.at, request.at),
            duration: duration_us(request.duration_us),
            key: request.key.map_or_else(String::new, |key| key.to_string()),
            booking: request
                .booking
                .map_or_else(String::new, |id| id.to_string()),
            request_id: request.request_id,
            method: request.method,
            route: request.route,
            path: request.path,
            organization: request.organization,
            user: request.user,
            host: request.host,
        }
    }
}

impl BodyText {
    fn new(id: &'static str, label: &'static str, body: LoggedBody) -> Self {
        Self {
            id,
            label,
            text: body.text.as_deref().map(indented).unwrap_or_default(),
            size: bytes(body.bytes),
            is_empty: body.bytes == 0,
        }
    }
}

/// Returns JSON on several lines.
fn indented(text: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(text);
    let text_of = |value: serde_json::Value| serde_json::to_string_pretty(&value);
    value.and_then(text_of).unwrap_or_else(|_| text.to_owned())
}

impl OtherCall {
    fn new(request: &LoggedRequest) -> Self {
        Self {
            path: call_path(request),
            title: format!("{} {}", request.method, request.route),
            tone: status_tone(request.status),
            status: request.status,
            at: TimeText::new(request.at, request.at),
        }
    }
}

fn waterfall(request: &LoggedRequest, calls: Vec<LoggedCall>) -> Option<Waterfall> {
    if calls.is_empty() {
        return None;
    }
    let began_at = request.began_at();
    let spans = calls.into_iter().map(|call| span(began_at, call));
    Some(Waterfall::new(request.duration_us, spans.collect()))
}

fn span(began_at: Timestamp, call: LoggedCall) -> WaterfallSpan {
    let offset_ms = u64::try_from(call.started_at.since(began_at)).unwrap_or_default();
    let is_nested = call.kind == LoggedCallKind::Http;
    let (name, mut details) = match call.kind {
        LoggedCallKind::Plugin => (
            format!("{} {}.{}", call.supplier, call.capability, call.function),
            Vec::new(),
        ),
        LoggedCallKind::Http => {
            let status = call.status.map(|status| status.to_string());
            let sizes = format!("{} in", bytes(call.response_bytes));
            (call.target, status.into_iter().chain([sizes]).collect())
        }
    };
    details.extend(call.detail);
    let is_failed_status = call.status.is_some_and(|status| status >= 400);
    WaterfallSpan {
        name,
        detail: details.join(" · "),
        tone: match (call.is_failure, is_failed_status) {
            (true, _) => "bad",
            (false, true) => "wait",
            (false, false) => "good",
        },
        outcome: words(&call.outcome),
        is_nested,
        offset_us: offset_ms * 1000,
        duration_us: call.duration_us,
        path: None,
    }
}
