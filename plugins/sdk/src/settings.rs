//! The operator's settings for this plugin.

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
