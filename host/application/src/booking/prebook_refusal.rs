//! Refusals of a prebook request. They are stored, and returned again if the request is repeated
//! with its key.

use host_domain::money::Money;
use host_domain::supplier::{Refusal, RefusalReason};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
pub enum PrebookRefusal {
    /// The supplier charges more than was offered.
    PriceChanged {
        offered: Money,
        current: Money,
    },
    /// The offer is sold out, or its terms changed.
    Unavailable,
    /// The offer is too old for the supplier.
    Expired,
    Rejected,
}

impl PrebookRefusal {
    pub fn from_supplier_refusal(refusal: &Refusal, offered: Money) -> Self {
        match &refusal.reason {
            RefusalReason::PriceChanged(current) => Self::PriceChanged {
                offered,
                current: *current,
            },
            RefusalReason::Unavailable | RefusalReason::TermsChanged => Self::Unavailable,
            RefusalReason::Expired => Self::Expired,
            RefusalReason::PaymentRequired
            | RefusalReason::PaymentDeclined
            | RefusalReason::Invalid
            | RefusalReason::Duplicate
            | RefusalReason::NotCancellable
            | RefusalReason::Account
            | RefusalReason::Other(_) => Self::Rejected,
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| String::from(r#"{"decision":"rejected"}"#))
    }

    /// Parses a stored refusal. One that this version does not know becomes `Rejected`.
    pub fn from_json(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or(Self::Rejected)
    }
}
