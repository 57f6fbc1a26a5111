//! Airlines.

use crate::api::answer::ApiResponse;
use crate::api::caller::RequestContext;
use crate::api::extract::{PathId, PathParameter, Validated};
use crate::api::meta::SupplierMeta;
use crate::api::problem::ApiError;
use crate::app::Application;
use crate::render::flight::reference::{self, Airline};
use axum::extract::State;
use std::sync::Arc;

/// IATA code of an airline as people type it, in upper case and without the space around it.
#[derive(Debug, Clone)]
pub(crate) struct AirlineCodeParam(String);

impl PathParameter for AirlineCodeParam {
    const NAME: &'static str = "iataCode";
    const PATTERN: &'static str = r"^\s*[A-Za-z0-9]{2}\s*$";
    const DESCRIPTION: &'static str =
        "IATA code of an airline; white space around it and the case of letters do not matter.";

    fn parse(text: &str) -> Option<Self> {
        let code = text.trim();
        let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_code.then(|| Self(code.to_ascii_uppercase()))
    }
}

/// Read an airline
///
/// Active or not. An airline that was read before is answered as it is stored, without `meta`; after 30 days it is read anew
/// in the background. One that was not is read from a supplier, whom `meta.supplier` names, and stored before the answer.
#[utoipa::path(get, path = "/v1/flight/airlines/iatas/{iataCode}", tag = "Flights",
    responses((status = 200, description = "The airline.")),
    extensions(("x-error-codes" = json!(["airline_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn get_airline(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(PathId(code)): Validated<PathId<AirlineCodeParam>>,
) -> Result<ApiResponse<Airline, SupplierMeta>, ApiError> {
    let known = app
        .find_airline(&caller, code.0)
        .await
        .map_err(ApiError::from_query)?;
    let answer = ApiResponse::ok(reference::airline(&known.id, known.airline));
    Ok(match known.supplier {
        Some(supplier) => answer.meta(SupplierMeta::new(supplier)),
        None => answer,
    })
}
