//! Skylane: flights that the gateway pays for. It accepts one order per offer and sells bags.

mod fault;
mod map;
mod wire;

use serde::de::DeserializeOwned;
use serde_json::json;
use stopover_sdk::detailed_flight_booking::{
    DetailedBooking, DetailedBookingLookup, DetailedPrebookResponse,
};
use stopover_sdk::detailed_flight_pricing::DetailedPriceResponse;
use stopover_sdk::flight_booking::{BookRequest, FindRequest, PrebookRequest};
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::flight_pricing::PriceRequest;
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::flight_services::{AvailableServices, ListRequest, PurchaseRequest};
use stopover_sdk::http::{Request, percent_encode};
use stopover_sdk::json::single;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{
    ChangeError, Description, DetailedFlightBooking, DetailedFlightPricing, FlightCancellation,
    FlightReference, FlightServices, Plugin, ReadError,
};

use crate::fault::{NO_QUOTE_MESSAGE, check_prebook};
use crate::skylane::fault::ERRORS;
use crate::upstream::{SETTINGS_SCHEMA, get, post};
use crate::{READS_CONSISTENT_AFTER_MS, common};

pub struct Skylane;

stopover_sdk::export!(Skylane:
    plugin, detailed_flight_pricing, detailed_flight_booking, flight_cancellation,
    flight_services, flight_reference);

impl Plugin for Skylane {
    fn describe() -> Description {
        Description {
            one_booking_per_offer: true,
            reads_consistent_after_ms: Some(READS_CONSISTENT_AFTER_MS),
            // A second order with the same reference is refused instead of returning the first.
            supports_idempotent_resend: false,
            hosts: vec!["*".to_owned()],
            settings_schema: SETTINGS_SCHEMA.to_owned(),
            ..Description::new("fake-flights-skylane", env!("CARGO_PKG_VERSION"))
        }
    }
}

impl DetailedFlightPricing for Skylane {
    fn price(request: PriceRequest) -> Result<DetailedPriceResponse, ReadError> {
        let body = map::search_request(&request);
        let found = read(&post("/skylane/offers/search")?.json(&body)?)?;
        Ok(map::price_response(found, &request)?)
    }
}

impl DetailedFlightBooking for Skylane {
    /// Prices the offer again for these passengers, because Skylane has no prebook.
    fn prebook(request: PrebookRequest) -> Result<DetailedPrebookResponse, ChangeError> {
        let offer_id = percent_encode(&request.supplier_offer);
        let body = map::reprice_request(&request.passengers);
        let response = post(&format!("/skylane/offers/{offer_id}/price"))?
            .json(&body)?
            .send()?;
        let wire::Data { data } = check_prebook(&ERRORS, response, fault::PREBOOK)?.json()?;
        Ok(map::prebook_response(data, &request)?)
    }

    fn book(request: BookRequest) -> Result<DetailedBooking, ChangeError> {
        let body = map::order_request(&request)
            .map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let order: wire::Order = change(&post("/skylane/orders")?.json(&body)?, fault::BOOK)?;
        common::check_client_reference(&order.client_ref, &request.client_reference)?;
        map::check_currency(&order, &request.currency)?;
        Ok(map::detailed_booking(order)?)
    }

    fn find(request: FindRequest) -> Result<DetailedBookingLookup, ReadError> {
        if let Some(id) = &request.supplier_reference {
            let response = get(&order_path(id))?.send()?;
            if !ERRORS.has_code(&response, fault::NOT_FOUND) {
                let wire::Data { data } = ERRORS.check_read(response)?.json()?;
                return found_order(data, &request);
            }
        }
        // Only the list can show that there is no such order.
        let listing = get("/skylane/orders")?.query("client_ref", &request.client_reference);
        match single(read::<Vec<_>>(&listing)?)? {
            Some(order) => found_order(order, &request),
            None => Ok(DetailedBookingLookup::NotFound),
        }
    }
}

fn found_order(
    order: wire::Order,
    request: &FindRequest,
) -> Result<DetailedBookingLookup, ReadError> {
    common::check_client_reference(&order.client_ref, &request.client_reference)?;
    Ok(DetailedBookingLookup::Found(map::detailed_booking(order)?))
}

impl FlightCancellation for Skylane {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let path = format!("{}/cancel-quote", order_path(&request.supplier_reference));
        let response = post(&path)?.send()?;
        if ERRORS.has_code(&response, fault::NO_QUOTE) {
            return Ok(Quote::Unavailable(NO_QUOTE_MESSAGE.to_owned()));
        }
        let wire::Data::<wire::Quote> { data } = ERRORS.check_read(response)?.json()?;
        let expires_at = map::instant(&data.expires_at)?;
        Ok(Quote::Quoted(common::quote(
            data.fee,
            data.refund,
            expires_at,
        )?))
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        let path = format!("{}/cancel", order_path(&request.supplier_reference));
        let body = json!({"client_ref": request.client_reference});
        let order: wire::Order = change(&post(&path)?.json(&body)?, fault::CANCEL)?;
        common::check_client_reference(&order.client_ref, &request.booking_client_reference)?;
        Ok(map::booking(order)?)
    }
}

impl FlightServices for Skylane {
    fn list_services(request: ListRequest) -> Result<AvailableServices, ReadError> {
        let path = order_path(&request.supplier_reference);
        let bags = read(&get(&format!("{path}/bags"))?)?;
        if let Some(available) = map::available_services(bags)? {
            return Ok(available);
        }
        // An empty list has no currency, so it is taken from the order.
        let order: wire::Order = read(&get(&path)?)?;
        common::check_client_reference(&order.client_ref, &request.client_reference)?;
        Ok(AvailableServices {
            currency: order.total.currency,
            services: Vec::new(),
        })
    }

    fn purchase_services(request: PurchaseRequest) -> Result<SupplierBooking, ChangeError> {
        let path = format!("{}/bags", order_path(&request.supplier_reference));
        let body =
            map::bags_request(&request).map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let order: wire::Order = change(&post(&path)?.json(&body)?, fault::BUY)?;
        common::check_client_reference(&order.client_ref, &request.booking_client_reference)?;
        map::check_purchased_bags(&order, &request)?;
        map::check_currency(&order, &request.currency)?;
        Ok(map::booking(order)?)
    }
}

impl FlightReference for Skylane {
    fn find_airports(text: String, limit: u16) -> Result<AirportResponse, ReadError> {
        let request = get("/skylane/airports")?.query("q", text);
        let response = request.query("limit", limit).send()?;
        let found: wire::Airports = ERRORS.check_read(response)?.json()?;
        Ok(common::airports(found.data, found.more, limit)?)
    }

    fn read_airline(iata_code: String) -> Result<Airline, ReadError> {
        let path = format!("/skylane/airlines/{}", percent_encode(&iata_code));
        Ok(common::airline(read(&get(&path)?)?))
    }
}

/// Reads data.
fn read<T: DeserializeOwned>(request: &Request) -> Result<T, ReadError> {
    let wire::Data { data } = ERRORS.check_read(request.send()?)?.json()?;
    Ok(data)
}

/// Changes an order. `definite` lists the codes that refuse the change.
fn change<T: DeserializeOwned>(request: &Request, definite: &[&str]) -> Result<T, ChangeError> {
    let wire::Data { data } = ERRORS.check_change(request.send()?, definite)?.json()?;
    Ok(data)
}

fn order_path(id: &str) -> String {
    format!("/skylane/orders/{}", percent_encode(id))
}
