//! Completion of a hotel or flight booking: the request, its idempotency key and the response.

use crate::error_code::ErrorCode;
use crate::extract::Validate;
use crate::identifier::InstrumentIdParam;
use crate::meta::SupplierMeta;
use crate::problem::ApiError;
use crate::response::ApiResponse;
use host_application::booking::aggregate::BookingAggregate;
use host_application::booking::completion::{
    CompleteBookingCommand, CompletionOutcome, CompletionService,
};
use host_application::context::RequestContext;
use host_application::idempotency::IdempotentRequest;
use host_domain::booking::Booking;
use host_domain::id::BookingId;
use serde::Deserialize;
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
    /// Converts the request to the command that completes a booking.
    pub(crate) fn into_command(
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

/// Completes a booking. Responds 200 if it is confirmed and 202 if it is still in progress.
pub(crate) async fn complete_and_respond<K: BookingAggregate, T>(
    completions: &CompletionService,
    command: CompleteBookingCommand,
    to_resource: fn(&Booking<K>) -> T,
) -> Result<ApiResponse<T, SupplierMeta>, ApiError> {
    let meta = |booking: &Booking<K>| SupplierMeta::new(booking.supplier.clone());
    let outcome = completions.complete(command).await;
    match outcome.map_err(ApiError::from_complete)? {
        CompletionOutcome::Confirmed(booking) => {
            Ok(ApiResponse::ok(to_resource(&booking)).meta(meta(&booking)))
        }
        CompletionOutcome::InProgress(booking) => {
            Ok(ApiResponse::accepted(to_resource(&booking)).meta(meta(&booking)))
        }
        unfinished => Err(ApiError::completion(&unfinished)),
    }
}

impl ApiError {
    /// Creates the error for a declined payment, or for one that the payer has not completed.
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
                .with_booking_status(booking.status().as_str()),
            CompletionOutcome::NotSent(booking) => of(ErrorCode::SupplierUnavailable, booking),
            CompletionOutcome::Rejected(booking) => of(ErrorCode::SupplierRejected, booking),
            CompletionOutcome::CanceledMeanwhile(booking) => {
                Self::booking_state_conflict(booking.status().as_str())
            }
            CompletionOutcome::Confirmed(booking)
            | CompletionOutcome::InProgress(booking)
            | CompletionOutcome::Unknown(booking) => of(ErrorCode::ResultUnknown, booking),
        }
    }
}
