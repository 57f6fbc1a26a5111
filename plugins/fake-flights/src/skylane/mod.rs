//! Skylane: flights that the gateway pays for. It accepts one order per offer and sells bags.

mod fault;
mod map;
mod wire;

use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::flight_pricing::{PriceRequest, PriceResponse};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::flight_services::{AvailableServices, ListRequest, PurchaseRequest};
use stopover_sdk::http::percent_encode;
use stopover_sdk::json::single;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{
    ChangeError, Description, FlightBooking, FlightCancellation, FlightPricing, FlightReference,
    FlightServices, Plugin, ReadError,
};

use crate::fault::check_prebook;
use crate::skylane::fault::ERRORS;
use crate::skylane::map::{bag, offer, order, reference, traveller};
use crate::upstream::{ApiClient, SETTINGS_SCHEMA};
use crate::{READS_CONSISTENT_AFTER_MS, common};

pub struct Skylane;

stopover_sdk::export!(Skylane:
    plugin, flight_pricing, flight_booking, flight_cancellation, flight_services, flight_reference);

const PATH: &str = "/skylane";

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

impl FlightPricing for Skylane {
    fn price(request: PriceRequest) -> Result<PriceResponse, ReadError> {
        let http_request = ApiClient::from_settings(PATH)?
            .post("/offers/search", &offer::search_request(&request))?;
        let found: wire::Data<wire::Found> = ERRORS.check_read(http_request.send()?)?.json()?;
        Ok(offer::price_response(found.data, &request)?)
    }
}

impl FlightBooking for Skylane {
    /// Prices the offer again for these passengers, because Skylane has no prebook.
    fn prebook(request: PrebookRequest) -> Result<PrebookResponse, ChangeError> {
        let path = format!("/offers/{}/price", percent_encode(&request.supplier_offer));
        let response = ApiClient::from_settings(PATH)?
            .post(&path, &traveller::reprice_request(&request.passengers))?
            .send()?;
        let priced: wire::Data<wire::Offer> =
            check_prebook(&ERRORS, response, fault::PREBOOK)?.json()?;
        Ok(offer::prebook_response(priced.data, &request)?)
    }

    fn book(request: BookRequest) -> Result<SupplierBooking, ChangeError> {
        let body = order::order_request(&request)
            .map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let response = ApiClient::from_settings(PATH)?
            .post("/orders", &body)?
            .send()?;
        let ordered: wire::Data<wire::Order> =
            ERRORS.check_change(response, fault::BOOK)?.json()?;
        common::check_client_reference(&ordered.data.client_ref, &request.client_reference)?;
        Ok(order::booking_in_currency(ordered.data, &request.currency)?)
    }

    fn find(request: FindRequest) -> Result<BookingLookup, ReadError> {
        let client = ApiClient::from_settings(PATH)?;
        if let Some(id) = &request.supplier_reference {
            let response = client.get(&order_path(id)).send()?;
            if !ERRORS.has_code(&response, fault::NOT_FOUND) {
                let found: wire::Data<wire::Order> = ERRORS.check_read(response)?.json()?;
                return found_order(found.data, &request);
            }
        }
        // Only the list can show that there is no such order.
        let response = client
            .get("/orders")
            .query("client_ref", &request.client_reference)
            .send()?;
        let found: wire::Data<Vec<wire::Order>> = ERRORS.check_read(response)?.json()?;
        match single(found.data)? {
            Some(order) => found_order(order, &request),
            None => Ok(BookingLookup::NotFound),
        }
    }
}

fn found_order(order: wire::Order, request: &FindRequest) -> Result<BookingLookup, ReadError> {
    common::check_client_reference(&order.client_ref, &request.client_reference)?;
    Ok(BookingLookup::Found(order::booking(order)?))
}

impl FlightCancellation for Skylane {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let path = format!("{}/cancel-quote", order_path(&request.supplier_reference));
        let response = ApiClient::from_settings(PATH)?.post_empty(&path).send()?;
        if let Some(error) = ERRORS
            .identify(&response)
            .filter(|error| error.code == fault::NO_QUOTE)
        {
            return Ok(Quote::Unavailable(error.message.to_owned()));
        }
        let quoted: wire::Data<wire::Quote> = ERRORS.check_read(response)?.json()?;
        Ok(Quote::Quoted(order::quote(quoted.data)?))
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        let path = format!("{}/cancel", order_path(&request.supplier_reference));
        let body = wire::CancelRequest {
            client_ref: &request.client_reference,
        };
        let response = ApiClient::from_settings(PATH)?.post(&path, &body)?.send()?;
        let order: wire::Data<wire::Order> =
            ERRORS.check_change(response, fault::CANCEL)?.json()?;
        common::check_client_reference(&order.data.client_ref, &request.booking_client_reference)?;
        Ok(order::booking(order.data)?)
    }
}

impl FlightServices for Skylane {
    fn list_services(request: ListRequest) -> Result<AvailableServices, ReadError> {
        let client = ApiClient::from_settings(PATH)?;
        let path = order_path(&request.supplier_reference);
        let response = client.get(&format!("{path}/bags")).send()?;
        let bags: wire::Data<Vec<wire::OfferedBag>> = ERRORS.check_read(response)?.json()?;
        if let Some(available) = bag::available_services(bags.data)? {
            return Ok(available);
        }
        // An empty list has no currency, so it is taken from the order.
        let order: wire::Data<wire::Order> =
            ERRORS.check_read(client.get(&path).send()?)?.json()?;
        common::check_client_reference(&order.data.client_ref, &request.client_reference)?;
        Ok(AvailableServices {
            currency: order.data.total.currency,
            services: Vec::new(),
        })
    }

    fn purchase_services(request: PurchaseRequest) -> Result<SupplierBooking, ChangeError> {
        let path = format!("{}/bags", order_path(&request.supplier_reference));
        let body =
            bag::bags_request(&request).map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let response = ApiClient::from_settings(PATH)?.post(&path, &body)?.send()?;
        let order: wire::Data<wire::Order> = ERRORS.check_change(response, fault::BUY)?.json()?;
        common::check_client_reference(&order.data.client_ref, &request.booking_client_reference)?;
        bag::check_purchased_bags(&order.data, &request)?;
        Ok(order::booking_in_currency(order.data, &request.currency)?)
    }
}

impl FlightReference for Skylane {
    fn find_airports(text: String, limit: u16) -> Result<AirportResponse, ReadError> {
        let http_request = ApiClient::from_settings(PATH)?
            .get("/airports")
            .query("q", text)
            .query("limit", limit);
        let found: wire::Airports = ERRORS.check_read(http_request.send()?)?.json()?;
        Ok(reference::airports(found, limit))
    }

    fn read_airline(iata_code: String) -> Result<Airline, ReadError> {
        let path = format!("/airlines/{}", percent_encode(&iata_code));
        let response = ApiClient::from_settings(PATH)?.get(&path).send()?;
        let found: wire::Data<wire::Airline> = ERRORS.check_read(response)?.json()?;
        Ok(reference::airline(found.data))
    }
}

fn order_path(id: &str) -> String {
    format!("/orders/{}", percent_encode(id))
}
