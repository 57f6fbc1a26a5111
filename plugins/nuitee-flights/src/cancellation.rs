//! Cancellation: the airline's quote and the cancellation of a whole booking, which an airline may
//! complete later.

use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::http::{self, Request};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{ChangeError, FlightCancellation, ReadError};

use crate::booking::read_by_id;
use crate::fault::{self, Fault};
use crate::settings::Settings;
use crate::upstream::{open, send};
use crate::wire::booking::{Cancellation, Quote as WireQuote};
use crate::{NuiteeFlights, map};

/// Status with which Nuitee responds before the airline has confirmed a cancellation.
const ACCEPTED: u16 = 202;

impl FlightCancellation for NuiteeFlights {
    fn quote_cancellation(request: QuoteRequest) -> Result<Quote, ReadError> {
        let settings = Settings::read()?;
        let response = send(Request::get(url(&settings, &request.supplier_reference)))?;
        match open::<WireQuote<'_>>(&response, &response.body)? {
            Ok(quotes) => Ok(quotes.first().map_or_else(
                || Quote::Unavailable("the airline's quote is empty".to_owned()),
                map::cancellation::quote,
            )),
            Err(fault) if fault.is_no_quote() => Ok(Quote::Unavailable(fault.to_text())),
            Err(fault) => Err(fault.into_read_error()),
        }
    }

    fn cancel(request: CancelRequest) -> Result<SupplierBooking, ChangeError> {
        let settings = Settings::read()?;
        let id = request.supplier_reference.as_str();
        let response = send(Request::post(url(&settings, id)))?;
        let cancellations = match open::<Cancellation<'_>>(&response, &response.body)? {
            Ok(cancellations) => cancellations,
            Err(fault) if fault.is_cancelled_before() => {
                return read_canceled_booking(&settings, id, &fault);
            }
            Err(fault) => return Err(fault.into_change_error(fault::CANCEL)),
        };
        let [cancellation] = cancellations.as_slice() else {
            let message = "the response does not have exactly one cancellation";
            return Err(ChangeError::Unknown(message.to_owned()));
        };
        // The response has the amounts, but no other data of the booking.
        let read = read_by_id(&settings, id, None).ok().flatten();
        let is_accepted_only = response.status == ACCEPTED;
        let reference = &request.booking_client_reference;
        let canceled = map::cancellation::canceled_booking(
            id,
            reference,
            is_accepted_only,
            cancellation,
            read,
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

/// Returns the booking's state after an earlier call cancelled it or requested its cancellation.
fn read_canceled_booking(
    settings: &Settings,
    id: &str,
    fault: &Fault,
) -> Result<SupplierBooking, ChangeError> {
    let read = read_by_id(settings, id, None);
    match read {
        Ok(Some(state))
            if matches!(
                state.status,
                BookingStatus::Canceled | BookingStatus::CancelPending
            ) =>
        {
            Ok(state)
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
