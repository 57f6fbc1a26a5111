//! Card tokens and the scenario that each one selects.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    payments::refusal::{PaymentError, TillwayResult},
    request::Call,
};

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

#[derive(Debug, Serialize)]
pub(super) struct Card {
    brand: &'static str,
    last4: &'static str,
    funding: &'static str,
    wallet: Option<&'static str>,
    exp_month: u8,
    exp_year: u16,
}

impl CardScenario {
    pub(super) fn from_token(token: &str) -> Option<Self> {
        Some(match token {
            "tok_visa" => Self::Visa,
            "tok_mastercard" => Self::Mastercard,
            "tok_declined" => Self::Declined,
            "tok_insufficient_funds" => Self::InsufficientFunds,
            "tok_timeout" => Self::Timeout,
            "tok_capture_fails" => Self::CaptureFails,
            "tok_requires_action" => Self::RequiresAction,
            _ => return None,
        })
    }

    pub(super) fn card(self) -> Card {
        let (brand, last4, funding) = match self {
            Self::Visa => ("visa", "4242", "credit"),
            Self::Mastercard => ("mastercard", "4444", "debit"),
            Self::Declined => ("visa", "0002", "credit"),
            Self::InsufficientFunds => ("visa", "9995", "debit"),
            Self::Timeout => ("visa", "0044", "credit"),
            Self::CaptureFails => ("visa", "0341", "credit"),
            Self::RequiresAction => ("visa", "3155", "credit"),
        };
        Card {
            brand,
            last4,
            funding,
            wallet: None,
            exp_month: 12,
            exp_year: 2034,
        }
    }
}

pub(super) async fn read_token(call: Call) -> TillwayResult<Json<Value>> {
    let source = CardScenario::from_token(&call.id).ok_or(PaymentError::NoSuchToken)?;
    Ok(Json(json!({ "token": call.id, "card": source.card() })))
}
