//! Conversion of cancellation quotes and of completed cancellations.

use stopover_sdk::flight_cancellation::{AirlineQuote, Quote};
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Essential, NonEmptyText, Part};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::{CancellationAmounts, SupplierBooking};

use crate::map::booking::status;
use crate::map::{minor, money};
use crate::wire::booking::{Cancellation, Quote as Wire};

/// Refund destination that is not money.
const VOUCHER: &str = "voucher";

/// Converts the airline's quote, or returns why there is none. Nuitee's own estimate is rejected,
/// because it is no better than the fare's terms.
///
/// # Errors
/// The quote is about another booking, or does not tell how certain it is.
pub(crate) fn quote(wire: &Wire<'_>, supplier_reference: &str) -> Result<Quote, DecodeError> {
    check_booking(&wire.booking_id, supplier_reference)?;
    let unavailable = |why: &str| Ok(Quote::Unavailable(why.to_owned()));
    match wire.confidence.required("confidence")?.as_str() {
        "confirmed" | "estimated" => {}
        "heuristic" => return unavailable("Nuitee only estimates the airline's cancellation fee"),
        "unknown" => return unavailable("Nuitee does not know the airline's cancellation fee"),
        _ => return Err(DecodeError::new("the quote has an unknown confidence")),
    }
    if wire.destination.as_str() == VOUCHER {
        return unavailable("the airline refunds vouchers instead of money");
    }
    let refund = wire.refund.display.as_ref().and_then(money);
    let penalty = wire.penalty.display.as_ref().and_then(money);
    match (refund, penalty) {
        (Some(refund), Some(penalty)) if refund.currency == penalty.currency => {
            if wire.is_refundable.0 == Some(false) && refund.amount > 0 {
                return unavailable("the airline's quote contradicts itself");
            }
            Ok(Quote::Quoted(AirlineQuote {
                currency: refund.currency,
                fee: penalty.amount,
                refund: refund.amount,
                expires_at: None,
            }))
        }
        _ => unavailable("the airline's quote has no readable amounts"),
    }
}

/// Checks that a response is about this booking, which it need not name.
fn check_booking(
    booking_id: &Essential<NonEmptyText>,
    supplier_reference: &str,
) -> Result<(), DecodeError> {
    let booking_id = booking_id.optional("bookingId")?;
    let is_same = booking_id.is_none_or(|id| id.as_str() == supplier_reference);
    ensure(is_same, "the response is about another booking")
}

/// Returns the booking's state after a cancellation: the cancellation's response takes precedence
/// over the booking that was read afterwards. Without that read, only a final response has enough
/// data.
///
/// # Errors
/// The response is about another booking or has an unexpected status, or neither source gives the
/// current state.
pub(crate) fn canceled_booking(
    supplier_reference: &str,
    client_reference: &str,
    is_accepted_only: bool,
    cancellation: &Cancellation<'_>,
    read: Option<SupplierBooking>,
) -> Result<SupplierBooking, DecodeError> {
    check_booking(&cancellation.booking_id, supplier_reference)?;
    let written = cancellation.status.required("status")?;
    match status(written.as_str(), true) {
        Some(BookingStatus::Canceled) => {
            completed_cancellation(supplier_reference, client_reference, cancellation, read)
        }
        // The airline has not responded yet, so the booking is unchanged.
        Some(_) if is_accepted_only => {
            let mut state =
                read.ok_or_else(|| DecodeError::new("the canceled booking could not be read"))?;
            if state.status != BookingStatus::Canceled {
                state.status = BookingStatus::CancelPending;
            }
            Ok(state)
        }
        _ => Err(DecodeError::new(
            "the response to the cancellation has an unexpected status",
        )),
    }
}

fn completed_cancellation(
    supplier_reference: &str,
    client_reference: &str,
    cancellation: &Cancellation<'_>,
    read: Option<SupplierBooking>,
) -> Result<SupplierBooking, DecodeError> {
    let amounts = amounts(cancellation);
    let mut state = match (read, &amounts) {
        (Some(state), _) => state,
        (None, Some(amounts)) => SupplierBooking {
            status: BookingStatus::Canceled,
            supplier_reference: supplier_reference.to_owned(),
            client_reference: Some(client_reference.to_owned()),
            airline_pnr: None,
            currency: amounts.currency.clone(),
            total: amounts.fee.saturating_add(amounts.refund),
            fare: None,
            fare_tax: None,
            journeys: Vec::new(),
            services: Vec::new(),
            changes: Vec::new(),
            cancellation: None,
            extensions: Vec::new(),
        },
        (None, None) => return Err(DecodeError::new("the cancellation has no readable amounts")),
    };
    state.status = BookingStatus::Canceled;
    state.cancellation = amounts;
    if let Part::Decoded(destination) = &cancellation.destination
        && !destination.is_empty()
    {
        let name = "refund_destination".to_owned();
        state.extensions.push((name, destination.clone()));
    }
    Ok(state)
}

/// Returns the fee and the refund, or `None` if they cannot be read or if it cannot be read where the
/// refund goes. Nuitee states both for the whole booking. A voucher counts as no refund: its value is
/// money that the airline keeps.
fn amounts(cancellation: &Cancellation<'_>) -> Option<CancellationAmounts> {
    let currency = cancellation.currency.as_str();
    let destination = match &cancellation.destination {
        Part::Missing => "",
        Part::Decoded(destination) => destination.as_str(),
        Part::Unreadable(_) => return None,
    };
    let (fee, refund) = (
        minor(cancellation.fee.value()?, currency)?,
        minor(cancellation.refund.value()?, currency)?,
    );
    let (fee, refund) = match destination {
        VOUCHER => (fee.checked_add(refund)?, 0),
        _ => (fee, refund),
    };
    Some(CancellationAmounts {
        fee,
        refund,
        currency: currency.to_owned(),
        supplier_reference: None,
    })
}
