//! Settings that an operator may change, with their defaults.

use serde::{Deserialize, Serialize};
use stopover_sdk::settings::{self, BaseUrl, SettingsError};

pub(crate) const SCHEMA: &str = include_str!("settings.schema.json");

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Base URL of search, prices and content.
    data_url: BaseUrl,
    /// Base URL of prebooking, booking, reading and cancelling.
    book_url: BaseUrl,
    pub(crate) payment_method: PaymentMethod,
    /// Time after which Nuitee stops waiting for its own suppliers, in seconds.
    pub(crate) rates_timeout_s: u32,
    /// Loyalty programme whose member rates are requested, e.g. `HH`.
    pub(crate) loyalty_program: Option<String>,
    /// Membership number in the programme.
    pub(crate) loyalty_membership: Option<String>,
}

/// The source of the money for a booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum PaymentMethod {
    /// The account's card. In Nuitee's sandbox nothing is charged.
    AccCreditCard,
    Wallet,
    Credit,
    /// The end user pays Nuitee in the browser.
    PaymentSdk,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data_url: "https://api.liteapi.travel/v3.0".into(),
            book_url: "https://book.liteapi.travel/v3.0".into(),
            payment_method: PaymentMethod::AccCreditCard,
            rates_timeout_s: 8,
            loyalty_program: None,
            loyalty_membership: None,
        }
    }
}

impl Settings {
    pub(crate) fn read() -> Result<Self, SettingsError> {
        settings::read()
    }

    pub(crate) fn uses_payment_sdk(&self) -> bool {
        self.payment_method == PaymentMethod::PaymentSdk
    }

    pub(crate) fn data_url(&self, path: &str) -> String {
        self.data_url.join(path)
    }

    pub(crate) fn book_url(&self, path: &str) -> String {
        self.book_url.join(path)
    }

    /// Returns the hosts of both URLs, each once.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let mut hosts = vec![self.data_url.host(), self.book_url.host()];
        hosts.dedup();
        hosts
    }
}

#[cfg(test)]
mod tests {
    use stopover_sdk::testing::check_settings_schema;

    use super::*;

    #[test]
    fn settings_schema_lists_every_setting_with_default() {
        let names = [
            "book_url",
            "data_url",
            "loyalty_membership",
            "loyalty_program",
            "payment_method",
            "rates_timeout_s",
        ];
        check_settings_schema::<Settings>(SCHEMA, &names);
    }
}
