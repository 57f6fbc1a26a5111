//! Skylane: flights that the gateway pays for. It accepts one order per offer and sells bags.

mod map;
mod refusal;
mod wire;

use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::flight_pricing::{PriceRequest, PriceResponse};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::flight_services::{AvailableServices, ListRequest, PurchaseRequest};
use stopover_sdk::http::percent_encode;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{
    ChangeError, Description, FlightBooking, FlightCancellation, FlightPricing, FlightReference,
    FlightServices, Plugin, ReadError,
};

use crate::market::{Api, SETTINGS_SCHEMA};
use crate::skylane::map::{bag, offer, order, reference, traveller};
use crate::skylane::refusal::FAULTS;
use crate::{READS_CONSISTENT_AFTER_MS, trip};

/// The adapter.
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
        let asked = Api::open(PATH)?.post("/offers/search", &offer::search_request(&request))?;
        let found: wire::Data<wire::Found> = FAULTS.read(asked.send()?)?.json()?;
        Ok(offer::price_answer(found.data, &request)?)
    }
}

impl FlightBooking for Skylane {
    /// Prices the offer again for these passengers, because Skylane has no prebook.
    fn prebook(request: PrebookRequest) -> Result<PrebookResponse, ChangeError> {
        let path = format!("/offers/{}/price", percent_encode(&request.supplier_offer));
        let response = Api::open(PATH)?
            .post(&path, &traveller::reprice_request(&request.passengers))?
            .send()?;
        let priced: wire::Data<wire::Offer> = FAULTS.prebook(response, refusal::PREBOOK)?.json()?;
        Ok(offer::prebooked(priced.data, &request)?)
    }

    fn book(request: BookRequest) -> Result<SupplierBooking, ChangeError> {
        let body = order::order_request(&request)
            .map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let response = Api::open(PATH)?.post("/orders", &body)?.send()?;
        let ordered: wire::Data<wire::Order> = FAULTS.change(response, refusal::BOOK)?.json()?;
        trip::check_whose(&ordered.data.client_ref, &request.client_reference)?;
        Ok(order::booking_in(ordered.data, &request.currency)?)
    }

    fn find(request: FindRequest) -> Result<BookingLookup, ReadError> {
        let api = Api::open(PATH)?;
        if let Some(id) = &request.supplier_reference {
            let response = api.get(&order_path(id)).send()?;
            if !FAULTS.is_not_found(&response) {
                let found: wire::Data<wire::Order> = FAULTS.read(response)?.json()?;
                return found_order(found.data, &request);
            }
        }
        // Only the list can show that there is no such order.
        let response = api
            .get("/orders")
            .query("client_ref", &request.client_reference)
            .send()?;
        let found: wire::Data<Vec<wire::Order>> = FAULTS.read(response)?.json()?;
        match trip::the_only(found.data)? {
            Some(order) => found_order(order, &request),
            None => Ok(BookingLookup::NotFound),
        }
    }
}

fn found_order(order: wire::Order, request: &FindRequest) -> Result<BookingLookup, ReadError> {
    trip::check_whose(&order.client_ref, &request.client_reference)?;
    Ok(BookingLookup::Found(order::booking(order)?))
}

impl FlightCancellation for Skylane {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let path = format!("{}/cancel-quote", order_path(&request.supplier_reference));
        let response = Api::open(PATH)?.post_nothing(&path).send()?;
        if let Some(why) = FAULTS.no_quote(&response) {
            return Ok(Quote::Unavailable(why));
        }
        let quoted: wire::Data<wire::Quote> = FAULTS.read(response)?.json()?;
        Ok(Quote::Quoted(order::quote(quoted.data)?))
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        let path = format!("{}/cancel", order_path(&request.supplier_reference));
        let body = wire::CancelRequest {
            client_ref: &request.client_reference,
        };
        let response = Api::open(PATH)?.post(&path, &body)?.send()?;
        let order: wire::Data<wire::Order> = FAULTS.change(response, refusal::CANCEL)?.json()?;
        trip::check_whose(&order.data.client_ref, &request.booking_client_reference)?;
        Ok(order::booking(order.data)?)
    }
}

impl FlightServices for Skylane {
    fn list_services(request: ListRequest) -> Result<AvailableServices, ReadError> {
        let api = Api::open(PATH)?;
        let path = order_path(&request.supplier_reference);
        let response = api.get(&format!("{path}/bags")).send()?;
        let bags: wire::Data<Vec<wire::OfferedBag>> = FAULTS.read(response)?.json()?;
        if let Some(available) = bag::available(bags.data)? {
            return Ok(available);
        }
        // An empty list has no currency, so it is taken from the order.
        let order: wire::Data<wire::Order> = FAULTS.read(api.get(&path).send()?)?.json()?;
        trip::check_whose(&order.data.client_ref, &request.client_reference)?;
        Ok(AvailableServices {
            currency: order.data.total.currency,
            services: Vec::new(),
        })
    }

    fn purchase_services(request: PurchaseRequest) -> Result<SupplierBooking, ChangeError> {
        let path = format!("{}/bags", order_path(&request.supplier_reference));
        let body =
            bag::bags_request(&request).map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let response = Api::open(PATH)?.post(&path, &body)?.send()?;
        let order: wire::Data<wire::Order> = FAULTS.change(response, refusal::BUY)?.json()?;
        trip::check_whose(&order.data.client_ref, &request.booking_client_reference)?;
        bag::check_bought(&order.data, &request)?;
        Ok(order::booking_in(order.data, &request.currency)?)
    }
}

impl FlightReference for Skylane {
    fn find_airports(text: String, limit: u16) -> Result<AirportResponse, ReadError> {
        let asked = Api::open(PATH)?
            .get("/airports")
            .query("q", text)
            .query("limit", limit);
        let found: wire::Airports = FAULTS.read(asked.send()?)?.json()?;
        Ok(reference::airports(found, limit))
    }

    fn read_airline(iata_code: String) -> Result<Airline, ReadError> {
        let path = format!("/airlines/{}", percent_encode(&iata_code));
        let response = Api::open(PATH)?.get(&path).send()?;
        let found: wire::Data<wire::Airline> = FAULTS.read(response)?.json()?;
        Ok(reference::airline(found.data))
    }
}

fn order_path(id: &str) -> String {
    format!("/orders/{}", percent_encode(id))
}
