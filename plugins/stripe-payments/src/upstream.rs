//! Stripe's address and the form of its requests. The gateway adds the API key.

use serde::Deserialize;
use stopover_sdk::http::{Request, percent_encode};
use stopover_sdk::settings::{self, BaseUrl, SettingsError};

use crate::form::Form;

pub(crate) const SETTINGS_SCHEMA: &str = r#"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "base_url": {
            "description": "Base URL of Stripe's API, without a path",
            "type": "string",
            "pattern": "^https?://[^/?#]+/?$",
            "default": "https://api.stripe.com"
        }
    },
    "additionalProperties": false
}"#;

/// The API version that `wire` reads, whatever the account's default version is.
const VERSION: &str = "2026-07-29.dahlia";

/// Field that Stripe expands in responses, so that they contain the authorized amount and the card.
pub(crate) const EXPANDED_FIELD: &str = "latest_charge";

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    base_url: BaseUrl,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base_url: "https://api.stripe.com".into(),
        }
    }
}

impl Settings {
    pub(crate) fn read() -> Result<Self, SettingsError> {
        settings::read()
    }

    /// Returns the host as `name` or `name:port`.
    pub(crate) fn host(&self) -> String {
        self.base_url.host()
    }
}

/// Creates a GET request. The path is percent-encoded and starts with a slash.
pub(crate) fn get(path: &str) -> Result<Request, SettingsError> {
    Ok(Request::get(url(path)?).header("stripe-version", VERSION))
}

/// Creates a POST request. Stripe returns the first response again if a key is repeated.
pub(crate) fn post(path: &str, key: &str, form: Form) -> Result<Request, SettingsError> {
    let mut request = Request::post(url(path)?)
        .header("stripe-version", VERSION)
        .header("idempotency-key", key)
        .header("content-type", "application/x-www-form-urlencoded");
    request.body = Some(form.into_bytes());
    Ok(request)
}

fn url(path: &str) -> Result<String, SettingsError> {
    Ok(Settings::read()?.base_url.join("/v1") + path)
}

/// Returns the path of a payment by Stripe's id.
pub(crate) fn payment_path(id: &str) -> String {
    format!("/payment_intents/{}", percent_encode(id))
}
