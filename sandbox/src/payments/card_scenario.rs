//! The scenario that each card token selects.

use serde::{Deserialize, Serialize, de::IntoDeserializer, de::value};
use serde_json::{Value, json};

/// Number of failing captures before one succeeds.
pub(super) const CAPTURE_FAILURES: u8 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CardScenario {
    Visa,
    Mastercard,
    Declined,
    InsufficientFunds,
    Timeout,
    CaptureFails,
    RequiresAction,
}

impl CardScenario {
    pub(super) fn from_token(token: &str) -> Option<Self> {
        let name: value::StrDeserializer<'_, value::Error> =
            token.strip_prefix("tok_")?.into_deserializer();
        Self::deserialize(name).ok()
    }

    pub(super) fn card(self) -> Value {
        let (brand, last4, funding) = match self {
            Self::Visa => ("visa", "4242", "credit"),
            Self::Mastercard => ("mastercard", "4444", "debit"),
            Self::Declined => ("visa", "0002", "credit"),
            Self::InsufficientFunds => ("visa", "9995", "debit"),
            Self::Timeout => ("visa", "0044", "credit"),
            Self::CaptureFails => ("visa", "0341", "credit"),
            Self::RequiresAction => ("visa", "3155", "credit"),
        };
        json!({
            "brand": brand,
            "last4": last4,
            "funding": funding,
            "wallet": null,
            "exp_month": 12,
            "exp_year": 2034,
        })
    }
}
