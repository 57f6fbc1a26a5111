//! Replay of recorded exchanges. Equal requests receive the recorded responses in their recorded
//! order. The last response is repeated for all further requests.

use super::{CassetteError, RecordedExchange, RecordedRequest, RecordedResponse, redact};
use crate::exchange::{ExchangeError, OutboundRequest, UpstreamResponse};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
struct ReplayQueue {
    recorded: Vec<(RecordedRequest, RecordedResponse)>,
    served: usize,
}

pub(crate) struct Replayer {
    folder: PathBuf,
    responses: Mutex<HashMap<String, ReplayQueue>>,
}

impl Replayer {
    /// Reads all recorded exchanges of a folder in the order of the file names.
    pub(crate) fn open(folder: &Path) -> Result<Self, CassetteError> {
        let failed = |source| CassetteError::Folder(folder.to_owned(), source);
        let mut files = fs::read_dir(folder)
            .map_err(failed)?
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        files.sort_by_key(fs::DirEntry::file_name);
        let mut responses: HashMap<String, ReplayQueue> = HashMap::new();
        for file in files
            .iter()
            .map(fs::DirEntry::path)
            .filter(|file| file.extension().is_some_and(|e| e == "json"))
        {
            let text = fs::read_to_string(&file).map_err(failed)?;
            let exchange: RecordedExchange = serde_json::from_str(&text)
                .map_err(|source| CassetteError::File(file.clone(), source))?;
            responses
                .entry(exchange.request.key())
                .or_default()
                .recorded
                .push((exchange.request, exchange.response));
        }
        Ok(Self {
            folder: folder.to_owned(),
            responses: Mutex::new(responses),
        })
    }

    /// Returns the recorded response, or an error that names the missing request.
    pub(crate) fn replay(
        &self,
        outgoing: &OutboundRequest,
    ) -> Result<UpstreamResponse, ExchangeError> {
        let request = RecordedRequest::of(outgoing);
        let mut responses = self
            .responses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let missing = || {
            let body: String = String::from_utf8_lossy(&request.body.bytes())
                .chars()
                .take(300)
                .collect();
            let folder = self.folder.display();
            ExchangeError::NotSent(format!(
                "no exchange kept in {folder} for {} {} {body}",
                request.method, request.path
            ))
        };
        let found = responses.get_mut(&request.key()).ok_or_else(missing)?;
        let position = found.served.min(found.recorded.len().saturating_sub(1));
        found.served += 1;
        let (recorded, response) = found.recorded.get(position).ok_or_else(missing)?;
        Ok(incoming(response, recorded, &request))
    }
}

/// Builds the response. Gateway ids of the recorded request are replaced by those of the current
/// request.
fn incoming(
    response: &RecordedResponse,
    recorded: &RecordedRequest,
    request: &RecordedRequest,
) -> UpstreamResponse {
    let mut headers = HeaderMap::new();
    for (name, value) in &response.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.append(name, value);
        }
    }
    let renamed = redact::ids(recorded)
        .into_iter()
        .zip(redact::ids(request))
        .filter(|(old, new)| old != new);
    let body = renamed.fold(
        response.body.bytes(),
        |body, (old, new)| match String::from_utf8(body) {
            Ok(text) => text.replace(&old, &new).into_bytes(),
            Err(binary) => binary.into_bytes(),
        },
    );
    UpstreamResponse {
        status: response.status,
        headers,
        body,
    }
}
