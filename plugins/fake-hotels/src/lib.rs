//! Adapter of Lodge, the sandbox's hotel supplier. It is an ordinary adapter and has no special
//! handling of Lodge's deliberate faults. Only the faults inside an adapter (`injected_fault`) are
//! its own.
//!
//! With the feature `full` it has every hotel capability in the newest version. Without it, it prices,
//! books and cancels in version 1.0.

mod detailed;
mod fault;
mod injected_fault;
mod map;
mod upstream;
mod wire;

#[cfg(feature = "full")]
mod discovery;

use serde_json::json;
use stopover_sdk::hotel_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::hotel_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::hotel_pricing::{PriceRequest, PriceResponse};
use stopover_sdk::http::percent_encode;
use stopover_sdk::types::hotel::SupplierBooking;
use stopover_sdk::{
    ChangeError, Description, HotelBooking, HotelCancellation, HotelPricing, Plugin, ReadError,
};

use crate::fault::ERRORS;
use crate::injected_fault::InjectedFault;
use crate::upstream::{change, get, post, read};

pub struct FakeHotels;

#[cfg(not(feature = "full"))]
stopover_sdk::export!(FakeHotels: plugin, hotel_pricing, hotel_booking, hotel_cancellation);

#[cfg(feature = "full")]
stopover_sdk::export!(FakeHotels:
    plugin, detailed_hotel_pricing, detailed_hotel_booking, hotel_cancellation,
    hotel_places, hotel_search, hotel_content, hotel_weather, hotel_price_calendar);

/// Delay after which Lodge guarantees that `GET /bookings?client_ref=` finds a booking, in
/// milliseconds.
const READS_CONSISTENT_AFTER_MS: u32 = 1_000;

impl Plugin for FakeHotels {
    fn describe() -> Description {
        let name = if cfg!(feature = "full") {
            "fake-hotels"
        } else {
            "fake-hotels-mini"
        };
        Description {
            collects_payment: false,
            one_booking_per_offer: false,
            supports_partial_cancellation: true,
            reads_consistent_after_ms: Some(READS_CONSISTENT_AFTER_MS),
            // A second booking with the same reference is refused instead of returning the first.
            supports_idempotent_resend: false,
            hosts: vec!["*".to_owned()],
            settings_schema: upstream::SETTINGS_SCHEMA.to_owned(),
            ..Description::new(name, env!("CARGO_PKG_VERSION"))
        }
    }
}

impl HotelPricing for FakeHotels {
    fn price(request: PriceRequest) -> Result<PriceResponse, ReadError> {
        price(request, false, |_| {})
    }
}

/// Prices hotels. `read_details` gets the rates before they are converted.
fn price(
    request: PriceRequest,
    includes_packages: bool,
    read_details: impl FnOnce(&wire::Rates),
) -> Result<PriceResponse, ReadError> {
    if let Some(fault) = InjectedFault::triggered_by(&request.supplier_hotel_ids) {
        return Ok(fault.trigger(&request));
    }
    if request.supplier_hotel_ids.is_empty() {
        return Ok(PriceResponse {
            currency: request.stay.currency,
            hotels: Vec::new(),
        });
    }
    let body = map::rates_request(&request, includes_packages);
    let rates = read(&post("/rates")?.json(&body)?)?;
    read_details(&rates);
    Ok(map::price_response(rates, &request)?)
}

/// Prebooks an offer. `read_details` gets the prebook before it is converted.
fn prebook(
    request: PrebookRequest,
    read_details: impl FnOnce(&wire::Prebook),
) -> Result<PrebookResponse, ChangeError> {
    let body = json!({
        "rate_id": request.supplier_offer,
        "client_ref": request.client_reference,
    });
    let prebook = change(&post("/prebooks")?.json(&body)?, fault::PREBOOK)?;
    read_details(&prebook);
    Ok(map::prebook_response(prebook, &request.stay)?)
}

impl HotelBooking for FakeHotels {
    fn prebook(request: PrebookRequest) -> Result<PrebookResponse, ChangeError> {
        prebook(request, |_| {})
    }

    fn book(request: BookRequest) -> Result<SupplierBooking, ChangeError> {
        let body =
            map::book_request(&request).map_err(|error| ChangeError::NotSent(error.to_string()))?;
        let booking: wire::Booking = change(&post("/bookings")?.json(&body)?, fault::BOOK)?;
        map::check_client_reference(&booking, &request.client_reference)?;
        map::check_currency(&booking.currency, &request.currency)?;
        Ok(map::booking(booking)?)
    }

    fn find(request: FindRequest) -> Result<BookingLookup, ReadError> {
        if let Some(id) = &request.supplier_reference {
            let response = get(&booking_path(id))?.send()?;
            if !ERRORS.has_code(&response, fault::NOT_FOUND) {
                let booking: wire::Booking = ERRORS.check_read(response)?.json()?;
                map::check_client_reference(&booking, &request.client_reference)?;
                return Ok(BookingLookup::Found(map::booking(booking)?));
            }
        }
        // Lodge guarantees completeness for this response only, so no other response may show that
        // there is no such booking.
        let listing = get("/bookings")?.query("client_ref", &request.client_reference);
        let found = read(&listing)?;
        Ok(map::booking_lookup(found, &request.client_reference)?)
    }
}

impl HotelCancellation for FakeHotels {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let path = booking_path(&request.supplier_reference);
        let response = get(&format!("{path}/cancel-preview"))?.send()?;
        if !ERRORS.has_code(&response, fault::PREVIEW_NOT_OFFERED) {
            let preview: wire::Preview = ERRORS.check_read(response)?.json()?;
            return Ok(Quote::Preview(map::preview(preview)?));
        }
        let booking: wire::Booking = read(&get(&path)?)?;
        map::check_client_reference(&booking, &request.client_reference)?;
        Ok(Quote::Policy(map::booked_policy(&booking)))
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        let path = format!("{}/cancel", booking_path(&request.supplier_reference));
        let body = map::cancel_request(&request);
        let booking: wire::Booking = change(&post(&path)?.json(&body)?, fault::CANCEL)?;
        map::check_client_reference(&booking, &request.booking_client_reference)?;
        Ok(map::booking(booking)?)
    }
}

fn booking_path(id: &str) -> String {
    format!("/bookings/{}", percent_encode(id))
}
