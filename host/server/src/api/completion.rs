//! Completing a booking, of a hotel or of flights: the request, its key, and how
//! it is answered.

use crate::api::answer::Answer;
use crate::api::caller::Caller;
use crate::api::code::Code;
use crate::api::extract::Rules;
use crate::api::identifier::InstrumentIdText;
use crate::api::meta::SupplierMeta;
use crate::api::problem::ApiError;
use crate::app::App;
use crate::flow::bookable::Bookable;
use crate::flow::complete::{Complete, CompleteError, Completion};
use crate::idempotency::{KeyUse, RequestKey};
use host_domain::id::BookingId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a declined card leaves a booking.
const READY: &str = "READY_FOR_COMPLETE";

/// How the booking is paid.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"payment_instrument_id": "inst_01976f3e4a5b7c8d9e0f112233445566"}))]
pub(crate) struct BookRequest {
    /// A stored instrument. Left out where a browser, or the supplier's checkout, has taken the payment.
    payment_instrument_id: Option<InstrumentIdText>,
}

impl Rules for BookRequest {}

impl BookRequest {
    /// What the caller wants of a booking.
    pub(crate) fn wish(self, caller: &Caller, booking: BookingId) -> Complete {
        Complete {
            owner: caller.owner.clone(),
            booking,
            instrument: self.payment_instrument_id.map(|id| id.0),
            request_id: caller.request_id.to_string(),
            deadline: caller.deadline.instant(),
        }
    }
}

/// A decline that the same request gets again.
#[derive(Debug, Serialize, Deserialize)]
struct Declined {
    requires_action: bool,
}

/// Completes and answers: 200 what is booked, 202 what will be.
pub(crate) async fn answer<B: Bookable, T>(
    app: &App,
    key: Option<RequestKey>,
    wish: &Complete,
    completing: impl Future<Output = Result<Completion<B>, CompleteError>> + Send,
    show: fn(&B) -> T,
) -> Result<Answer<T, SupplierMeta>, ApiError> {
    let meta = |booking: &B| SupplierMeta::of(booking.supplier().clone());
    match under_key(app, key, wish, completing).await? {
        Completion::Confirmed(booking) => Ok(Answer::ok(show(&booking)).meta(meta(&booking))),
        Completion::InProgress(booking) => {
            Ok(Answer::accepted(show(&booking)).meta(meta(&booking)))
        }
        unfinished => Err(ApiError::completion(&unfinished)),
    }
}

/// Completes under a key, if there is one: a key whose request came to nothing is
/// given back, and one whose card was declined keeps that.
async fn under_key<B>(
    app: &App,
    key: Option<RequestKey>,
    wish: &Complete,
    completing: impl Future<Output = Result<Completion<B>, CompleteError>> + Send,
) -> Result<Completion<B>, ApiError> {
    let Some(key) = key else {
        return completing.await.map_err(ApiError::complete);
    };
    let used = app
        .use_key(&key, wish.booking.as_str())
        .await
        .map_err(ApiError::key)?;
    if let KeyUse::Again(Some(refusal)) = &used {
        return Err(declined_before(refusal));
    }
    let ended = completing.await;
    match &ended {
        Ok(Completion::PaymentFailed {
            requires_action, ..
        }) if wish.instrument.is_some() => {
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
    ApiError::payment_failed(requires_action).booking_status(READY)
}

impl ApiError {
    /// A payment that was declined, or that its payer has not completed.
    pub(crate) fn payment_failed(requires_action: bool) -> Self {
        Self::from(Code::PaymentFailed).payment_status(if requires_action {
            "REQUIRES_ACTION"
        } else {
            "FAILED"
        })
    }

    /// A completion that did not end in a booking, now or later.
    fn completion<B: Bookable>(completion: &Completion<B>) -> Self {
        let of = |code: Code, booking: &B| {
            Self::from(code)
                .booking_status(booking.status_name())
                .supplier(booking.supplier())
        };
        match completion {
            Completion::PaymentFailed {
                booking,
                requires_action,
            } => Self::payment_failed(*requires_action).booking_status(booking.status_name()),
            Completion::NotSent(booking) => of(Code::SupplierUnavailable, booking),
            Completion::Refused(booking) => of(Code::SupplierRejected, booking),
            Completion::Confirmed(booking)
            | Completion::InProgress(booking)
            | Completion::Unknown(booking) => of(Code::ResultUnknown, booking),
        }
    }
}
