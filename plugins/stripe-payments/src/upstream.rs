//! Stripe's address and the form of its requests. The gateway adds the API key.

use serde::Deserialize;
use stopover_sdk::http::{Request, Response};
use stopover_sdk::payment_processor::PaymentError;
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

pub(crate) struct StripeClient {
    /// Base URL without a trailing slash.
    root: String,
}

impl StripeClient {
    pub(crate) fn from_settings() -> Result<Self, SettingsError> {
        let Settings { base_url } = Settings::read()?;
        Ok(Self {
            root: base_url.join("/v1"),
        })
    }

    /// Creates a GET request. The path is percent-encoded and starts with a slash.
    pub(crate) fn get(&self, path: &str) -> Request {
        Request::get(format!("{}{path}", self.root)).header("stripe-version", VERSION)
    }

    /// Creates a POST request. Stripe returns the first response again if a key is repeated.
    pub(crate) fn post(&self, path: &str, key: &str, form: Form) -> Request {
        let mut request = Request::post(format!("{}{path}", self.root))
            .header("stripe-version", VERSION)
            .header("idempotency-key", key)
            .header("content-type", "application/x-www-form-urlencoded");
        request.body = Some(form.into_bytes());
        request
    }
}

/// Sends a request that may move money. The error states whether the request was not sent or may
/// have been sent.
pub(crate) fn send_change(path: &str, key: &str, form: Form) -> Result<Response, PaymentError> {
    let request = StripeClient::from_settings()?.post(path, key, form);
    Ok(request.send()?)
}
