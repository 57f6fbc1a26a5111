//! Cancellation: the airline's quote and the cancellation of a whole booking, which an airline may
//! complete later.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::http::{self, Request};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{ChangeError, FlightCancellation, ReadError};

use crate::booking::{read_by_id, read_own};
use crate::fault::{self, Fault};
use crate::map::booking::undecided_amounts;
use crate::settings::Settings;
use crate::upstream::{only_item, open, send};
use crate::wire::booking::{Cancellation, Quote as WireQuote};
use crate::{NuiteeFlights, map};

/// Status with which Nuitee responds before the airline has confirmed a cancellation.
const ACCEPTED: u16 = 202;

impl FlightCancellation for NuiteeFlights {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let settings = Settings::read()?;
        let response = send(Request::get(url(&settings, &request.supplier_reference)))?;
        let data = match open::<WireQuote<'_>>(&response, &response.body)? {
            Err(fault) if fault.is_no_quote() => {
                return Ok(Quote::Unavailable(fault.to_text()));
            }
            data => data.map_err(Fault::into_read_error)?,
        };
        match only_item(data, &mut DroppedItems::default())? {
            Some(quote) => Ok(map::cancellation::quote(
                &quote,
                &request.supplier_reference,
            )?),
            None => Ok(Quote::Unavailable("the airline has no quote".to_owned())),
        }
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        let settings = Settings::read()?;
        let id = request.supplier_reference.as_str();
        let response = send(Request::post(url(&settings, id)))?;
        let data = match open::<Cancellation<'_>>(&response, &response.body)? {
            Ok(data) => data,
            Err(fault) if fault.is_canceled_before() => {
                return read_canceled_booking(&settings, id, &fault);
            }
            Err(fault) => return Err(fault.into_change_error(fault::CANCEL)),
        };
        let mut dropped = DroppedItems::default();
        let cancellation = only_item(data, &mut dropped)?;
        let cancellation = cancellation
            .ok_or_else(|| ChangeError::Unknown("no cancellation was returned".to_owned()))?;
        let reference = &request.booking_client_reference;
        // The response has the amounts, but no other data of the booking.
        let read = read_own(&settings, id, reference, &mut dropped);
        let read = read.ok().flatten();
        let is_accepted_only = response.status == ACCEPTED;
        let canceled = map::cancellation::canceled_booking(
            id,
            reference,
            is_accepted_only,
            &cancellation,
            read.map(|read| read.booking),
            &mut dropped,
        );
        Ok(canceled?)
    }
}

fn url(settings: &Settings, id: &str) -> String {
    settings.url(&format!(
        "/flights/bookings/{}/cancellations",
        http::percent_encode(id)
    ))
}

/// Returns the booking's state after another call cancelled it or requested its cancellation. That call may
/// have been the airline's, and the booking states no amounts, so that those of a cancelled booking are
/// undecided: the terms of the fare are those of a customer who cancels.
fn read_canceled_booking(
    settings: &Settings,
    id: &str,
    fault: &Fault,
) -> Result<SupplierBooking, ChangeError> {
    let read = read_by_id(settings, id, None, &mut DroppedItems::default());
    match read.map(|read| read.map(|read| read.booking)) {
        Ok(Some(booking)) if booking.status == BookingStatus::CancelPending => Ok(booking),
        Ok(Some(mut booking)) if booking.status == BookingStatus::Canceled => {
            let undecided = || undecided_amounts(&booking.currency);
            booking.cancellation.get_or_insert_with(undecided);
            Ok(booking)
        }
        Ok(_) => Err(ChangeError::Unknown(format!(
            "{}, but the booking is not cancelled",
            fault.to_text()
        ))),
        Err(error) => Err(ChangeError::Unknown(format!(
            "{}, but the booking cannot be read: {error:?}",
            fault.to_text()
        ))),
    }
}
