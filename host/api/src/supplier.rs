//! The operation that lists suppliers.

use crate::extract::Validated;
use crate::extract::context::Context;
use crate::problem::ApiError;
use crate::response::{ApiResponse, List};
use axum::extract::State;
use host_application::application::Application;
use host_application::config::SupplierConfig;
use host_domain::supplier::{Capability, Health, SupplierKind};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A supplier of hotels, flights or payments.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Supplier {
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
    kinds: Vec<SupplierProduct>,
    /// Operations that the supplier supports, e.g. `hotel_pricing`.
    operations: Vec<String>,
    /// Current health of the supplier.
    health: SupplierHealth,
}

/// Product of a supplier.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SupplierKind)]
enum SupplierProduct {
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
enum SupplierHealth {
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
    State(app): State<Arc<Application>>,
    Context(context): Context,
    Validated(()): Validated<()>,
) -> Result<ApiResponse<List<Supplier>>, ApiError> {
    let mode = context.owner.tenant.mode;
    let mut reached: Vec<&SupplierConfig> = app
        .suppliers
        .all()
        .iter()
        .filter(|supplier| supplier.modes.contains(&mode))
        .collect();
    reached.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(ApiResponse::ok(List(
        reached
            .into_iter()
            .map(|supplier| to_response(&app, supplier))
            .collect(),
    )))
}

fn to_response(app: &Application, configured: &SupplierConfig) -> Supplier {
    let loaded = app.runtime.supplier(&configured.id);
    let info = loaded.as_ref().map(host_runtime::Supplier::info);
    let operations = info.map(|info| {
        info.capabilities
            .iter()
            .copied()
            .map(Capability::as_str)
            .map(str::to_owned)
            .collect()
    });
    Supplier {
        id: configured.id.to_string(),
        name: info.map(|info| info.description.name.clone()),
        version: info.map(|info| info.description.version.clone()),
        kinds: vec![match configured.kind {
            SupplierKind::Hotel => SupplierProduct::Hotel,
            SupplierKind::Flight => SupplierProduct::Flight,
            SupplierKind::Payment => SupplierProduct::Payment,
        }],
        operations: operations.unwrap_or_default(),
        health: match loaded
            .as_ref()
            .map_or(Health::Down, host_runtime::Supplier::health)
        {
            Health::Up => SupplierHealth::Up,
            Health::Degraded => SupplierHealth::Degraded,
            Health::Down => SupplierHealth::Down,
        },
    }
}
