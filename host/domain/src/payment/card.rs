//! Cards and stored payment instruments, without secret data.

use crate::id::InstrumentId;
use crate::supplier::SupplierId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardBrand {
    Visa,
    Mastercard,
    Amex,
    Discover,
    Diners,
    Jcb,
    Unionpay,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Funding {
    Credit,
    Debit,
    Prepaid,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wallet {
    ApplePay,
    GooglePay,
}

/// The card data that may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    pub brand: CardBrand,
    pub last4: String,
    pub funding: Funding,
    pub wallet: Option<Wallet>,
    /// The month of expiry, as `YYYY-MM`.
    pub expires: Option<String>,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Instrument {
    pub id: InstrumentId,
    /// The processor that issued the token.
    pub processor: SupplierId,
    pub token: String,
    pub card: Option<Card>,
    pub created_at: Timestamp,
}

/// The output omits the token, because the token can be used to pay.
impl fmt::Debug for Instrument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instrument")
            .field("id", &self.id)
            .field("processor", &self.processor)
            .finish_non_exhaustive()
    }
}
