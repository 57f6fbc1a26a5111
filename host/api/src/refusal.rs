//! Responses to requests whose head is refused before any route sees it.

use crate::error_code::ErrorCode;
use crate::problem::{ApiError, PROBLEM_JSON};
use crate::rate_limit::RateLimitKey;
use crate::state::{ApiState, error_docs_url};
use host_application::id_generator;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use std::net::IpAddr;

impl ApiState {
    /// Returns the response of [`refused_request`] to a client of the API, with its rate limit. The
    /// key of the request is not known, so the request counts for the client's address.
    pub fn refused_request(&self, status: StatusCode, client: IpAddr) -> Response<Vec<u8>> {
        let mut response = refused_request(status, &self.base_url);
        let bucket = RateLimitKey::ClientAddress(Some(client));
        let verdict = self.rate_limiter.check(&bucket);
        let headers = response.headers_mut();
        self.rate_limiter.insert_headers(verdict, headers);
        response
    }
}

/// Returns the problem document for a request that the HTTP library refused with a status, and logs
/// it. `base_url` is that of the API as clients see it, without a trailing slash.
pub fn refused_request(status: StatusCode, base_url: &str) -> Response<Vec<u8>> {
    let code = match status {
        StatusCode::URI_TOO_LONG => ErrorCode::UriTooLong,
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => ErrorCode::HeadersTooLarge,
        _ => ErrorCode::MalformedRequest,
    };
    let request_id = id_generator::new_request_id();
    let (name, status) = (code.as_str(), code.status());
    tracing::info!(
        request_id,
        status = status.as_u16(),
        code = name,
        "request refused"
    );
    let problem = ApiError::from(code).to_problem(&error_docs_url(base_url), &request_id);
    let mut response = Response::new(serde_json::to_vec(&problem).unwrap_or_default());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::from_str(&request_id) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
    response
}
