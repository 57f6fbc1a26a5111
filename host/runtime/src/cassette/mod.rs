//! Exchanges kept as a folder of JSON files, one each, without secrets and
//! personal data; and answering from such a folder instead of the network.
//! A file may be written by hand as well.

mod record;
mod redact;
mod replay;

pub(crate) use record::Recorder;
pub(crate) use replay::Replayer;

use crate::egress::OutboundRequest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A folder of exchanges that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The folder cannot be made or read.
    #[error("cannot use the folder of exchanges {folder}")]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file in it is not an exchange.
    #[error("{file} is not a kept exchange")]
    File {
        /// Which.
        file: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// One exchange, as it stands in its file.
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
    /// Path and query; which host it was does not matter.
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

/// A body: `{"json": …}`, `{"form": "a=b&c=d"}`, `{"text": "…"}`, or nothing.
/// `omitted` holds the SHA-256 of a body that cannot be redacted.
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
    /// As it is kept, and as it is compared: nothing secret, nothing personal.
    fn of(outgoing: &OutboundRequest) -> Self {
        Self {
            method: outgoing.method.as_str().to_owned(),
            path: redact::path_and_query(&outgoing.url),
            headers: redact::headers(&outgoing.headers),
            body: redact::body(&outgoing.body, &outgoing.headers),
        }
    }

    /// What makes two requests the same: method, path, sorted query and body,
    /// without the gateway's own ids, which differ in every run.
    fn key(&self) -> String {
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let mut query: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
        query.sort_unstable();
        let body = String::from_utf8_lossy(&match &self.body {
            Body::Omitted(digest) => digest.clone().into_bytes(),
            body => body.bytes(),
        })
        .into_owned();
        redact::replace_ids(&format!(
            "{} {path}?{} {body}",
            self.method.to_uppercase(),
            query.join("&")
        ))
    }
}

#[cfg(test)]
mod tests;
