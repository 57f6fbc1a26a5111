//! JSON resources of hotel payments, cards and stored payment instruments.

use crate::value::{IsoDateTime, MoneyResource, same_variants};
use host_domain::payment::{self, CardBrand, Funding, PaymentStatus, Wallet};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The status of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentStatusResource {
    /// The payer must complete a step in the browser.
    RequiresAction,
    Authorized,
    Captured,
    Voided,
    PartiallyRefunded,
    Refunded,
    /// The payment failed; no amount was authorized.
    Failed,
    /// The processor has not responded yet.
    Unknown,
}

/// A card network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CardBrandResource {
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
pub enum CardFundingResource {
    Credit,
    Debit,
    Prepaid,
    Unknown,
}

/// A wallet that holds a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CardWalletResource {
    ApplePay,
    GooglePay,
}

/// The displayable details of a card.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CardResource {
    /// Card network.
    brand: CardBrandResource,
    /// Last four digits.
    #[schema(pattern = "^[0-9]{4}$", example = "4242")]
    last4: String,
    /// Funding type of the card.
    funding: CardFundingResource,
    /// Wallet that the card was in. Null if there was none.
    #[schema(required)]
    wallet: Option<CardWalletResource>,
}

/// A payment of a hotel booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelPaymentResource {
    #[schema(pattern = "^pay_[a-zA-Z0-9-]+$")]
    id: String,
    /// Status of the payment.
    status: PaymentStatusResource,
    /// Amount that is authorized and captured.
    amount: MoneyResource,
    /// Time at which the payment was started.
    created_at: IsoDateTime,
    /// Card used for the payment, if it is known. Present only when a single booking is read and in
    /// events.
    #[serde(skip_serializing_if = "Option::is_none")]
    cards: Option<Vec<CardResource>>,
}

/// The card of a stored payment instrument.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct InstrumentCardResource {
    /// Card network.
    brand: CardBrandResource,
    /// Last four digits.
    #[schema(pattern = "^[0-9]{4}$", example = "4242")]
    last4: String,
    /// Funding type of the card.
    funding: CardFundingResource,
    /// Wallet that the card was in. Null if there was none.
    #[schema(required)]
    wallet: Option<CardWalletResource>,
    /// Expiry month as `YYYY-MM`. Null if the processor does not report it.
    #[schema(required, pattern = "^[0-9]{4}-[0-9]{2}$", example = "2030-12")]
    expires: Option<String>,
}

/// The type of a payment instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum InstrumentTypeResource {
    Card,
}

/// A stored payment instrument. Its token is never returned.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PaymentInstrumentResource {
    #[schema(pattern = "^inst_[a-zA-Z0-9-]+$")]
    pub id: String,
    /// Type of the instrument.
    #[serde(rename = "type")]
    pub kind: InstrumentTypeResource,
    /// Displayable details of the card. Null if the processor returns none.
    #[schema(required)]
    pub card: Option<InstrumentCardResource>,
    /// Time at which the instrument was stored.
    pub created_at: IsoDateTime,
}

/// Builds a payment without cards, for lists and responses to changes.
pub fn payment_without_cards(payment: &payment::Payment) -> HotelPaymentResource {
    HotelPaymentResource {
        id: payment.id.to_string(),
        status: payment.status().into(),
        amount: payment.amount.into(),
        created_at: payment.created_at.into(),
        cards: None,
    }
}

/// Builds a payment with cards, for a single read of its booking and for events.
pub fn payment_with_cards(payment: &payment::Payment) -> HotelPaymentResource {
    let cards = payment.card.iter().map(CardResource::from).collect();
    HotelPaymentResource {
        cards: Some(cards),
        ..payment_without_cards(payment)
    }
}

impl From<&payment::Card> for CardResource {
    fn from(card: &payment::Card) -> Self {
        Self {
            brand: card.brand.into(),
            last4: card.last4.clone(),
            funding: card.funding.into(),
            wallet: card.wallet.map(CardWalletResource::from),
        }
    }
}

impl From<&payment::Card> for InstrumentCardResource {
    fn from(card: &payment::Card) -> Self {
        Self {
            brand: card.brand.into(),
            last4: card.last4.clone(),
            funding: card.funding.into(),
            wallet: card.wallet.map(CardWalletResource::from),
            expires: card.expires.clone(),
        }
    }
}

same_variants! {
    PaymentStatusResource <= PaymentStatus: RequiresAction, Authorized, Captured, Voided,
    PartiallyRefunded, Refunded, Failed, Unknown
}

same_variants! {
    CardBrandResource <= CardBrand: Visa, Mastercard, Amex, Discover, Diners, Jcb, Unionpay,
    Unknown
}

same_variants! { CardFundingResource <= Funding: Credit, Debit, Prepaid, Unknown }

same_variants! { CardWalletResource <= Wallet: ApplePay, GooglePay }
