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

/// The page of an error for a person who has signed in. Its header switches the mode, which is the
/// way to a page of the other mode.
#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    page: PageContext,
    message: &'static str,
}

/// The page of an error for everybody else.
#[derive(Template)]
#[template(path = "error_anonymous.html")]
struct AnonymousErrorPage {
    page: PageContext,
    message: &'static str,
}

/// Middleware: renders the page of an error.
pub(crate) async fn render_errors(request: Request, next: Next) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let nonce = request.extensions().get().cloned().unwrap_or_default();
    let response = next.run(request).await;
    let Some(error) = response.extensions().get::<PageError>() else {
        return response;
    };
    let text = error.text();
    let message = text.message;
    // The session is found further inside, so the request that came in here has no viewer.
    let viewer = response.extensions().get::<Arc<Viewer>>();
    let page = PageContext::new(&method, &uri, nonce, viewer.map(Arc::as_ref));
    let page = page.titled(text.heading).without_notice();
    let mut rendered = if viewer.is_some() {
        render(&ErrorPage { page, message })
    } else {
        render(&AnonymousErrorPage { page, message })
    };
    *rendered.status_mut() = text.status;
    // Other headers, such as `Retry-After`, are kept; these two described the empty body.
    for (name, value) in response.headers() {
        if name != CONTENT_LENGTH && name != CONTENT_TYPE {
            rendered.headers_mut().append(name, value.clone());
        }
    }
    rendered
}
