//! Recorder that writes each exchange into its own file, numbered in the order of completion.

use super::{Body, CassetteError, RecordedExchange, RecordedRequest, RecordedResponse, redact};
use crate::exchange::{OutboundRequest, UpstreamResponse};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) struct Recorder {
    folder: PathBuf,
    kept: AtomicU32,
}

impl Recorder {
    /// Opens a folder. Numbering continues after the files it already contains.
    pub(crate) fn open(folder: &Path) -> Result<Self, CassetteError> {
        let failed = |source| CassetteError::Folder(folder.to_owned(), source);
        fs::create_dir_all(folder).map_err(failed)?;
        let kept = fs::read_dir(folder).map_err(failed)?.count();
        Ok(Self {
            folder: folder.to_owned(),
            kept: AtomicU32::new(u32::try_from(kept).unwrap_or(u32::MAX)),
        })
    }

    /// Records an exchange. Recording serves development only, so the file is written on the
    /// call's own task. If writing fails, the failure is logged and the call continues.
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
                "the response is neither JSON nor a form; it is recorded without its body"
            );
        }
        if let Err(error) = self.write(&exchange) {
            tracing::warn!(
                %error,
                folder = %self.folder.display(),
                "an exchange could not be recorded; make the folder writable and repeat the call"
            );
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
