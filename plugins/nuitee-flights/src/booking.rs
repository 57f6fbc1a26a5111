//! Prebooking, booking and reading a booking back. After `book` is sent, only the codes in `fault`
//! are definite refusals.

use serde_json::{Value, json};
use stopover_sdk::detailed_flight_booking::{
    DetailedBooking, DetailedBookingLookup, DetailedPrebookResponse,
};
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_booking::{BookRequest, FindRequest, PrebookRequest};
use stopover_sdk::http::{self, Request};
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{Essential, Part};
use stopover_sdk::{
    ChangeError, DetailedFlightBooking, ReadError, Refusal, RefusalReason, clock, json,
};

use crate::fault::{self, Fault};
use crate::map::offer::OfferReference;
use crate::map::prebook::PrebookReference;
use crate::map::verify::{AgreedTerms, Verified};
use crate::settings::{PaymentMethod, Settings};
use crate::upstream::{check_lists, found_item, only_item, open, send, send_read};
use crate::wire::booking::{Booked, Booking, Bookings, ListedBookings, Tags};
use crate::wire::prebook::{Prebook, Verified as WireVerified};
use crate::{NuiteeFlights, map};

/// JSON pointer of the booking in a response about one booking.
const POINTER: &str = "/data/0/booking";
/// JSON pointer of the list in a response about several bookings.
const LIST_POINTER: &str = "/data/0/bookings";

impl DetailedFlightBooking for NuiteeFlights {
    fn prebook(request: PrebookRequest) -> Result<DetailedPrebookResponse, ChangeError> {
        let settings = Settings::read()?;
        let offered: OfferReference<'_> = json::decode(request.supplier_offer.as_bytes())
            .map_err(|_| Refusal::new(RefusalReason::Invalid, "not an offer of this adapter"))?;
        let first = offered.flights.iter().flatten().next();
        let departure = first.and_then(|flight| flight.rsplit(' ').next());
        let departure = departure.unwrap_or_default();
        let passengers = map::passenger::types(&request.passengers, departure)?;
        let uses_payment_sdk = settings.uses_payment_sdk();
        let body = map::passenger::prebook(&request, &offered.id, departure, uses_payment_sdk)?;
        let agreed = AgreedTerms {
            offered: &offered,
            currency: &request.currency,
            total: request.total,
            passengers: &passengers,
            logo_url: &settings.logo_url,
        };
        let mut dropped = DroppedItems::default();
        let verified = verify(&settings, &agreed, &mut dropped)?;

        let prebook = Request::post(settings.url("/flights/prebooks")).json(&body)?;
        let response = send(prebook)?;
        let data = open::<Prebook<'_>>(&response, &response.body)?
            .map_err(|fault| fault.into_change_error(fault::PREBOOK))?;
        let prebook = only_item(data, &mut dropped)?
            .ok_or_else(|| ChangeError::Unknown("no prebook was returned".to_owned()))?;
        map::prebook::prebook_response(
            &agreed,
            verified,
            uses_payment_sdk,
            clock::now_ms(),
            prebook,
            &mut dropped,
        )
    }

    fn book(request: BookRequest) -> Result<DetailedBooking, ChangeError> {
        let settings = Settings::read()?;
        // Nuitee refuses nothing here, and an earlier call with this prebook may have booked.
        let bound: PrebookReference = json::decode(request.supplier_prebook.as_bytes())
            .map_err(|_| ChangeError::NotSent("not a prebook of this adapter".to_owned()))?;
        // Without the trailing slash, Nuitee redirects to this URL.
        let book = Request::post(settings.url("/flights/bookings/")).json(&json!({
            "prebookId": bound.prebook_id,
            "payment": payment(&settings, &bound)?,
            // Nuitee stores tags with a booking and can search for them.
            "customTags": { "GW_REF": request.client_reference },
        }))?;
        let response = send(book)?;
        let data =
            open::<Booked<'_>>(&response, &response.body)?.map_err(Fault::into_book_error)?;
        let mut dropped = DroppedItems::default();
        let booked = only_item(data, &mut dropped)?;
        let booked =
            booked.ok_or_else(|| ChangeError::Unknown("no booking was returned".to_owned()))?;
        let mut booking = booked.booking.required("booking")?;
        // Nobody can have asked to cancel a new booking.
        map::booking::leave_out_odd_intent(&mut booking, POINTER, &mut dropped);
        let logo_url = &settings.logo_url;
        let state =
            map::booking::supplier_booking(booking, Some(&bound), logo_url, POINTER, &mut dropped);
        Ok(state?)
    }

    fn find(request: FindRequest) -> Result<DetailedBookingLookup, ReadError> {
        let settings = Settings::read()?;
        let bound = request.supplier_prebook.as_deref();
        let bound: Option<PrebookReference> =
            bound.and_then(|bound| json::decode(bound.as_bytes()).ok());
        let mut dropped = DroppedItems::default();
        if let Some(id) = &request.supplier_reference
            && let Some(state) = read_by_id(&settings, id, bound.as_ref(), &mut dropped)?
        {
            return Ok(DetailedBookingLookup::Found(state));
        }
        let found = read_by_reference(&settings, &request, bound.as_ref(), &mut dropped)?;
        Ok(found.map_or(
            DetailedBookingLookup::NotFound,
            DetailedBookingLookup::Found,
        ))
    }
}

/// Verifies an offer and returns its current terms. Nuitee only re-prices the offer, so that a failure
/// leaves nothing behind.
fn verify(
    settings: &Settings,
    agreed: &AgreedTerms<'_>,
    dropped: &mut DroppedItems,
) -> Result<Verified, ChangeError> {
    let again = |error: http::Error| {
        let why = ReadError::from(error);
        ChangeError::NotSent(format!("the offer cannot be verified: {why:?}"))
    };
    let not_sent = |error: DecodeError| ChangeError::NotSent(error.to_string());
    let body = json!({ "offerId": agreed.offered.id });
    let verify = Request::post(settings.url("/flights/verify")).json(&body)?;
    let response = send_read(verify).map_err(again)?;
    let data = open::<WireVerified<'_>>(&response, &response.body)
        .map_err(not_sent)?
        .map_err(|fault| fault.into_unsent_change_error(fault::VERIFY))?;
    let item = only_item(data, dropped).map_err(not_sent)?;
    let item =
        item.ok_or_else(|| ChangeError::NotSent("the verified offer is empty".to_owned()))?;
    map::verify::verified(agreed, item, dropped)
}

/// Reads a booking by Nuitee's id. Returns `None` if there is no such booking.
pub(crate) fn read_by_id(
    settings: &Settings,
    id: &str,
    bound: Option<&PrebookReference>,
    dropped: &mut DroppedItems,
) -> Result<Option<DetailedBooking>, ReadError> {
    read(settings, id, bound, None, dropped)
}

/// Reads a booking that is being cancelled. Its id proves that it is the one with this client reference, so
/// its tags need not be readable. Returns `None` if there is no such booking, or if it names another
/// reference, which is reported.
pub(crate) fn read_own(
    settings: &Settings,
    id: &str,
    client_reference: &str,
    dropped: &mut DroppedItems,
) -> Result<Option<DetailedBooking>, ReadError> {
    read(settings, id, None, Some(client_reference), dropped)
}

fn read(
    settings: &Settings,
    id: &str,
    bound: Option<&PrebookReference>,
    own_reference: Option<&str>,
    dropped: &mut DroppedItems,
) -> Result<Option<DetailedBooking>, ReadError> {
    let path = format!("/flights/bookings/{}", http::percent_encode(id));
    let response = send(Request::get(settings.url(&path)))?;
    let data = match open::<Booked<'_>>(&response, &response.body)? {
        Ok(data) => data,
        Err(fault) => return no_booking(fault),
    };
    let mut booking = found_item(data, dropped)?.booking.required("booking")?;
    if let Some(reference) = own_reference {
        if map::booking::is_of_another(&booking, reference) {
            let error = DecodeError::new("the booking has another client reference");
            dropped.leave_out(format_args!("{POINTER}/customTags/GW_REF"), error);
            return Ok(None);
        }
        let client_reference = Essential::from(reference.to_owned());
        booking.custom_tags = Part::Decoded(Tags { client_reference }).into();
        map::booking::leave_out_odd_intent(&mut booking, POINTER, dropped);
    }
    let logo_url = &settings.logo_url;
    let state = map::booking::supplier_booking(booking, bound, logo_url, POINTER, dropped)?;
    if state.booking.supplier_reference == id {
        Ok(Some(state))
    } else {
        let message = "the response is about another booking";
        Err(ReadError::InvalidResponse(message.to_owned()))
    }
}

/// Reads a booking by the client reference in its tags. Returns `None` if there is no such booking.
/// This is proved by a documented error, by an empty list, or by a list of bookings whose references
/// differ from this one only in case.
fn read_by_reference(
    settings: &Settings,
    request: &FindRequest,
    bound: Option<&PrebookReference>,
    dropped: &mut DroppedItems,
) -> Result<Option<DetailedBooking>, ReadError> {
    let client_reference = request.client_reference.as_str();
    let list = Request::get(settings.url("/flights/bookings"))
        .query("customTags", format!("GW_REF:{client_reference}"));
    let response = send(list)?;
    let data = match open::<Bookings<'_>>(&response, &response.body)? {
        Ok(data) => data,
        Err(fault) => return no_booking(fault),
    };
    let bookings = found_item(data, dropped)?.bookings.required("bookings")?;
    let listed = dropped.readable(format_args!("{LIST_POINTER}"), bookings);
    let listed = listed.map(|(at, booking)| (format!("{LIST_POINTER}/{at}"), booking));
    let listed: Vec<(String, Booking<'_>)> = listed.collect();
    let lists_nothing = listed.is_empty();
    let unreadable = dropped.check_remaining(false).err();
    let found = map::booking::with_reference(listed, client_reference, unreadable)?;
    let Some((pointer, mut booking)) = found else {
        if lists_nothing {
            check_lists::<ListedBookings>(&response.body)?;
        }
        return Ok(None);
    };
    let logo_url = &settings.logo_url;
    if request.supplier_reference.is_none() {
        // Nobody can have asked to cancel a booking whose id the gateway does not know yet.
        map::booking::leave_out_odd_intent(&mut booking, &pointer, dropped);
    }
    let state = map::booking::supplier_booking(booking, bound, logo_url, &pointer, dropped)?;
    Ok(Some(state))
}

/// Returns `None` if the error is that there is no such booking. Only a status of 404 proves it: Nuitee
/// sends the codes with 400 for an id that it does not understand.
fn no_booking<T>(fault: Fault) -> Result<Option<T>, ReadError> {
    let is_missing = fault.status == 404;
    match fault.into_read_error() {
        ReadError::NotFound(_) if is_missing => Ok(None),
        ReadError::NotFound(text) => Err(ReadError::InvalidResponse(text)),
        error @ (ReadError::Misconfigured(_)
        | ReadError::TimedOut(_)
        | ReadError::RateLimited(_)
        | ReadError::Unavailable(_)
        | ReadError::Failed(_)
        | ReadError::InvalidResponse(_)
        | ReadError::Rejected(_)) => Err(error),
    }
}

/// Returns the payment of a prebook.
///
/// # Errors
/// The settings no longer have the payment method of the prebook, so that nothing is sent.
fn payment(settings: &Settings, bound: &PrebookReference) -> Result<Value, ChangeError> {
    match (&bound.transaction_id, settings.payment_method) {
        (Some(id), _) => Ok(json!({ "method": "TRANSACTION_ID", "transactionId": id })),
        (None, PaymentMethod::Credit) => Ok(json!({ "method": "CREDIT" })),
        (None, PaymentMethod::PaymentSdk) => Err(ChangeError::NotSent(
            "the offer was prebooked with a payment method other than the one in the current settings"
                .to_owned(),
        )),
    }
}
