//! Cancellation of a hotel booking, and its quote.

use crate::extract::{
    Body, Context, IdempotencyKeyHeader, PathId, Validate, Validated, Violations,
};
use crate::identifier::{RoomIdParam, check_distinct};
use crate::meta::SupplierMeta;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult};
use axum::extract::State;
use host_application::booking::cancellation::CancellationService;
use host_application::booking::hotel_cancellation::CancelHotelBookingCommand;
use host_domain::id::BookingId;
use host_domain::time::Timestamp;
use host_resources::hotel::booking::{self, HotelBookingResource};
use host_resources::hotel::policy::CancellationQuoteResource;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Rooms to cancel.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
#[schema(as = CancelRequest)]
pub(crate) struct CancelHotelBookingRequest {
    /// Ids of the rooms to release; without it, the whole booking is cancelled.
    #[schema(nullable = false, min_items = 1, max_items = 9)]
    room_ids: Option<Vec<RoomIdParam>>,
}

impl Validate for CancelHotelBookingRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        check_distinct(self.room_ids.as_deref(), "/room_ids", found);
    }
}

/// Cancel a booking
///
/// Starts a cancellation in the background, whatever it costs; request a quote first. The body is
/// `{}`, or names the rooms to release, which not every supplier supports.
///
/// - 202: the cancellation is in progress. Read the booking, or wait for `hotel.booking.canceled`,
///   `hotel.booking.partially_canceled` or `hotel.booking.cancellation_refused`.
/// - 200: the booking is already cancelled.
/// - 409: a cancellation of other rooms is still in progress.
///
/// Repeating the request never starts a second cancellation of the same rooms. If the supplier
/// refuses, the booking returns to its previous state, with `failure`. After a refusal, a request
/// with a new key, or without a key, tries again.
#[utoipa::path(post, path = "/v1/hotel/bookings/{id}/cancel", tag = "Hotel bookings",
    responses((status = 200, description = "Already cancelled."), (status = 202, description = "Cancellation in progress.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "supplier_operation_unsupported", "result_unknown"]))))]
pub(crate) async fn cancel_hotel_booking(
    State(cancellations): State<Arc<CancellationService>>,
    Context(context): Context,
    Validated((PathId(id), key, Body(request))): Validated<(
        PathId<BookingId>,
        Option<IdempotencyKeyHeader>,
        Body<CancelHotelBookingRequest>,
    )>,
) -> ApiResult<HotelBookingResource, SupplierMeta> {
    let key = key.map(|key| key.for_operation(&context.owner, "hotel_cancel"));
    let rooms = request.room_ids.unwrap_or_default().into_iter();
    let command = CancelHotelBookingCommand {
        owner: context.owner,
        booking: id,
        rooms: rooms.map(|id| id.0).collect(),
        key,
        request_id: context.request_id.to_string(),
    };
    let booking = cancellations.cancel_hotel_booking(&command).await;
    let booking = booking.map_err(|error| ApiError::from_cancel(error, &command.rooms))?;
    Ok(ApiResponse::cancellation(
        booking,
        booking::booking_without_cards,
    ))
}

/// Quote a cancellation
///
/// Returns what a cancellation of the remaining rooms would cost now: the supplier's own preview,
/// or an estimate from the policy; `source` says which. The policy is read again for every quote;
/// terms that were read before are never used. An active restriction of the booking gives 422
/// `cancellation_restricted`, whatever the supplier responds. The quote is not binding and has no period of
/// validity. If the policy cannot be read, `available` is false, and `fee` and `refund` are null.
/// This does not mean a free cancellation.
#[utoipa::path(get, path = "/v1/hotel/bookings/{id}/cancellation-quote", tag = "Hotel bookings",
    responses((status = 200, description = "The quote.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "cancellation_restricted",
        "supplier_operation_unsupported", "supplier_rejected", "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn quote_hotel_cancellation(
    State(cancellations): State<Arc<CancellationService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> ApiResult<CancellationQuoteResource, SupplierMeta> {
    let (owner, request_id) = (&context.owner, &context.request_id);
    let deadline = context.deadline.instant();
    let quote = cancellations.quote_hotel_cancellation(owner, &id, request_id, deadline);
    let (supplier, quote) = quote.await?;
    Ok(ApiResponse::ok(CancellationQuoteResource::from(&quote)).meta(SupplierMeta::new(supplier)))
}
