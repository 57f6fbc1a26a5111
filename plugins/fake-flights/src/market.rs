//! Where the sandbox is and how its suppliers are spoken to. The keys are not
//! known here: the gateway adds them.

use serde::{Deserialize, Serialize};
use stopover_sdk::http::Request;
use stopover_sdk::json::Unwritable;
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

/// The API of one supplier.
pub(crate) struct Api {
    /// Without a slash at the end.
    root: String,
}

impl Api {
    /// The one under this path, which begins with a slash.
    pub(crate) fn open(path: &str) -> Result<Self, Unusable> {
        let Settings { base_url } = settings::read()?;
        Ok(Self {
            root: format!("{}{path}", base_url.trim_end_matches('/')),
        })
    }

    /// Of a path that is encoded and begins with a slash.
    pub(crate) fn get(&self, path: &str) -> Request {
        Request::get(format!("{}{path}", self.root))
    }

    pub(crate) fn post<T: Serialize>(&self, path: &str, body: &T) -> Result<Request, Unwritable> {
        self.post_nothing(path).json(body)
    }

    /// Without a body.
    pub(crate) fn post_nothing(&self, path: &str) -> Request {
        Request::post(format!("{}{path}", self.root))
    }
}
