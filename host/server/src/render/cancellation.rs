//! Cancellations of a booking, and why something failed.

use crate::api::value::{IsoDateTime, Money};
use host_domain::hotel::booking::{self, CancellationStatus as State};
use serde::Serialize;
use utoipa::ToSchema;

/// How a cancellation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum CancellationStatus {
    /// The supplier has not decided.
    InProgress,
    /// The rooms are released.
    Succeeded,
    /// The supplier said no.
    Refused,
    /// It never took place.
    Failed,
}

/// Why something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Failure {
    /// Stable.
    #[schema(example = "book_failed")]
    code: String,
    /// One sentence.
    description: String,
}

/// A cancellation of a booking, or of some of its rooms.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Cancellation {
    #[schema(
        pattern = "^cxl_[a-zA-Z0-9-]+$",
        example = "cxl_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// How it stands.
    status: CancellationStatus,
    /// The rooms to release.
    room_ids: Vec<String>,
    /// Kept by the supplier; null until it is known.
    #[schema(required)]
    fee: Option<Money>,
    /// Given back to the payer; null until it is known.
    #[schema(required)]
    refund_amount: Option<Money>,
    /// The supplier's number of the cancellation.
    #[schema(required)]
    supplier_reference: Option<String>,
    /// When it began.
    created_at: IsoDateTime,
    /// When it was decided.
    #[schema(required)]
    completed_at: Option<IsoDateTime>,
    /// Why not.
    #[schema(required)]
    failure: Option<Failure>,
}

/// A cancellation of a booking.
pub(crate) fn cancellation(cancellation: &booking::Cancellation) -> Cancellation {
    Cancellation {
        id: cancellation.id.to_string(),
        status: match cancellation.status {
            State::InProgress => CancellationStatus::InProgress,
            State::Succeeded => CancellationStatus::Succeeded,
            State::Refused => CancellationStatus::Refused,
            State::Failed => CancellationStatus::Failed,
        },
        room_ids: cancellation
            .room_ids
            .iter()
            .map(ToString::to_string)
            .collect(),
        fee: cancellation.fee.map(Money::from),
        refund_amount: cancellation.refund_amount.map(Money::from),
        supplier_reference: cancellation.supplier_reference.clone(),
        created_at: cancellation.created_at.into(),
        completed_at: cancellation.completed_at.map(IsoDateTime::from),
        failure: cancellation.failure.as_ref().map(failure),
    }
}

/// Why something failed.
pub(crate) fn failure(failure: &host_domain::booking::Failure) -> Failure {
    Failure {
        code: failure.code.clone(),
        description: failure.description.clone(),
    }
}
