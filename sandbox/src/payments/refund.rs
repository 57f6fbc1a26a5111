//! Refunds of captured payments, whole or in parts.

use std::collections::HashMap;

use axum::{Json, response::IntoResponse};
use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    ledger::EntryKind,
    payments::{
        payment::{positive, requested_payment},
        refusal::{PaymentError, TillwayResult},
        tables::Refund,
    },
    request::{self, Call},
    state::{Record, SandboxRecords},
};

impl Record for Refund {
    const TABLE: &'static str = "card_refund";

    fn id(&self) -> &str {
        &self.id
    }

    fn table(records: &mut SandboxRecords) -> &mut HashMap<String, Self> {
        &mut records.card.refunds
    }

    fn index(&self, records: &mut SandboxRecords) {
        let of_payment = (records.card.refunds_of)
            .entry(self.payment.clone())
            .or_default();
        if !of_payment.contains(&self.id) {
            of_payment.push(self.id.clone());
        }
    }
}

fn refund_wire(refund: &Refund) -> Value {
    json!({
        "id": refund.id,
        "payment": refund.payment,
        "reference": refund.reference,
        "amount": refund.amount,
        "currency": refund.currency.code().to_lowercase(),
        "created": refund.created_at.div_euclid(1_000),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RefundRequest {
    reference: String,
    amount: i64,
}

pub(super) async fn refund_payment(call: Call, body: Bytes) -> TillwayResult {
    let request: RefundRequest = request::body(&body)?;
    request::check_reference("reference", &request.reference)?;
    positive(request.amount)?;
    let refund = call
        .transact(|records| refund(records, &call, &request))
        .await??;
    Ok((StatusCode::CREATED, Json(refund_wire(&refund))).into_response())
}

fn refund(
    records: &mut SandboxRecords,
    call: &Call,
    request: &RefundRequest,
) -> Result<Refund, PaymentError> {
    let mut payment = requested_payment(records, call)?;
    let first = (refunds_of(records, &call.id).into_iter())
        .find(|refund| refund.reference == request.reference);
    if let Some(first) = first {
        return match first.amount == request.amount {
            true => Ok(first),
            false => Err(PaymentError::ReferenceReused),
        };
    }
    if payment.captured == 0 {
        return Err(PaymentError::WrongState);
    }
    if request.amount > payment.captured - payment.refunded {
        return Err(PaymentError::AmountTooLarge);
    }
    let refund = Refund {
        id: records.reference("ref-"),
        payment: payment.id.clone(),
        reference: request.reference.clone(),
        amount: request.amount,
        currency: payment.currency,
        created_at: records.now(),
    };
    payment.refunded += request.amount;
    let mut entry = payment.entry(records, EntryKind::Refund, request.amount);
    entry.client_reference.clone_from(&request.reference);
    entry.reference.clone_from(&refund.id);
    records.record(entry);
    records.save(payment);
    records.save(refund.clone());
    Ok(refund)
}

/// Returns the refunds of a payment, oldest first.
fn refunds_of(records: &SandboxRecords, payment: &str) -> Vec<Refund> {
    (records.card.refunds_of.get(payment).into_iter().flatten())
        .filter_map(|id| records.card.refunds.get(id))
        .cloned()
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindQuery {
    reference: Option<String>,
}

pub(super) async fn find_refunds(call: Call) -> TillwayResult<Json<Value>> {
    let FindQuery { reference } = call.query()?;
    let refunds = call
        .transact(|records| {
            requested_payment(records, &call).map(|_| refunds_of(records, &call.id))
        })
        .await??;
    let wanted = refunds.iter().filter(|refund| {
        reference
            .as_ref()
            .is_none_or(|wanted| *wanted == refund.reference)
    });
    let data: Vec<Value> = wanted.map(refund_wire).collect();
    Ok(Json(json!({ "data": data })))
}
