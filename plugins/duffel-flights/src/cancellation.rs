//! Cancellation quotes and cancellations. In Duffel's API a cancellation is a confirmed quote.

use serde_json::json;
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::http::{self, Method, Request, Response};
use stopover_sdk::json::{DecodeError, EncodeError, ensure};
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{ChangeError, FlightCancellation, ReadError, Refusal, RefusalReason};

use crate::booking::{read_order, state, supplier_booking};
use crate::fault::Change;
use crate::map::cancellation::{check, is_confirmed};
use crate::map::order::{check_booking, is_canceled, total};
use crate::settings::Settings;
use crate::upstream::{
    AIRLINE_TIMEOUT_MS, CHANGE_TIMEOUT_MS, api_request, not_sent, open, open_change, with_data,
};
use crate::wire::OptionalText;
use crate::wire::cancellation::OrderCancellation;
use crate::wire::order::Order;
use crate::{DuffelFlights, map};

const NOT_THROUGH_DUFFEL: &str = "the airline does not let Duffel cancel this order";

impl FlightCancellation for DuffelFlights {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let settings = Settings::read()?;
        let order = read_order(&settings, &request.supplier_reference)?;
        check_booking(&order, None, &request.client_reference)?;
        let total = total(&order)?;
        if is_canceled(&order)? {
            let message = "the order is cancelled already";
            return Err(Refusal::new(RefusalReason::NotCancellable, message).into());
        }
        if !can_be_canceled(&order)? {
            return Ok(Quote::Unavailable(NOT_THROUGH_DUFFEL.to_owned()));
        }
        let response = quote_request(&settings, order.id())?.send()?;
        match open::<OrderCancellation>(&response)? {
            Ok(page) => {
                check(&page.data, order.id())?;
                let quote = map::cancellation::quote(&total, &page.data)?;
                let unknown = "the refund is not known in the order's currency";
                let unavailable = || Quote::Unavailable(unknown.to_owned());
                Ok(quote.map_or_else(unavailable, Quote::Quoted))
            }
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
        let order =
            read_order(&settings, id).map_err(|failure| failure.before_change(Change::Quote))?;
        check_booking(&order, None, &request.booking_client_reference).map_err(not_sent)?;
        if is_canceled(&order).map_err(not_sent)? {
            let state = state(&settings, order, None).map_err(|failure| {
                let error = ReadError::from(failure);
                ChangeError::Unknown(format!(
                    "the order is cancelled, but its cancellation amounts could not be read: {error:?}"
                ))
            });
            return Ok(state?.booking);
        }
        if !can_be_canceled(&order).map_err(not_sent)? {
            return Err(refused(NOT_THROUGH_DUFFEL).into());
        }
        // Read before anything is sent: without it, the result of a completed cancellation would be lost.
        let total = total(&order).map_err(not_sent)?;
        // Duffel confirms only the newest quote of an order. A quote that is not confirmed changes
        // nothing.
        let response = quote_request(&settings, id)?.send_read()?;
        let quote: OrderCancellation = open_change(&response, Change::Quote)?;
        check(&quote, id)?;
        let confirmed = confirm(&settings, quote.id())?;
        let done: OrderCancellation = open_change(&confirmed, Change::Cancel)?;
        check(&done, id)?;
        let is_quoted = done.id() == quote.id();
        ensure(
            is_quoted && is_confirmed(&done, id)?,
            "the response does not say that the cancellation is confirmed",
        )?;
        Ok(supplier_booking(order, Some(&done), Some(total))?.booking)
    }
}

/// Returns whether Duffel may cancel the order. If Duffel does not list the available actions, the
/// cancellation is attempted.
///
/// # Errors
/// The list cannot be read, or there are different ones, so that it is not known what Duffel allows.
fn can_be_canceled(order: &Order) -> Result<bool, DecodeError> {
    let actions = order.available_actions.optional("available_actions")?;
    let allows = |actions: &Vec<OptionalText>| {
        let mut actions = actions.iter().map(OptionalText::as_str);
        actions.any(|action| action == "cancel")
    };
    Ok(actions.is_none_or(allows))
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
