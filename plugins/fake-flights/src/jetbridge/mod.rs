//! Jetbridge: flights with a checkout of its own. It applies every filter and sells no bags.

mod fault;
mod map;
mod wire;

use serde::de::DeserializeOwned;
use serde_json::json;
use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::flight_pricing::{PriceRequest, PriceResponse};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::http::{Request, percent_encode};
use stopover_sdk::json::single;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{
    ChangeError, Description, FlightBooking, FlightCancellation, FlightPricing, FlightReference,
    Plugin, ReadError,
};

use crate::fault::{NO_QUOTE_MESSAGE, check_prebook};
use crate::jetbridge::fault::ERRORS;
use crate::jetbridge::map::PassengerCount;
use crate::upstream::{SETTINGS_SCHEMA, get, post};
use crate::{READS_CONSISTENT_AFTER_MS, common};

pub struct Jetbridge;

stopover_sdk::export!(Jetbridge:
    plugin, flight_pricing, flight_booking, flight_cancellation, flight_reference);

const BOOKINGS_PATH: &str = "/jetbridge/v3/bookings";

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
        let body = map::fares_request(&request);
        let found = read(&post("/jetbridge/v3/fares")?.json(&body)?)?;
        Ok(map::price_response(found, &request)?)
    }
}

impl FlightBooking for Jetbridge {
    fn prebook(request: PrebookRequest) -> Result<PrebookResponse, ChangeError> {
        let body = map::prebook_request(&request);
        let response = post("/jetbridge/v3/prebooks")?.json(&body)?.send()?;
        let prebook = wire::result(&check_prebook(&ERRORS, response, fault::PREBOOK)?)?;
        Ok(map::prebook_response(prebook, &request)?)
    }

    fn book(request: BookRequest) -> Result<SupplierBooking, ChangeError> {
        let body = json!({
            "prebookId": request.supplier_prebook,
            "clientRef": request.client_reference,
        });
        let booking: wire::Booking = change(&post(BOOKINGS_PATH)?.json(&body)?, fault::BOOK)?;
        common::check_client_reference(&booking.client_ref, &request.client_reference)?;
        map::check_currency(&booking, &request.currency)?;
        let passengers = PassengerCount::of(&request.passengers);
        Ok(map::booking(booking, passengers)?)
    }

    fn find(request: FindRequest) -> Result<BookingLookup, ReadError> {
        if let Some(id) = &request.supplier_reference {
            let response = get(&booking_path(id))?.send()?;
            if !ERRORS.has_code(&response, fault::NOT_FOUND) {
                return found_booking(wire::result(&ERRORS.check_read(response)?)?, &request);
            }
        }
        // Only the list can show that there is no such booking.
        let listing = get(BOOKINGS_PATH)?.query("clientRef", &request.client_reference);
        let found: wire::Bookings = read(&listing)?;
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
    let booking = map::booking(booking, PassengerCount::UNKNOWN)?;
    Ok(BookingLookup::Found(booking))
}

impl FlightCancellation for Jetbridge {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let response = get(&cancellation_path(&request.supplier_reference))?.send()?;
        if ERRORS.has_code(&response, fault::NO_QUOTE) {
            return Ok(Quote::Unavailable(NO_QUOTE_MESSAGE.to_owned()));
        }
        let quoted: wire::Quote = wire::result(&ERRORS.check_read(response)?)?;
        let quote = common::quote(quoted.fee, quoted.refund, quoted.valid_until)?;
        Ok(Quote::Quoted(quote))
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        let path = cancellation_path(&request.supplier_reference);
        let body = json!({"clientRef": request.client_reference});
        let booking: wire::Booking = change(&post(&path)?.json(&body)?, fault::CANCEL)?;
        common::check_client_reference(&booking.client_ref, &request.booking_client_reference)?;
        Ok(map::booking(booking, PassengerCount::UNKNOWN)?)
    }
}

impl FlightReference for Jetbridge {
    fn find_airports(text: String, limit: u16) -> Result<AirportResponse, ReadError> {
        let request = get("/jetbridge/v3/airports")?.query("text", text);
        let found: wire::Airports = read(&request.query("max", limit))?;
        Ok(common::airports(found.airports, found.more, limit)?)
    }

    fn read_airline(iata_code: String) -> Result<Airline, ReadError> {
        let path = format!("/jetbridge/v3/airlines/{}", percent_encode(&iata_code));
        Ok(common::airline(read(&get(&path)?)?))
    }
}

/// Reads the result of a request.
fn read<T: DeserializeOwned>(request: &Request) -> Result<T, ReadError> {
    Ok(wire::result(&ERRORS.check_read(request.send()?)?)?)
}

/// Changes a booking. `definite` lists the codes that refuse the change.
fn change<T: DeserializeOwned>(request: &Request, definite: &[&str]) -> Result<T, ChangeError> {
    let response = ERRORS.check_change(request.send()?, definite)?;
    Ok(wire::result(&response)?)
}

fn booking_path(id: &str) -> String {
    format!("{BOOKINGS_PATH}/{}", percent_encode(id))
}

fn cancellation_path(id: &str) -> String {
    format!("{}/cancellation", booking_path(id))
}
