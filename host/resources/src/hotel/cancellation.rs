//! JSON resources of hotel cancellations.

use crate::failure::{FailureResource, failure};
use crate::value::{IsoDateTime, MoneyResource, same_variants};
use host_domain::hotel::booking::{self, CancellationStatus};
use serde::Serialize;
use utoipa::ToSchema;

/// The status of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CancellationStatusResource {
    /// The supplier has not decided yet.
    InProgress,
    Succeeded,
    Refused,
    /// The cancellation was not carried out.
    Failed,
}

/// A cancellation of a whole booking or of some of its rooms.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CancellationResource {
    #[schema(pattern = "^cxl_[a-zA-Z0-9-]+$")]
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

pub fn cancellation(cancellation: &booking::HotelCancellation) -> CancellationResource {
    let room_ids = cancellation.room_ids.iter().map(ToString::to_string);
    CancellationResource {
        id: cancellation.id.to_string(),
        status: cancellation.status.into(),
        room_ids: room_ids.collect(),
        fee: cancellation.fee.map(MoneyResource::from),
        refund_amount: cancellation.refund_amount.map(MoneyResource::from),
        supplier_reference: cancellation.supplier_reference.clone(),
        created_at: cancellation.created_at.into(),
        completed_at: cancellation.completed_at.map(IsoDateTime::from),
        failure: cancellation.failure.as_ref().map(failure),
    }
}

same_variants! {
    CancellationStatusResource <= CancellationStatus: InProgress, Succeeded, Refused, Failed
}
