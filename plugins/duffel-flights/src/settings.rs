//! Settings that an operator may change, with their defaults.

use serde::Deserialize;
use stopover_sdk::settings::{self, BaseUrl, SettingsError};

pub(crate) const SCHEMA: &str = include_str!("settings.schema.json");

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) base_url: BaseUrl,
    /// Time after which Duffel stops waiting for airlines, in milliseconds. The default leaves half
    /// of a client's usual 30 s for reading the pages.
    pub(crate) search_timeout_ms: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base_url: "https://api.duffel.com".into(),
            search_timeout_ms: 15_000,
        }
    }
}

impl Settings {
    pub(crate) fn read() -> Result<Self, SettingsError> {
        settings::read()
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
        let names = ["base_url", "search_timeout_ms"];
        check_settings_schema::<Settings>(SCHEMA, &names);
    }
}
