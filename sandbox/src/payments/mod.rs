//! Tillway, the card processor: its records and routes. It is independent of what is paid for.

use axum::{
    Router,
    routing::{get, post},
};

use crate::{
    credentials::{self, Credential},
    request::require_key,
    state::SandboxState,
};

mod capture_void;
mod card_scenario;
mod payment;
mod refund;
mod refusal;
pub(crate) mod tables;
mod token;
mod wire;

use crate::payments::refusal::PaymentError;
pub(crate) use crate::payments::{
    capture_void::{IntentCompletion, complete_intent},
    payment::secret_token,
};

const CREDENTIALS: &[Credential] = &[credentials::SANDBOX_PAYMENTS];

pub(crate) fn routes() -> Router<SandboxState> {
    let router = Router::new()
        .route(
            "/payments",
            post(payment::authorize_payment).get(payment::find_payments),
        )
        .route("/intents", post(payment::create_intent))
        .route("/payments/{id}", get(payment::read_payment))
        .route(
            "/payments/{id}/capture",
            post(capture_void::capture_payment),
        )
        .route("/payments/{id}/void", post(capture_void::void_payment))
        .route(
            "/payments/{id}/refunds",
            post(refund::refund_payment).get(refund::find_refunds),
        )
        .route("/tokens/{token}", get(token::read_token))
        .fallback(async || PaymentError::NoSuchPayment);
    require_key(router, CREDENTIALS, || PaymentError::InvalidKey)
}
