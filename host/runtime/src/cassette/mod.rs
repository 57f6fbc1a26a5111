//! Recorded exchanges: a folder with one JSON file for each exchange, without secrets and personal
//! data. Requests can be answered from such a folder instead of the network. Files may also be
//! written by hand.

mod record;
mod redact;
mod replay;

pub(crate) use record::Recorder;
pub(crate) use replay::Replayer;

use crate::exchange::OutboundRequest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A folder of recorded exchanges that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The folder cannot be created or read.
    #[error("the folder of recorded exchanges {0} cannot be used")]
    Folder(PathBuf, #[source] std::io::Error),
    /// A file in the folder is not a recorded exchange.
    #[error("{0} is not a recorded exchange")]
    File(PathBuf, #[source] serde_json::Error),
}

/// A recorded exchange in the form of its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedExchange {
    request: RecordedRequest,
    response: RecordedResponse,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedRequest {
    method: String,
    /// Path and query. The host is not recorded, because it does not affect the match.
    path: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Body::is_none")]
    body: Body,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedResponse {
    status: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Body::is_none")]
    body: Body,
}

/// A recorded body: `{"json": …}`, `{"form": "a=b&c=d"}`, `{"text": "…"}`, or none. `omitted` holds
/// the SHA-256 of a body that cannot be redacted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Body {
    #[default]
    None,
    Json(Value),
    Form(String),
    Text(String),
    Omitted(String),
}

impl Body {
    const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::None | Self::Omitted(_) => Vec::new(),
            Self::Json(value) => value.to_string().into_bytes(),
            Self::Form(text) | Self::Text(text) => text.clone().into_bytes(),
        }
    }
}

impl RecordedRequest {
    /// Redacts a request into the form that is stored and compared.
    fn of(outgoing: &OutboundRequest) -> Self {
        Self {
            method: outgoing.method.as_str().to_owned(),
            path: redact::path_and_query(&outgoing.url),
            headers: redact::headers(&outgoing.headers),
            body: redact::body(&outgoing.body, &outgoing.headers),
        }
    }

    /// Returns the key that identifies equal requests: method, path, sorted query and body. The
    /// gateway's own ids are replaced, because they differ in every run.
    fn key(&self) -> String {
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let mut query: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
        query.sort_unstable();
        let body = match &self.body {
            Body::Omitted(digest) => digest.clone().into_bytes(),
            body => body.bytes(),
        };
        let (method, query) = (self.method.to_uppercase(), query.join("&"));
        let body = String::from_utf8_lossy(&body);
        redact::replace_ids(&format!("{method} {path}?{query} {body}"))
    }
}

#[cfg(test)]
mod tests;
