//! Secret text that is not printed.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Secret text. Its debug output only shows whether it is empty.
#[derive(Debug, Clone, Default)]
pub struct Secret(SecretString);

impl Secret {
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    pub fn is_empty(&self) -> bool {
        self.expose().is_empty()
    }

    pub fn to_secret_string(&self) -> SecretString {
        self.0.clone()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Serializes a database address without its credentials and query, a SQLite path and an empty text
/// unchanged, and all other text as `***`.
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.expose();
        if text.is_empty() || text.starts_with("sqlite:") {
            return serializer.serialize_str(text);
        }
        let shown = match (text.split_once("://"), text.rsplit_once('@')) {
            (Some((scheme @ ("postgres" | "postgresql"), _)), Some((_, place))) => {
                let place = place.split('?').next().unwrap_or_default();
                format!("{scheme}://***@{place}")
            }
            _ => "***".to_owned(),
        };
        serializer.serialize_str(&shown)
    }
}
