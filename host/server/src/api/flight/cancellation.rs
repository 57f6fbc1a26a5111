//! Cancelling a ticket, and what it would cost.

use crate::api::answer::Answer;
use crate::api::caller::Caller;
use crate::api::extract::{Body, Id, IdempotencyKey, Rules, Valid};
use crate::api::meta::SupplierMeta;
use crate::api::problem::ApiError;
use crate::app::App;
use crate::idempotency::RequestKey;
use crate::render::flight::booking::{self, FlightBooking};
use crate::render::flight::refund::FlightCancellationQuote;
use axum::extract::State;
use host_domain::flight::Status;
use host_domain::id::BookingId;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The operation that its keys belong to.
const OPERATION: &str = "flight_cancel";

/// Nothing to say: a ticket is cancelled whole, whatever it costs.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub(crate) struct CancelFlightRequest {}

impl Rules for CancelFlightRequest {}

/// Cancel a flight booking
///
/// Begins a cancellation in the background, whatever it costs: quote it first. The body is `{}`. 202: being cancelled; read the booking, or wait for
/// `flight.booking.canceled` or `flight.booking.cancellation_refused`. 200: it is cancelled already. CANCELED: the ticket is released, and `cancellation` says what is
/// given back. CONFIRMED with `failure`: the airline refused, the ticket is good. A repeat never begins a second cancellation; it hurries one that waits for its next
/// try, and refunds of a cancelled booking that do. With a new key, or none, one that was refused is tried again.
#[utoipa::path(post, path = "/v1/flight/bookings/{id}/cancel", tag = "Flight bookings",
    responses((status = 200, description = "Cancelled already."), (status = 202, description = "Being cancelled.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "supplier_operation_unsupported", "result_unknown"]))))]
pub(crate) async fn cancel_flight_booking(
    State(app): State<Arc<App>>,
    caller: Caller,
    Valid((Id(id), key, Body(CancelFlightRequest {}))): Valid<(
        Id<BookingId>,
        Option<IdempotencyKey>,
        Body<CancelFlightRequest>,
    )>,
) -> Result<Answer<FlightBooking, SupplierMeta>, ApiError> {
    let key = key.map(|key| RequestKey::new(&caller.owner, OPERATION, key));
    let begun = app.begin_cancel_flight(&caller.owner, &id, key.as_ref(), &caller.request_id);
    let booking = begun.await.map_err(|error| ApiError::cancel(error, &[]))?;
    let shown = booking::whole(&booking);
    let answer = match booking.status() {
        Status::CancelInProgress => Answer::accepted(shown),
        _ => Answer::ok(shown),
    };
    Ok(answer.meta(SupplierMeta::of(booking.supplier)))
}

/// Quote the cancellation of a flight booking
///
/// What cancelling would cost now: the airline's own quote, asked anew at every call, or where it cannot answer an estimate from the stored fare terms; `source` says
/// which. Moves no money and promises nothing; do not poll it. `fee` and `refund` are absent when they are not known, and `unavailable_reason`, else null, says why:
/// that is no free cancellation. `refund_to` is how the refund would be spread over the payments, ticket first.
#[utoipa::path(get, path = "/v1/flight/bookings/{id}/cancellation-quote", tag = "Flight bookings",
    responses((status = 200, description = "The quote.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "supplier_operation_unsupported", "supplier_rejected", "supplier_error",
        "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn quote_flight_cancellation(
    State(app): State<Arc<App>>,
    caller: Caller,
    Valid(Id(id)): Valid<Id<BookingId>>,
) -> Result<Answer<FlightCancellationQuote, SupplierMeta>, ApiError> {
    let (owner, request_id) = (&caller.owner, &caller.request_id);
    let quoted = app
        .quote_cancel_flight(owner, &id, request_id, caller.deadline.instant())
        .await;
    let (supplier, quote) = quoted.map_err(ApiError::quote)?;
    Ok(Answer::ok(FlightCancellationQuote::from(&quote)).meta(SupplierMeta::of(supplier)))
}
