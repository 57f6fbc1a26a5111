//! The variable part of a path.

use crate::error::PageError;
use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

/// The only variable part of the path, decoded. It is an extractor. A part that is not UTF-8
/// gets the page of unknown paths.
#[derive(Debug)]
pub(crate) struct PathText(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) = path.map_err(|_| PageError::NotFound)?;
        Ok(Self(text))
    }
}
