//! Skylane: a flight supplier that the caller pays. It allows one order per offer and sells bags.

use axum::{
    Json, Router,
    response::IntoResponse,
    routing::{get, post},
};
use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    clock::{MINUTE_MS, instant},
    connection,
    credentials::{self, Credential},
    flight::{
        bags, cancellation, order,
        problem::FlightError,
        tables::{Order, OrderState},
    },
    money::Currency,
    request::{self, Call, require_key},
    state::SandboxState,
};
use refusal::{SkylaneError, SkylaneResult};
use wire::{available_bags, money, order_wire};

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
    require_key(router, CREDENTIALS, || {
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

/// Responds with an order. The response is lost if there is none.
fn answer(app: &SandboxState, order: Option<Order>, at_once: StatusCode) -> SkylaneResult {
    let Some(order) = order else {
        return Ok(connection::drop_connection());
    };
    let status = match order.state {
        OrderState::Pending | OrderState::Cancelling => StatusCode::ACCEPTED,
        OrderState::Ticketed | OrderState::Failed | OrderState::Cancelled => at_once,
    };
    Ok((status, Json(json!({ "data": order_wire(app, &order)? }))).into_response())
}

async fn read_order(call: Call) -> SkylaneResult {
    match order::read(&call).await? {
        Some(order) => Ok(Json(json!({ "data": order_wire(&call.app, &order)? })).into_response()),
        None => Ok(connection::never_respond(&call.app).await),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindQuery {
    client_ref: String,
}

async fn find_orders(call: Call) -> SkylaneResult {
    let FindQuery { client_ref } = call.query()?;
    let Some(orders) = order::find(&call, &client_ref).await? else {
        return Ok(connection::never_respond(&call.app).await);
    };
    let data = orders.iter().map(|order| order_wire(&call.app, order));
    let data: Vec<Value> = data.collect::<Result<_, _>>()?;
    Ok(Json(json!({ "data": data })).into_response())
}

async fn quote_cancellation(call: Call) -> SkylaneResult<Json<Value>> {
    let (quoted, now) = call
        .transact(|records| (cancellation::quote(records, &call), records.now()))
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

async fn cancel_order(call: Call, body: Bytes) -> SkylaneResult {
    let CancelRequest { client_ref } = request::body(&body)?;
    request::check_reference("client_ref", &client_ref)?;
    let order = call
        .transact(|records| cancellation::cancel(records, &call, &client_ref))
        .await??;
    answer(&call.app, Some(order), StatusCode::OK)
}

async fn list_bags(call: Call) -> SkylaneResult<Json<Value>> {
    let order = call
        .transact(|records| order::requested_order(records, &call))
        .await??;
    let data = available_bags(
        &order.choice,
        &order.choice.fare()?,
        &bags::available(&order)?,
    );
    Ok(Json(json!({ "data": data })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BagsRequest {
    client_ref: String,
    bags: Vec<bags::WantedBag>,
    pay: Payment,
}

async fn buy_bags(call: Call, body: Bytes) -> SkylaneResult {
    let request: BagsRequest = request::body(&body)?;
    request::check_reference("client_ref", &request.client_ref)?;
    let order = call
        .transact(|records| {
            let currency = order::requested_order(records, &call)?.choice.currency;
            let paid = (request.pay.minor(currency)).ok_or(FlightError::AmountMismatch)?;
            bags::buy(records, &call, &request.client_ref, &request.bags, paid)
        })
        .await??;
    answer(&call.app, order, StatusCode::OK)
}
