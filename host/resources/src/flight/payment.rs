//! JSON resources of flight payments.

use crate::payment::{CardResource, PaymentStatusResource};
use crate::value::{IsoDateTime, MoneyResource};
use host_domain::payment::{Payment, PaymentMethod};
use serde::Serialize;
use utoipa::ToSchema;

/// The party that collects the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CollectedByResource {
    Service,
    /// The supplier, at its own checkout.
    Supplier,
}

/// The type of a payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentMethodTypeResource {
    Card,
    /// A balance held with the supplier.
    Balance,
    BankTransfer,
    Other,
}

/// The payment method of a payment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = PaymentMethod)]
pub struct FlightPaymentMethodResource {
    /// Type of the payment method.
    #[serde(rename = "type")]
    kind: PaymentMethodTypeResource,
    /// Displayable details of the card.
    card: CardResource,
}

/// A payment of a flight booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FlightPaymentResource {
    #[schema(pattern = "^pay_[a-zA-Z0-9-]+$")]
    id: String,
    /// Status of the payment.
    status: PaymentStatusResource,
    /// Amount that is authorized and captured.
    amount: MoneyResource,
    /// Party that collects the payment.
    collected_by: CollectedByResource,
    /// Payment method. Present if the card is known; never present in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_method: Option<FlightPaymentMethodResource>,
    /// Time at which the payment was started.
    created_at: IsoDateTime,
}

/// Builds a payment without its payment method, for lists.
pub fn payment_without_method(payment: &Payment) -> FlightPaymentResource {
    FlightPaymentResource {
        id: payment.id.to_string(),
        status: payment.status().into(),
        amount: payment.amount.into(),
        collected_by: match payment.method {
            PaymentMethod::Instrument { .. } | PaymentMethod::Sdk => CollectedByResource::Service,
            PaymentMethod::Supplier => CollectedByResource::Supplier,
        },
        payment_method: None,
        created_at: payment.created_at.into(),
    }
}

/// Builds a payment with its payment method, for responses about one booking and for events.
pub fn payment_with_method(payment: &Payment) -> FlightPaymentResource {
    let card = payment.card.as_ref();
    let payment_method = card.map(|card| FlightPaymentMethodResource {
        kind: PaymentMethodTypeResource::Card,
        card: card.into(),
    });
    FlightPaymentResource {
        payment_method,
        ..payment_without_method(payment)
    }
}
