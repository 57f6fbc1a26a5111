//! Keeping exchanges: each in a file of its own, numbered in the order in which
//! they ended.

use super::{Body, CassetteError, RecordedExchange, RecordedRequest, RecordedResponse, redact};
use crate::egress::{UpstreamResponse, OutboundRequest};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Writes exchanges into a folder.
pub(crate) struct Recorder {
    folder: PathBuf,
    kept: AtomicU32,
}

impl Recorder {
    /// Goes on after what the folder already holds.
    pub(crate) fn open(folder: &Path) -> Result<Self, CassetteError> {
        let failed = |source| CassetteError::Folder {
            folder: folder.to_owned(),
            source,
        };
        fs::create_dir_all(folder).map_err(failed)?;
        let kept = fs::read_dir(folder).map_err(failed)?.count();
        Ok(Self {
            folder: folder.to_owned(),
            kept: AtomicU32::new(u32::try_from(kept).unwrap_or(u32::MAX)),
        })
    }

    /// Keeps one. Recording is for development: the write is on the call's own
    /// task, and a failure of it is told and does not fail the call.
    pub(crate) fn record(&self, outgoing: &OutboundRequest, incoming: &UpstreamResponse) {
        let exchange = RecordedExchange {
            request: RecordedRequest::of(outgoing),
            response: RecordedResponse {
                status: incoming.status,
                headers: redact::headers(&incoming.headers),
                body: redact::body(&incoming.body, &incoming.headers),
            },
        };
        if matches!(exchange.response.body, Body::Omitted(_)) {
            tracing::warn!(
                path = exchange.request.path,
                "the response is neither JSON nor a form and is kept without its body"
            );
        }
        if let Err(error) = self.write(&exchange) {
            tracing::warn!(%error, folder = %self.folder.display(), "an exchange could not be kept");
        }
    }

    fn write(&self, exchange: &RecordedExchange) -> io::Result<()> {
        let number = self.kept.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let path = exchange.request.path.split('?').next().unwrap_or_default();
        let slug: String = path
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(60)
            .collect();
        let name = format!(
            "{number:04}-{}{slug}.json",
            exchange.request.method.to_lowercase()
        );
        let mut text = serde_json::to_string_pretty(exchange).map_err(io::Error::other)?;
        text.push('\n');
        fs::write(self.folder.join(name), text)
    }
}
