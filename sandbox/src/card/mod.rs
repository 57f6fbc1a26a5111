//! Tillway, the card processor: its records and routes. It is independent of what is paid for.

use std::collections::HashMap;

use axum::{
    Router,
    routing::{get, post},
};

use crate::{
    keys::{self, Credential},
    request::keyed,
    state::SandboxState,
};

mod payment;
mod refund;
mod refusal;
mod settlement;
mod token;

use crate::card::refusal::Refusal;
pub(crate) use crate::card::{
    payment::{Payment, secret_token},
    refund::Refund,
    settlement::{IntentCompletion, complete_intent},
};

/// Records and indexes of Tillway.
#[derive(Default)]
pub(crate) struct PaymentTables {
    payments: HashMap<String, Payment>,
    refunds: HashMap<String, Refund>,
    /// Payment ids by account and reference.
    by_reference: HashMap<(String, String), String>,
    /// Payment ids by the token of their intent.
    by_intent_token: HashMap<String, String>,
    /// Refund ids by payment id, oldest first.
    refunds_of: HashMap<String, Vec<String>>,
}

const CREDENTIALS: &[Credential] = &[keys::SANDBOX_PAYMENTS];

pub(crate) fn routes() -> Router<SandboxState> {
    let router = Router::new()
        .route(
            "/payments",
            post(payment::authorize_payment).get(payment::find_payments),
        )
        .route("/intents", post(payment::create_intent))
        .route("/payments/{id}", get(payment::read_payment))
        .route("/payments/{id}/capture", post(settlement::capture_payment))
        .route("/payments/{id}/void", post(settlement::void_payment))
        .route(
            "/payments/{id}/refunds",
            post(refund::refund_payment).get(refund::find_refunds),
        )
        .route("/tokens/{token}", get(token::read_token))
        .fallback(async || Refusal::NoSuchPayment);
    keyed(router, CREDENTIALS, || Refusal::InvalidKey)
}
