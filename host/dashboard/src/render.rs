//! Renders templates.

use crate::error::PageError;
use askama::Template;
use axum::response::{Html, IntoResponse, Redirect, Response};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};

/// Renders a page with status 200.
pub(crate) fn render(template: &impl Template) -> Response {
    render_with(StatusCode::OK, template)
}

/// Renders a page with this status.
pub(crate) fn render_with(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(error) => PageError::internal(error).into_response(),
    }
}

/// Renders the page of a locked account or address with status 429.
pub(crate) fn render_locked(template: &impl Template, retry_after_s: u64) -> Response {
    let mut response = render_with(StatusCode::TOO_MANY_REQUESTS, template);
    let seconds = HeaderValue::from(retry_after_s);
    response.headers_mut().insert(RETRY_AFTER, seconds);
    response
}

/// Leads to another page with a GET, after a form too.
pub(crate) fn redirect(path: &str) -> Response {
    Redirect::to(path).into_response()
}
