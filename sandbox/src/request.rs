//! Reading requests for all four suppliers: the caller's account and the contents. Each supplier
//! defines the format of its refusals.

use axum::{
    RequestPartsExt, Router,
    extract::{FromRequestParts, Path, Request, rejection::PathRejection},
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{StatusCode, Uri, request::Parts};
use serde::de::DeserializeOwned;

use crate::{
    credentials::Credential,
    journal::JournalClosed,
    state::{SandboxRecords, SandboxState},
};

/// The account whose key the caller sent.
#[derive(Clone, Copy)]
struct Account(&'static str);

/// A call of one of the suppliers, without its body.
pub(crate) struct Call {
    pub(crate) app: SandboxState,
    pub(crate) account: &'static str,
    /// The parameter of the path. It is empty if the route has none.
    pub(crate) id: String,
    uri: Uri,
}

impl FromRequestParts<SandboxState> for Call {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &SandboxState) -> Result<Self, Response> {
        let Some(Account(account)) = parts.extensions.get().copied() else {
            return Err(StatusCode::UNAUTHORIZED.into_response());
        };
        let id: Option<Path<String>> = (parts.extract())
            .await
            .map_err(PathRejection::into_response)?;
        Ok(Self {
            app: app.clone(),
            account,
            id: id.map_or_else(String::new, |Path(id)| id),
            uri: parts.uri.clone(),
        })
    }
}

impl Call {
    /// See [`SandboxState::transact`].
    pub(crate) async fn transact<T>(
        &self,
        operation: impl FnOnce(&mut SandboxRecords) -> T,
    ) -> Result<T, JournalClosed> {
        self.app.transact(operation).await
    }

    /// See [`query`].
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Result<T, String> {
        query(&self.uri)
    }
}

/// Lets only requests with one of these keys pass.
pub(crate) fn require_key<R: IntoResponse + 'static>(
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
