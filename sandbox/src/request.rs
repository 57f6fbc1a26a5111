//! Reading requests for all four suppliers: the caller's account and the contents. Each supplier
//! defines the format of its refusals.

use axum::{
    Router,
    extract::{FromRequestParts, Request},
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{Uri, request::Parts};
use serde::de::DeserializeOwned;

use crate::{credentials::Credential, state::SandboxState};

/// The account whose key the caller sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account(pub(crate) &'static str);

impl<S: Sync> FromRequestParts<S> for Account {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        parts
            .extensions
            .get::<Self>()
            .copied()
            .ok_or_else(|| http::StatusCode::UNAUTHORIZED.into_response())
    }
}

/// Lets only requests with one of these keys pass.
pub(crate) fn keyed<R: IntoResponse + 'static>(
    router: Router<SandboxState>,
    credentials: &'static [Credential],
    unauthorized: fn() -> R,
) -> Router<SandboxState> {
    router.layer(from_fn(
        move |mut request: Request, next: Next| async move {
            let known = credentials.iter().find(|credential| {
                request
                    .headers()
                    .get(credential.header)
                    .is_some_and(|value| value.as_bytes() == credential.value.as_bytes())
            });
            match known {
                Some(credential) => {
                    request.extensions_mut().insert(Account(credential.account));
                    next.run(request).await
                }
                None => unauthorized().into_response(),
            }
        },
    ))
}

/// Parses the body as JSON.
///
/// # Errors
/// Returns a sentence that describes the first error.
pub(crate) fn body<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("body: {error}"))
}

/// Parses the query.
///
/// # Errors
/// Returns a sentence that describes the first error.
pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, String> {
    axum::extract::Query::try_from_uri(uri)
        .map(|axum::extract::Query(query)| query)
        .map_err(|error| format!("query: {}", error.body_text()))
}

/// Checks the length of a caller's reference.
pub(crate) fn check_reference(name: &str, text: &str) -> Result<(), String> {
    match text.chars().count() {
        1..=200 => Ok(()),
        _ => Err(format!("{name} must have 1 to 200 characters")),
    }
}
