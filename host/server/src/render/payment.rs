//! Payments of hotel bookings, cards and stored instruments.

use crate::api::value::{IsoDateTime, Money};
use host_domain::payment;
use host_domain::payment::{CardBrand as Brand, Funding, PaymentStatus as Status, Wallet};
use host_storage::StoredInstrument;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a payment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum PaymentStatus {
    /// Waits for the payer's browser.
    RequiresAction,
    /// The amount is held.
    Authorized,
    /// The amount is taken.
    Captured,
    /// The hold is released.
    Voided,
    /// A part was given back.
    PartiallyRefunded,
    /// All of it was given back.
    Refunded,
    /// Nothing was held.
    Failed,
    /// The processor has not answered yet.
    Unknown,
}

/// A card network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum CardBrand {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum CardFunding {
    Credit,
    Debit,
    Prepaid,
    Unknown,
}

/// A wallet that a card was in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum CardWallet {
    ApplePay,
    GooglePay,
}

/// What may be shown of a card.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Card {
    /// Network.
    brand: CardBrand,
    /// Last four digits.
    #[schema(pattern = "^[0-9]{4}$", example = "4242")]
    last4: String,
    /// How it is funded.
    funding: CardFunding,
    /// Wallet that it was in; null: none.
    #[schema(required)]
    wallet: Option<CardWallet>,
}

/// A payment of a hotel booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelPayment {
    #[schema(
        pattern = "^pay_[a-zA-Z0-9-]+$",
        example = "pay_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Where it stands.
    status: PaymentStatus,
    /// What is held, and taken.
    amount: Money,
    /// When it was begun.
    created_at: IsoDateTime,
    /// The card that pays, when it could be read. Only in the read of a single
    /// booking and in events; left out elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    cards: Option<Vec<Card>>,
}

/// A card of a stored instrument.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct InstrumentCard {
    /// Network.
    brand: CardBrand,
    /// Last four digits.
    #[schema(pattern = "^[0-9]{4}$", example = "4242")]
    last4: String,
    /// How it is funded.
    funding: CardFunding,
    /// Wallet that it was in; null: none.
    #[schema(required)]
    wallet: Option<CardWallet>,
    /// `YYYY-MM`; null when the processor does not say.
    #[schema(required, pattern = "^[0-9]{4}-[0-9]{2}$", example = "2030-12")]
    expires: Option<String>,
}

/// What kind of means of payment it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum InstrumentType {
    /// A card.
    Card,
}

/// A stored means of payment. Its token is never shown.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct PaymentInstrument {
    #[schema(
        pattern = "^inst_[a-zA-Z0-9-]+$",
        example = "inst_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// What kind it is.
    #[serde(rename = "type")]
    kind: InstrumentType,
    /// What may be shown of the card; null when the processor shows nothing.
    #[schema(required)]
    card: Option<InstrumentCard>,
    /// When it was stored.
    created_at: IsoDateTime,
}

/// A payment as lists and changes show it.
pub(crate) fn without_cards(payment: &payment::Payment) -> HotelPayment {
    HotelPayment {
        id: payment.id.to_string(),
        status: payment.status().into(),
        amount: payment.amount.into(),
        created_at: payment.created_at.into(),
        cards: None,
    }
}

/// A payment as the read of its booking shows it.
pub(crate) fn with_cards(payment: &payment::Payment) -> HotelPayment {
    let cards = payment.card.iter().map(Card::from).collect();
    HotelPayment {
        cards: Some(cards),
        ..without_cards(payment)
    }
}

impl From<&StoredInstrument> for PaymentInstrument {
    fn from(instrument: &StoredInstrument) -> Self {
        Self {
            id: instrument.id.to_string(),
            kind: InstrumentType::Card,
            card: instrument.card.as_ref().map(InstrumentCard::from),
            created_at: instrument.created_at.into(),
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
