//! Cards and stored payment instruments, without secret data.

use crate::id::InstrumentId;
use crate::supplier::SupplierId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A card network.
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

/// The funding of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Funding {
    Credit,
    Debit,
    Prepaid,
    Unknown,
}

/// The wallet that held a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wallet {
    ApplePay,
    GooglePay,
}

/// The card data that may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The card network.
    pub brand: CardBrand,
    /// The last four digits.
    pub last4: String,
    pub funding: Funding,
    /// The wallet that held the card.
    pub wallet: Option<Wallet>,
    /// The month of expiry, as `YYYY-MM`.
    pub expires: Option<String>,
}

/// A stored payment instrument.
#[derive(Clone, PartialEq, Eq)]
pub struct Instrument {
    pub id: InstrumentId,
    /// The processor that issued the token.
    pub processor: SupplierId,
    /// The processor's token.
    pub token: String,
    /// The card data that may be shown.
    pub card: Option<Card>,
    /// Time at which the instrument was stored.
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
