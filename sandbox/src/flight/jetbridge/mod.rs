//! Jetbridge: a flight supplier with its own checkout. It supports every filter and sells no bags.

use axum::{
    Json, Router,
    extract::{Path, State},
    response::{Html, IntoResponse, Response},
    routing::{get, post},
};
use bytes::Bytes;
use http::StatusCode;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    clock::MINUTE_MS,
    connection,
    credentials::{self, Credential},
    flight::{
        airport_search::search_airports,
        cancellation, checkout,
        fare::{FareSelection, LOYAL},
        logo_url, order,
        problem::FlightError,
        reference_data::{self, Airport},
        scenario::Scenario,
        tables::{Order, OrderState, Prebook},
        trip::PassengerType,
    },
    request::{self, Call, require_key},
    state::{SandboxRecords, SandboxState},
};
use refusal::{JetbridgeError, JetbridgeResult};
use wire::{booking_wire, money, prebook_wire};

mod fares;
mod refusal;
mod wire;

const CREDENTIALS: &[Credential] = &[credentials::SUPPLIER_B];
/// Time for which a cancellation quote is valid.
const QUOTE_LIFE_MS: i64 = 15 * MINUTE_MS;
const AIRPORTS: usize = 20;

pub(crate) fn routes() -> Router<SandboxState> {
    let router = Router::new()
        .route("/fares", post(fares::search_fares))
        .route("/prebooks", post(prebook_fare))
        .route("/bookings", post(book_prebook).get(find_bookings))
        .route("/bookings/{id}", get(read_booking))
        .route(
            "/bookings/{id}/cancellation",
            get(quote_cancellation).post(cancel_booking),
        )
        .route("/airports", get(find_airports))
        .route("/airlines/{code}", get(read_airline))
        .fallback(async || JetbridgeError(FlightError::NotFound));
    require_key(router, CREDENTIALS, || {
        JetbridgeError(FlightError::Unauthorized)
    })
}

/// Returns the route of the checkout page, which needs no key.
pub(crate) fn checkout_routes() -> Router<SandboxState> {
    Router::new().route("/jetbridge/checkout/{token}", get(show_checkout))
}

fn ok(result: impl Serialize) -> Json<Value> {
    Json(json!({ "ok": true, "result": result }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct PrebookRequest {
    fare_key: String,
    client_ref: String,
    contact: Contact,
    pax: Vec<Passenger>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct Contact {
    mail: String,
    phone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct Passenger {
    r#type: Pax,
    title: Option<String>,
    first: String,
    last: String,
    birth: Date,
    sex: Sex,
    nation: Option<String>,
    doc: Option<Document>,
    #[serde(default)]
    ffp: Vec<FrequentFlyer>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Pax {
    Adt,
    Chd,
    Inf,
}

#[derive(Deserialize)]
enum Sex {
    M,
    F,
    X,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct Document {
    r#type: DocumentType,
    no: String,
    country: String,
    expiry: Date,
}

#[derive(Deserialize)]
enum DocumentType {
    P,
    I,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct FrequentFlyer {
    airline: String,
    no: String,
}

async fn prebook_fare(call: Call, body: Bytes) -> JetbridgeResult {
    let request: PrebookRequest = request::body(&body)?;
    request::check_reference("clientRef", &request.client_ref)?;
    let prebook = call
        .transact(|records| prebook(records, call.account, &request))
        .await??;
    Ok((StatusCode::CREATED, ok(prebook_wire(&call.app, &prebook)?)).into_response())
}

fn prebook(
    records: &mut SandboxRecords,
    account: &str,
    request: &PrebookRequest,
) -> Result<Prebook, FlightError> {
    let choice = FareSelection::from_id(&request.fare_key)?;
    let types = request.pax.iter().map(|one| match one.r#type {
        Pax::Adt => PassengerType::Adult,
        Pax::Chd => PassengerType::Child,
        Pax::Inf => PassengerType::Infant,
    });
    choice.check_passengers("pax", types)?;
    let documented = request.pax.iter().all(|one| one.doc.is_some());
    if choice.scenario() == Scenario::DocumentsRequired && !documented {
        return Err(FlightError::DocumentsRequired);
    }
    let loyal = (request.pax.iter().flat_map(|one| &one.ffp)).any(|ffp| ffp.no == LOYAL);
    checkout::prebook(records, account, request.fare_key.clone(), loyal)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct BookRequest {
    prebook_id: String,
    client_ref: String,
}

async fn book_prebook(call: Call, body: Bytes) -> JetbridgeResult {
    let BookRequest {
        prebook_id,
        client_ref,
    } = request::body(&body)?;
    request::check_reference("clientRef", &client_ref)?;
    let order = call
        .transact(|records| checkout::book(records, call.account, &prebook_id, &client_ref))
        .await??;
    match order {
        Some(order) => answer(&call.app, &order),
        None => Ok(connection::drop_connection()),
    }
}

fn answer(app: &SandboxState, order: &Order) -> JetbridgeResult {
    let status = match order.state {
        OrderState::Pending | OrderState::Cancelling => StatusCode::ACCEPTED,
        OrderState::Ticketed | OrderState::Failed | OrderState::Cancelled => StatusCode::OK,
    };
    Ok((status, ok(booking_wire(app, order)?)).into_response())
}

async fn read_booking(call: Call) -> JetbridgeResult {
    match order::read(&call).await? {
        Some(order) => Ok(ok(booking_wire(&call.app, &order)?).into_response()),
        None => Ok(connection::never_respond(&call.app).await),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FindQuery {
    client_ref: String,
}

async fn find_bookings(call: Call) -> JetbridgeResult {
    let FindQuery { client_ref } = call.query()?;
    let Some(orders) = order::find(&call, &client_ref).await? else {
        return Ok(connection::never_respond(&call.app).await);
    };
    let found = orders.iter().map(|order| booking_wire(&call.app, order));
    let found: Vec<Value> = found.collect::<Result<_, _>>()?;
    Ok(ok(json!({ "bookings": found })).into_response())
}

async fn quote_cancellation(call: Call) -> JetbridgeResult<Json<Value>> {
    let (quoted, now) = call
        .transact(|records| (cancellation::quote(records, &call), records.now()))
        .await?;
    let (order, amounts) = quoted?;
    let currency = order.choice.currency;
    Ok(ok(json!({
        "fee": money(currency, amounts.fee),
        "refund": money(currency, amounts.refund),
        "validUntil": now + QUOTE_LIFE_MS,
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CancelRequest {
    client_ref: String,
}

async fn cancel_booking(call: Call, body: Bytes) -> JetbridgeResult {
    let CancelRequest { client_ref } = request::body(&body)?;
    request::check_reference("clientRef", &client_ref)?;
    let order = call
        .transact(|records| cancellation::cancel(records, &call, &client_ref))
        .await??;
    answer(&call.app, &order)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AirportQuery {
    text: String,
    max: Option<usize>,
}

async fn find_airports(call: Call) -> JetbridgeResult<Json<Value>> {
    let query: AirportQuery = call.query()?;
    let max = query.max.unwrap_or(AIRPORTS);
    let (airports, more) = search_airports(&call.app, &query.text, max, airport).await;
    Ok(ok(json!({ "airports": airports, "more": more })))
}

fn airport(airport: &Airport) -> Value {
    json!({
        "code": airport.iata,
        "icao": airport.icao,
        "name": airport.name,
        "city": airport.city,
        "region": airport.state,
        "country": airport.country,
        "lat": airport.lat,
        "lng": airport.lon,
        "tz": airport.zone_name,
    })
}

async fn read_airline(call: Call) -> JetbridgeResult<Json<Value>> {
    let airline = reference_data::airline(&call.id).ok_or(FlightError::NotFound)?;
    Ok(ok(json!({
        "code": airline.iata,
        "icao": airline.icao,
        "name": airline.name,
        "country": airline.country,
        "alliance": airline.alliance,
        "logo": logo_url(&call.app, airline),
        "active": airline.active,
    })))
}

/// Returns the checkout page, which has one button that pays.
async fn show_checkout(State(app): State<SandboxState>, Path(token): Path<String>) -> Response {
    let due = app
        .transact(|records| checkout::amount_due(records, &token))
        .await;
    let Ok(Some((currency, minor))) = due else {
        return (StatusCode::NOT_FOUND, Html("<h1>No such checkout</h1>")).into_response();
    };
    let amount = format!("{} {}", currency.format(minor), currency.code());
    Html(format!(
        r#"<!doctype html><html lang="en"><meta charset="utf-8"><title>Jetbridge checkout</title>
<h1>{amount}</h1><button id="pay">Pay</button><p id="done" hidden>Paid. You may close this page.</p>
<script>
document.getElementById("pay").onclick = async () => {{
  const token = location.pathname.split("/").pop();
  const answer = await fetch("/control/pay", {{ method: "POST", body: JSON.stringify({{ token }}) }});
  document.getElementById("done").hidden = !answer.ok;
}};
</script></html>"#
    ))
    .into_response()
}
