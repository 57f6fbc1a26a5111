//! Lodge's address, and the reading of its responses. The gateway adds the API key.

use serde::de::DeserializeOwned;
use stopover_sdk::http::Request;
use stopover_sdk::settings::{self, SettingsError};
use stopover_sdk::{ChangeError, ReadError};

use crate::fault::ERRORS;

pub(crate) const SETTINGS_SCHEMA: &str = include_str!("settings.schema.json");

/// Creates a GET request. The path is percent-encoded and starts with a slash.
pub(crate) fn get(path: &str) -> Result<Request, SettingsError> {
    Ok(Request::get(url(path)?))
}

/// Creates a POST request without a body.
pub(crate) fn post(path: &str) -> Result<Request, SettingsError> {
    Ok(Request::post(url(path)?))
}

fn url(path: &str) -> Result<String, SettingsError> {
    settings::url(&format!("/lodge/v1{path}"))
}

pub(crate) fn read<T: DeserializeOwned>(request: &Request) -> Result<T, ReadError> {
    Ok(ERRORS.check_read(request.send()?)?.json()?)
}

/// Sends a request that changes something. `definite` lists the codes that refuse the change.
pub(crate) fn change<T: DeserializeOwned>(
    request: &Request,
    definite: &[&str],
) -> Result<T, ChangeError> {
    Ok(ERRORS.check_change(request.send()?, definite)?.json()?)
}
