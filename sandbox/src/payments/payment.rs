//! Payments: authorizing an amount, creating an intent for the browser, and reading payments.

use std::collections::HashMap;

use axum::{Json, response::IntoResponse};
use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    connection,
    ledger::{Entry, EntryKind},
    money::Currency,
    payments::{
        card_scenario::CardScenario,
        refusal::{PaymentError, TillwayResult},
        tables::{Payment, Status},
        wire::payment_wire,
    },
    request::{self, Call},
    state::{Record, SandboxRecords},
};

impl Record for Payment {
    const TABLE: &'static str = "card_payment";

    fn id(&self) -> &str {
        &self.id
    }

    fn table(records: &mut SandboxRecords) -> &mut HashMap<String, Self> {
        &mut records.card.payments
    }

    fn index(&self, records: &mut SandboxRecords) {
        let key = (self.account.clone(), self.reference.clone());
        records.card.by_reference.insert(key, self.id.clone());
        if let Some(token) = &self.intent_token {
            (records.card.by_intent_token).insert(token.clone(), self.id.clone());
        }
    }
}

impl Payment {
    /// Returns a ledger entry about this payment at the current time.
    pub(super) fn entry(&self, records: &SandboxRecords, kind: EntryKind, amount: i64) -> Entry {
        Entry {
            at: records.now(),
            kind,
            supplier: self.account.clone(),
            client_reference: self.reference.clone(),
            reference: self.id.clone(),
            amount,
            currency: self.currency,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct PaymentRequest {
    reference: String,
    amount: i64,
    currency: String,
    source: String,
    description: Option<String>,
    #[serde(default)]
    off_session: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct IntentRequest {
    reference: String,
    amount: i64,
    currency: String,
    description: Option<String>,
}

struct AuthorizeParams {
    reference: String,
    amount: i64,
    currency: Currency,
    source: Option<CardScenario>,
}

/// Checks the values of an authorization or intent.
fn validate_authorization(
    reference: String,
    amount: i64,
    currency: &str,
    source: Option<CardScenario>,
) -> Result<AuthorizeParams, PaymentError> {
    request::check_reference("reference", &reference)?;
    positive(amount)?;
    let currency = (currency.chars().all(|letter| letter.is_ascii_lowercase()))
        .then(|| Currency::from_code(&currency.to_uppercase()))
        .flatten()
        .ok_or_else(|| PaymentError::Invalid("currency: not a lower-case code".to_owned()))?;
    Ok(AuthorizeParams {
        reference,
        amount,
        currency,
        source,
    })
}

pub(super) fn positive(amount: i64) -> Result<(), PaymentError> {
    (amount > 0)
        .then_some(())
        .ok_or_else(|| PaymentError::Invalid("amount must be positive".to_owned()))
}

pub(super) async fn authorize_payment(call: Call, body: Bytes) -> TillwayResult {
    let request: PaymentRequest = request::body(&body)?;
    let source = CardScenario::from_token(&request.source).ok_or(PaymentError::NoSuchToken)?;
    let authorization = validate_authorization(
        request.reference,
        request.amount,
        &request.currency,
        Some(source),
    )?;
    let (payment, repeated) = call
        .transact(
            |records| match find_by_same_reference(records, call.account, &authorization) {
                Ok(Some(first)) => Ok((first, true)),
                Ok(None) => Ok((
                    authorize(records, call.account, authorization, source),
                    false,
                )),
                Err(refusal) => Err(refusal),
            },
        )
        .await??;
    if payment.decline_code().is_some() {
        return Err(PaymentError::Declined(Box::new(payment)));
    }
    if source == CardScenario::Timeout && !repeated {
        return Ok(connection::drop_connection());
    }
    Ok((StatusCode::CREATED, Json(payment_wire(&payment))).into_response())
}

/// Returns the payment that the same reference created before.
///
/// # Errors
/// Fails if that payment has other values.
fn find_by_same_reference(
    records: &SandboxRecords,
    account: &str,
    authorization: &AuthorizeParams,
) -> Result<Option<Payment>, PaymentError> {
    let Some(first) = by_reference(records, account, &authorization.reference) else {
        return Ok(None);
    };
    let same = first.amount == authorization.amount
        && first.currency == authorization.currency
        && first.intent_token.is_some() == authorization.source.is_none()
        && (authorization.source.is_none() || first.source == authorization.source);
    if same {
        Ok(Some(first))
    } else {
        Err(PaymentError::ReferenceReused)
    }
}

fn authorize(
    records: &mut SandboxRecords,
    account: &str,
    authorization: AuthorizeParams,
    source: CardScenario,
) -> Payment {
    let mut payment = new(records, account, authorization);
    payment.status = match source {
        CardScenario::Declined | CardScenario::InsufficientFunds => Status::Declined,
        CardScenario::RequiresAction => Status::RequiresAction,
        CardScenario::Visa
        | CardScenario::Mastercard
        | CardScenario::Timeout
        | CardScenario::CaptureFails => {
            hold(records, &mut payment);
            Status::Authorized
        }
    };
    records.save(payment.clone());
    payment
}

pub(super) fn hold(records: &mut SandboxRecords, payment: &mut Payment) {
    payment.status = Status::Authorized;
    payment.authorized = payment.amount;
    payment.authorized_at = Some(records.now());
    records.record(payment.entry(records, EntryKind::Authorization, payment.amount));
}

fn new(records: &mut SandboxRecords, account: &str, authorization: AuthorizeParams) -> Payment {
    Payment {
        id: records.reference("pay-"),
        account: account.to_owned(),
        reference: authorization.reference,
        status: Status::RequiresAction,
        amount: authorization.amount,
        currency: authorization.currency,
        source: authorization.source,
        intent_token: None,
        authorized: 0,
        authorized_at: None,
        captured: 0,
        capture_reference: None,
        capture_failures: 0,
        void_reference: None,
        refunded: 0,
        created_at: records.now(),
    }
}

pub(super) async fn create_intent(call: Call, body: Bytes) -> TillwayResult {
    let request: IntentRequest = request::body(&body)?;
    let authorization =
        validate_authorization(request.reference, request.amount, &request.currency, None)?;
    let payment = call
        .transact(
            |records| match find_by_same_reference(records, call.account, &authorization) {
                Ok(None) => {
                    let mut payment = new(records, call.account, authorization);
                    payment.intent_token = Some(secret_token(&payment.id));
                    records.save(payment.clone());
                    Ok(payment)
                }
                Ok(Some(first)) => Ok(first),
                Err(refusal) => Err(refusal),
            },
        )
        .await??;
    let answer = json!({ "payment": payment_wire(&payment), "token": payment.intent_token });
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

/// Returns a token with which a browser completes a payment. It cannot be guessed from the
/// payment's id.
pub(crate) fn secret_token(id: &str) -> String {
    format!("{id}-secret-{}", uuid::Uuid::now_v7().simple())
}

fn by_reference(records: &SandboxRecords, account: &str, reference: &str) -> Option<Payment> {
    let key = (account.to_owned(), reference.to_owned());
    let id = records.card.by_reference.get(&key)?;
    records.card.payments.get(id).cloned()
}

/// Returns the payment that a call names, if it belongs to the caller's account.
pub(super) fn requested_payment(
    records: &SandboxRecords,
    call: &Call,
) -> Result<Payment, PaymentError> {
    (records.card.payments.get(&call.id))
        .filter(|payment| payment.account == call.account)
        .cloned()
        .ok_or(PaymentError::NoSuchPayment)
}

pub(super) async fn read_payment(call: Call) -> TillwayResult<Json<Value>> {
    let payment = call
        .transact(|records| requested_payment(records, &call))
        .await??;
    Ok(Json(payment_wire(&payment)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindQuery {
    reference: String,
}

pub(super) async fn find_payments(call: Call) -> TillwayResult<Json<Value>> {
    let FindQuery { reference } = call.query()?;
    let found = call
        .transact(|records| by_reference(records, call.account, &reference))
        .await?;
    let data: Vec<Value> = found.iter().map(payment_wire).collect();
    Ok(Json(json!({ "data": data })))
}
