//! The operation that lists suppliers.

use crate::extract::{Context, Validated};
use crate::response::{ApiResponse, ApiResult, List};
use axum::extract::State;
use host_application::supplier::directory::SupplierDirectory;
use host_application::supplier::plugin_report::SupplierSummary;
use host_domain::supplier::{Capability, Health, SupplierKind};
use host_resources::value::same_variants;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A supplier of hotels, flights or payments.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SupplierResource {
    /// Id of the supplier as configured by the operator: the value of `supplier` in requests.
    #[schema(example = "SANDBOX_HOTELS")]
    id: String,
    /// Name of the adapter; null while it cannot be loaded.
    #[schema(required)]
    name: Option<String>,
    /// Version of the adapter; null while it cannot be loaded.
    #[schema(required)]
    version: Option<String>,
    /// Products that the supplier offers.
    kinds: Vec<SupplierKindResource>,
    /// Operations that the supplier supports, e.g. `hotel_pricing`.
    operations: Vec<String>,
    /// Current health of the supplier.
    health: SupplierHealthResource,
}

/// Product of a supplier.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum SupplierKindResource {
    /// Hotels.
    Hotel,
    /// Flights.
    Flight,
    /// Card payments.
    Payment,
}

/// Health of a supplier.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum SupplierHealthResource {
    /// The supplier responds.
    Up,
    /// The supplier responds, but a considerable part of the calls fails.
    Degraded,
    /// The supplier is not called, except for an occasional probe.
    Down,
}

/// List suppliers
///
/// Lists the suppliers that the key's mode can reach, ordered by id. Calling an operation that is
/// not listed responds `supplier_operation_unsupported`.
#[utoipa::path(get, path = "/v1/suppliers", tag = "Suppliers", responses((status = 200, description = "All suppliers of the mode.")))]
pub(crate) async fn list_suppliers(
    State(suppliers): State<Arc<SupplierDirectory>>,
    Context(context): Context,
    Validated(()): Validated<()>,
) -> ApiResult<List<SupplierResource>> {
    let suppliers = suppliers.list(context.owner.tenant.mode);
    Ok(ApiResponse::ok(List(
        suppliers.into_iter().map(SupplierResource::from).collect(),
    )))
}

impl From<SupplierSummary> for SupplierResource {
    fn from(supplier: SupplierSummary) -> Self {
        let operations = supplier.operations.into_iter().map(Capability::as_str);
        Self {
            id: supplier.id.to_string(),
            name: supplier.name,
            version: supplier.version,
            kinds: vec![supplier.kind.into()],
            operations: operations.map(str::to_owned).collect(),
            health: supplier.health.into(),
        }
    }
}

same_variants! { SupplierKindResource <= SupplierKind: Hotel, Flight, Payment }

same_variants! { SupplierHealthResource <= Health: Up, Degraded, Down }
