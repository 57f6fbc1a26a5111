//! Payments of flight bookings.

use crate::api::value::{IsoDateTime, Money};
use crate::render::payment::{Card, PaymentStatus};
use host_domain::payment::{PaymentMethod, Payment};
use serde::Serialize;
use utoipa::ToSchema;

/// Who takes the payer's money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum CollectedBy {
    /// This service.
    Service,
    /// The supplier, at its own checkout.
    Supplier,
}

/// What kind of means pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(
    dead_code,
    reason = "the kinds of the contract; processors tell of cards only"
)]
pub(crate) enum PaymentMethodType {
    /// A card.
    Card,
    /// An account with the supplier.
    Balance,
    /// A transfer.
    BankTransfer,
    /// Something else.
    Other,
}

/// What pays.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct PaymentMethod {
    /// What kind it is.
    #[serde(rename = "type")]
    kind: PaymentMethodType,
    /// What may be shown of the card.
    card: Card,
}

/// A payment of a flight booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct FlightPayment {
    #[schema(
        pattern = "^pay_[a-zA-Z0-9-]+$",
        example = "pay_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Where it stands.
    status: PaymentStatus,
    /// What is held, and taken.
    amount: Money,
    /// Who takes it.
    collected_by: CollectedBy,
    /// Present when the card could be read; never in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_method: Option<PaymentMethod>,
    /// When it was begun.
    created_at: IsoDateTime,
}

/// A payment as lists show it.
pub(crate) fn without_method(payment: &Payment) -> FlightPayment {
    FlightPayment {
        id: payment.id.to_string(),
        status: payment.status().into(),
        amount: payment.amount.into(),
        collected_by: match payment.method {
            PaymentMethod::Instrument { .. } | PaymentMethod::Sdk => CollectedBy::Service,
            PaymentMethod::Supplier => CollectedBy::Supplier,
        },
        payment_method: None,
        created_at: payment.created_at.into(),
    }
}

/// A payment as answers about its booking, and events, show it.
pub(crate) fn with_method(payment: &Payment) -> FlightPayment {
    let payment_method = payment.card.as_ref().map(|card| PaymentMethod {
        kind: PaymentMethodType::Card,
        card: card.into(),
    });
    FlightPayment {
        payment_method,
        ..without_method(payment)
    }
}
