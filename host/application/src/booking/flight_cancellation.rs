//! The parts of a cancellation that only flights have.

use host_domain::flight::booking::FlightBooking;
use host_domain::flight::supplier_api::{BookingReference, FlightSupplierQuote};
use host_domain::supplier::ReadError;

/// Returns the airline's quote. If the airline cannot give one, for whatever reason, the quote is
/// unavailable, so that it is based on the stored terms alone.
pub fn quote_or_unavailable(
    response: Result<FlightSupplierQuote, ReadError>,
) -> FlightSupplierQuote {
    response.unwrap_or_else(|error| FlightSupplierQuote::Unavailable(error.to_string()))
}

pub fn booking_reference(booking: &FlightBooking) -> BookingReference {
    BookingReference {
        supplier_reference: booking.supplier_reference.clone().unwrap_or_default(),
        client_reference: booking.id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host_domain::supplier::{Refusal, RefusalReason};

    #[test]
    fn no_error_of_the_airline_keeps_the_caller_from_an_estimate() {
        let text = || "why".to_owned();
        let refusal = Refusal {
            reason: RefusalReason::NotCancellable,
            supplier_code: None,
            message: text(),
        };
        for error in [
            ReadError::Unsupported,
            ReadError::NotFound(text()),
            ReadError::Rejected(refusal),
            ReadError::RateLimited {
                retry_after_s: Some(1),
            },
            ReadError::TimedOut(text()),
            ReadError::Unavailable(text()),
            ReadError::Failed(text()),
            ReadError::AdapterFailed(text()),
            ReadError::InvalidResponse(text()),
            ReadError::Misconfigured(text()),
            ReadError::Overloaded,
        ] {
            let quote = quote_or_unavailable(Err(error.clone()));
            let is_unavailable = matches!(quote, FlightSupplierQuote::Unavailable(_));
            assert!(is_unavailable, "{error}");
        }
    }
}
