//! Text that does not print.

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that shows only whether there is any.
#[derive(Debug, Clone, Default)]
pub struct Secret(SecretString);

impl Secret {
    /// The text itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.expose().is_empty()
    }

    /// The text, for whoever keeps it as carefully.
    #[must_use]
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

/// A database's address prints without its password; everything else not at all.
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
