//! Cancelling a ticket, and what it would cost.

use crate::api::answer::ApiResponse;
use crate::api::caller::RequestContext;
use crate::api::extract::{Body, PathId, IdempotencyKeyHeader, Validate, Validated};
use crate::api::meta::SupplierMeta;
use crate::api::problem::ApiError;
use crate::app::Application;
use crate::idempotency::IdempotentRequest;
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
pub(crate) struct CancelFlightBookingRequest {}

impl Validate for CancelFlightBookingRequest {}

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
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated((PathId(id), key, Body(CancelFlightBookingRequest {}))): Validated<(
        PathId<BookingId>,
        Option<IdempotencyKeyHeader>,
        Body<CancelFlightBookingRequest>,
    )>,
) -> Result<ApiResponse<FlightBooking, SupplierMeta>, ApiError> {
    let key = key.map(|key| IdempotentRequest::new(&caller.owner, OPERATION, key));
    let begun = app.cancel_flight_booking(&caller.owner, &id, key.as_ref(), &caller.request_id);
    let booking = begun.await.map_err(|error| ApiError::from_cancel(error, &[]))?;
    let shown = booking::full(&booking);
    let answer = match booking.status() {
        Status::CancelInProgress => ApiResponse::accepted(shown),
        _ => ApiResponse::ok(shown),
    };
    Ok(answer.meta(SupplierMeta::new(booking.supplier)))
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
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> Result<ApiResponse<FlightCancellationQuote, SupplierMeta>, ApiError> {
    let (owner, request_id) = (&caller.owner, &caller.request_id);
    let quoted = app
        .quote_flight_cancellation(owner, &id, request_id, caller.deadline.instant())
        .await;
    let (supplier, quote) = quoted.map_err(ApiError::from_quote)?;
    Ok(ApiResponse::ok(FlightCancellationQuote::from(&quote)).meta(SupplierMeta::new(supplier)))
}
