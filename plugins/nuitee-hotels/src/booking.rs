//! Prebooking, booking and reading a booking back. After `book` is sent, only the codes in `fault`
//! are definite refusals.

use serde_json::{Value, json};
use stopover_sdk::hotel_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::http::{self, Request, Response};
use stopover_sdk::types::hotel::{HotelSummary, SupplierBooking};
use stopover_sdk::{ChangeError, HotelBooking, ReadError, Refusal, RefusalReason, json};

use crate::content::hotel_request;
use crate::fault::Fault;
use crate::map::prebook::{PrebookReference, PricedOffer};
use crate::settings::{PaymentMethod, Settings};
use crate::upstream::{READ_TIMEOUT_MS, open_change, open_read};
use crate::wire::booking::Booking;
use crate::wire::rate::Prebook;
use crate::{NuiteeHotels, map, wire};
use stopover_sdk::lenient::OneOrMany;

impl HotelBooking for NuiteeHotels {
    fn prebook(request: PrebookRequest) -> Result<PrebookResponse, ChangeError> {
        let settings = Settings::read()?;
        let prebook = Request::post(settings.book_url("/rates/prebook")).json(&json!({
            "offerId": request.supplier_offer,
            "usePaymentSdk": settings.uses_payment_sdk(),
        }))?;
        // A prebook contains neither the hotel's name nor its location, so its content is read as
        // well.
        let content = hotel_request(&settings, &request.supplier_hotel_id);
        let mut responses = http::send_many(&[prebook, content]).into_iter();
        let prebook = responses
            .next()
            .ok_or_else(|| ChangeError::Unknown("the gateway returned no response".to_owned()))??;
        let hotel = summary(&request.supplier_hotel_id, responses.next());
        let prebook: Option<Prebook> = open_change(&prebook)?.map_err(Fault::into_change_error)?;
        let prebook =
            prebook.ok_or_else(|| ChangeError::Unknown("the prebook is empty".to_owned()))?;
        let offered = PricedOffer {
            supplier_hotel_id: &request.supplier_hotel_id,
            currency: &request.stay.currency,
            total: request.total,
            rooms: request.stay.occupancies.len(),
            uses_payment_sdk: settings.uses_payment_sdk(),
        };
        map::prebook::prebook_response(&offered, prebook, hotel)
    }

    fn book(request: BookRequest) -> Result<SupplierBooking, ChangeError> {
        let settings = Settings::read()?;
        let bound: PrebookReference = json::decode(request.supplier_prebook.as_bytes())
            .map_err(|_| Refusal::new(RefusalReason::Invalid, "not a prebook of this adapter"))?;
        let response = Request::post(settings.book_url("/rates/book"))
            .json(&json!({
                "prebookId": bound.prebook_id,
                "clientReference": request.client_reference,
                "holder": {
                    "firstName": request.contact.first_name,
                    "lastName": request.contact.last_name,
                    "email": request.contact.email,
                    "phone": request.contact.phone,
                },
                "guests": guests(&request)?,
                "payment": payment(&settings, &bound)?,
            }))?
            .send()?;
        match open_change::<Booking>(&response)? {
            Ok(Some(booking)) => Ok(map::booking::supplier_booking(booking)?),
            Ok(None) => Err(ChangeError::Unknown("the booking is empty".to_owned())),
            Err(fault) if fault.is_duplicate_reference() => {
                find_existing_booking(&settings, &request.client_reference)
            }
            Err(fault) => Err(fault.into_change_error()),
        }
    }

    fn find(request: FindRequest) -> Result<BookingLookup, ReadError> {
        let settings = Settings::read()?;
        if let Some(id) = &request.supplier_reference
            && let Some(state) = read_by_id(&settings, id)?
        {
            return Ok(BookingLookup::Found(state));
        }
        let found = read_by_reference(&settings, &request.client_reference)?;
        Ok(found.map_or(BookingLookup::NotFound, BookingLookup::Found))
    }
}

/// Reads a booking by Nuitee's id. Returns `None` if there is no such booking.
pub(crate) fn read_by_id(
    settings: &Settings,
    id: &str,
) -> Result<Option<SupplierBooking>, ReadError> {
    let path = format!("/bookings/{}", http::percent_encode(id));
    let read = Request::get(settings.book_url(&path)).timeout_ms(READ_TIMEOUT_MS);
    let response = read.send()?;
    match open_read::<Booking>(&response) {
        Ok(booking) => Ok(booking.map(map::booking::supplier_booking).transpose()?),
        Err(ReadError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a booking by its client reference. The path has no trailing slash: with one, Nuitee
/// returns another list.
fn read_by_reference(
    settings: &Settings,
    client_reference: &str,
) -> Result<Option<SupplierBooking>, ReadError> {
    let response = Request::get(settings.book_url("/bookings"))
        .query("clientReference", client_reference)
        .timeout_ms(READ_TIMEOUT_MS)
        .send()?;
    let bookings: OneOrMany<Booking> = match open_read(&response) {
        Ok(bookings) => bookings.unwrap_or_default(),
        Err(ReadError::NotFound(_)) => OneOrMany::default(),
        Err(error) => return Err(error),
    };
    let booking = map::booking::with_reference(bookings.0, client_reference);
    Ok(booking.map(map::booking::supplier_booking).transpose()?)
}

/// Reads the booking that Nuitee already has with this client reference, which is therefore ours.
/// If it is not found now, the outcome remains unknown.
fn find_existing_booking(
    settings: &Settings,
    client_reference: &str,
) -> Result<SupplierBooking, ChangeError> {
    match read_by_reference(settings, client_reference) {
        Ok(Some(state)) => Ok(state),
        Ok(None) => Err(ChangeError::Unknown(
            "Nuitee knows the reference, but lists no booking with it".to_owned(),
        )),
        Err(error) => Err(ChangeError::Unknown(format!(
            "Nuitee knows the reference, but the booking cannot be read: {error:?}"
        ))),
    }
}

/// Returns the lead guest of each room, with the room's number from 1. Nuitee accepts no other
/// guests.
fn guests(request: &BookRequest) -> Result<Vec<Value>, Refusal> {
    let mut leads = Vec::new();
    for (number, room) in (1..).zip(&request.rooms) {
        let lead = room.guests.iter().find(|guest| guest.is_lead);
        let guest = lead
            .or(room.guests.first())
            .ok_or_else(|| Refusal::new(RefusalReason::Invalid, "a room has no guests"))?;
        leads.push(json!({
            "occupancyNumber": number,
            "firstName": guest.first_name,
            "lastName": guest.last_name,
            "email": request.contact.email,
            "phone": request.contact.phone,
        }));
    }
    Ok(leads)
}

fn payment(settings: &Settings, bound: &PrebookReference) -> Result<Value, Refusal> {
    match (&bound.transaction_id, settings.payment_method) {
        (Some(id), _) => Ok(json!({ "method": "TRANSACTION_ID", "transactionId": id })),
        (None, PaymentMethod::PaymentSdk) => Err(Refusal::new(
            RefusalReason::Expired,
            "the offer was prebooked with a payment method other than the one in the current settings",
        )),
        (None, method) => Ok(json!({ "method": method })),
    }
}

/// Returns the hotel's summary from its content. If the content is missing, the hotel's id replaces
/// its name, so that the prebook does not fail.
fn summary(id: &str, content: Option<Result<Response, http::Error>>) -> HotelSummary {
    let read = content
        .map(|response| open_read::<wire::content::Hotel>(&response?))
        .transpose();
    match read {
        Ok(Some(Some(hotel))) if hotel.id == id && !hotel.name.is_empty() => {
            map::content::summary(&hotel)
        }
        _ => {
            stopover_sdk::warn!("a prebook's hotel has no readable content");
            HotelSummary::new(id, id)
        }
    }
}
