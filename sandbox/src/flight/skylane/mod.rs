//! Skylane: a flight supplier that the caller pays. It allows one order per offer and sells bags.

use axum::{
    Json, Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use bytes::Bytes;
use http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    clock::{MINUTE_MS, instant},
    connection,
    credentials::{self, Credential},
    flight::{
        bags::{self, BAG_WEIGHT_KG, BAGS_MAX},
        cancellation,
        order::{self, Order, OrderLookup, OrderState, ResponseVisibility},
        problem::FlightError,
    },
    money::Currency,
    request::{self, Account, keyed},
    state::SandboxState,
};
use refusal::SkylaneError;
use wire::{money, order_wire, segment_ids};

mod data;
mod offer;
mod refusal;
mod wire;

const CREDENTIALS: &[Credential] = &[credentials::SUPPLIER_A];
/// Time for which a cancellation quote is valid.
const QUOTE_LIFE_MS: i64 = 60 * MINUTE_MS;

pub(crate) fn routes() -> Router<SandboxState> {
    let router = Router::new()
        .route("/offers/search", post(offer::search_offers))
        .route("/offers/{id}/price", post(offer::price_offer))
        .route("/orders", post(offer::place_order).get(find_orders))
        .route("/orders/{id}", get(read_order))
        .route("/orders/{id}/cancel-quote", post(quote_cancellation))
        .route("/orders/{id}/cancel", post(cancel_order))
        .route("/orders/{id}/bags", get(list_bags).post(buy_bags))
        .route("/airports", get(data::find_airports))
        .route("/airlines/{iata}", get(data::read_airline))
        .fallback(async || SkylaneError(FlightError::NotFound));
    keyed(router, CREDENTIALS, || {
        SkylaneError(FlightError::Unauthorized)
    })
}

/// Money in the format of Skylane's callers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Payment {
    value: String,
    currency: Currency,
}

impl Payment {
    /// Returns the minor units, or `None` if the currency differs or the amount is invalid.
    fn minor(&self, currency: Currency) -> Option<i64> {
        (self.currency == currency)
            .then(|| currency.parse(&self.value))
            .flatten()
    }
}

fn answer(
    app: &SandboxState,
    order: &Order,
    learns: ResponseVisibility,
    at_once: StatusCode,
) -> Result<Response, SkylaneError> {
    if learns == ResponseVisibility::Lost {
        return Ok(connection::drop_connection());
    }
    let status = match order.state {
        OrderState::Pending | OrderState::Cancelling => StatusCode::ACCEPTED,
        OrderState::Ticketed | OrderState::Failed | OrderState::Cancelled => at_once,
    };
    Ok((status, Json(json!({ "data": order_wire(app, order)? }))).into_response())
}

async fn read_order(
    State(app): State<SandboxState>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Response, SkylaneError> {
    match order::read(&app, account, &id).await? {
        OrderLookup::Order(order) => {
            Ok(Json(json!({ "data": order_wire(&app, &order)? })).into_response())
        }
        OrderLookup::NotFound => Err(SkylaneError(FlightError::NotFound)),
        OrderLookup::NoResponse => Ok(connection::never_respond(&app).await),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindQuery {
    client_ref: String,
}

async fn find_orders(
    State(app): State<SandboxState>,
    account: Account,
    uri: Uri,
) -> Result<Response, SkylaneError> {
    let FindQuery { client_ref } = request::query(&uri)?;
    match order::find(&app, account, &client_ref).await? {
        OrderLookup::Order(order) => {
            Ok(Json(json!({ "data": [order_wire(&app, &order)?] })).into_response())
        }
        OrderLookup::NotFound => Ok(Json(json!({ "data": [] })).into_response()),
        OrderLookup::NoResponse => Ok(connection::never_respond(&app).await),
    }
}

async fn quote_cancellation(
    State(app): State<SandboxState>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Json<Value>, SkylaneError> {
    let (quoted, now) = app
        .transact(|world| (cancellation::quote(world, account, &id), world.now()))
        .await?;
    let (order, amounts) = quoted?;
    let currency = order.choice.currency;
    Ok(Json(json!({ "data": {
        "fee": money(currency, amounts.fee),
        "refund": money(currency, amounts.refund),
        "expires_at": instant(now + QUOTE_LIFE_MS),
    } })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelRequest {
    client_ref: String,
}

async fn cancel_order(
    State(app): State<SandboxState>,
    account: Account,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, SkylaneError> {
    let CancelRequest { client_ref } = request::body(&body)?;
    request::check_reference("client_ref", &client_ref)?;
    let order = app
        .transact(|world| cancellation::cancel(world, account, &id, &client_ref))
        .await??;
    answer(&app, &order, ResponseVisibility::Full, StatusCode::OK)
}

async fn list_bags(
    State(app): State<SandboxState>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Json<Value>, SkylaneError> {
    let order = app
        .transact(|world| order::of_account(world, account, &id))
        .await??;
    let segments = segment_ids(&order.choice.fare()?);
    let data: Vec<Value> = (bags::available(&order)?.iter())
        .map(|bag| {
            json!({
                "id": bag.id,
                "traveller": bag.traveller,
                "segments": segments,
                "weight_kg": BAG_WEIGHT_KG,
                "price": money(order.choice.currency, bag.price),
                "max": BAGS_MAX,
            })
        })
        .collect();
    Ok(Json(json!({ "data": data })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BagsRequest {
    client_ref: String,
    bags: Vec<WantedBag>,
    pay: Payment,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedBag {
    id: String,
    quantity: u8,
}

async fn buy_bags(
    State(app): State<SandboxState>,
    account: Account,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, SkylaneError> {
    let request: BagsRequest = request::body(&body)?;
    request::check_reference("client_ref", &request.client_ref)?;
    let wanted: Vec<bags::BagSelection> = (request.bags.into_iter())
        .map(|bag| bags::BagSelection {
            id: bag.id,
            quantity: bag.quantity,
        })
        .collect();
    let (order, learns) = app
        .transact(|world| {
            let currency = order::of_account(world, account, &id)?.choice.currency;
            let paid = (request.pay.minor(currency)).ok_or(FlightError::AmountMismatch)?;
            bags::buy(world, account, &id, &request.client_ref, &wanted, paid)
        })
        .await??;
    answer(&app, &order, learns, StatusCode::OK)
}
