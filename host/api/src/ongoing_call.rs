//! Logs, measures and records one API call: its line in the access log, its metrics and its entry in
//! the request log.

use crate::access_log::AccessLogEntry;
use crate::capture::{Capture, CapturedCall};
use crate::problem::ApiError;
use crate::state::ApiState;
use axum::response::Response;
use host_application::context::RequestContext;
use host_application::deadline::Stopwatch;
use host_domain::id::KeyId;
use http::Method;
use std::sync::Arc;
use std::time::Duration;

/// Status of a call whose client closed the connection before the response. No client receives it.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// A call that has no response yet. If it is dropped, its client has hung up; the call is logged and
/// recorded nevertheless, because a change may have been made.
pub(crate) struct OngoingCall<'a> {
    pub(crate) state: &'a ApiState,
    pub(crate) stopwatch: Stopwatch,
    pub(crate) request_id: &'a Arc<str>,
    pub(crate) method: &'a Method,
    pub(crate) route: Option<&'a str>,
    /// Context of a call with a valid key.
    pub(crate) context: Option<&'a RequestContext>,
    /// `None` if the call is not recorded.
    pub(crate) capture: Option<Capture>,
    pub(crate) has_response: bool,
}

impl OngoingCall<'_> {
    /// Logs, measures and records the call with its response.
    pub(crate) async fn finish(mut self, response: &mut Response, error: Option<&ApiError>) {
        self.has_response = true;
        let duration = self.stopwatch.elapsed();
        self.log(response.status().as_u16(), duration, error);
        if let Some(capture) = self.capture.take() {
            let recorder = &self.state.application.recorder;
            let call = self.captured(duration, error);
            capture.finish(recorder, response, call).await;
        }
    }

    fn log(&self, status: u16, duration: Duration, error: Option<&ApiError>) {
        AccessLogEntry {
            request_id: self.request_id,
            method: self.method,
            route: self.route,
            status,
            duration,
            organization: self
                .context
                .map(|context| context.owner.tenant.organization.as_str()),
            key: self
                .context
                .and_then(|context| context.key_id.as_ref().map(KeyId::as_str)),
            code: error.map(|error| error.code().as_str()),
            cause: error.and_then(ApiError::cause),
        }
        .record();
    }

    fn captured(&self, duration: Duration, error: Option<&ApiError>) -> CapturedCall<'_> {
        CapturedCall {
            request_id: self.request_id,
            context: self.context,
            method: self.method,
            route: self.route,
            at: self.state.now(),
            duration,
            code: error.map(|error| error.code().as_str()),
        }
    }
}

impl Drop for OngoingCall<'_> {
    fn drop(&mut self) {
        if self.has_response {
            return;
        }
        let duration = self.stopwatch.elapsed();
        self.log(CLIENT_CLOSED_REQUEST, duration, None);
        if let Some(capture) = self.capture.take() {
            let recorder = &self.state.application.recorder;
            let call = self.captured(duration, None);
            capture.finish_without_response(recorder, CLIENT_CLOSED_REQUEST, &call);
        }
    }
}
