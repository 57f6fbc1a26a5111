//! Where Stripe is and how it is spoken to. The key is not known here: the
//! gateway adds it.

use serde::Deserialize;
use stopover_sdk::http::{Error, Request, Response};
use stopover_sdk::payment_processor::PaymentError;
use stopover_sdk::settings::{self, Unusable};

use crate::form::Form;

/// Of [`Settings`].
pub(crate) const SETTINGS_SCHEMA: &str = r#"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "base_url": {
            "description": "Where Stripe's API is, without a path",
            "type": "string",
            "pattern": "^https?://[^/?#]+/?$",
            "default": "https://api.stripe.com"
        }
    },
    "additionalProperties": false
}"#;

/// The version of the API that `wire` reads, whatever the account's own is.
const VERSION: &str = "2026-07-29.dahlia";

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    base_url: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base_url: "https://api.stripe.com".to_owned(),
        }
    }
}

impl Settings {
    pub(crate) fn read() -> Result<Self, Unusable> {
        settings::read()
    }

    /// `name` or `name:port`.
    pub(crate) fn host(&self) -> &str {
        let url = self.base_url.as_str();
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.trim_end_matches('/')
    }
}

pub(crate) struct Stripe {
    /// Without a slash at the end.
    root: String,
}

impl Stripe {
    pub(crate) fn open() -> Result<Self, Unusable> {
        let Settings { base_url } = Settings::read()?;
        Ok(Self {
            root: format!("{}/v1", base_url.trim_end_matches('/')),
        })
    }

    /// Of a path that is encoded and begins with a slash.
    pub(crate) fn get(&self, path: &str) -> Request {
        Request::get(format!("{}{path}", self.root)).header("stripe-version", VERSION)
    }

    /// Likewise. A repeated key is answered with its first answer.
    pub(crate) fn post(&self, path: &str, key: &str, form: Form) -> Request {
        let mut request = Request::post(format!("{}{path}", self.root))
            .header("stripe-version", VERSION)
            .header("idempotency-key", key)
            .header("content-type", "application/x-www-form-urlencoded");
        request.body = Some(form.into_bytes());
        request
    }
}

/// Sends what may move money, and tells what was not sent from what may have been.
pub(crate) fn change(path: &str, key: &str, form: Form) -> Result<Response, PaymentError> {
    let stripe = Stripe::open().map_err(|error| PaymentError::NotSent(error.to_string()))?;
    let sent = stripe.post(path, key, form).send();
    sent.map_err(|error| match error {
        Error::Denied(text) | Error::NotSent(text) => PaymentError::NotSent(text),
        Error::TimedOut(text) | Error::Cut(text) => PaymentError::Unknown(text),
        Error::TooLarge(cap) => PaymentError::Unknown(format!("the answer is over {cap} bytes")),
    })
}
