//! The sandbox's address. The gateway adds the API keys.

use serde::Deserialize;
use stopover_sdk::http::Request;
use stopover_sdk::settings::{self, BaseUrl, SettingsError};

pub(crate) const SETTINGS_SCHEMA: &str = include_str!("settings.schema.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    base_url: BaseUrl,
}

/// Creates a GET request. The path is percent-encoded and starts with a slash.
pub(crate) fn get(path: &str) -> Result<Request, SettingsError> {
    Ok(Request::get(url(path)?))
}

/// Creates a POST request without a body.
pub(crate) fn post(path: &str) -> Result<Request, SettingsError> {
    Ok(Request::post(url(path)?))
}

fn url(path: &str) -> Result<String, SettingsError> {
    let Settings { base_url } = settings::read()?;
    Ok(base_url.join(path))
}
