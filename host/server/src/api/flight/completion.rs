//! Completing a flight booking: paying and ticketing.

use crate::api::answer::ApiResponse;
use crate::api::caller::RequestContext;
use crate::api::completion::{self, CompleteBookingRequest};
use crate::api::extract::{Body, PathId, IdempotencyKeyHeader, Validated};
use crate::api::meta::SupplierMeta;
use crate::api::problem::ApiError;
use crate::app::Application;
use crate::idempotency::IdempotentRequest;
use crate::render::flight::booking::{self, FlightBooking};
use axum::extract::State;
use host_domain::id::BookingId;
use std::sync::Arc;

/// The operation that its keys belong to.
const OPERATION: &str = "flight_book";

/// Complete a flight booking
///
/// Pays and tickets. The body is `{"payment_instrument_id": …}`, or `{}` after the payment SDK or the supplier's own checkout. 200: ticketed, now or before.
/// 202: ticketing runs on; do not book again, wait for `flight.booking.confirmed` or read the booking; a repeat gives the same. 422 `payment_failed`: nothing was
/// charged, another instrument may be tried until `expires_at`. 422 `supplier_rejected`: the booking is FAILED and the payment is released. 500 `result_unknown`:
/// it may be ticketed; the gateway finds out, and every repeat says the same until then. Repeating the call never books or charges twice, with an idempotency key
/// or without; with one, a declined card is not tried again.
#[utoipa::path(post, path = "/v1/flight/bookings/{id}/book", tag = "Flight bookings",
    responses((status = 200, description = "Ticketed."), (status = 202, description = "Being ticketed.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "payment_failed", "payment_instrument_invalid",
        "supplier_rejected", "supplier_unavailable", "result_unknown"]))))]
pub(crate) async fn book_flight(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated((PathId(id), key, Body(request))): Validated<(
        PathId<BookingId>,
        Option<IdempotencyKeyHeader>,
        Body<CompleteBookingRequest>,
    )>,
) -> Result<ApiResponse<FlightBooking, SupplierMeta>, ApiError> {
    let key = key.map(|key| IdempotentRequest::new(&caller.owner, OPERATION, key));
    let wish = request.into_command(&caller, id);
    let complete = |wish| app.complete_flight(wish);
    completion::complete_and_respond(&app, key, wish, complete, booking::full).await
}
