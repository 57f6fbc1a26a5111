//! The parts of a cancellation that only flights have.

use host_domain::flight::booking::FlightBooking;
use host_domain::flight::supplier_api::{BookingReference, FlightSupplierQuote};
use host_domain::supplier::ReadError;

/// Returns the airline's quote. If the airline cannot give one, the quote is unavailable, so that
/// it is based on the stored terms alone.
///
/// # Errors
/// [`ReadError`] of a call that may succeed later.
pub fn quote_or_unavailable(
    response: Result<FlightSupplierQuote, ReadError>,
) -> Result<FlightSupplierQuote, ReadError> {
    match response {
        Ok(supplier_quote) => Ok(supplier_quote),
        Err(
            error @ (ReadError::Unsupported
            | ReadError::Rejected(_)
            | ReadError::TimedOut(_)
            | ReadError::Unavailable(_)
            | ReadError::Failed(_)
            | ReadError::AdapterFailed(_)
            | ReadError::InvalidResponse(_)),
        ) => Ok(FlightSupplierQuote::Unavailable(error.to_string())),
        Err(
            error @ (ReadError::NotFound(_)
            | ReadError::RateLimited { .. }
            | ReadError::Misconfigured(_)
            | ReadError::Overloaded),
        ) => Err(error),
    }
}

pub fn booking_reference(booking: &FlightBooking) -> BookingReference {
    BookingReference {
        supplier_reference: booking.supplier_reference.clone().unwrap_or_default(),
        client_reference: booking.id.to_string(),
    }
}
