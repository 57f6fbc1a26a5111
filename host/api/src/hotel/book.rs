//! Completion of a hotel booking: payment and booking.

use crate::book::{self, CompleteBookingRequest};
use crate::extract::context::Context;
use crate::extract::{Body, IdempotencyKeyHeader, PathId, Validated};
use crate::meta::SupplierMeta;
use crate::problem::ApiError;
use crate::response::ApiResponse;
use axum::extract::State;
use host_application::booking::completion::CompletionService;
use host_domain::id::BookingId;
use host_resources::hotel::booking::{self, HotelBookingResource};
use std::sync::Arc;

/// Idempotency scope of completing hotel bookings.
const OPERATION: &str = "hotel_book";

/// Complete a booking
///
/// Pays and books. The body is `{"payment_instrument_id": …}`, or `{}` after a payment with the
/// payment SDK or at the supplier's own checkout.
///
/// - 200: the booking is confirmed, by this request or before.
/// - 202: the supplier accepted the request and decides later. Do not book again; wait for
///   `hotel.booking.confirmed` or read the booking.
/// - 422 `payment_failed`: nothing was charged. Another instrument may be tried until
///   `offer_expires_at`.
/// - 422 `supplier_rejected`: the booking is FAILED and the payment is released.
/// - 500 `result_unknown`: the hotel may be booked. The gateway determines the outcome; until then
///   every repeat gives this response.
///
/// Repeating the request never books or charges twice, with or without an idempotency key. With a
/// key, a declined card is not tried again.
#[utoipa::path(post, path = "/v1/hotel/bookings/{id}/book", tag = "Hotel bookings",
    responses((status = 200, description = "Confirmed."), (status = 202, description = "Completion in progress.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "payment_failed", "payment_instrument_invalid",
        "supplier_rejected", "supplier_unavailable", "result_unknown"]))))]
pub(crate) async fn book_hotel(
    State(completions): State<Arc<CompletionService>>,
    Context(context): Context,
    Validated((PathId(id), key, Body(request))): Validated<(
        PathId<BookingId>,
        Option<IdempotencyKeyHeader>,
        Body<CompleteBookingRequest>,
    )>,
) -> Result<ApiResponse<HotelBookingResource, SupplierMeta>, ApiError> {
    let key = key.map(|key| key.for_operation(&context.owner, OPERATION));
    let command = request.into_command(&context, id, key);
    book::complete_and_respond(&completions, command, booking::without_cards).await
}
