//! Conversion of Jetbridge's bookings and their cancellation, in pure functions.

use stopover_sdk::flight_cancellation::AirlineQuote;
use stopover_sdk::json::{DecodeError, ensure, non_empty};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::{
    AirlineChange, CancellationAmounts, ChangeType, SupplierBooking,
};

use crate::common;
use crate::fault::booking_failure;
use crate::jetbridge::fault::ERRORS;
use crate::jetbridge::map::itinerary::{PassengerCount, journeys, segments};
use crate::jetbridge::map::{amount, money};
use crate::jetbridge::wire;

/// Checks the currency of the response to a change.
pub(crate) fn check_currency(booking: &wire::Booking, currency: &str) -> Result<(), DecodeError> {
    ensure(
        booking.price.ccy == currency,
        "the booking is in another currency",
    )
}

pub(crate) fn booking(
    booking: wire::Booking,
    passengers: PassengerCount,
) -> Result<SupplierBooking, DecodeError> {
    let status = status(&booking);
    let total = money(booking.price)?;
    let currency = total.currency;
    let cancellation = booking.cancellation.map(|done| {
        Ok::<_, DecodeError>(CancellationAmounts {
            fee: amount(done.fee, &currency)?,
            refund: amount(done.refund, &currency)?,
            currency: currency.clone(),
            supplier_reference: Some(done.r#ref),
        })
    });
    let changes = (booking.changes.into_iter()).map(|found| change(found, passengers));
    Ok(SupplierBooking {
        status,
        supplier_reference: booking.booking_id,
        client_reference: Some(booking.client_ref),
        airline_pnr: non_empty(booking.pnr),
        total: total.amount,
        fare: Some(amount(booking.fare, &currency)?),
        fare_tax: Some(amount(booking.tax, &currency)?),
        journeys: journeys(booking.journeys, passengers)?,
        services: Vec::new(),
        changes: changes.collect::<Result<_, _>>()?,
        cancellation: cancellation.transpose()?,
        extensions: Vec::new(),
        currency,
    })
}

fn status(booking: &wire::Booking) -> BookingStatus {
    match booking.status {
        wire::Status::Processing => BookingStatus::Pending,
        wire::Status::Ticketed => BookingStatus::Confirmed,
        wire::Status::CancelRequested => BookingStatus::CancelPending,
        wire::Status::Cancelled => BookingStatus::Canceled,
        wire::Status::Failed => {
            let number = (booking.failure.as_ref()).map(|failure| failure.no.to_string());
            BookingStatus::Failed(booking_failure(&ERRORS, number.as_deref()))
        }
    }
}

fn change(change: wire::Change, passengers: PassengerCount) -> Result<AirlineChange, DecodeError> {
    let removed_segments = segments(change.old, passengers)?;
    let added_segments = segments(change.new, passengers)?;
    Ok(AirlineChange {
        change_type: match change.r#type {
            wire::ChangeType::Schedule => ChangeType::ScheduleChange,
            wire::ChangeType::Other => common::unknown_change(&added_segments),
        },
        supplier_change_id: change.change_id,
        detected_at: change.at,
        action_required: change.must_answer,
        removed_segments,
        added_segments,
        expires_at: change.answer_by,
        accepted_at: change.accepted_at,
    })
}

pub(crate) fn quote(quote: wire::Quote) -> Result<AirlineQuote, DecodeError> {
    let fee = money(quote.fee)?;
    Ok(AirlineQuote {
        fee: fee.amount,
        refund: amount(quote.refund, &fee.currency)?,
        expires_at: Some(quote.valid_until),
        currency: fee.currency,
    })
}
