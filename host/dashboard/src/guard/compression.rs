//! Compression of pages. Responses to forms are sent as they are: they may show a secret beside a
//! text that a request chose, and their size would then tell something about the secret.

use crate::error::PageError;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, Method};
use std::io::{self, Write as _};

/// Middleware: compresses a page that a GET opens.
///
/// # Errors
/// The page could not be read from its handler.
pub(crate) async fn compress_page(request: Request, next: Next) -> Result<Response, PageError> {
    let is_read = request.method() == Method::GET;
    let is_accepted = accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    let content_type = response.headers().get(CONTENT_TYPE);
    let is_page = content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    if !is_read || !is_page {
        return Ok(response);
    }
    let vary = HeaderValue::from_static("accept-encoding");
    response.headers_mut().append(VARY, vary);
    if !is_accepted {
        return Ok(response);
    }
    let (mut head, body) = response.into_parts();
    let page = to_bytes(body, usize::MAX).await;
    let page = page.map_err(PageError::internal)?;
    let compressed = compress(&page).map_err(PageError::internal)?;
    head.headers.remove(CONTENT_LENGTH);
    let gzip = HeaderValue::from_static("gzip");
    head.headers.insert(CONTENT_ENCODING, gzip);
    Ok(Response::from_parts(head, Body::from(compressed)))
}

/// Returns whether the client takes responses that are compressed with gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT_ENCODING).iter().any(|value| {
        let mut names = value.to_str().unwrap_or_default().split(',');
        names.any(|name| name.trim() == "gzip")
    })
}

fn compress(page: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(page)?;
    encoder.finish()
}
