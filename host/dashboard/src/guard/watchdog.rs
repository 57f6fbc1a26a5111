//! Bounds the time of a request and turns a panic into an error page.

use crate::error::PageError;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// Longest time that a page may take.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Middleware: responds with an error page if the request panics or exceeds [`TIMEOUT`].
pub(crate) async fn bound_request(request: Request, next: Next) -> Result<Response, PageError> {
    // The panic is logged by the hook of the process.
    let work = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(TIMEOUT, work).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(_panic)) => Err(PageError::Internal),
        Err(_elapsed) => Err(PageError::Unavailable),
    }
}
