//! Cancelling a booking at Lodge and previewing the cancellation.

use axum::{Json, response::IntoResponse};
use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::{
    clock::instant,
    connection,
    hotel::{
        booking::{DECISION_MS, requested_booking},
        booking_wire::booking_wire,
        refusal::{LodgeError, LodgeResult},
        scenario::Scenario,
        tables::{Booking, BookingState},
    },
    ledger::{Cancellation, Entry, EntryKind},
    money::PER_MAJOR,
    request::{self, Call},
    state::SandboxRecords,
};

/// Cancellation fee at the hotel that previews it.
const PREVIEWED_FEE: i64 = 25 * PER_MAJOR;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelRequest {
    client_ref: String,
    /// Room numbers from 1. An empty list means all rooms.
    #[serde(default)]
    rooms: Vec<usize>,
}

pub(super) async fn cancel_booking(call: Call, body: Bytes) -> LodgeResult {
    let request: CancelRequest = request::body(&body)?;
    request::check_reference("client_ref", &request.client_ref)?;
    let booking = call
        .transact(|records| cancel(records, &call, &request))
        .await??;
    call.app.sleep_or_stop(booking.scenario().delay()).await;
    if booking.scenario() == Scenario::CancelLostResponse {
        return Ok(connection::drop_connection());
    }
    let status = match booking.state {
        BookingState::Cancelling => StatusCode::ACCEPTED,
        _ => StatusCode::OK,
    };
    Ok((status, Json(booking_wire(&booking)?)).into_response())
}

fn cancel(
    records: &mut SandboxRecords,
    call: &Call,
    request: &CancelRequest,
) -> Result<Booking, LodgeError> {
    let mut booking = requested_booking(records, call)?;
    check_state(&booking)?;
    let scenario = booking.scenario();
    if matches!(
        scenario,
        Scenario::CancelRefused | Scenario::RemarksLater | Scenario::Restricted
    ) {
        return Err(LodgeError::NotCancellable);
    }
    let rooms = rooms_to_release(&booking, &request.rooms)?;
    if scenario == Scenario::CancelPending {
        booking.state = BookingState::Cancelling;
        booking.cancelling = Some(request.client_ref.clone());
        booking.due = Some(records.now() + DECISION_MS);
        records.save(booking.clone());
        return Ok(booking);
    }
    Ok(release(records, booking, &rooms, &request.client_ref))
}

fn check_state(booking: &Booking) -> Result<(), LodgeError> {
    match booking.state {
        BookingState::Confirmed | BookingState::PartCancelled => Ok(()),
        BookingState::Cancelled => Err(LodgeError::AlreadyCancelled),
        BookingState::Pending | BookingState::Cancelling | BookingState::Rejected => {
            Err(LodgeError::NotCancellable)
        }
    }
}

/// Returns the zero-based positions of the requested rooms that are not cancelled yet.
fn rooms_to_release(booking: &Booking, numbers: &[usize]) -> Result<Vec<usize>, LodgeError> {
    if !numbers.is_empty() && booking.scenario() != Scenario::Separable {
        return Err(LodgeError::RoomsNotSeparable);
    }
    let count = booking.released.len();
    if numbers.iter().any(|number| !(1..=count).contains(number)) {
        return Err(LodgeError::Invalid(format!(
            "rooms are numbered 1 to {count}"
        )));
    }
    let open: Vec<usize> = (booking.released.iter().enumerate())
        .filter(|(position, released)| {
            !**released && (numbers.is_empty() || numbers.contains(&(position + 1)))
        })
        .map(|(position, _)| position)
        .collect();
    if open.is_empty() {
        return Err(LodgeError::AlreadyCancelled);
    }
    Ok(open)
}

/// Cancels the rooms at the current time.
pub(super) fn release(
    records: &mut SandboxRecords,
    mut booking: Booking,
    rooms: &[usize],
    client_ref: &str,
) -> Booking {
    let mut worth = 0;
    for (position, released) in booking.released.iter_mut().enumerate() {
        if rooms.contains(&position) {
            *released = true;
            worth += booking.quote.room_total();
        }
    }
    let fee = fee(&booking, worth, records.now());
    let reference = records.reference("LCX-");
    let before = booking.cancellation.take();
    booking.cancellation = Some(Cancellation {
        reference: reference.clone(),
        fee: fee + before.as_ref().map_or(0, |before| before.fee),
        refund: worth - fee + before.as_ref().map_or(0, |before| before.refund),
        at: records.now(),
    });
    booking.state = if booking.released.iter().all(|released| *released) {
        BookingState::Cancelled
    } else {
        BookingState::PartCancelled
    };
    records.record(Entry {
        at: records.now(),
        kind: EntryKind::Cancellation,
        supplier: booking.account.clone(),
        client_reference: client_ref.to_owned(),
        reference,
        amount: worth - fee,
        currency: booking.quote.stay.currency,
    });
    records.save(booking.clone());
    booking
}

/// Returns the fee of cancelling the part of the booking that is worth `worth`.
fn fee(booking: &Booking, worth: i64, now: i64) -> i64 {
    match booking.scenario() {
        Scenario::QuotePreview => booking.quote.stay.currency.minor(PREVIEWED_FEE).min(worth),
        _ => booking.quote.fee(worth, now),
    }
}

pub(super) async fn preview_cancellation(call: Call) -> LodgeResult {
    let (booking, now) = call
        .transact(|records| (requested_booking(records, &call), records.now()))
        .await?;
    let booking = booking?;
    call.app.sleep_or_stop(booking.scenario().delay()).await;
    match booking.scenario() {
        Scenario::QuotePreview => check_state(&booking)?,
        Scenario::QuoteFails => return Err(LodgeError::Failure),
        Scenario::BookNeverKnown => return Ok(connection::never_respond(&call.app).await),
        _ => return Err(LodgeError::PreviewNotOffered),
    }
    let currency = booking.quote.stay.currency;
    let total = booking.quote.total();
    let fee = fee(&booking, total, now);
    Ok(Json(json!({
        "currency": currency,
        "fee": currency.format(fee),
        "refund": currency.format(total - fee),
        "free_until": booking.quote.free_until().map(instant),
    }))
    .into_response())
}
