//! Tillway's responses, with only the fields that are used. Amounts are in minor units, times are
//! Unix seconds, and currencies are lower-case codes.

use serde::Deserialize;
use stopover_sdk::payment_processor::{CardBrand, Funding, PaymentStatus};

#[derive(Deserialize)]
pub(crate) struct Intent {
    pub(crate) payment: Payment,
    pub(crate) token: String,
}

#[derive(Deserialize)]
pub(crate) struct Payment {
    pub(crate) id: String,
    pub(crate) reference: String,
    #[serde(with = "StatusCode")]
    pub(crate) status: PaymentStatus,
    pub(crate) currency: String,
    pub(crate) amount_authorized: i64,
    pub(crate) amount_captured: i64,
    pub(crate) amount_refunded: i64,
    pub(crate) card: Option<Card>,
    pub(crate) decline_code: Option<String>,
    pub(crate) authorization_expires: Option<i64>,
}

#[derive(Deserialize)]
#[serde(remote = "PaymentStatus", rename_all = "snake_case")]
pub(crate) enum StatusCode {
    RequiresAction,
    Authorized,
    Captured,
    #[serde(rename = "canceled")]
    Voided,
    Declined,
}

/// A card. Its `wallet` is always null and is not read.
#[derive(Deserialize)]
pub(crate) struct Card {
    #[serde(with = "BrandCode")]
    pub(crate) brand: CardBrand,
    pub(crate) last4: String,
    #[serde(with = "FundingCode")]
    pub(crate) funding: Funding,
    pub(crate) exp_month: u8,
    pub(crate) exp_year: u16,
}

#[derive(Deserialize)]
#[serde(remote = "CardBrand", rename_all = "lowercase")]
pub(crate) enum BrandCode {
    Visa,
    Mastercard,
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
#[serde(remote = "Funding", rename_all = "lowercase")]
pub(crate) enum FundingCode {
    Credit,
    Debit,
    #[serde(other)]
    Unknown,
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
