//! Completion of a flight booking: payment and ticketing.

use crate::book::{self, CompleteBookingRequest};
use crate::extract::context::Context;
use crate::extract::{Body, IdempotencyKeyHeader, PathId, Validated};
use crate::meta::SupplierMeta;
use crate::problem::ApiError;
use crate::response::ApiResponse;
use axum::extract::State;
use host_application::booking::completion::CompletionService;
use host_domain::id::BookingId;
use host_resources::flight::booking::{self, FlightBookingResource};
use std::sync::Arc;

/// Idempotency scope of completing flight bookings.
const OPERATION: &str = "flight_book";

/// Complete a flight booking
///
/// Pays and issues the ticket. The body is `{"payment_instrument_id": …}`, or `{}` after a payment
/// with the payment SDK or at the supplier's own checkout.
///
/// - 200: the ticket is issued, by this request or before.
/// - 202: ticketing continues. Do not book again; wait for `flight.booking.confirmed` or read the
///   booking. Repeating the request gives the same response.
/// - 422 `payment_failed`: nothing was charged. Another instrument may be tried until `expires_at`.
/// - 422 `supplier_rejected`: the booking is FAILED and the payment is released.
/// - 500 `result_unknown`: the ticket may be issued. The gateway determines the outcome; until then
///   every repeat gives this response.
///
/// Repeating the request never books or charges twice, with or without an idempotency key. With a
/// key, a declined card is not tried again.
#[utoipa::path(post, path = "/v1/flight/bookings/{id}/book", tag = "Flight bookings",
    responses((status = 200, description = "Ticketed."), (status = 202, description = "Ticketing in progress.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "payment_failed", "payment_instrument_invalid",
        "supplier_rejected", "supplier_unavailable", "result_unknown"]))))]
pub(crate) async fn book_flight(
    State(completions): State<Arc<CompletionService>>,
    Context(context): Context,
    Validated((PathId(id), key, Body(request))): Validated<(
        PathId<BookingId>,
        Option<IdempotencyKeyHeader>,
        Body<CompleteBookingRequest>,
    )>,
) -> Result<ApiResponse<FlightBookingResource, SupplierMeta>, ApiError> {
    let key = key.map(|key| key.for_operation(&context.owner, OPERATION));
    let command = request.into_command(&context, id, key);
    book::complete_and_respond(&completions, command, booking::full).await
}
