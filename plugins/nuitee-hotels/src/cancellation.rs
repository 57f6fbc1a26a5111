//! Cancellation. Nuitee offers no preview, and a cancellation applies to the whole booking. Its
//! documents show `cancellation_fee` and `refund_amount` of that cancellation, which add up to the
//! price. As a booking has one cancellation, they are also the sum of all so far.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::http::{self, Request, Response};
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::hotel::SupplierBooking;
use stopover_sdk::{ChangeError, HotelCancellation, ReadError, Refusal, RefusalReason};

use crate::booking::{booking_response, open_booking, read_by_id, with_id};
use crate::fault::Fault;
use crate::map::booking::undecided_amounts;
use crate::settings::Settings;
use crate::upstream::open_change;
use crate::wire::booking::Cancellation;
use crate::{NuiteeHotels, map};

impl HotelCancellation for NuiteeHotels {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let settings = Settings::read()?;
        let mut dropped = DroppedItems::default();
        let id = &request.supplier_reference;
        let booking = read_by_id(&settings, id, None, &mut dropped)?;
        let Some(booking) = booking else {
            return Err(ReadError::NotFound("Nuitee has no such booking".to_owned()));
        };
        let reference = booking.client_reference.as_ref();
        let is_same = reference.is_none_or(|other| *other == request.client_reference);
        ensure(is_same, "the response has another client reference")?;
        if booking.status == BookingStatus::Canceled {
            let message = "the booking is cancelled already";
            return Err(Refusal::new(RefusalReason::NotCancellable, message).into());
        }
        Ok(Quote::Policy(booking.policy))
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        if !request.rooms.is_empty() {
            let message = "single rooms of a booking cannot be cancelled";
            return Err(Refusal::new(RefusalReason::NotCancellable, message).into());
        }
        let settings = Settings::read()?;
        let id = &request.supplier_reference;
        let path = format!("/bookings/{}", http::percent_encode(id));
        let response = Request::put(settings.book_url(&path)).send()?;
        if response.status == 304 {
            return not_modified(&settings, id);
        }
        if response.status == 204 {
            let none = "Nuitee has no such booking";
            return Err(Refusal::new(RefusalReason::NotCancellable, none).into());
        }
        let cancellation = open_change::<Cancellation>(&response)?
            .map_err(Fault::into_cancellation_error)?
            .ok_or_else(|| ChangeError::Unknown("the cancellation is empty".to_owned()))?;
        // The response has the amounts, but no other data of the booking.
        let reference = &request.booking_client_reference;
        let mut dropped = DroppedItems::default();
        let read = booking_response(&settings, id).ok();
        let read = read
            .as_ref()
            .and_then(|response| canceled_state(response, id, reference, &mut dropped));
        Ok(map::booking::canceled_booking(
            id,
            reference,
            cancellation,
            read,
            &mut dropped,
        )?)
    }
}

/// Returns the booking that was read after its cancellation. It is left out if it has another client
/// reference: the response to the cancellation proves the change without it.
fn canceled_state(
    response: &Response,
    id: &str,
    client_reference: &str,
    dropped: &mut DroppedItems,
) -> Option<SupplierBooking> {
    let mut booking = open_booking(response).ok()??;
    let stated = booking.client_reference.value().map(|text| text.trim());
    if stated.is_some_and(|other| !other.is_empty() && other != client_reference) {
        let error = DecodeError::new("the booking has another client reference");
        dropped.leave_out(format_args!("/data/clientReference"), error);
        return None;
    }
    // The id proves that the booking is ours if its client reference is missing or unreadable.
    booking.client_reference = client_reference.to_owned().into();
    with_id(booking, id, None, dropped).ok()
}

/// Handles status 304: this call cancelled nothing. Either Nuitee refuses, or the booking was
/// cancelled before; a read of the booking shows which. The hotel may have cancelled it, so that amounts
/// which the booking does not state are undecided: the policy is that of a guest who cancels.
fn not_modified(settings: &Settings, id: &str) -> Result<SupplierBooking, ChangeError> {
    let mut dropped = DroppedItems::default();
    match read_by_id(settings, id, None, &mut dropped) {
        Ok(Some(mut state)) if state.status == BookingStatus::Canceled => {
            let undecided = || undecided_amounts(&state.currency);
            state.cancellation.get_or_insert_with(undecided);
            Ok(state)
        }
        Ok(_) => {
            let message = "Nuitee does not cancel this booking";
            let refusal = Refusal::new(RefusalReason::NotCancellable, message).with_code(304);
            Err(refusal.into())
        }
        Err(error) => Err(ChangeError::Unknown(format!(
            "this call cancelled nothing, and the booking cannot be read to see whether it was cancelled before: {error:?}"
        ))),
    }
}
