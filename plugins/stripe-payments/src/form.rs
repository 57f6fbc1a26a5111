//! Bodies of requests: form parameters, nested by brackets in their names.

use std::fmt::Display;

use stopover_sdk::http::percent_encode;

/// Metadata key of the client reference, which every object created at Stripe has.
pub(crate) const CLIENT_REFERENCE: &str = "client_reference";
/// Metadata key of the party that completes a payment. It is needed to interpret a payment that is
/// read back.
pub(crate) const PAYMENT_ORIGIN: &str = "made_for";

/// A body in `application/x-www-form-urlencoded`.
#[derive(Default)]
pub(crate) struct Form(String);

impl Form {
    #[must_use]
    pub(crate) fn field(mut self, name: &str, value: impl Display) -> Self {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.push_str(&percent_encode(name));
        self.0.push('=');
        self.0.push_str(&percent_encode(&value.to_string()));
        self
    }

    #[must_use]
    pub(crate) fn metadata(self, name: &str, value: &str) -> Self {
        self.field(&format!("metadata[{name}]"), value)
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}
