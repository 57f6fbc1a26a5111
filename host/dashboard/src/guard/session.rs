//! Finds the session of a request and sends people without one to the sign-in.

use crate::error::PageError;
use crate::guard::client::client_address;
use crate::guard::cookie::session_token;
use crate::guard::origin::SEC_FETCH_SITE;
use crate::local_path::LocalPath;
use crate::render::render;
use crate::state::DashboardState;
use askama::Template;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use host_application::account::session::SessionActivity;
use host_application::account::viewer::Viewer;
use http::header::ACCEPT;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, StatusCode};
use secrecy::SecretString;
use std::sync::Arc;
use url::form_urlencoded;

/// Header of the requests that htmx sends on its own.
const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");

/// Media type that a browser names for a list's new rows.
const EVENT_STREAM: &str = "text/event-stream";

/// The person who has signed in. It is an extractor.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn(pub(crate) Arc<Viewer>);

/// The token of the session's cookie. It is an extractor.
#[derive(Debug, Clone)]
pub(crate) struct SessionToken(pub(crate) SecretString);

/// Middleware: makes the viewer available to handlers and to the layout. Only public pages and
/// assets are served without a session.
pub(crate) async fn require_session(
    State(state): State<DashboardState>,
    mut request: Request,
    next: Next,
) -> Result<Response, PageError> {
    // Assets are the same for everybody.
    if request.uri().path().starts_with("/assets/") {
        return Ok(next.run(request).await);
    }
    let token = session_token(&state.settings, request.headers());
    let sessions = &state.application.accounts.sessions;
    let viewer = match &token {
        Some(token) => {
            let headers = request.headers();
            let address = client_address(request.extensions(), headers, &state.settings);
            sessions.find(token, activity(&request), address).await?
        }
        None => None,
    };
    if let (Some(viewer), Some(token)) = (viewer, token) {
        request.extensions_mut().insert(Arc::clone(&viewer));
        request.extensions_mut().insert(SessionToken(token));
        let mut response = next.run(request).await;
        // Error pages are rendered further outside.
        response.extensions_mut().insert(viewer);
        return Ok(response);
    }
    if is_public(request.uri().path()) {
        return Ok(next.run(request).await);
    }
    if accepts_events(request.headers()) {
        // The page of the sign-in would be an error in the browser's console. The script asks
        // whether the session has ended.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(send_to_sign_in(&request))
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let types = headers.get(ACCEPT);
    types.is_some_and(|types| types.as_bytes() == EVENT_STREAM.as_bytes())
}

/// The overview refreshes its figures and lists receive new rows as long as they are open. That does
/// not keep a session alive.
fn activity(request: &Request) -> SessionActivity {
    let is_stream = request.uri().path().starts_with("/stream/");
    if is_stream || request.headers().contains_key(HX_REQUEST) {
        SessionActivity::Poll
    } else {
        SessionActivity::Person
    }
}

fn is_public(path: &str) -> bool {
    path == "/login" || path.starts_with("/login/") || path.starts_with("/setup/")
}

/// A page that leads a browser on at once.
#[derive(Template)]
#[template(path = "forward.html")]
pub(crate) struct ForwardPage<'a> {
    pub(crate) title: &'a str,
    pub(crate) heading: &'a str,
    /// Text of the link, for browsers that do not follow by themselves.
    pub(crate) link: &'a str,
    pub(crate) url: &'a str,
}

/// Browsers do not send the cookie if a page of another site, for example a mail client, links
/// here. The page is therefore opened again, from a page of the dashboard.
fn send_to_sign_in(request: &Request) -> Response {
    let path = request.uri().path_and_query();
    let path = LocalPath::parse(path.map_or("/", |path| path.as_str()));
    if request.method() != Method::GET {
        return Redirect::to("/login").into_response();
    }
    if is_arrival(request.headers()) {
        return arrival(&path);
    }
    if path.as_str() == "/" {
        return Redirect::to("/login").into_response();
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", path.as_str());
    Redirect::to(&format!("/login?{}", query.finish())).into_response()
}

/// Returns a page of the dashboard that opens a path. The browser then sends the session's cookie,
/// which it does not for a path to which another site leads.
pub(crate) fn arrival(path: &LocalPath) -> Response {
    render(&ForwardPage {
        title: "Opening",
        heading: "Opening the page",
        link: "Continue",
        url: path.as_str(),
    })
}

fn is_arrival(headers: &HeaderMap) -> bool {
    let site = headers.get(SEC_FETCH_SITE);
    site.is_some_and(|site| site == "cross-site" || site == "same-site")
}

impl<S: Send + Sync> FromRequestParts<S> for SignedIn {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, PageError> {
        let viewer = parts.extensions.get().cloned();
        viewer.map(Self).ok_or(PageError::Forbidden)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for SessionToken {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, PageError> {
        parts.extensions.get().cloned().ok_or(PageError::Forbidden)
    }
}
