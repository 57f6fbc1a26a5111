//! Capture and void of an authorization, and completion of an intent by the end user.

use axum::Json;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    ledger::EntryKind,
    payments::{
        card_scenario::{CAPTURE_FAILURES, CardScenario},
        payment::{hold, positive, requested_payment},
        refusal::{PaymentError, TillwayResult},
        tables::{Payment, Status},
        wire::payment_wire,
    },
    request::{self, Call},
    state::SandboxRecords,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaptureRequest {
    reference: String,
    amount: i64,
}

pub(super) async fn capture_payment(call: Call, body: Bytes) -> TillwayResult<Json<Value>> {
    let request: CaptureRequest = request::body(&body)?;
    request::check_reference("reference", &request.reference)?;
    positive(request.amount)?;
    let payment = call
        .transact(|records| capture(records, &call, &request))
        .await??;
    Ok(Json(payment_wire(&payment)))
}

fn capture(
    records: &mut SandboxRecords,
    call: &Call,
    request: &CaptureRequest,
) -> Result<Payment, PaymentError> {
    let mut payment = requested_payment(records, call)?;
    if payment.capture_reference.as_ref() == Some(&request.reference) {
        return match payment.captured == request.amount {
            true => Ok(payment),
            false => Err(PaymentError::ReferenceReused),
        };
    }
    let lapsed = payment.hold_ends().is_none_or(|at| at <= records.now());
    if payment.status != Status::Authorized || lapsed {
        return Err(PaymentError::WrongState);
    }
    if request.amount > payment.authorized {
        return Err(PaymentError::AmountTooLarge);
    }
    let fails = payment.source == Some(CardScenario::CaptureFails);
    if fails && payment.capture_failures < CAPTURE_FAILURES {
        payment.capture_failures += 1;
        records.save(payment);
        return Err(PaymentError::CaptureFailed);
    }
    payment.status = Status::Captured;
    payment.captured = request.amount;
    payment.capture_reference = Some(request.reference.clone());
    let mut entry = payment.entry(records, EntryKind::Capture, request.amount);
    entry.client_reference.clone_from(&request.reference);
    records.record(entry);
    records.save(payment.clone());
    Ok(payment)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VoidRequest {
    reference: String,
}

pub(super) async fn void_payment(call: Call, body: Bytes) -> TillwayResult<Json<Value>> {
    let request: VoidRequest = request::body(&body)?;
    request::check_reference("reference", &request.reference)?;
    let payment = call
        .transact(|records| void(records, &call, &request.reference))
        .await??;
    Ok(Json(payment_wire(&payment)))
}

fn void(
    records: &mut SandboxRecords,
    call: &Call,
    reference: &str,
) -> Result<Payment, PaymentError> {
    let mut payment = requested_payment(records, call)?;
    if payment.void_reference.as_deref() == Some(reference) {
        return Ok(payment);
    }
    match payment.status {
        Status::Authorized => {
            let mut entry = payment.entry(records, EntryKind::Void, payment.authorized);
            reference.clone_into(&mut entry.client_reference);
            records.record(entry);
        }
        // Nothing was authorized, so the ledger gets no entry.
        Status::RequiresAction => {}
        Status::Captured | Status::Canceled | Status::Declined => {
            return Err(PaymentError::WrongState);
        }
    }
    payment.status = Status::Canceled;
    payment.void_reference = Some(reference.to_owned());
    records.save(payment.clone());
    Ok(payment)
}

/// The result of paying with a token in a browser.
pub(crate) enum IntentCompletion {
    Paid,
    UnknownToken,
    /// The payment was cancelled or already captured.
    AlreadyFinished,
}

/// Completes an intent as the end user does, with a Visa card.
pub(crate) fn complete_intent(records: &mut SandboxRecords, token: &str) -> IntentCompletion {
    let payment = (records.card.by_intent_token.get(token))
        .and_then(|id| records.card.payments.get(id))
        .cloned();
    let Some(mut payment) = payment else {
        return IntentCompletion::UnknownToken;
    };
    match payment.status {
        Status::RequiresAction => {
            payment.source = Some(CardScenario::Visa);
            hold(records, &mut payment);
            records.save(payment);
            IntentCompletion::Paid
        }
        Status::Authorized | Status::Captured => IntentCompletion::Paid,
        Status::Canceled | Status::Declined => IntentCompletion::AlreadyFinished,
    }
}
