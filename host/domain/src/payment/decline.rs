//! Reasons why a card is declined.

use serde::{Deserialize, Serialize};

/// The reason why a card was declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclineReason {
    InsufficientFunds,
    ExpiredCard,
    IncorrectDetails,
    SuspectedFraud,
    RequiresAction,
    NotCompleted,
    Other,
}
