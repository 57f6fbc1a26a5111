//! Cancellation quotes and cancellations. In Duffel's API a cancellation is a confirmed quote.

use serde_json::json;
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::http::{self, Method, Request, Response};
use stopover_sdk::json::{DecodeError, EncodeError, ensure};
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{ChangeError, FlightCancellation, ReadError, Refusal, RefusalReason};

use crate::booking::{read_order, state, unsent_change_error};
use crate::fault::Change;
use crate::settings::Settings;
use crate::upstream::{
    AIRLINE_TIMEOUT_MS, CHANGE_TIMEOUT_MS, api_request, open, open_change, with_data,
};
use crate::wire::cancellation::OrderCancellation;
use crate::wire::order::Order;
use crate::{DuffelFlights, map};

const NOT_THROUGH_DUFFEL: &str = "the airline does not let Duffel cancel this order";

impl FlightCancellation for DuffelFlights {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let settings = Settings::read()?;
        let order = read_order(&settings, &request.supplier_reference)?;
        map::order::check_booking(&order, None, &request.client_reference)?;
        if order.cancelled_at.is_some() {
            let message = "the order is cancelled already";
            return Err(Refusal::new(RefusalReason::NotCancellable, message).into());
        }
        if !can_be_cancelled(&order) {
            return Ok(Quote::Unavailable(NOT_THROUGH_DUFFEL.to_owned()));
        }
        let response = quote_request(&settings, &order.id)?.send()?;
        match open::<OrderCancellation>(&response)? {
            Ok(page) => Ok(map::cancellation::quote(&order, &page.data)?.map_or_else(
                || Quote::Unavailable("the refund is not in the order's currency".to_owned()),
                Quote::Quoted,
            )),
            Err(fault) if fault.is_airlines() || fault.is_unsupported() => {
                Ok(Quote::Unavailable(fault.to_text()))
            }
            Err(fault) => Err(fault.into_read_error()),
        }
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        let settings = Settings::read()?;
        let id = request.supplier_reference.as_str();
        let refused = |message: &str| Refusal::new(RefusalReason::NotCancellable, message);
        let order = match read_order(&settings, id) {
            Err(ReadError::NotFound(text)) => return Err(refused(&text).into()),
            order => order.map_err(unsent_change_error)?,
        };
        map::order::check_booking(&order, None, &request.booking_client_reference)?;
        if order.cancelled_at.is_some() {
            return state(&settings, order).map_err(|error| {
                ChangeError::Unknown(format!(
                    "the order is cancelled, but its cancellation amounts could not be read: {error:?}"
                ))
            });
        }
        if !can_be_cancelled(&order) {
            return Err(refused(NOT_THROUGH_DUFFEL).into());
        }
        // Duffel confirms only the newest quote of an order.
        let response = quote_request(&settings, id)?.send()?;
        let quote: OrderCancellation = open_change(&response, Change::Quote)?;
        check(&quote, id)?;
        let confirmed = confirm(&settings, &quote.id)?;
        let done: OrderCancellation = open_change(&confirmed, Change::Cancel)?;
        check(&done, id)?;
        let is_confirmed = done.id == quote.id && done.confirmed_at.is_some();
        ensure(
            is_confirmed,
            "the response does not say that the cancellation is confirmed",
        )?;
        Ok(map::order::supplier_booking(order, Some(&done))?)
    }
}

/// Returns whether Duffel may cancel the order. If Duffel does not list the available actions, the
/// cancellation is attempted.
fn can_be_cancelled(order: &Order) -> bool {
    let actions = order.available_actions.as_ref();
    actions.is_none_or(|actions| actions.iter().any(|action| action == "cancel"))
}

fn quote_request(settings: &Settings, order_id: &str) -> Result<Request, EncodeError> {
    let http_request = api_request(settings, Method::Post, "/air/order_cancellations");
    let data = json!({ "order_id": order_id });
    with_data(http_request.timeout_ms(AIRLINE_TIMEOUT_MS), data)
}

fn confirm(settings: &Settings, id: &str) -> Result<Response, http::Error> {
    let id = http::percent_encode(id);
    let path = format!("/air/order_cancellations/{id}/actions/confirm");
    api_request(settings, Method::Post, &path)
        .timeout_ms(CHANGE_TIMEOUT_MS)
        .send()
}

fn check(cancellation: &OrderCancellation, order_id: &str) -> Result<(), DecodeError> {
    let is_of_order = !cancellation.id.is_empty() && cancellation.order_id == order_id;
    ensure(
        is_of_order,
        "the response is about another order's cancellation",
    )
}
