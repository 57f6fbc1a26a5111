//! Decisions against a caller's request that are given again when the request
//! is repeated with its key.

use host_domain::money::Money;
use host_domain::supplier::{Refusal, RefusalReason};
use serde::{Deserialize, Serialize};

/// A decision against a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
pub(crate) enum PrebookRefusal {
    /// The supplier asks more than was offered.
    PriceChanged { offered: Money, current: Money },
    /// Sold out, or its terms changed.
    Unavailable,
    /// Too old for the supplier.
    Expired,
    /// The supplier does not accept it.
    Rejected,
}

impl PrebookRefusal {
    /// What a supplier's definite no means for an offer.
    pub(crate) fn from_supplier_refusal(refusal: &Refusal, offered: Money) -> Self {
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

    /// For storage.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| String::from(r#"{"decision":"rejected"}"#))
    }

    /// From storage. A decision that this version does not know stays a no.
    pub(crate) fn from_json(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or(Self::Rejected)
    }
}
