//! Errors as pages.

use crate::error::PageError;
use crate::page::PageContext;
use crate::render::render;
use askama::Template;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use host_application::account::viewer::Viewer;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use std::sync::Arc;

/// A form that changes the mode and returns to a page.
struct ModeSwitch {
    mode: &'static str,
    next: String,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    page: PageContext,
    heading: &'static str,
    message: &'static str,
    switch: Option<ModeSwitch>,
    is_signed_in: bool,
}

/// Middleware: renders the page of an error.
pub(crate) async fn render_errors(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let page = PageContext::from_parts(&parts);
    let response = next.run(Request::from_parts(parts, body)).await;
    let Some(error) = response.extensions().get::<PageError>() else {
        return response;
    };
    let text = error.text();
    let error_page = ErrorPage {
        is_signed_in: response.extensions().get::<Arc<Viewer>>().is_some(),
        switch: match error {
            PageError::OtherMode(mode) => Some(ModeSwitch {
                mode: mode.as_str(),
                next: page.path.clone(),
            }),
            _ => None,
        },
        page: page.titled(text.heading),
        heading: text.heading,
        message: text.message,
    };
    let mut rendered = render(&error_page);
    *rendered.status_mut() = text.status;
    // Other headers, such as `Retry-After`, are kept; these two described the empty body.
    for (name, value) in response.headers() {
        if name != CONTENT_LENGTH && name != CONTENT_TYPE {
            rendered.headers_mut().append(name, value.clone());
        }
    }
    rendered
}
