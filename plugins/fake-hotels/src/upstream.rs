//! Lodge's address and the form of its requests. The gateway adds the API key.

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

pub(crate) struct LodgeClient {
    /// Base URL without a trailing slash.
    root: String,
}

impl LodgeClient {
    pub(crate) fn from_settings() -> Result<Self, SettingsError> {
        let Settings { base_url } = settings::read()?;
        Ok(Self {
            root: base_url.join("/lodge/v1"),
        })
    }

    /// Creates a GET request. The path is percent-encoded and starts with a slash.
    pub(crate) fn get(&self, path: &str) -> Request {
        Request::get(format!("{}{path}", self.root))
    }

    pub(crate) fn post<T: Serialize>(&self, path: &str, body: &T) -> Result<Request, EncodeError> {
        Request::post(format!("{}{path}", self.root)).json(body)
    }
}
