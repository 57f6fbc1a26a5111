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
use crate::idempotency::RequestKey;
use host_domain::id::BookingId;
use serde::Deserialize;
use utoipa::ToSchema;

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
            key: None,
            repeated: None,
            request_id: caller.request_id.to_string(),
            deadline: caller.deadline.instant(),
        }
    }
}

/// Completes and answers: 200 what is booked, 202 what will be.
pub(crate) async fn answer<B: Bookable, T, C>(
    app: &App,
    key: Option<RequestKey>,
    wish: Complete,
    complete: impl FnOnce(Complete) -> C,
    show: fn(&B) -> T,
) -> Result<Answer<T, SupplierMeta>, ApiError>
where
    C: Future<Output = Result<Completion<B>, CompleteError>> + Send,
{
    let meta = |booking: &B| SupplierMeta::of(booking.supplier().clone());
    match under_key(app, key, wish, complete).await? {
        Completion::Confirmed(booking) => Ok(Answer::ok(show(&booking)).meta(meta(&booking))),
        Completion::InProgress(booking) => {
            Ok(Answer::accepted(show(&booking)).meta(meta(&booking)))
        }
        unfinished => Err(ApiError::completion(&unfinished)),
    }
}

/// Completes under a key, if there is one: it is taken with the first step, and given back
/// where the request came to nothing.
async fn under_key<B: Bookable, C>(
    app: &App,
    key: Option<RequestKey>,
    mut wish: Complete,
    complete: impl FnOnce(Complete) -> C,
) -> Result<Completion<B>, ApiError>
where
    C: Future<Output = Result<Completion<B>, CompleteError>> + Send,
{
    wish.key.clone_from(&key);
    let completion = complete(wish).await.map_err(ApiError::complete)?;
    if let Some(key) = &key
        && !completion.stands()
    {
        app.free_key(key).await;
    }
    Ok(completion)
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
            Completion::Left(booking) => Self::state(booking.status_name()),
            Completion::Confirmed(booking)
            | Completion::InProgress(booking)
            | Completion::Unknown(booking) => of(Code::ResultUnknown, booking),
        }
    }
}
