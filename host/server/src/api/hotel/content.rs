//! Details and reviews of a hotel.

use crate::api::answer::{ApiResponse, ResponseMeta};
use crate::api::caller::RequestContext;
use crate::api::extract::{PathId, Validated};
use crate::api::problem::ApiError;
use crate::api::value::IsoDateTime;
use crate::app::Application;
use crate::query::hotel::content::Cached;
use crate::render::content::{self, HotelContent};
use axum::extract::State;
use host_domain::id::HotelId;
use host_domain::supplier::SupplierId;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Where a part of the content comes from.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ContentSource {
    /// The supplier that gave it.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
    supplier: SupplierId,
    /// When it was fetched.
    fetched_at: IsoDateTime,
    /// It is older than it should be; a newer one is being fetched.
    stale: bool,
}

/// Where the content comes from.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ContentMeta {
    /// The supplier that gave it.
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

/// Read a hotel
///
/// Details and reviews of a hotel, kept as its supplier gave them last. Details are fresh for 24 hours and
/// reviews for 6 by default; older ones are answered as they are, marked `stale` in `meta`, while newer ones are fetched. What was
/// never fetched is fetched before the answer: if that fails the answer is a supplier error, and what did arrive is kept. At
/// most 20 images and 20 reviews; who wrote a review is never told.
#[utoipa::path(get, path = "/v1/hotel/hotels/{hotel_id}", tag = "Hotels",
    responses((status = 200, description = "The hotel.")),
    extensions(("x-error-codes" = json!(["hotel_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn get_hotel(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(PathId(id)): Validated<PathId<HotelId>>,
) -> Result<ApiResponse<HotelContent, ContentMeta>, ApiError> {
    let found = app
        .hotel_content(&caller, &id)
        .await
        .map_err(ApiError::from_query)?;
    let meta = ContentMeta {
        details: content_source(&found.supplier, &found.details),
        reviews: content_source(&found.supplier, &found.reviews),
        supplier: found.supplier,
    };
    Ok(ApiResponse::ok(content::hotel_content(
        &id,
        found.details.value,
        found.reviews.value,
    ))
    .meta(meta))
}

fn content_source<T>(supplier: &SupplierId, kept: &Cached<T>) -> ContentSource {
    ContentSource {
        supplier: supplier.clone(),
        fetched_at: kept.fetched_at.into(),
        stale: kept.is_stale,
    }
}
