//! The operator's settings for this plugin.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{host, json};

/// An error of decoding the settings as the requested type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plugin's settings do not match its settings type: {0}")]
pub struct SettingsError(String);

/// Decodes the settings as the plugin's own type.
///
/// # Errors
/// Fails if the settings do not match the type. The gateway validates them against the schema in
/// the plugin's description, so a failure means that schema and type differ.
pub fn read<T: DeserializeOwned>() -> Result<T, SettingsError> {
    serde_json::from_str(&host::settings()).map_err(|error| SettingsError(json::explain(&error)))
}

/// Returns the URL of a path, which starts with a slash, for a plugin whose only setting is
/// `base_url`.
///
/// # Errors
/// Fails if the settings are missing or others.
pub fn url(path: &str) -> Result<String, SettingsError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Settings {
        base_url: BaseUrl,
    }
    read().map(|Settings { base_url }| base_url.join(path))
}

/// The base URL of a supplier's API. It may end with a slash.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BaseUrl(String);

impl From<&str> for BaseUrl {
    fn from(url: &str) -> Self {
        Self(url.to_owned())
    }
}

impl BaseUrl {
    /// Returns the URL of a path, which starts with a slash.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0.trim_end_matches('/'))
    }

    /// Returns the host as `name` or `name:port`, for the plugin's description.
    pub fn host(&self) -> String {
        let authority = self
            .0
            .split_once("://")
            .map_or(self.0.as_str(), |(_, rest)| rest);
        authority.split('/').next().unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_host_follow_base_url() {
        for (url, joined, host) in [
            (
                "https://api.example",
                "https://api.example/x",
                "api.example",
            ),
            (
                "http://127.0.0.1:9/v3/",
                "http://127.0.0.1:9/v3/x",
                "127.0.0.1:9",
            ),
        ] {
            let base_url = BaseUrl::from(url);
            assert_eq!(base_url.join("/x"), joined.to_owned());
            assert_eq!(base_url.host(), host.to_owned());
        }
    }
}
