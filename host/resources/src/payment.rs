//! JSON resources of hotel payments, cards and stored payment instruments.

use crate::value::{IsoDateTime, Money};
use host_domain::id::InstrumentId;
use host_domain::payment::{self, CardBrand as Brand, Funding, PaymentStatus as Status, Wallet};
use host_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The status of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentStatus {
    /// The payer must complete a step in the browser.
    RequiresAction,
    /// The amount is authorized.
    Authorized,
    /// The amount is captured.
    Captured,
    /// The authorization is voided.
    Voided,
    /// A part of the amount is refunded.
    PartiallyRefunded,
    /// The whole amount is refunded.
    Refunded,
    /// The payment failed; no amount was authorized.
    Failed,
    /// The processor has not responded yet.
    Unknown,
}

/// A card network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
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

/// The funding type of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CardFunding {
    Credit,
    Debit,
    Prepaid,
    Unknown,
}

/// A wallet that holds a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CardWallet {
    ApplePay,
    GooglePay,
}

/// The displayable details of a card.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Card {
    /// Card network.
    brand: CardBrand,
    /// Last four digits.
    #[schema(pattern = "^[0-9]{4}$", example = "4242")]
    last4: String,
    /// Funding type of the card.
    funding: CardFunding,
    /// Wallet that the card was in. Null if there was none.
    #[schema(required)]
    wallet: Option<CardWallet>,
}

/// A payment of a hotel booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelPayment {
    #[schema(
        pattern = "^pay_[a-zA-Z0-9-]+$",
        example = "pay_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Status of the payment.
    status: PaymentStatus,
    /// Amount that is authorized and captured.
    amount: Money,
    /// Time at which the payment was started.
    created_at: IsoDateTime,
    /// Card used for the payment, if it is known. Present only when a single booking is read and in
    /// events.
    #[serde(skip_serializing_if = "Option::is_none")]
    cards: Option<Vec<Card>>,
}

/// The card of a stored payment instrument.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct InstrumentCard {
    /// Card network.
    brand: CardBrand,
    /// Last four digits.
    #[schema(pattern = "^[0-9]{4}$", example = "4242")]
    last4: String,
    /// Funding type of the card.
    funding: CardFunding,
    /// Wallet that the card was in. Null if there was none.
    #[schema(required)]
    wallet: Option<CardWallet>,
    /// Expiry month as `YYYY-MM`. Null if the processor does not report it.
    #[schema(required, pattern = "^[0-9]{4}-[0-9]{2}$", example = "2030-12")]
    expires: Option<String>,
}

/// The type of a payment instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum InstrumentType {
    /// A card.
    Card,
}

/// A stored payment instrument. Its token is never returned.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PaymentInstrument {
    #[schema(
        pattern = "^inst_[a-zA-Z0-9-]+$",
        example = "inst_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Type of the instrument.
    #[serde(rename = "type")]
    kind: InstrumentType,
    /// Displayable details of the card. Null if the processor returns none.
    #[schema(required)]
    card: Option<InstrumentCard>,
    /// Time at which the instrument was stored.
    created_at: IsoDateTime,
}

/// Builds a payment without cards, for lists and responses to changes.
pub fn without_cards(payment: &payment::Payment) -> HotelPayment {
    HotelPayment {
        id: payment.id.to_string(),
        status: payment.status().into(),
        amount: payment.amount.into(),
        created_at: payment.created_at.into(),
        cards: None,
    }
}

/// Builds a payment with cards, for a single read of its booking and for events.
pub fn with_cards(payment: &payment::Payment) -> HotelPayment {
    let cards = payment.card.iter().map(Card::from).collect();
    HotelPayment {
        cards: Some(cards),
        ..without_cards(payment)
    }
}

impl PaymentInstrument {
    /// Builds the resource of a stored card.
    pub fn new(id: &InstrumentId, card: Option<&payment::Card>, created_at: Timestamp) -> Self {
        Self {
            id: id.to_string(),
            kind: InstrumentType::Card,
            card: card.map(InstrumentCard::from),
            created_at: created_at.into(),
        }
    }
}

impl From<&payment::Card> for Card {
    fn from(card: &payment::Card) -> Self {
        Self {
            brand: card.brand.into(),
            last4: card.last4.clone(),
            funding: card.funding.into(),
            wallet: card.wallet.map(CardWallet::from),
        }
    }
}

impl From<&payment::Card> for InstrumentCard {
    fn from(card: &payment::Card) -> Self {
        let Card {
            brand,
            last4,
            funding,
            wallet,
        } = card.into();
        Self {
            brand,
            last4,
            funding,
            wallet,
            expires: card.expires.clone(),
        }
    }
}

impl From<Status> for PaymentStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::RequiresAction => Self::RequiresAction,
            Status::Authorized => Self::Authorized,
            Status::Captured => Self::Captured,
            Status::Voided => Self::Voided,
            Status::PartiallyRefunded => Self::PartiallyRefunded,
            Status::Refunded => Self::Refunded,
            Status::Failed => Self::Failed,
            Status::Unknown => Self::Unknown,
        }
    }
}

impl From<Brand> for CardBrand {
    fn from(brand: Brand) -> Self {
        match brand {
            Brand::Visa => Self::Visa,
            Brand::Mastercard => Self::Mastercard,
            Brand::Amex => Self::Amex,
            Brand::Discover => Self::Discover,
            Brand::Diners => Self::Diners,
            Brand::Jcb => Self::Jcb,
            Brand::Unionpay => Self::Unionpay,
            Brand::Unknown => Self::Unknown,
        }
    }
}

impl From<Funding> for CardFunding {
    fn from(funding: Funding) -> Self {
        match funding {
            Funding::Credit => Self::Credit,
            Funding::Debit => Self::Debit,
            Funding::Prepaid => Self::Prepaid,
            Funding::Unknown => Self::Unknown,
        }
    }
}

impl From<Wallet> for CardWallet {
    fn from(wallet: Wallet) -> Self {
        match wallet {
            Wallet::ApplePay => Self::ApplePay,
            Wallet::GooglePay => Self::GooglePay,
        }
    }
}
