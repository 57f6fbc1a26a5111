//! `stopover deliveries`.

use crate::extract::{Context, PathId, Validated};
use crate::response::{ApiResponse, ApiResult};
use axum::extract::State;
use host_application::webhook::delivery_service::DeliveryService;
use host_domain::id::DeliveryId;
use serde::Serialize;
use std::sync::Arc;

/// A delivery that is sent again.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ReplayedDelivery {
    id: String,
    status: &'static str,
}

/// Replays a delivery of any product.
pub(super) async fn replay(
    State(deliveries): State<Arc<DeliveryService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<DeliveryId>>,
) -> ApiResult<ReplayedDelivery> {
    let replayed = deliveries.replay_by_id(&context, &id).await?;
    Ok(ApiResponse::ok(ReplayedDelivery {
        id: replayed.delivery.id.to_string(),
        status: replayed.delivery.status().as_str(),
    }))
}
