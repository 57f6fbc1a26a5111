//! Completion of a hotel or flight booking: payment and booking, or ticketing.

use crate::error_code::ErrorCode;
use crate::extract::{Body, Context, KeyedBody, PathId, Validate, Validated};
use crate::identifier::InstrumentIdParam;
use crate::meta::SupplierMeta;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult};
use axum::extract::State;
use host_application::booking::aggregate::BookingAggregate;
use host_application::booking::completion::{
    CompleteBookingCommand, CompletionOutcome, CompletionService,
};
use host_application::context::RequestContext;
use host_application::idempotency::IdempotentRequest;
use host_domain::booking::Booking;
use host_domain::id::BookingId;
use host_resources::flight::booking::FlightBookingResource;
use host_resources::hotel::booking::HotelBookingResource;
use host_resources::{flight, hotel};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Payment of a booking.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"payment_instrument_id": "inst_01976f3e4a5b7c8d9e0f112233445566"}))]
#[schema(as = BookRequest)]
pub(crate) struct CompleteBookingRequest {
    /// Id of a stored payment instrument. Omit it if the payment was made in a browser or at the
    /// supplier's checkout.
    payment_instrument_id: Option<InstrumentIdParam>,
}

impl Validate for CompleteBookingRequest {}

impl CompleteBookingRequest {
    fn into_command(
        self,
        context: &RequestContext,
        booking: BookingId,
        key: Option<IdempotentRequest>,
    ) -> CompleteBookingCommand {
        CompleteBookingCommand {
            owner: context.owner.clone(),
            booking,
            instrument: self.payment_instrument_id.map(|id| id.0),
            key,
            is_repeat: None,
            request_id: context.request_id.to_string(),
            deadline: context.deadline.instant(),
        }
    }
}

type CompleteParts = (PathId<BookingId>, KeyedBody<CompleteBookingRequest>);

/// Complete a booking
///
/// Pays and books. The body is `{"payment_instrument_id": …}`, or `{}` after a payment with the
/// payment SDK or at the supplier's own checkout.
///
/// - 200: the booking is confirmed, by this request or before. Its status is PARTIALLY_CANCELED or
///   CANCELED if the supplier released rooms in the meantime.
/// - 202: the supplier accepted the request and decides later. Do not book again; wait for
///   `hotel.booking.confirmed` or read the booking.
/// - 422 `payment_failed`: nothing was charged. Another instrument may be tried until
///   `offer_expires_at`.
/// - 422 `supplier_rejected`: the booking is FAILED and the payment is released.
/// - 503 `supplier_unavailable`, `supplier_rate_limited`: nothing was booked, and the payment is
///   released. If `retryable` is true, send the same request again after `Retry-After` seconds.
/// - 500 `result_unknown`: the hotel may be booked. The gateway determines the outcome. Until then a
///   repeat gives this response, or 202 once the supplier shows the booking as pending.
///
/// Repeating the request never books or charges twice, with or without an idempotency key. With a
/// key, a declined card is not tried again.
#[utoipa::path(post, path = "/v1/hotel/bookings/{id}/book", tag = "Hotel bookings",
    responses((status = 200, description = "Confirmed."), (status = 202, description = "Completion in progress.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "payment_failed", "payment_instrument_invalid",
        "supplier_rejected", "supplier_unavailable", "supplier_rate_limited", "result_unknown"]))))]
pub(crate) async fn book_hotel(
    State(completions): State<Arc<CompletionService>>,
    Context(context): Context,
    Validated((PathId(id), (key, Body(request)))): Validated<CompleteParts>,
) -> ApiResult<HotelBookingResource, SupplierMeta> {
    let key = key.map(|key| key.for_operation(&context.owner, "hotel_book"));
    let command = request.into_command(&context, id, key);
    complete_and_respond(&completions, command, hotel::booking::booking_without_cards).await
}

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
/// - 503 `supplier_unavailable`, `supplier_rate_limited`: nothing was booked, and the payment is
///   released. If `retryable` is true, send the same request again after `Retry-After` seconds.
/// - 500 `result_unknown`: the ticket may be issued. The gateway determines the outcome. Until then
///   a repeat gives this response, or 202 once the supplier shows the booking as pending.
///
/// Repeating the request never books or charges twice, with or without an idempotency key. With a
/// key, a declined card is not tried again.
#[utoipa::path(post, path = "/v1/flight/bookings/{id}/book", tag = "Flight bookings",
    responses((status = 200, description = "Ticketed."), (status = 202, description = "Ticketing in progress.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "payment_failed", "payment_instrument_invalid",
        "supplier_rejected", "supplier_unavailable", "supplier_rate_limited", "result_unknown"]))))]
pub(crate) async fn book_flight(
    State(completions): State<Arc<CompletionService>>,
    Context(context): Context,
    Validated((PathId(id), (key, Body(request)))): Validated<CompleteParts>,
) -> ApiResult<FlightBookingResource, SupplierMeta> {
    let key = key.map(|key| key.for_operation(&context.owner, "flight_book"));
    let command = request.into_command(&context, id, key);
    complete_and_respond(&completions, command, flight::booking::full_booking).await
}

/// Completes a booking. Responds 200 if it is confirmed and 202 if it is still in progress.
async fn complete_and_respond<K: BookingAggregate, T>(
    completions: &CompletionService,
    command: CompleteBookingCommand,
    to_resource: fn(&Booking<K>) -> T,
) -> ApiResult<T, SupplierMeta> {
    let (response, booking) = match completions.complete(command).await? {
        CompletionOutcome::Confirmed(booking) => (ApiResponse::ok(to_resource(&booking)), booking),
        CompletionOutcome::InProgress(booking) => {
            (ApiResponse::accepted(to_resource(&booking)), booking)
        }
        unfinished => return Err(ApiError::completion(&unfinished)),
    };
    Ok(response.meta(SupplierMeta::new(booking.supplier)))
}

impl ApiError {
    pub(crate) fn payment_failed(requires_action: bool) -> Self {
        Self::from(ErrorCode::PaymentFailed).with_payment_status(if requires_action {
            "REQUIRES_ACTION"
        } else {
            "FAILED"
        })
    }

    /// Creates the error for a completion that did not lead to a booking, confirmed or in progress.
    fn completion<K: BookingAggregate>(completion: &CompletionOutcome<K>) -> Self {
        let of = |code: ErrorCode, booking: &Booking<K>| {
            Self::from(code)
                .with_booking_status(booking.status().as_str())
                .with_supplier(&booking.supplier)
        };
        match completion {
            CompletionOutcome::PaymentFailed {
                booking,
                requires_action,
            } => Self::payment_failed(*requires_action)
                .with_booking_status(booking.status().as_str())
                .with_supplier(CompletionOutcome::decided_by(booking)),
            CompletionOutcome::NotSent { booking, cause } => {
                Self::not_sent(CompletionOutcome::decided_by(booking), *cause)
                    .with_booking_status(booking.status().as_str())
            }
            CompletionOutcome::Rejected(booking) => of(ErrorCode::SupplierRejected, booking),
            CompletionOutcome::CanceledMeanwhile(booking) => {
                Self::booking_state_conflict(booking.status().as_str())
            }
            CompletionOutcome::Confirmed(booking)
            | CompletionOutcome::InProgress(booking)
            | CompletionOutcome::Unknown(booking) => of(ErrorCode::ResultUnknown, booking)
                .with_supplier(CompletionOutcome::decided_by(booking)),
        }
    }
}
