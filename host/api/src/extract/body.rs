//! The body as bytes, and requests whose body is read only after other checks.

use crate::error_code::ErrorCode;
use crate::extract::context::Anonymous;
use crate::extract::{RequestPart, RequestReader};
use crate::problem::ApiError;
use crate::state::ApiState;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use host_application::context::AnonymousContext;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use std::time::Duration;

/// Number of bytes of a too long body that are read before the connection is closed.
const DRAIN_BYTES_MAX: usize = 8 << 20;

/// A request whose body is not yet read, because it may not be accepted. A path of an invalid form
/// counts as not found. The query is ignored.
#[derive(Debug)]
pub(crate) struct DeferredBody<T> {
    pub parts: T,
    pub headers: HeaderMap,
    /// The unread body.
    pub body: Body,
    /// Request id and deadline.
    pub context: AnonymousContext,
}

impl<T: RequestPart> FromRequest<ApiState> for DeferredBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let Anonymous(context) = Anonymous::from_request_parts(&mut parts, state).await?;
        let mut incoming = RequestReader::from_head(&mut parts, state).await;
        let taken = T::extract(&mut incoming);
        let taken = taken.filter(|_| incoming.found.is_empty());
        Ok(Self {
            parts: taken.ok_or(ErrorCode::NotFound)?,
            headers: parts.headers,
            body,
            context,
        })
    }
}

/// Reason why the body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the body exceeds the maximum length")]
    TooLarge,
    #[error("the body did not arrive in time")]
    Timeout,
    #[error("the body was cut off")]
    Incomplete,
}

pub(crate) async fn read_body(
    headers: &HeaderMap,
    body: Body,
    bytes_max: usize,
    timeout: Duration,
) -> Result<Bytes, BodyError> {
    let declared = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    if declared
        .and_then(|length| length.parse::<u64>().ok())
        .is_some_and(|length| length > DRAIN_BYTES_MAX as u64)
    {
        return Err(BodyError::TooLarge);
    }
    tokio::time::timeout(timeout, drain(body, bytes_max))
        .await
        .map_err(|_| BodyError::Timeout)?
}

/// Reads a body. A body that is too long is still read to its end and discarded, up to a limit.
/// Otherwise a client that is still sending would see a broken connection instead of the response.
async fn drain(body: Body, bytes_max: usize) -> Result<Bytes, BodyError> {
    let mut chunks = body.into_data_stream();
    let mut bytes = BytesMut::new();
    let mut length = 0_usize;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| BodyError::Incomplete)?;
        length = length.saturating_add(chunk.len());
        if length > DRAIN_BYTES_MAX {
            break;
        }
        if length <= bytes_max {
            bytes.extend_from_slice(&chunk);
        }
    }
    if length > bytes_max {
        return Err(BodyError::TooLarge);
    }
    Ok(bytes.freeze())
}
