//! The sandbox's address. The gateway adds the API keys.

use stopover_sdk::http::Request;
use stopover_sdk::settings::{self, SettingsError};

pub(crate) const SETTINGS_SCHEMA: &str = include_str!("settings.schema.json");

/// Creates a GET request. The path is percent-encoded and starts with a slash.
pub(crate) fn get(path: &str) -> Result<Request, SettingsError> {
    Ok(Request::get(settings::url(path)?))
}

/// Creates a POST request without a body.
pub(crate) fn post(path: &str) -> Result<Request, SettingsError> {
    Ok(Request::post(settings::url(path)?))
}
