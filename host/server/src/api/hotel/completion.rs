//! Completing a booking: paying and booking.

use crate::api::answer::Answer;
use crate::api::caller::Caller;
use crate::api::code::Code;
use crate::api::extract::{Body, Id, IdempotencyKey, Rules, Valid};
use crate::api::hotel::SupplierMeta;
use crate::api::identifier::InstrumentIdText;
use crate::api::problem::ApiError;
use crate::app::App;
use crate::flow::complete::{Complete, CompleteError, Completion};
use crate::idempotency::{KeyUse, RequestKey};
use crate::render::booking::{self, HotelBooking};
use axum::extract::State;
use host_domain::hotel::{Booking, Status};
use host_domain::id::BookingId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// The operation that its keys belong to.
const OPERATION: &str = "hotel_book";

/// How the booking is paid.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"payment_instrument_id": "inst_01976f3e4a5b7c8d9e0f112233445566"}))]
pub(crate) struct BookRequest {
    /// A stored instrument. Left out where a browser, or the supplier's checkout, has taken the payment.
    payment_instrument_id: Option<InstrumentIdText>,
}

impl Rules for BookRequest {}

/// A decline that the same request gets again.
#[derive(Debug, Serialize, Deserialize)]
struct Declined {
    requires_action: bool,
}

/// Complete a booking
///
/// Pays and books. The body is `{"payment_instrument_id": …}`, or `{}` after the payment SDK or the supplier's own checkout. 200: confirmed, now or before. 202: the
/// supplier has accepted and decides later; do not book again, wait for `hotel.booking.confirmed` or read the
/// booking. 422 `payment_failed`: nothing was charged, another instrument may be tried until `offer_expires_at`. 422 `supplier_rejected`: the booking is
/// FAILED and the payment is released. 500 `result_unknown`: it may be booked; the gateway finds out, and every repeat says the same until then. Repeating
/// the call never books or charges twice, with an idempotency key or without; with one, a declined card is not tried again.
#[utoipa::path(post, path = "/v1/hotel/bookings/{id}/book", tag = "Hotel bookings",
    responses((status = 200, description = "Confirmed."), (status = 202, description = "Being completed.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "payment_failed", "payment_instrument_invalid",
        "supplier_rejected", "supplier_unavailable", "result_unknown"]))))]
pub(crate) async fn book_hotel(
    State(app): State<Arc<App>>,
    caller: Caller,
    Valid((Id(id), key, Body(request))): Valid<(
        Id<BookingId>,
        Option<IdempotencyKey>,
        Body<BookRequest>,
    )>,
) -> Result<Answer<HotelBooking, SupplierMeta>, ApiError> {
    let key = key.map(|key| RequestKey::new(&caller.owner, OPERATION, key));
    let wish = Complete {
        owner: caller.owner,
        booking: id,
        instrument: request.payment_instrument_id.map(|id| id.0),
        request_id: caller.request_id.to_string(),
        deadline: caller.deadline.instant(),
    };
    match complete(&app, key, wish).await? {
        Completion::Confirmed(booking) => {
            Ok(Answer::ok(booking::changed(&booking)).meta(SupplierMeta::of(booking.supplier)))
        }
        Completion::InProgress(booking) => {
            Ok(Answer::accepted(booking::changed(&booking))
                .meta(SupplierMeta::of(booking.supplier)))
        }
        unfinished => Err(ApiError::completion(&unfinished)),
    }
}

/// Completes under a key, if there is one: a key whose request came to nothing is
/// given back, and one whose card was declined keeps that.
async fn complete(
    app: &Arc<App>,
    key: Option<RequestKey>,
    wish: Complete,
) -> Result<Completion, ApiError> {
    let Some(key) = key else {
        return app.complete_hotel(wish).await.map_err(ApiError::complete);
    };
    let used = app
        .use_key(&key, wish.booking.as_str())
        .await
        .map_err(ApiError::key)?;
    if let KeyUse::Again(Some(refusal)) = &used {
        return Err(declined_before(refusal));
    }
    let by_instrument = wish.instrument.is_some();
    let ended = app.complete_hotel(wish).await;
    match &ended {
        Ok(Completion::PaymentFailed {
            requires_action, ..
        }) if by_instrument => {
            let declined = Declined {
                requires_action: *requires_action,
            };
            app.keep_refusal(&key, &serde_json::to_string(&declined).unwrap_or_default())
                .await;
        }
        Ok(Completion::NotSent(_)) => app.free_key(&key).await,
        Err(error) if used == KeyUse::First && came_to_nothing(error) => app.free_key(&key).await,
        Ok(_) | Err(_) => {}
    }
    ended.map_err(ApiError::complete)
}

const fn came_to_nothing(error: &CompleteError) -> bool {
    match error {
        CompleteError::Flow(_) => false,
        CompleteError::NotFound
        | CompleteError::State(_)
        | CompleteError::InstrumentInvalid
        | CompleteError::InstrumentSealed(_)
        | CompleteError::InstrumentMissing
        | CompleteError::InstrumentNotWanted => true,
    }
}

fn declined_before(refusal: &str) -> ApiError {
    let requires_action =
        serde_json::from_str(refusal).is_ok_and(|declined: Declined| declined.requires_action);
    payment_failed(Status::ReadyForComplete, requires_action)
}

fn payment_failed(status: Status, requires_action: bool) -> ApiError {
    let error = ApiError::from(Code::PaymentFailed).booking_status(status.as_str());
    error.payment_status(if requires_action {
        "REQUIRES_ACTION"
    } else {
        "FAILED"
    })
}

impl ApiError {
    /// A completion that did not end in a booking, now or later.
    fn completion(completion: &Completion) -> Self {
        let of = |code: Code, booking: &Booking| {
            Self::from(code)
                .booking_status(booking.status().as_str())
                .supplier(&booking.supplier)
        };
        match completion {
            Completion::PaymentFailed {
                booking,
                requires_action,
            } => payment_failed(booking.status(), *requires_action),
            Completion::NotSent(booking) => of(Code::SupplierUnavailable, booking),
            Completion::Refused(booking) => of(Code::SupplierRejected, booking),
            Completion::Confirmed(booking)
            | Completion::InProgress(booking)
            | Completion::Unknown(booking) => of(Code::ResultUnknown, booking),
        }
    }
}
