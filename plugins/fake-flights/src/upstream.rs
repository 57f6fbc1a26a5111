//! The sandbox's address and the form of its suppliers' requests. The gateway adds the API keys.

use serde::{Deserialize, Serialize};
use stopover_sdk::http::Request;
use stopover_sdk::json::EncodeError;
use stopover_sdk::settings::{self, BaseUrl, SettingsError};

pub(crate) const SETTINGS_SCHEMA: &str = include_str!("settings.schema.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    base_url: BaseUrl,
}

pub(crate) struct ApiClient {
    /// Base URL without a trailing slash.
    root: String,
}

impl ApiClient {
    /// Opens the API at this path, which starts with a slash.
    pub(crate) fn from_settings(path: &str) -> Result<Self, SettingsError> {
        let Settings { base_url } = settings::read()?;
        Ok(Self {
            root: base_url.join(path),
        })
    }

    /// Creates a GET request. The path is percent-encoded and starts with a slash.
    pub(crate) fn get(&self, path: &str) -> Request {
        Request::get(format!("{}{path}", self.root))
    }

    pub(crate) fn post<T: Serialize>(&self, path: &str, body: &T) -> Result<Request, EncodeError> {
        self.post_empty(path).json(body)
    }

    /// Creates a POST request without a body.
    pub(crate) fn post_empty(&self, path: &str) -> Request {
        Request::post(format!("{}{path}", self.root))
    }
}
