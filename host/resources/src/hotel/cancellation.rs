//! JSON resources of hotel cancellations.

use crate::failure::{FailureResource, failure};
use crate::value::{IsoDateTime, MoneyResource};
use host_domain::hotel::booking::{self, CancellationStatus};
use serde::Serialize;
use utoipa::ToSchema;

/// The status of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = CancellationStatus)]
pub enum CancellationStatusResource {
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
#[schema(as = Cancellation)]
pub struct CancellationResource {
    #[schema(
        pattern = "^cxl_[a-zA-Z0-9-]+$",
        example = "cxl_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Status of the cancellation.
    status: CancellationStatusResource,
    /// Ids of the rooms to cancel.
    room_ids: Vec<String>,
    /// Amount that the supplier keeps. Null until it is known.
    #[schema(required)]
    fee: Option<MoneyResource>,
    /// Amount refunded to the payer. Null until it is known.
    #[schema(required)]
    refund_amount: Option<MoneyResource>,
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
    failure: Option<FailureResource>,
}

/// Builds the resource of a cancellation.
pub fn cancellation(cancellation: &booking::HotelCancellation) -> CancellationResource {
    CancellationResource {
        id: cancellation.id.to_string(),
        status: match cancellation.status {
            CancellationStatus::InProgress => CancellationStatusResource::InProgress,
            CancellationStatus::Succeeded => CancellationStatusResource::Succeeded,
            CancellationStatus::Refused => CancellationStatusResource::Refused,
            CancellationStatus::Failed => CancellationStatusResource::Failed,
        },
        room_ids: cancellation
            .room_ids
            .iter()
            .map(ToString::to_string)
            .collect(),
        fee: cancellation.fee.map(MoneyResource::from),
        refund_amount: cancellation.refund_amount.map(MoneyResource::from),
        supplier_reference: cancellation.supplier_reference.clone(),
        created_at: cancellation.created_at.into(),
        completed_at: cancellation.completed_at.map(IsoDateTime::from),
        failure: cancellation.failure.as_ref().map(failure),
    }
}
