//! Places by name.

use crate::api::answer::{ApiResponse, List};
use crate::api::caller::RequestContext;
use crate::api::extract::{Body, PathId, IdempotencyKeyHeader, Validate, Validated};
use crate::api::identifier::SupplierIdParam;
use crate::api::meta::SupplierMeta;
use crate::api::problem::ApiError;
use crate::api::value::CountryCode;
use crate::app::Application;
use crate::query::hotel::place::PlaceSearch;
use crate::render::place::{self, Place};
use axum::extract::State;
use host_domain::id::PlaceId;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A name to find places by.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceSearchRequest {
    /// What the user typed.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$",
        example = "Testville"
    )]
    query: String,
    /// Only places of this country.
    country_code: Option<CountryCode>,
    /// The supplier to ask.
    supplier: Option<SupplierIdParam>,
}

impl Validate for PlaceSearchRequest {}

/// Find places
///
/// Cities, districts, airports and sights whose name matches, the best match first, at most 20. Each is
/// saved: its id can be searched around and read at any time. The same place of the same supplier always has
/// the same id. Repeating the call is safe; an idempotency key has no effect here.
#[utoipa::path(post, path = "/v1/hotel/places", tag = "Hotels",
    responses((status = 200, description = "The places; an empty list when none matches.")),
    extensions(("x-error-codes" = json!(["supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn search_places(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated((_key, Body(request))): Validated<(Option<IdempotencyKeyHeader>, Body<PlaceSearchRequest>)>,
) -> Result<ApiResponse<List<Place>, SupplierMeta>, ApiError> {
    let search = PlaceSearch {
        text: request.query,
        country: request.country_code.map(CountryCode::to_alpha2),
        selector: request.supplier.map(|supplier| supplier.0),
    };
    let (supplier, places) = app
        .search_places(&caller, search)
        .await
        .map_err(ApiError::from_query)?;
    let places = places
        .into_iter()
        .map(|(id, saved)| place::place(&id, saved));
    Ok(ApiResponse::ok(List(places.collect())).meta(SupplierMeta::new(supplier)))
}

/// Read a place
///
/// As it was found last. Asks no supplier.
#[utoipa::path(get, path = "/v1/hotel/places/{id}", tag = "Hotels",
    responses((status = 200, description = "The place.")),
    extensions(("x-error-codes" = json!(["place_not_found"]))))]
pub(crate) async fn get_place(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(PathId(id)): Validated<PathId<PlaceId>>,
) -> Result<ApiResponse<Place>, ApiError> {
    let saved = app.find_place(caller.owner.tenant.mode, &id).await;
    let (_, saved) = saved.map_err(ApiError::from_query)?;
    Ok(ApiResponse::ok(place::place(&id, saved)))
}
