//! Cancellation of a ticket, and its quote.

use crate::extract::{Body, Context, IdempotencyKeyHeader, PathId, Validate, Validated};
use crate::meta::SupplierMeta;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult};
use axum::extract::State;
use host_application::booking::cancellation::CancellationService;
use host_domain::id::BookingId;
use host_resources::flight::booking::{self, FlightBookingResource};
use host_resources::flight::cancellation::FlightCancellationQuoteResource;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// An empty request: a ticket can only be cancelled as a whole.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
#[schema(as = CancelFlightRequest)]
pub(crate) struct CancelFlightBookingRequest {}

impl Validate for CancelFlightBookingRequest {}

/// Cancel a flight booking
///
/// Starts a cancellation in the background, whatever it costs; request a quote first. The body is
/// `{}`.
///
/// - 202: the cancellation is in progress. Read the booking, or wait for `flight.booking.canceled`
///   or `flight.booking.cancellation_refused`.
/// - 200: the booking is already cancelled.
///
/// If the booking becomes CANCELED, the ticket is released and `cancellation` contains the refund.
/// If it becomes CONFIRMED with `failure`, the airline refused and the ticket stays valid.
/// Repeating the request never starts a second cancellation. It retries at once a cancellation that
/// waits for its next attempt, and refunds of a cancelled booking that wait. After a refusal, a
/// request with a new key, or without a key, tries again.
#[utoipa::path(post, path = "/v1/flight/bookings/{id}/cancel", tag = "Flight bookings",
    responses((status = 200, description = "Already cancelled."), (status = 202, description = "Cancellation in progress.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "supplier_operation_unsupported", "result_unknown"]))))]
pub(crate) async fn cancel_flight_booking(
    State(cancellations): State<Arc<CancellationService>>,
    Context(context): Context,
    Validated((PathId(id), key, Body(CancelFlightBookingRequest {}))): Validated<(
        PathId<BookingId>,
        Option<IdempotencyKeyHeader>,
        Body<CancelFlightBookingRequest>,
    )>,
) -> ApiResult<FlightBookingResource, SupplierMeta> {
    let key = key.map(|key| key.for_operation(&context.owner, "flight_cancel"));
    let (owner, request_id) = (&context.owner, &context.request_id);
    let booking = cancellations.cancel_flight_booking(owner, &id, key.as_ref(), request_id);
    let booking = booking.await;
    let booking = booking.map_err(|error| ApiError::from_cancel(error, &[]))?;
    Ok(ApiResponse::cancellation(booking, booking::full_booking))
}

/// Quote the cancellation of a flight booking
///
/// Returns what a cancellation would cost now. The airline's own quote is requested for every call.
/// If the airline cannot provide one, the quote is an estimate from the stored fare terms; `source`
/// says which. A quote moves no money and is not binding; do not poll it. If `fee` and `refund` are
/// not known, they are absent and `unavailable_reason` says why, else it is null. Unknown amounts
/// do not mean a free cancellation. `refund_to` shows how the refund would be distributed over the
/// payments, ticket first.
#[utoipa::path(get, path = "/v1/flight/bookings/{id}/cancellation-quote", tag = "Flight bookings",
    responses((status = 200, description = "The quote.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict"]))))]
pub(crate) async fn quote_flight_cancellation(
    State(cancellations): State<Arc<CancellationService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> ApiResult<FlightCancellationQuoteResource, SupplierMeta> {
    let (owner, request_id) = (&context.owner, &context.request_id);
    let deadline = context.deadline.instant();
    let quote = cancellations.quote_flight_cancellation(owner, &id, request_id, deadline);
    let (supplier, quote) = quote.await?;
    let resource = FlightCancellationQuoteResource::from(&quote);
    Ok(ApiResponse::ok(resource).meta(SupplierMeta::new(supplier)))
}
