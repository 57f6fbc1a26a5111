//! Security headers of every response, and the nonce of its scripts.

use crate::error::PageError;
use crate::nonce::Nonce;
use crate::state::DashboardState;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use host_application::account::secret::generate_token;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderName, HeaderValue};

/// `same-origin` and not `no-referrer`: with the latter, browsers send `Origin: null` with forms.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// Middleware: gives the request a nonce, and the response its security headers. Pages are not
/// cached, because they may hold secrets.
pub(crate) async fn secure_response(
    State(state): State<DashboardState>,
    mut request: Request,
    next: Next,
) -> Response {
    let nonce = match generate_token() {
        Ok(token) => Nonce::new(&token),
        Err(error) => return PageError::internal(error).into_response(),
    };
    request.extensions_mut().insert(nonce.clone());
    let mut response = next.run(request).await;
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self'; \
         connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    let headers = response.headers_mut();
    headers.extend(HEADERS.map(|(name, value)| (Some(name), value)));
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    if state.settings.is_https() {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(STRICT_TRANSPORT_SECURITY, year);
    }
    response
}
