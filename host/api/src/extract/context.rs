//! Extractors of the request context, which the middleware creates.

use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::extract::FromRequestParts;
use host_application::context::{AnonymousContext, RequestContext};
use http::request::Parts;

/// Extracts the context of an authenticated request.
#[derive(Debug, Clone)]
pub(crate) struct Context(pub RequestContext);

/// Extracts the context of any request, authenticated or not.
#[derive(Debug, Clone)]
pub(crate) struct Anonymous(pub AnonymousContext);

impl<S: Sync> FromRequestParts<S> for Anonymous {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let context = parts.extensions.get().cloned().map(Self);
        context.ok_or_else(|| ErrorCode::InternalError.into())
    }
}

impl<S: Sync> FromRequestParts<S> for Context {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let context = parts.extensions.get().cloned().map(Self);
        context.ok_or_else(|| ErrorCode::MissingApiKey.into())
    }
}
