//! Prebooking, booking and reading a booking back. After `book` is sent, only the codes in `fault`
//! are definite refusals.

use serde_json::{Value, json};
use stopover_sdk::detailed_hotel_booking::{
    DetailedBooking, DetailedBookingLookup, DetailedPrebookResponse,
};
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_booking::{BookRequest, FindRequest, PrebookRequest};
use stopover_sdk::http::{self, Request, Response};
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::types::hotel::{HotelSummary, SupplierBooking};
use stopover_sdk::types::{BookingStatus, Money};
use stopover_sdk::{ChangeError, DetailedHotelBooking, ReadError, clock, json};

use crate::content::hotel_request;
use crate::fault::Fault;
use crate::map::prebook::{PrebookReference, PricedOffer};
use crate::settings::{PaymentMethod, Settings};
use crate::upstream::{READ_TIMEOUT_MS, open_change, open_read};
use crate::wire::booking::Booking;
use crate::wire::rate::Prebook;
use crate::{NuiteeHotels, map, wire};
use stopover_sdk::lenient::Part;

/// JSON pointer of a response's data.
const DATA: &str = "/data";

impl DetailedHotelBooking for NuiteeHotels {
    fn prebook(request: PrebookRequest) -> Result<DetailedPrebookResponse, ChangeError> {
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
        let prebook: Option<Prebook<'_>> =
            open_change(&prebook)?.map_err(Fault::into_sale_error)?;
        let prebook =
            prebook.ok_or_else(|| ChangeError::Unknown("the prebook is empty".to_owned()))?;
        let offered = PricedOffer {
            supplier_hotel_id: &request.supplier_hotel_id,
            currency: &request.stay.currency,
            total: request.total,
            rooms: request.stay.occupancies.len(),
            uses_payment_sdk: settings.uses_payment_sdk(),
            now_ms: clock::now_ms(),
        };
        map::prebook::prebook_response(&offered, prebook, hotel)
    }

    fn book(request: BookRequest) -> Result<DetailedBooking, ChangeError> {
        let settings = Settings::read()?;
        // Nuitee refuses nothing here, and an earlier call with this prebook may have booked.
        let bound: PrebookReference = json::decode(request.supplier_prebook.as_bytes())
            .map_err(|_| ChangeError::NotSent("not a prebook of this adapter".to_owned()))?;
        let agreed = Some(Money::new(request.total, &request.currency));
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
        match open_change::<Booking<'_>>(&response)? {
            Ok(Some(booking)) => {
                let mut dropped = DroppedItems::default();
                let booking = map::booking::supplier_booking(booking, agreed, DATA, &mut dropped)?;
                // Nuitee documents only confirmed bookings here. Whether this one was cancelled is
                // what a lookup by its reference states.
                let is_canceled = booking.status == BookingStatus::Canceled;
                ensure(!is_canceled, "the new booking is cancelled")?;
                Ok(detailed(booking))
            }
            Ok(None) => Err(ChangeError::Unknown("the booking is empty".to_owned())),
            Err(fault) if fault.is_duplicate_reference() => {
                find_existing_booking(&settings, &request.client_reference, agreed).map(detailed)
            }
            Err(fault) => Err(fault.into_sale_error()),
        }
    }

    fn find(request: FindRequest) -> Result<DetailedBookingLookup, ReadError> {
        let settings = Settings::read()?;
        let bound = request.supplier_prebook.as_deref();
        let bound: Option<PrebookReference> =
            bound.and_then(|bound| json::decode(bound.as_bytes()).ok());
        let agreed = bound.as_ref().and_then(PrebookReference::total);
        let mut dropped = DroppedItems::default();
        if let Some(id) = &request.supplier_reference
            && let Some(state) = read_by_id(&settings, id, agreed.clone(), &mut dropped)?
        {
            return Ok(DetailedBookingLookup::Found(detailed(state)));
        }
        let reference = &request.client_reference;
        let found = read_by_reference(&settings, reference, agreed, &mut dropped)?;
        Ok(match found.map(detailed) {
            Some(state) => DetailedBookingLookup::Found(state),
            None => DetailedBookingLookup::NotFound,
        })
    }
}

fn detailed(booking: SupplierBooking) -> DetailedBooking {
    map::details::detailed_booking(booking, clock::now_ms())
}

/// Reads a booking by Nuitee's id. Returns `None` if there is no such booking. `agreed` is the prebooked
/// price, if it is known.
pub(crate) fn read_by_id(
    settings: &Settings,
    id: &str,
    agreed: Option<Money>,
    dropped: &mut DroppedItems,
) -> Result<Option<SupplierBooking>, ReadError> {
    let response = booking_response(settings, id)?;
    let booking = open_booking(&response)?;
    let booking = booking.map(|booking| with_id(booking, id, agreed, dropped));
    Ok(booking.transpose()?)
}

/// Converts the booking with this id.
pub(crate) fn with_id(
    booking: Booking<'_>,
    id: &str,
    agreed: Option<Money>,
    dropped: &mut DroppedItems,
) -> Result<SupplierBooking, DecodeError> {
    let booking = map::booking::supplier_booking(booking, agreed, DATA, dropped)?;
    map::booking::check_id(&booking.supplier_reference, id)?;
    Ok(booking)
}

/// Requests a booking by Nuitee's id.
pub(crate) fn booking_response(settings: &Settings, id: &str) -> Result<Response, http::Error> {
    let path = format!("/bookings/{}", http::percent_encode(id));
    let read = Request::get(settings.book_url(&path)).timeout_ms(READ_TIMEOUT_MS);
    read.send()
}

/// Reads the booking in a response. Returns `None` if there is no such booking.
pub(crate) fn open_booking(response: &Response) -> Result<Option<Booking<'_>>, ReadError> {
    match open_read(response) {
        Err(ReadError::NotFound(_)) => Ok(None),
        booking => booking,
    }
}

/// Reads a booking by its client reference. The path has no trailing slash: with one, Nuitee
/// returns another list. `agreed` is the prebooked price, if it is known. Returns `None` if the list
/// proves that there is no such booking.
///
/// # Errors
/// The response is no list, even if it says "no content" or "not found": Nuitee documents these of single
/// bookings, and of this search a list.
fn read_by_reference(
    settings: &Settings,
    client_reference: &str,
    agreed: Option<Money>,
    dropped: &mut DroppedItems,
) -> Result<Option<SupplierBooking>, ReadError> {
    let response = Request::get(settings.book_url("/bookings"))
        .query("clientReference", client_reference)
        .timeout_ms(READ_TIMEOUT_MS)
        .send()?;
    let bookings: Vec<Part<Booking<'_>>> = match open_read(&response) {
        Ok(Some(bookings)) => bookings,
        Ok(None) | Err(ReadError::NotFound(_)) => {
            let message = "Nuitee returned no list of bookings";
            return Err(ReadError::InvalidResponse(message.to_owned()));
        }
        Err(error) => return Err(error),
    };
    let found = map::booking::with_reference(bookings, client_reference)?;
    let booking = found.map(|(position, booking)| {
        let pointer = format!("{DATA}/{position}");
        map::booking::supplier_booking(booking, agreed, &pointer, dropped)
    });
    Ok(booking.transpose()?)
}

/// Reads the booking that Nuitee already has with this client reference, which is therefore ours.
/// If it is not found now, the outcome remains unknown.
fn find_existing_booking(
    settings: &Settings,
    client_reference: &str,
    agreed: Option<Money>,
) -> Result<SupplierBooking, ChangeError> {
    let mut dropped = DroppedItems::default();
    match read_by_reference(settings, client_reference, agreed, &mut dropped) {
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
///
/// # Errors
/// A room has no guests, so that nothing is sent.
fn guests(request: &BookRequest) -> Result<Vec<Value>, ChangeError> {
    let mut leads = Vec::new();
    for (number, room) in (1..).zip(&request.rooms) {
        let lead = room.guests.iter().find(|guest| guest.is_lead);
        let guest = lead
            .or(room.guests.first())
            .ok_or_else(|| ChangeError::NotSent("a room has no guests".to_owned()))?;
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

/// Returns the payment of a prebook.
///
/// # Errors
/// The settings no longer have the payment method of the prebook, so that nothing is sent.
fn payment(settings: &Settings, bound: &PrebookReference) -> Result<Value, ChangeError> {
    match (&bound.transaction_id, settings.payment_method) {
        (Some(id), _) => Ok(json!({ "method": "TRANSACTION_ID", "transactionId": id })),
        (None, PaymentMethod::PaymentSdk) => Err(ChangeError::NotSent(
            "the offer was prebooked with a payment method other than the one in the current settings"
                .to_owned(),
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
    let hotel = read.ok().flatten().flatten();
    let hotel = hotel.filter(|hotel| {
        hotel
            .id
            .required("id")
            .is_ok_and(|other| other.as_str() == id)
    });
    match hotel.map(|hotel| map::content::summary(id, hotel)) {
        Some(Ok(summary)) => summary,
        Some(Err(_)) | None => {
            stopover_sdk::warn!("a prebook's hotel has no readable content");
            HotelSummary::new(id, id)
        }
    }
}
