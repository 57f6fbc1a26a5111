//! The operation that searches airports.

use crate::extract::context::Context;
use crate::extract::{Query, Validate, Validated};
use crate::problem::ApiError;
use crate::response::{ApiResponse, List, ResponseMeta};
use axum::extract::State;
use host_application::catalog::flight_reference::FlightReferenceService;
use host_domain::supplier::SupplierId;
use host_resources::flight::reference::{self, AirportResource};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Text to search airports for.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AirportSearchQuery {
    /// User input: part of a name, a city or an IATA code.
    #[schema(
        min_length = 2,
        max_length = 100,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$",
        example = "London"
    )]
    q: String,
    /// Maximum number of airports to return.
    #[serde(default = "limit")]
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: u32,
}

const fn limit() -> u32 {
    20
}

impl Validate for AirportSearchQuery {}

/// Metadata of an airport search.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct AirportsMeta {
    /// Id of the supplier that responded.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SUPPLIER_A")]
    supplier: SupplierId,
    /// Whether more airports match.
    truncated: bool,
}

impl ResponseMeta for AirportsMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        Some(&self.supplier)
    }
}

/// Search airports
///
/// Returns airports whose name, city or IATA code matches, in the supplier's order. Each search
/// calls a supplier, which has eight seconds to respond. The airports are stored: an airport with
/// the same IATA code always has the same id.
#[utoipa::path(get, operation_id = "find_airports", path = "/v1/flight/airports", tag = "Flights",
    responses((status = 200, description = "The airports; an empty list if none matches.")),
    extensions(("x-error-codes" = json!(["supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn search_airports(
    State(flight_reference): State<Arc<FlightReferenceService>>,
    Context(context): Context,
    Validated(Query(query)): Validated<Query<AirportSearchQuery>>,
) -> Result<ApiResponse<List<AirportResource>, AirportsMeta>, ApiError> {
    let limit = u16::try_from(query.limit).unwrap_or(u16::MAX);
    let found = flight_reference
        .search_airports(context, query.q, limit)
        .await
        .map_err(ApiError::from_query)?;
    let airports = found.airports.into_iter();
    let airports = airports.map(|(id, airport)| reference::airport(&id, airport));
    let meta = AirportsMeta {
        supplier: found.supplier,
        truncated: found.truncated,
    };
    Ok(ApiResponse::ok(List(airports.collect())).meta(meta))
}
