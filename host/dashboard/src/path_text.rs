//! The variable part of a path.

use crate::error::PageError;
use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

/// The only variable part of the path, decoded. It is an extractor. A part that is not UTF-8 or
/// has a NUL character, which no database column has, gets the page of unknown paths.
#[derive(Debug)]
pub(crate) struct PathText(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) = path.map_err(|_| PageError::NotFound)?;
        without_nul(text).map(Self)
    }
}

/// The only variable part of the path, which is an identifier. It is an extractor like [`PathText`];
/// a text of another form gets the page of unknown paths too.
#[derive(Debug)]
pub(crate) struct IdInPath<T>(pub(crate) T);

impl<S: Send + Sync, T: TryFrom<String>> FromRequestParts<S> for IdInPath<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let PathText(text) = PathText::from_request_parts(parts, state).await?;
        let id = T::try_from(text).map_err(|_| PageError::NotFound)?;
        Ok(Self(id))
    }
}

/// The two variable parts of the path, of which each may be an identifier. It is an extractor like
/// [`IdInPath`].
#[derive(Debug)]
pub(crate) struct PairInPath<A, B>(pub(crate) A, pub(crate) B);

impl<S, A, B> FromRequestParts<S> for PairInPath<A, B>
where
    S: Send + Sync,
    A: TryFrom<String>,
    B: TryFrom<String>,
{
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let path = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((first, second)) = path.map_err(|_| PageError::NotFound)?;
        let (first, second) = (without_nul(first)?, without_nul(second)?);
        match (A::try_from(first), B::try_from(second)) {
            (Ok(first), Ok(second)) => Ok(Self(first, second)),
            _ => Err(PageError::NotFound),
        }
    }
}

/// Refuses a text with a NUL character, on which PostgreSQL fails.
fn without_nul(text: String) -> Result<String, PageError> {
    match text.contains('\0') {
        true => Err(PageError::NotFound),
        false => Ok(text),
    }
}

/// Returns a text as one part of a path. Clients choose the ids of their requests.
pub(crate) fn path_segment(text: &str) -> String {
    let encoded = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}
