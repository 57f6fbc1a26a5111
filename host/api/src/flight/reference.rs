//! Operations that read airlines and search airports.

use crate::extract::{Context, PathId, PathParameter, Query, Validate, Validated, default_limit};
use crate::meta::SupplierMeta;
use crate::response::{ApiResponse, ApiResult, List, ResponseMeta};
use axum::extract::State;
use host_application::catalog::flight_reference::FlightReferenceService;
use host_domain::supplier::SupplierId;
use host_resources::flight::reference::{self, AirlineResource, AirportResource};
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
    #[serde(default = "default_limit::<20>")]
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: u32,
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
) -> ApiResult<List<AirportResource>, AirportsMeta> {
    let limit = u16::try_from(query.limit).unwrap_or(u16::MAX);
    let found = flight_reference
        .search_airports(context, query.q, limit)
        .await?;
    let airports = found.airports.into_iter();
    let airports = airports.map(|(id, airport)| reference::airport(&id, airport));
    let meta = AirportsMeta {
        supplier: found.supplier,
        truncated: found.truncated,
    };
    Ok(ApiResponse::ok(List(airports.collect())).meta(meta))
}

/// IATA code of an airline, normalized: upper case, without surrounding white space.
#[derive(Debug, Clone)]
pub(crate) struct AirlineCodeParam(String);

impl PathParameter for AirlineCodeParam {
    const NAME: &'static str = "iataCode";
    const PATTERN: &'static str = r"^\s*[A-Za-z0-9]{2}\s*$";
    const DESCRIPTION: &'static str =
        "IATA code of an airline. Surrounding white space and letter case are ignored.";

    fn parse(text: &str) -> Option<Self> {
        let code = text.trim();
        let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_code.then(|| Self(code.to_ascii_uppercase()))
    }
}

/// Get an airline
///
/// Returns an active or inactive airline. A stored airline is returned without `meta`; if it is
/// older than 30 days, it is refreshed in the background. An airline that is not stored is first
/// read from a supplier, which `meta.supplier` names, and stored.
#[utoipa::path(get, operation_id = "read_airline", path = "/v1/flight/airlines/iatas/{iataCode}", tag = "Flights",
    responses((status = 200, description = "The airline.")),
    extensions(("x-error-codes" = json!(["airline_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn get_airline(
    State(flight_reference): State<Arc<FlightReferenceService>>,
    Context(context): Context,
    Validated(PathId(code)): Validated<PathId<AirlineCodeParam>>,
) -> ApiResult<AirlineResource, SupplierMeta> {
    let resolved = flight_reference.find_airline(&context, code.0).await?;
    let response = ApiResponse::ok(reference::airline(&resolved.id, resolved.airline));
    Ok(match resolved.supplier {
        Some(supplier) => response.meta(SupplierMeta::new(supplier)),
        None => response,
    })
}
