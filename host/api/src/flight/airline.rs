//! The operation that reads an airline.

use crate::extract::context::Context;
use crate::extract::{PathId, PathParameter, Validated};
use crate::meta::SupplierMeta;
use crate::problem::ApiError;
use crate::response::ApiResponse;
use axum::extract::State;
use host_application::catalog::flight_reference::FlightReferenceService;
use host_resources::flight::reference::{self, AirlineResource};
use std::sync::Arc;

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
) -> Result<ApiResponse<AirlineResource, SupplierMeta>, ApiError> {
    let resolved = flight_reference
        .find_airline(&context, code.0)
        .await
        .map_err(ApiError::from_query)?;
    let response = ApiResponse::ok(reference::airline(&resolved.id, resolved.airline));
    Ok(match resolved.supplier {
        Some(supplier) => response.meta(SupplierMeta::new(supplier)),
        None => response,
    })
}
