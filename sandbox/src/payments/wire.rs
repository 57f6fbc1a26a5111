//! A payment in Tillway's format.

use serde_json::{Value, json};

use crate::payments::{
    card_scenario::CardScenario,
    tables::{Payment, Status},
};

pub(super) fn payment_wire(payment: &Payment) -> Value {
    let ends = payment.hold_ends();
    let ends = ends.filter(|_| payment.status == Status::Authorized);
    json!({
        "id": payment.id,
        "reference": payment.reference,
        "status": payment.status,
        "currency": payment.currency.code().to_lowercase(),
        "amount": payment.amount,
        "amount_authorized": payment.authorized,
        "amount_captured": payment.captured,
        "amount_refunded": payment.refunded,
        "card": payment.source.map(CardScenario::card),
        "decline_code": payment.decline_code(),
        "created": payment.created_at.div_euclid(1_000),
        "authorization_expires": ends.map(|at| at.div_euclid(1_000)),
    })
}
