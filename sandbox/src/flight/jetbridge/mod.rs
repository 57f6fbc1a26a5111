//! Jetbridge: a flight supplier with its own checkout. It supports every filter and sells no bags.

use axum::{
    Json, Router,
    extract::{Path, State},
    response::{Html, IntoResponse, Response},
    routing::{get, post},
};
use bytes::Bytes;
use http::{StatusCode, Uri};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    clock::MINUTE_MS,
    connection,
    credentials::{self, Credential},
    flight::{
        cancellation,
        checkout::{self, Prebook},
        fare::{FareSelection, LOYAL, PassengerType},
        logo_url,
        order::{self, Order, OrderLookup, OrderState, ResponseVisibility},
        problem::FlightError,
        reference_data::{self, Airport},
        scenario::Scenario,
    },
    request::{self, Account, keyed},
    state::{SandboxRecords, SandboxState},
};
use refusal::JetbridgeError;
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
    keyed(router, CREDENTIALS, || {
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
struct PrebookRequest {
    fare_key: String,
    client_ref: String,
    #[serde(rename = "contact")]
    _contact: Contact,
    pax: Vec<Passenger>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contact {
    #[serde(rename = "mail")]
    _mail: String,
    #[serde(rename = "phone")]
    _phone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Passenger {
    r#type: Pax,
    #[serde(default, rename = "title")]
    _title: Option<String>,
    #[serde(rename = "first")]
    _first: String,
    #[serde(rename = "last")]
    _last: String,
    #[serde(rename = "birth")]
    _birth: Date,
    #[serde(rename = "sex")]
    _sex: Sex,
    #[serde(default, rename = "nation")]
    _nation: Option<String>,
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
struct Document {
    #[serde(rename = "type")]
    _type: DocumentType,
    #[serde(rename = "no")]
    _no: String,
    #[serde(rename = "country")]
    _country: String,
    #[serde(rename = "expiry")]
    _expiry: Date,
}

#[derive(Deserialize)]
enum DocumentType {
    P,
    I,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrequentFlyer {
    #[serde(rename = "airline")]
    _airline: String,
    no: String,
}

async fn prebook_fare(
    State(app): State<SandboxState>,
    account: Account,
    body: Bytes,
) -> Result<Response, JetbridgeError> {
    let request: PrebookRequest = request::body(&body)?;
    request::check_reference("clientRef", &request.client_ref)?;
    let prebook = app
        .transact(|world| prebook(world, account, &request))
        .await??;
    Ok((StatusCode::CREATED, ok(prebook_wire(&app, prebook)?)).into_response())
}

fn prebook(
    world: &mut SandboxRecords,
    account: Account,
    request: &PrebookRequest,
) -> Result<Prebook, FlightError> {
    let choice = FareSelection::from_id(&request.fare_key)?;
    let types = request.pax.iter().map(|one| match one.r#type {
        Pax::Adt => PassengerType::Adult,
        Pax::Chd => PassengerType::Child,
        Pax::Inf => PassengerType::Infant,
    });
    if !types.eq(choice.passengers.iter().copied()) {
        return Err(FlightError::Invalid(
            "pax are not those of the search".to_owned(),
        ));
    }
    let documented = request.pax.iter().all(|one| one.doc.is_some());
    if choice.scenario() == Scenario::DocumentsRequired && !documented {
        return Err(FlightError::DocumentsRequired);
    }
    let loyal = (request.pax.iter().flat_map(|one| &one.ffp)).any(|ffp| ffp.no == LOYAL);
    checkout::prebook(world, account, request.fare_key.clone(), loyal)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct BookRequest {
    prebook_id: String,
    client_ref: String,
}

async fn book_prebook(
    State(app): State<SandboxState>,
    account: Account,
    body: Bytes,
) -> Result<Response, JetbridgeError> {
    let request: BookRequest = request::body(&body)?;
    request::check_reference("clientRef", &request.client_ref)?;
    let (order, learns) = app
        .transact(|world| checkout::book(world, account, &request.prebook_id, &request.client_ref))
        .await??;
    match learns {
        ResponseVisibility::Full => answer(&app, &order),
        ResponseVisibility::Lost => Ok(connection::drop_connection()),
    }
}

fn answer(app: &SandboxState, order: &Order) -> Result<Response, JetbridgeError> {
    let status = match order.state {
        OrderState::Pending | OrderState::Cancelling => StatusCode::ACCEPTED,
        OrderState::Ticketed | OrderState::Failed | OrderState::Cancelled => StatusCode::OK,
    };
    Ok((status, ok(booking_wire(app, order)?)).into_response())
}

async fn read_booking(
    State(app): State<SandboxState>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Response, JetbridgeError> {
    match order::read(&app, account, &id).await? {
        OrderLookup::Order(order) => Ok(ok(booking_wire(&app, &order)?).into_response()),
        OrderLookup::NotFound => Err(JetbridgeError(FlightError::NotFound)),
        OrderLookup::NoResponse => Ok(connection::never_respond(&app).await),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FindQuery {
    client_ref: String,
}

async fn find_bookings(
    State(app): State<SandboxState>,
    account: Account,
    uri: Uri,
) -> Result<Response, JetbridgeError> {
    let FindQuery { client_ref } = request::query(&uri)?;
    let found = match order::find(&app, account, &client_ref).await? {
        OrderLookup::Order(order) => vec![booking_wire(&app, &order)?],
        OrderLookup::NotFound => Vec::new(),
        OrderLookup::NoResponse => return Ok(connection::never_respond(&app).await),
    };
    Ok(ok(json!({ "bookings": found })).into_response())
}

async fn quote_cancellation(
    State(app): State<SandboxState>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Json<Value>, JetbridgeError> {
    let (quoted, now) = app
        .transact(|world| (cancellation::quote(world, account, &id), world.now()))
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

async fn cancel_booking(
    State(app): State<SandboxState>,
    account: Account,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, JetbridgeError> {
    let CancelRequest { client_ref } = request::body(&body)?;
    request::check_reference("clientRef", &client_ref)?;
    let order = app
        .transact(|world| cancellation::cancel(world, account, &id, &client_ref))
        .await??;
    answer(&app, &order)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AirportQuery {
    text: String,
    max: Option<usize>,
}

async fn find_airports(
    State(app): State<SandboxState>,
    _account: Account,
    uri: Uri,
) -> Result<Json<Value>, JetbridgeError> {
    let query: AirportQuery = request::query(&uri)?;
    app.sleep_or_stop(reference_data::search_time(&query.text))
        .await;
    let found = reference_data::find_airports(&query.text);
    let max = query.max.unwrap_or(AIRPORTS);
    let airports: Vec<Value> = found.iter().take(max).map(|found| airport(found)).collect();
    Ok(ok(
        json!({ "airports": airports, "more": found.len() > max }),
    ))
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

async fn read_airline(
    State(app): State<SandboxState>,
    _account: Account,
    Path(code): Path<String>,
) -> Result<Json<Value>, JetbridgeError> {
    let airline = reference_data::airline(&code).ok_or(FlightError::NotFound)?;
    Ok(ok(json!({
        "code": airline.iata,
        "icao": airline.icao,
        "name": airline.name,
        "country": airline.country,
        "alliance": airline.alliance,
        "logo": logo_url(&app, airline),
        "active": airline.active,
    })))
}

/// Returns the checkout page, which has one button that pays.
async fn show_checkout(State(app): State<SandboxState>, Path(token): Path<String>) -> Response {
    let due = app
        .transact(|world| checkout::amount_due(world, &token))
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
