//! JSON resources of flight payments.

use crate::payment::{Card, PaymentStatus};
use crate::value::{IsoDateTime, Money};
use host_domain::payment::{Payment, PaymentMethod};
use serde::Serialize;
use utoipa::ToSchema;

/// The party that collects the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CollectedBy {
    /// This service.
    Service,
    /// The supplier, at its own checkout.
    Supplier,
}

/// The type of a payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentMethodType {
    /// A card.
    Card,
    /// A balance held with the supplier.
    Balance,
    /// A bank transfer.
    BankTransfer,
    /// Another method.
    Other,
}

/// The payment method of a payment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = PaymentMethod)]
pub struct FlightPaymentMethod {
    /// Type of the payment method.
    #[serde(rename = "type")]
    kind: PaymentMethodType,
    /// Displayable details of the card.
    card: Card,
}

/// A payment of a flight booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FlightPayment {
    #[schema(
        pattern = "^pay_[a-zA-Z0-9-]+$",
        example = "pay_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Status of the payment.
    status: PaymentStatus,
    /// Amount that is authorized and captured.
    amount: Money,
    /// Party that collects the payment.
    collected_by: CollectedBy,
    /// Payment method. Present if the card is known; never present in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_method: Option<FlightPaymentMethod>,
    /// Time at which the payment was started.
    created_at: IsoDateTime,
}

/// Builds a payment without its payment method, for lists.
pub fn without_method(payment: &Payment) -> FlightPayment {
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

/// Builds a payment with its payment method, for responses about one booking and for events.
pub fn with_method(payment: &Payment) -> FlightPayment {
    let payment_method = payment.card.as_ref().map(|card| FlightPaymentMethod {
        kind: PaymentMethodType::Card,
        card: card.into(),
    });
    FlightPayment {
        payment_method,
        ..without_method(payment)
    }
}
