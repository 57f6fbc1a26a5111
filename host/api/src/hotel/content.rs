//! The operation that reads a hotel's details and reviews.

use crate::extract::{Context, PathId, Validated};
use crate::response::{ApiResponse, ApiResult, ResponseMeta};
use axum::extract::State;
use host_application::catalog::hotel_content::{Cached, ContentService};
use host_domain::id::HotelId;
use host_domain::supplier::SupplierId;
use host_resources::hotel::content::{self, HotelContentResource};
use host_resources::value::IsoDateTime;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Source of a part of the content.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ContentSource {
    /// Id of the supplier of the content.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
    supplier: SupplierId,
    /// Time at which the content was fetched.
    fetched_at: IsoDateTime,
    /// Whether the content is out of date. If so, a newer version is being fetched.
    stale: bool,
}

/// Sources of the content.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ContentMeta {
    /// Id of the supplier of the content.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
    supplier: SupplierId,
    details: ContentSource,
    reviews: ContentSource,
}

impl ResponseMeta for ContentMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        Some(&self.supplier)
    }
}

/// Get a hotel
///
/// Returns details and reviews of a hotel as last fetched from its supplier. By default details are
/// fresh for 24 hours and reviews for 6 hours. Older content is returned immediately, marked
/// `stale` in `meta`, and refreshed in the background. Content that was never fetched is fetched
/// before the response. If that fails, the response is a supplier error, and the parts that did
/// arrive are stored. Returns at most 20 images and 20 reviews. Authors of reviews are never
/// included.
#[utoipa::path(get, operation_id = "read_hotel", path = "/v1/hotel/hotels/{hotel_id}", tag = "Hotels",
    responses((status = 200, description = "The hotel.")),
    extensions(("x-error-codes" = json!(["hotel_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn get_hotel(
    State(contents): State<Arc<ContentService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<HotelId>>,
) -> ApiResult<HotelContentResource, ContentMeta> {
    let found = contents.hotel_content(&context, &id).await?;
    let meta = ContentMeta {
        details: content_source(&found.supplier, &found.details),
        reviews: content_source(&found.supplier, &found.reviews),
        supplier: found.supplier,
    };
    let resource = content::hotel_content(&id, found.details.value, found.reviews.value);
    Ok(ApiResponse::ok(resource).meta(meta))
}

fn content_source<T>(supplier: &SupplierId, kept: &Cached<T>) -> ContentSource {
    ContentSource {
        supplier: supplier.clone(),
        fetched_at: kept.fetched_at.into(),
        stale: kept.is_stale,
    }
}
