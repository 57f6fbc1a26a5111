//! Suppliers on the admin listener: their state, reloads of plugins, draining, priority and weight.

use crate::admin::actor::AdminActor;
use crate::admin::parameter::{tenant_scope, with_members};
use crate::admin::requests::call_json;
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::error_chain::describe_error_chain;
use host_application::supplier::directory::SupplierDirectory;
use host_application::supplier::overrides::{SupplierChange, SupplierChangeError, SupplierControl};
use host_application::supplier::plugin_report::{ReloadError, SupplierStatus};
use host_application::supplier::reader::SupplierReader;
use host_domain::audit::Actor;
use host_domain::statistics::CallStatistics;
use host_domain::supplier::{CircuitStatus, Rank, SupplierId};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Priority and weight of a supplier for all organizations. Without both, those of the
/// configuration hold again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SupplierRankRequest {
    /// Lower values are called first.
    priority: Option<i32>,
    /// Share of calls among suppliers of equal priority.
    weight: Option<u32>,
}

/// `GET /suppliers`: lists the configured suppliers with their state on this process.
pub(super) async fn list(State(suppliers): State<Arc<SupplierDirectory>>) -> Json<Value> {
    let statuses: Vec<Value> = suppliers.statuses().iter().map(status_json).collect();
    Json(json!({ "data": statuses }))
}

/// The tenants whose calls are counted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SupplierQuery {
    /// `test`, the default, or `live`.
    mode: Option<String>,
    organization: Option<String>,
}

/// `GET /suppliers/{id}`: a supplier with its plugin, its calls of the last 24 hours and its last
/// failures.
pub(super) async fn show(
    State(suppliers): State<Arc<SupplierReader>>,
    Path(id): Path<String>,
    Query(query): Query<SupplierQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let id = SupplierId::parse(&id).map_err(|_| not_found())?;
    let found = suppliers.find(&scope, &id).await;
    let found = found.map_err(ApiError::from_storage)?;
    let found = found.ok_or_else(not_found)?;
    let functions = found.functions.iter();
    let functions: Vec<Value> = functions
        .map(|(function, calls)| function_json(function, calls))
        .collect();
    let failures: Vec<Value> = found.failures.iter().map(call_json).collect();
    let details = json!({
        "plugin": found.status.plugin,
        "calls_last_day": functions,
        "last_failures": failures,
    });
    let supplier = with_members(status_json(&found.status), details);
    Ok(Json(json!({ "data": supplier })))
}

/// `POST /suppliers/{id}/drain`: ends new requests to a supplier.
pub(super) async fn drain(
    State(control): State<Arc<SupplierControl>>,
    State(suppliers): State<Arc<SupplierDirectory>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    change(
        &control,
        &suppliers,
        &actor,
        &id,
        SupplierChange::Drained(true),
    )
    .await
}

/// `POST /suppliers/{id}/undrain`: begins to route new requests to a supplier again.
pub(super) async fn undrain(
    State(control): State<Arc<SupplierControl>>,
    State(suppliers): State<Arc<SupplierDirectory>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    change(
        &control,
        &suppliers,
        &actor,
        &id,
        SupplierChange::Drained(false),
    )
    .await
}

/// `POST /suppliers/{id}/rank`: sets priority and weight of a supplier.
pub(super) async fn set_rank(
    State(control): State<Arc<SupplierControl>>,
    State(suppliers): State<Arc<SupplierDirectory>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
    Json(request): Json<SupplierRankRequest>,
) -> Result<Json<Value>, ApiError> {
    let rank = match (request.priority, request.weight) {
        (Some(priority), Some(weight)) => Some(Rank { priority, weight }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => {
            let detail = "priority and weight are set together";
            return Err(ApiError::from(ErrorCode::ValidationFailed).with_detail(detail));
        }
    };
    change(
        &control,
        &suppliers,
        &actor,
        &id,
        SupplierChange::Rank(rank),
    )
    .await
}

/// `POST /plugins/{id}/reload`: reloads a plugin from its file, on this process.
pub(super) async fn reload(
    State(control): State<Arc<SupplierControl>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let id = SupplierId::parse(&id).map_err(|_| not_found())?;
    match control.reload(&actor, &id).await {
        Ok(report) => Ok(Json(json!({ "data": report }))),
        Err(ReloadError::NotConfigured) => Err(not_found()),
        // The response includes the cause, because the file belongs to the operator.
        Err(error @ ReloadError::Load(_)) => Err(ApiError::from(ErrorCode::SupplierError)
            .with_supplier(&id)
            .with_detail(describe_error_chain(&error))
            .with_cause(&error)),
        Err(ReloadError::Storage(failure)) => Err(ApiError::from_storage(failure)),
    }
}

async fn change(
    control: &SupplierControl,
    suppliers: &SupplierDirectory,
    actor: &Actor,
    id: &str,
    change: SupplierChange,
) -> Result<Json<Value>, ApiError> {
    let id = SupplierId::parse(id).map_err(|_| not_found())?;
    match control.change(actor, &id, change).await {
        Ok(()) => {}
        Err(SupplierChangeError::NotConfigured) => return Err(not_found()),
        Err(error @ SupplierChangeError::InvalidRank) => {
            let problem = ApiError::from(ErrorCode::ValidationFailed);
            return Err(problem.with_detail(error.to_string()));
        }
        Err(SupplierChangeError::Storage(failure)) => return Err(ApiError::from_storage(failure)),
    }
    let status = suppliers.status(&id).ok_or_else(not_found)?;
    Ok(Json(json!({ "data": status_json(&status) })))
}

fn status_json(status: &SupplierStatus) -> Value {
    let (summary, health) = (&status.summary, status.health.as_ref());
    let circuit = health.map(|health| match health.circuit {
        CircuitStatus::Closed => "closed",
        CircuitStatus::Open { .. } => "open",
        CircuitStatus::Probing => "probing",
    });
    json!({
        "id": summary.id.as_str(),
        "kind": summary.kind,
        "modes": status.modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>(),
        "health": summary.health,
        "circuit": circuit,
        "calls_last_minute": health.map(|health| health.calls),
        "failures_last_minute": health.map(|health| health.failures),
        "last_failure": health.and_then(|health| health.last_failure.as_deref()),
        "calls_in_flight": status.usage.map(|usage| usage.in_flight),
        "calls_max": status.usage.map(|usage| usage.limit),
        "is_drained": status.is_drained,
        "priority": status.rank.priority,
        "weight": status.rank.weight,
        "is_rank_changed": status.is_rank_changed,
    })
}

fn function_json(function: &str, calls: &CallStatistics) -> Value {
    with_members(json!({ "function": function }), calls_json(calls))
}

/// Renders the numbers of calls. Durations are in microseconds.
pub(super) fn calls_json(calls: &CallStatistics) -> Value {
    json!({
        "calls": calls.count,
        "failures": calls.server_errors,
        "p50_us": calls.quantile_us(500),
        "p99_us": calls.quantile_us(990),
        "max_us": calls.duration_us_max,
    })
}

fn not_found() -> ApiError {
    ApiError::from(ErrorCode::NotFound).with_detail("no plugin with this id is configured")
}
