//! JSON resources of hotel cancellations.

use crate::failure::{Failure, failure};
use crate::value::{IsoDateTime, Money};
use host_domain::hotel::booking::{self, CancellationStatus as State};
use serde::Serialize;
use utoipa::ToSchema;

/// The status of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CancellationStatus {
    /// The supplier has not decided yet.
    InProgress,
    /// The rooms are cancelled.
    Succeeded,
    /// The supplier refused the cancellation.
    Refused,
    /// The cancellation was not carried out.
    Failed,
}

/// A cancellation of a whole booking or of some of its rooms.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Cancellation {
    #[schema(
        pattern = "^cxl_[a-zA-Z0-9-]+$",
        example = "cxl_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Status of the cancellation.
    status: CancellationStatus,
    /// Ids of the rooms to cancel.
    room_ids: Vec<String>,
    /// Amount that the supplier keeps. Null until it is known.
    #[schema(required)]
    fee: Option<Money>,
    /// Amount refunded to the payer. Null until it is known.
    #[schema(required)]
    refund_amount: Option<Money>,
    /// The supplier's reference of the cancellation.
    #[schema(required)]
    supplier_reference: Option<String>,
    /// Time at which the cancellation was started.
    created_at: IsoDateTime,
    /// Time at which the cancellation was decided.
    #[schema(required)]
    completed_at: Option<IsoDateTime>,
    /// Reason why the cancellation failed or was refused.
    #[schema(required)]
    failure: Option<Failure>,
}

/// Builds the resource of a cancellation.
pub fn cancellation(cancellation: &booking::Cancellation) -> Cancellation {
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
