//! What the operator configured for this plugin.

use serde::de::DeserializeOwned;

use crate::{host, json};

/// The settings do not fit the type that they were read as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plugin's settings are not as expected: {0}")]
pub struct Unusable(String);

/// The settings, read as the plugin's own type.
///
/// # Errors
/// They do not fit. The gateway checks them against the schema that the plugin
/// describes, so this means that schema and type differ.
pub fn read<T: DeserializeOwned>() -> Result<T, Unusable> {
    serde_json::from_str(&host::settings()).map_err(|error| Unusable(json::explain(&error)))
}
