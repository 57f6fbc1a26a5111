//! Embedded style sheets and scripts. Their URLs contain their digest, so browsers keep them.

use crate::error::PageError;
use crate::guard::compression::accepts_gzip;
use crate::path_text::PathText;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};

/// A file of `assets/`.
pub(crate) struct Asset {
    /// Path below `assets/`.
    name: &'static str,
    /// Path of the URL.
    url: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
    gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The URL that [`url()`] returns for a name that no asset has.
pub(crate) const UNKNOWN_URL: &str = "/assets/unknown";

/// Returns the URL of an asset. A test checks the names that templates use.
pub(crate) fn url(name: &str) -> &'static str {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    asset.map_or(UNKNOWN_URL, |asset| asset.url)
}

/// `GET /assets/{digest}/{name}`
pub(crate) async fn serve(
    PathText(path): PathText,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let is_asked = |asset: &&Asset| asset.url.strip_prefix("/assets/") == Some(path.as_str());
    let asset = ASSETS.iter().find(is_asked).ok_or(PageError::NotFound)?;
    let common = [
        (CONTENT_TYPE, asset.content_type),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (VARY, "accept-encoding"),
    ];
    Ok(if accepts_gzip(&headers) {
        (common, [(CONTENT_ENCODING, "gzip")], asset.gzip).into_response()
    } else {
        (common, asset.bytes).into_response()
    })
}
