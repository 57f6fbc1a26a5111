//! Jetbridge: flights with a checkout of its own. It applies every filter and sells no bags.

mod fault;
mod map;
mod wire;

use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::flight_pricing::{PriceRequest, PriceResponse};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::http::percent_encode;
use stopover_sdk::json::single;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{
    ChangeError, Description, FlightBooking, FlightCancellation, FlightPricing, FlightReference,
    Plugin, ReadError,
};

use crate::fault::check_prebook;
use crate::jetbridge::fault::ERRORS;
use crate::jetbridge::map::itinerary::PassengerCount;
use crate::jetbridge::map::{booking, fare, prebook, reference};
use crate::upstream::{ApiClient, SETTINGS_SCHEMA};
use crate::{READS_CONSISTENT_AFTER_MS, common};

pub struct Jetbridge;

stopover_sdk::export!(Jetbridge:
    plugin, flight_pricing, flight_booking, flight_cancellation, flight_reference);

const PATH: &str = "/jetbridge/v3";

impl Plugin for Jetbridge {
    fn describe() -> Description {
        Description {
            collects_payment: true,
            reads_consistent_after_ms: Some(READS_CONSISTENT_AFTER_MS),
            // A repeated booking returns the same booking. A repeated cancellation is refused as
            // already done, and the booking is then read back. A prebook reserves nothing.
            supports_idempotent_resend: true,
            hosts: vec!["*".to_owned()],
            settings_schema: SETTINGS_SCHEMA.to_owned(),
            ..Description::new("fake-flights-jetbridge", env!("CARGO_PKG_VERSION"))
        }
    }
}

impl FlightPricing for Jetbridge {
    fn price(request: PriceRequest) -> Result<PriceResponse, ReadError> {
        let http_request =
            ApiClient::from_settings(PATH)?.post("/fares", &fare::fares_request(&request))?;
        let found: wire::Fares = wire::result(&ERRORS.check_read(http_request.send()?)?)?;
        Ok(fare::price_response(found, &request)?)
    }
}

impl FlightBooking for Jetbridge {
    fn prebook(request: PrebookRequest) -> Result<PrebookResponse, ChangeError> {
        let response = ApiClient::from_settings(PATH)?
            .post("/prebooks", &prebook::prebook_request(&request))?
            .send()?;
        let prebook: wire::Prebook =
            wire::result(&check_prebook(&ERRORS, response, fault::PREBOOK)?)?;
        Ok(prebook::prebook_response(prebook, &request)?)
    }

    fn book(request: BookRequest) -> Result<SupplierBooking, ChangeError> {
        let body = wire::BookRequest {
            prebook_id: &request.supplier_prebook,
            client_ref: &request.client_reference,
        };
        let response = ApiClient::from_settings(PATH)?
            .post("/bookings", &body)?
            .send()?;
        let booking: wire::Booking = wire::result(&ERRORS.check_change(response, fault::BOOK)?)?;
        common::check_client_reference(&booking.client_ref, &request.client_reference)?;
        booking::check_currency(&booking, &request.currency)?;
        Ok(booking::booking(
            booking,
            PassengerCount::of(&request.passengers),
        )?)
    }

    fn find(request: FindRequest) -> Result<BookingLookup, ReadError> {
        let client = ApiClient::from_settings(PATH)?;
        if let Some(id) = &request.supplier_reference {
            let response = client.get(&booking_path(id)).send()?;
            if !ERRORS.has_code(&response, fault::NOT_FOUND) {
                let found: wire::Booking = wire::result(&ERRORS.check_read(response)?)?;
                return found_booking(found, &request);
            }
        }
        // Only the list can show that there is no such booking.
        let response = client
            .get("/bookings")
            .query("clientRef", &request.client_reference)
            .send()?;
        let found: wire::Bookings = wire::result(&ERRORS.check_read(response)?)?;
        match single(found.bookings)? {
            Some(booking) => found_booking(booking, &request),
            None => Ok(BookingLookup::NotFound),
        }
    }
}

fn found_booking(
    booking: wire::Booking,
    request: &FindRequest,
) -> Result<BookingLookup, ReadError> {
    common::check_client_reference(&booking.client_ref, &request.client_reference)?;
    Ok(BookingLookup::Found(booking::booking(
        booking,
        PassengerCount::UNKNOWN,
    )?))
}

impl FlightCancellation for Jetbridge {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let path = cancellation_path(&request.supplier_reference);
        let response = ApiClient::from_settings(PATH)?.get(&path).send()?;
        if let Some(error) = ERRORS
            .identify(&response)
            .filter(|error| error.code == fault::NO_QUOTE)
        {
            return Ok(Quote::Unavailable(error.message.to_owned()));
        }
        let quoted: wire::Quote = wire::result(&ERRORS.check_read(response)?)?;
        Ok(Quote::Quoted(booking::quote(quoted)?))
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        let path = cancellation_path(&request.supplier_reference);
        let body = wire::CancelRequest {
            client_ref: &request.client_reference,
        };
        let response = ApiClient::from_settings(PATH)?.post(&path, &body)?.send()?;
        let booking: wire::Booking = wire::result(&ERRORS.check_change(response, fault::CANCEL)?)?;
        common::check_client_reference(&booking.client_ref, &request.booking_client_reference)?;
        Ok(booking::booking(booking, PassengerCount::UNKNOWN)?)
    }
}

impl FlightReference for Jetbridge {
    fn find_airports(text: String, limit: u16) -> Result<AirportResponse, ReadError> {
        let http_request = ApiClient::from_settings(PATH)?
            .get("/airports")
            .query("text", text)
            .query("max", limit);
        let found: wire::Airports = wire::result(&ERRORS.check_read(http_request.send()?)?)?;
        Ok(reference::airports(found, limit))
    }

    fn read_airline(iata_code: String) -> Result<Airline, ReadError> {
        let path = format!("/airlines/{}", percent_encode(&iata_code));
        let response = ApiClient::from_settings(PATH)?.get(&path).send()?;
        let found: wire::Airline = wire::result(&ERRORS.check_read(response)?)?;
        Ok(reference::airline(found))
    }
}

fn booking_path(id: &str) -> String {
    format!("/bookings/{}", percent_encode(id))
}

fn cancellation_path(id: &str) -> String {
    format!("{}/cancellation", booking_path(id))
}
