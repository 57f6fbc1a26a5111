//! The control routes for tests: reading the ledger, setting prices, ending outages, and paying in
//! place of the end user.

use axum::{
    Json, Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use bytes::Bytes;
use http::{StatusCode, Uri, header};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    clock::instant,
    flight, hotel,
    journal::JournalClosed,
    ledger::{Entry, EntryKind},
    money::parse_decimal,
    payments::{self, IntentCompletion},
    request,
    state::SandboxState,
};

/// Maximum price of a night in major units, so that no total overflows.
const NIGHTLY_MAX: i64 = 1_000_000_000;

pub(crate) fn routes() -> Router<SandboxState> {
    Router::new()
        .route("/ledger", get(read_ledger))
        .route("/price", post(move_price))
        .route("/heal", post(heal_content))
        .route("/pay", post(pay_token))
        .route("/webhooks", post(async || StatusCode::NO_CONTENT))
        .fallback(async || ControlError::NotFound("There is no such control."))
}

enum ControlError {
    Invalid(String),
    NotFound(&'static str),
    Conflict(&'static str),
    StorageFailed,
}

impl IntoResponse for ControlError {
    fn into_response(self) -> Response {
        let (status, message) = match &self {
            Self::Invalid(what) => (StatusCode::BAD_REQUEST, what.as_str()),
            Self::NotFound(what) => (StatusCode::NOT_FOUND, *what),
            Self::Conflict(what) => (StatusCode::CONFLICT, *what),
            Self::StorageFailed => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "The sandbox could not store its state. Repeat the request.",
            ),
        };
        (status, Json(json!({ "error": message }))).into_response()
    }
}

impl From<String> for ControlError {
    fn from(what: String) -> Self {
        Self::Invalid(what)
    }
}

impl From<JournalClosed> for ControlError {
    fn from(_: JournalClosed) -> Self {
        Self::StorageFailed
    }
}

#[derive(Serialize)]
struct EntryWire<'a> {
    at: String,
    kind: EntryKind,
    supplier: &'a str,
    client_reference: &'a str,
    reference: &'a str,
    amount: f64,
    currency: &'static str,
}

fn entry_wire(entry: &Entry) -> EntryWire<'_> {
    EntryWire {
        at: instant(entry.at),
        kind: entry.kind,
        supplier: &entry.supplier,
        client_reference: &entry.client_reference,
        reference: &entry.reference,
        amount: entry.currency.to_major(entry.amount),
        currency: entry.currency.code(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerQuery {
    /// Prefix of the client reference.
    client_reference: Option<String>,
    kind: Option<EntryKind>,
}

async fn read_ledger(State(app): State<SandboxState>, uri: Uri) -> Result<Response, ControlError> {
    let query: LedgerQuery = request::query(&uri)?;
    let wanted = |entry: &&Entry| {
        let prefix = query.client_reference.as_deref().unwrap_or_default();
        entry.client_reference.starts_with(prefix)
            && query.kind.is_none_or(|kind| kind == entry.kind)
    };
    let rows = app
        .transact(|records| -> Result<Vec<u8>, serde_json::Error> {
            let rows: Vec<EntryWire<'_>> = records
                .ledger
                .iter()
                .filter(wanted)
                .map(entry_wire)
                .collect();
            serde_json::to_vec(&rows)
        })
        .await?
        .map_err(|_| ControlError::StorageFailed)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], rows).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceRequest {
    supplier_hotel_id: String,
    /// A number or a decimal string, in major units.
    nightly: Value,
}

async fn move_price(
    State(app): State<SandboxState>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let request: PriceRequest = request::body(&body)?;
    if !hotel::knows_hotel(&request.supplier_hotel_id) {
        return Err(ControlError::NotFound("There is no such hotel."));
    }
    let text = match &request.nightly {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => String::new(),
    };
    let nightly = parse_decimal(&text, 4)
        .filter(|nightly| (1..=NIGHTLY_MAX * crate::money::PER_MAJOR).contains(nightly))
        .ok_or_else(|| "nightly must be a positive decimal with at most 4 places".to_owned())?;
    app.transact(|records| hotel::set_nightly(records, &request.supplier_hotel_id, nightly))
        .await?;
    Ok(Json(json!({
        "supplier_hotel_id": request.supplier_hotel_id,
        "nightly": request.nightly,
    })))
}

async fn heal_content(State(app): State<SandboxState>) -> Result<Json<Value>, ControlError> {
    app.transact(hotel::restore_content).await?;
    Ok(Json(json!({ "healed": true })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PayRequest {
    token: String,
}

async fn pay_token(
    State(app): State<SandboxState>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let PayRequest { token } = request::body(&body)?;
    let completion = app
        .transact(|records| match payments::complete_intent(records, &token) {
            IntentCompletion::UnknownToken => flight::complete_checkout(records, &token),
            known => known,
        })
        .await?;
    match completion {
        IntentCompletion::Paid => Ok(Json(json!({ "paid": true }))),
        IntentCompletion::UnknownToken => Err(ControlError::NotFound("There is no such token.")),
        IntentCompletion::AlreadyFinished => Err(ControlError::Conflict(
            "This payment can no longer be completed.",
        )),
    }
}
