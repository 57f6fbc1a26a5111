//! Operations on places.

use crate::extract::{Body, Context, KeyedBody, PathId, Validate, Validated};
use crate::identifier::SupplierIdParam;
use crate::meta::SupplierMeta;
use crate::response::{ApiResponse, ApiResult, List};
use axum::extract::State;
use host_application::catalog::place::{PlaceSearch, PlaceService};
use host_domain::id::PlaceId;
use host_resources::place::{self, PlaceResource};
use host_resources::value::CountryCode;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A name to search places for.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PlacesRequest)]
pub(crate) struct PlaceSearchRequest {
    /// User input.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$",
        example = "Testville"
    )]
    query: String,
    /// Only places in this country.
    country_code: Option<CountryCode>,
    /// Supplier to call.
    supplier: Option<SupplierIdParam>,
}

impl Validate for PlaceSearchRequest {}

/// Search places
///
/// Returns cities, districts, airports and sights whose name matches, best match first, at most 20.
/// Each place is saved: you can search around its id and read it at any time. The same place of the
/// same supplier always has the same id. Repeating the request is safe; an idempotency key has no
/// effect.
#[utoipa::path(post, operation_id = "find_places", path = "/v1/hotel/places", tag = "Hotels",
    responses((status = 200, description = "The places; an empty list if none matches.")),
    extensions(("x-error-codes" = json!(["supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn search_places(
    State(places): State<Arc<PlaceService>>,
    Context(context): Context,
    Validated((_key, Body(request))): Validated<KeyedBody<PlaceSearchRequest>>,
) -> ApiResult<List<PlaceResource>, SupplierMeta> {
    let search = PlaceSearch {
        text: request.query,
        country: request.country_code.map(CountryCode::to_alpha2),
        selector: request.supplier.map(|supplier| supplier.0),
    };
    let (supplier, found) = places.search_places(&context, search).await?;
    let found = found
        .into_iter()
        .map(|(id, saved)| place::place(&id, saved));
    Ok(ApiResponse::ok(List(found.collect())).meta(SupplierMeta::new(supplier)))
}

/// Get a place
///
/// Returns the place as last found. Calls no supplier.
#[utoipa::path(get, operation_id = "read_place", path = "/v1/hotel/places/{id}", tag = "Hotels",
    responses((status = 200, description = "The place.")),
    extensions(("x-error-codes" = json!(["place_not_found"]))))]
pub(crate) async fn get_place(
    State(places): State<Arc<PlaceService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<PlaceId>>,
) -> ApiResult<PlaceResource> {
    let (_, saved) = places.find_place(context.owner.tenant.mode, &id).await?;
    Ok(ApiResponse::ok(place::place(&id, saved)))
}
