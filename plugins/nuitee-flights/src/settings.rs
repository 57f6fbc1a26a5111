//! Settings that an operator may change, with their defaults.

use serde::Deserialize;
use stopover_sdk::settings::{self, BaseUrl, SettingsError};

pub(crate) const SCHEMA: &str = include_str!("settings.schema.json");

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Base URL of every call.
    pub(crate) base_url: BaseUrl,
    /// Base URL of logos that have a path only.
    pub(crate) logo_url: String,
    pub(crate) payment_method: PaymentMethod,
    /// ISO 4217 currency of searches that name none; Nuitee requires one.
    pub(crate) currency: String,
    /// ISO 3166-1 alpha-2 country of the point of sale.
    pub(crate) point_of_sale: Option<String>,
}

/// The source of the money for a booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum PaymentMethod {
    /// The end user pays Nuitee in the browser.
    PaymentSdk,
    /// The account's credit line pays. Nuitee must enable it for the account.
    Credit,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base_url: "https://api.liteapi.travel/v3.0".into(),
            logo_url: "https://production.nuitee.flights".to_owned(),
            payment_method: PaymentMethod::PaymentSdk,
            currency: "USD".to_owned(),
            point_of_sale: None,
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

    pub(crate) fn url(&self, path: &str) -> String {
        self.base_url.join(path)
    }
}

#[cfg(test)]
mod tests {
    use stopover_sdk::testing::check_settings_schema;

    use super::*;

    #[test]
    fn settings_schema_lists_every_setting_with_default() {
        let names = [
            "base_url",
            "currency",
            "logo_url",
            "payment_method",
            "point_of_sale",
        ];
        check_settings_schema::<Settings>(SCHEMA, &names);
    }
}
