//! Where Tillway is and how it is spoken to. The key is not known here: the
//! gateway adds it.

use serde::{Deserialize, Serialize};
use stopover_sdk::http::{Error, Request, Response};
use stopover_sdk::json::Unwritable;
use stopover_sdk::payment_processor::PaymentError;
use stopover_sdk::settings::{self, Unusable};

/// Of [`Settings`].
pub(crate) const SETTINGS_SCHEMA: &str = r#"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "base_url": {
            "description": "Where the sandbox is, without a path",
            "type": "string",
            "pattern": "^https?://[^/?#]+/?$"
        }
    },
    "required": ["base_url"],
    "additionalProperties": false
}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    base_url: String,
}

pub(crate) struct Tillway {
    /// Without a slash at the end.
    root: String,
}

impl Tillway {
    pub(crate) fn open() -> Result<Self, Unusable> {
        let Settings { base_url } = settings::read()?;
        Ok(Self {
            root: format!("{}/tillway/v1", base_url.trim_end_matches('/')),
        })
    }

    /// Of a path that is encoded and begins with a slash.
    pub(crate) fn get(&self, path: &str) -> Request {
        Request::get(format!("{}{path}", self.root))
    }

    fn post<T: Serialize>(&self, path: &str, body: &T) -> Result<Request, Unwritable> {
        Request::post(format!("{}{path}", self.root)).json(body)
    }
}

/// Sends what may move money, and tells what was not sent from what may have been.
pub(crate) fn change<T: Serialize>(path: &str, body: &T) -> Result<Response, PaymentError> {
    let tillway = Tillway::open().map_err(|error| PaymentError::NotSent(error.to_string()))?;
    let request = tillway
        .post(path, body)
        .map_err(|error| PaymentError::NotSent(error.to_string()))?;
    request.send().map_err(|error| match error {
        Error::Denied(text) | Error::NotSent(text) => PaymentError::NotSent(text),
        Error::TimedOut(text) | Error::Cut(text) => PaymentError::Unknown(text),
        Error::TooLarge(cap) => PaymentError::Unknown(format!("the answer is over {cap} bytes")),
    })
}
