//! Prebooking, booking and reading a booking back. After `book` is sent, only the codes in `fault`
//! are definite refusals.

use serde_json::{Value, json};
use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::http::{self, Request};
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{ChangeError, FlightBooking, ReadError, Refusal, RefusalReason, clock, json};

use crate::fault;
use crate::map::offer::OfferReference;
use crate::map::prebook::PrebookReference;
use crate::map::verify::{AgreedTerms, Verified};
use crate::settings::{PaymentMethod, Settings};
use crate::upstream::{open, open_read, send};
use crate::wire::booking::{Booked, Bookings};
use crate::wire::prebook::{Prebook, Verified as WireVerified};
use crate::{NuiteeFlights, map};

impl FlightBooking for NuiteeFlights {
    fn prebook(request: PrebookRequest) -> Result<PrebookResponse, ChangeError> {
        let settings = Settings::read()?;
        let offered: OfferReference = json::decode(request.supplier_offer.as_bytes())
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
        let verified = verify(&settings, &agreed)?;

        let prebook = Request::post(settings.url("/flights/prebooks")).json(&body)?;
        let response = send(prebook)?;
        let prebooks: Vec<Prebook<'_>> = open(&response, &response.body)?
            .map_err(|fault| fault.into_change_error(fault::PREBOOK))?;
        let [prebook] = prebooks.as_slice() else {
            let message = "the response does not have exactly one prebook";
            return Err(ChangeError::Unknown(message.to_owned()));
        };
        map::prebook::prebook_response(
            &agreed,
            verified,
            uses_payment_sdk,
            clock::now_ms(),
            prebook,
        )
    }

    fn book(request: BookRequest) -> Result<SupplierBooking, ChangeError> {
        let settings = Settings::read()?;
        let bound: PrebookReference = json::decode(request.supplier_prebook.as_bytes())
            .map_err(|_| Refusal::new(RefusalReason::Invalid, "not a prebook of this adapter"))?;
        // Without the trailing slash, Nuitee redirects to this URL.
        let book = Request::post(settings.url("/flights/bookings/")).json(&json!({
            "prebookId": bound.prebook_id,
            "payment": payment(&settings, &bound)?,
            // Nuitee stores tags with a booking and can search for them.
            "customTags": { "GW_REF": request.client_reference },
        }))?;
        let response = send(book)?;
        let booked: Vec<Booked<'_>> =
            open(&response, &response.body)?.map_err(fault::Fault::into_book_error)?;
        let booking = booked.first().and_then(|booked| booked.booking.as_ref());
        let booking =
            booking.ok_or_else(|| ChangeError::Unknown("no booking was returned".to_owned()))?;
        Ok(map::booking::supplier_booking(
            booking,
            Some(&bound),
            &settings.logo_url,
        )?)
    }

    fn find(request: FindRequest) -> Result<BookingLookup, ReadError> {
        let settings = Settings::read()?;
        let bound = request.supplier_prebook.as_deref();
        let bound: Option<PrebookReference> =
            bound.and_then(|bound| json::decode(bound.as_bytes()).ok());
        if let Some(id) = &request.supplier_reference
            && let Some(state) = read_by_id(&settings, id, bound.as_ref())?
        {
            return Ok(BookingLookup::Found(state));
        }
        let found = read_by_reference(&settings, &request.client_reference, bound.as_ref())?;
        Ok(found.map_or(BookingLookup::NotFound, BookingLookup::Found))
    }
}

/// Verifies an offer and returns its current terms.
fn verify(settings: &Settings, agreed: &AgreedTerms<'_>) -> Result<Verified, ChangeError> {
    let again = |error: http::Error| {
        let why = ReadError::from(error);
        ChangeError::NotSent(format!("the offer cannot be verified: {why:?}"))
    };
    let body = json!({ "offerId": agreed.offered.id });
    let verify = Request::post(settings.url("/flights/verify")).json(&body)?;
    let response = send(verify).map_err(again)?;
    let items: Vec<WireVerified<'_>> = open(&response, &response.body)
        .map_err(|error| ChangeError::NotSent(error.to_string()))?
        .map_err(|fault| fault.into_unsent_change_error(fault::VERIFY))?;
    let item = items.first();
    let item =
        item.ok_or_else(|| ChangeError::NotSent("the verified offer is empty".to_owned()))?;
    map::verify::verified(agreed, item)
}

/// Reads a booking by Nuitee's id. Returns `None` if there is no such booking.
pub(crate) fn read_by_id(
    settings: &Settings,
    id: &str,
    bound: Option<&PrebookReference>,
) -> Result<Option<SupplierBooking>, ReadError> {
    let path = format!("/flights/bookings/{}", http::percent_encode(id));
    let response = send(Request::get(settings.url(&path)))?;
    if response.status == 204 {
        return Ok(None);
    }
    let booked: Option<Booked<'_>> = match open_read(&response) {
        Err(ReadError::NotFound(_)) => return Ok(None),
        read => read?,
    };
    // An empty list is no statement about a booking that was asked for by its id.
    let booking = booked
        .and_then(|booked| booked.booking)
        .ok_or_else(|| ReadError::InvalidResponse("the response lacks the booking".to_owned()))?;
    let state = map::booking::supplier_booking(&booking, bound, &settings.logo_url)?;
    if state.supplier_reference == id {
        Ok(Some(state))
    } else {
        let message = "the response is about another booking";
        Err(ReadError::InvalidResponse(message.to_owned()))
    }
}

/// Reads a booking by the client reference in its tags.
fn read_by_reference(
    settings: &Settings,
    client_reference: &str,
    bound: Option<&PrebookReference>,
) -> Result<Option<SupplierBooking>, ReadError> {
    let list = Request::get(settings.url("/flights/bookings"))
        .query("customTags", format!("GW_REF:{client_reference}"));
    let response = send(list)?;
    let listed: Bookings<'_> = match open_read(&response) {
        Err(ReadError::NotFound(_)) => return Ok(None),
        read => read?.unwrap_or_default(),
    };
    let booking = map::booking::with_reference(&listed.bookings.0, client_reference);
    let state = |booking| map::booking::supplier_booking(booking, bound, &settings.logo_url);
    Ok(booking.map(state).transpose()?)
}

fn payment(settings: &Settings, bound: &PrebookReference) -> Result<Value, Refusal> {
    match (&bound.transaction_id, settings.payment_method) {
        (Some(id), _) => Ok(json!({ "method": "TRANSACTION_ID", "transactionId": id })),
        (None, PaymentMethod::Credit) => Ok(json!({ "method": "CREDIT" })),
        (None, PaymentMethod::PaymentSdk) => Err(Refusal::new(
            RefusalReason::Expired,
            "the offer was prebooked with a payment method other than the one in the current settings",
        )),
    }
}
