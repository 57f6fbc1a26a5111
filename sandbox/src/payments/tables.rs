//! Records and indexes of Tillway.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{clock::DAY_MS, money::Currency, payments::card_scenario::CardScenario};

/// Time after which an authorization ends by itself.
const HOLD_MS: i64 = 7 * DAY_MS;

/// Records and indexes of Tillway.
#[derive(Default)]
pub(crate) struct PaymentTables {
    pub(super) payments: HashMap<String, Payment>,
    pub(super) refunds: HashMap<String, Refund>,
    /// Payment ids by account and reference.
    pub(super) by_reference: HashMap<(String, String), String>,
    /// Payment ids by the token of their intent.
    pub(super) by_intent_token: HashMap<String, String>,
    /// Refund ids by payment id, oldest first.
    pub(super) refunds_of: HashMap<String, Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    RequiresAction,
    Authorized,
    Captured,
    Canceled,
    Declined,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Payment {
    pub(super) id: String,
    pub(super) account: String,
    pub(super) reference: String,
    pub(super) status: Status,
    /// Requested amount in minor units.
    pub(super) amount: i64,
    pub(super) currency: Currency,
    pub(super) source: Option<CardScenario>,
    /// Token of an intent; `None` for a payment without one.
    pub(super) intent_token: Option<String>,
    pub(super) authorized: i64,
    pub(super) authorized_at: Option<i64>,
    pub(super) captured: i64,
    pub(super) capture_reference: Option<String>,
    pub(super) capture_failures: u8,
    pub(super) void_reference: Option<String>,
    pub(super) refunded: i64,
    pub(super) created_at: i64,
}

impl Payment {
    pub(super) fn decline_code(&self) -> Option<&'static str> {
        match (self.status, self.source) {
            (Status::Declined, Some(CardScenario::InsufficientFunds)) => Some("insufficient_funds"),
            (Status::Declined, _) => Some("generic_decline"),
            (Status::RequiresAction, Some(CardScenario::RequiresAction)) => {
                Some("authentication_required")
            }
            _ => None,
        }
    }

    pub(super) fn hold_ends(&self) -> Option<i64> {
        self.authorized_at.map(|at| at + HOLD_MS)
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Refund {
    pub(super) id: String,
    pub(super) payment: String,
    pub(super) reference: String,
    pub(super) amount: i64,
    pub(super) currency: Currency,
    pub(super) created_at: i64,
}
