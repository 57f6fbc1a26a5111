//! Tillway's JSON, with only the fields that are used. Amounts are in minor units, times are Unix
//! seconds, and currencies are lower-case codes.

use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub(crate) struct NewIntent<'a> {
    pub(crate) reference: &'a str,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) description: &'a str,
}

#[derive(Serialize)]
pub(crate) struct NewPayment<'a> {
    pub(crate) reference: &'a str,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) source: &'a str,
    pub(crate) description: &'a str,
    pub(crate) off_session: bool,
}

/// Body of a capture or a refund.
#[derive(Serialize)]
pub(crate) struct Amount<'a> {
    pub(crate) reference: &'a str,
    pub(crate) amount: i64,
}

#[derive(Serialize)]
pub(crate) struct Void<'a> {
    pub(crate) reference: &'a str,
}

#[derive(Deserialize)]
pub(crate) struct Intent {
    pub(crate) payment: Payment,
    pub(crate) token: String,
}

#[derive(Deserialize)]
pub(crate) struct Payment {
    pub(crate) id: String,
    pub(crate) reference: String,
    pub(crate) status: Status,
    pub(crate) currency: String,
    pub(crate) amount_authorized: i64,
    pub(crate) amount_captured: i64,
    pub(crate) amount_refunded: i64,
    pub(crate) card: Option<Card>,
    pub(crate) decline_code: Option<String>,
    pub(crate) authorization_expires: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    RequiresAction,
    Authorized,
    Captured,
    Canceled,
    Declined,
}

/// A card. Its `wallet` is always null and is not read.
#[derive(Deserialize)]
pub(crate) struct Card {
    pub(crate) brand: Brand,
    pub(crate) last4: String,
    pub(crate) funding: Funding,
    pub(crate) exp_month: u8,
    pub(crate) exp_year: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Brand {
    Visa,
    Mastercard,
    #[serde(other)]
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Funding {
    Credit,
    Debit,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(crate) struct Refund {
    pub(crate) id: String,
    pub(crate) payment: String,
    pub(crate) reference: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
}

#[derive(Deserialize)]
pub(crate) struct List<T> {
    pub(crate) data: Vec<T>,
}

#[derive(Deserialize)]
pub(crate) struct Token {
    pub(crate) token: String,
    pub(crate) card: Option<Card>,
}
