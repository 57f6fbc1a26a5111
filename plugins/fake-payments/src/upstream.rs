//! Tillway's address, and the exchange of requests. The gateway adds the API key.

use serde::de::DeserializeOwned;
use serde_json::Value;
use stopover_sdk::ReadError;
use stopover_sdk::http::Request;
use stopover_sdk::payment_processor::PaymentError;
use stopover_sdk::settings::{self, SettingsError};

use crate::fault::{self, Change, ERRORS};

pub(crate) const SETTINGS_SCHEMA: &str = include_str!("settings.schema.json");

/// Creates a GET request. The path is percent-encoded and starts with a slash.
pub(crate) fn get(path: &str) -> Result<Request, SettingsError> {
    Ok(Request::get(url(path)?))
}

fn url(path: &str) -> Result<String, SettingsError> {
    settings::url(&format!("/tillway/v1{path}"))
}

pub(crate) fn read<T: DeserializeOwned>(request: &Request) -> Result<T, ReadError> {
    Ok(ERRORS.check_read(request.send()?)?.json()?)
}

/// Sends a request that may move money. The error states whether the request was not sent or may
/// have been sent.
pub(crate) fn change<T: DeserializeOwned>(
    path: &str,
    body: &Value,
    change: Change,
) -> Result<T, PaymentError> {
    let request = Request::post(url(path)?).json(body)?;
    fault::decode_change(&request.send()?, change)
}
