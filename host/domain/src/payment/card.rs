//! Cards and the stored means of payment, without anything secret of them.

use crate::id::InstrumentId;
use crate::supplier::SupplierId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A card network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the networks")]
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

/// How a card is funded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Funding {
    Credit,
    Debit,
    Prepaid,
    Unknown,
}

/// A wallet that a card was in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Wallet {
    ApplePay,
    GooglePay,
}

/// What may be shown of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Network.
    pub brand: CardBrand,
    /// Last four digits.
    pub last4: String,
    /// How it is funded.
    pub funding: Funding,
    /// Wallet that it was in.
    pub wallet: Option<Wallet>,
    /// `YYYY-MM`.
    pub expires: Option<String>,
}

/// A stored means of payment.
#[derive(Clone, PartialEq, Eq)]
pub struct Instrument {
    /// Its id.
    pub id: InstrumentId,
    /// Where its token is good.
    pub processor: SupplierId,
    /// The processor's token.
    pub token: String,
    /// What may be shown of it.
    pub card: Option<Card>,
    /// When it was stored.
    pub created_at: Timestamp,
}

/// Without its token, which is good for money.
impl fmt::Debug for Instrument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instrument")
            .field("id", &self.id)
            .field("processor", &self.processor)
            .finish_non_exhaustive()
    }
}
