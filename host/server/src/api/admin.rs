//! The operator API of a running process, on its own listener: metrics, plugin reloads, resolution
//! of unresolved outcomes, and retries of parked jobs. It requires no key; access to the listener
//! grants full trust.

use crate::api::code::ErrorCode;
use crate::api::problem::{ApiError, take_error};
use crate::api::unresolved;
use crate::app::Application;
use crate::{id, observe};
use axum::extract::{Path, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use host_domain::supplier::{Capability, SupplierId};
use host_runtime::{LoadError, PluginInfo};
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use std::sync::Arc;

/// Builds the router of the admin listener.
pub(crate) fn router(app: &Arc<Application>) -> Router {
    Router::new()
        .route(
            "/healthz",
            get(|| async { Json(json!({ "data": { "status": "ok" } })) }),
        )
        .route("/metrics", get(metrics))
        .route("/plugins", get(list_plugins))
        .route("/plugins/{id}/reload", post(reload_plugin))
        .route("/unresolved", get(unresolved::list_unresolved))
        .route(
            "/unresolved/{booking_id}",
            post(unresolved::resolve_booking),
        )
        .route("/parked_jobs", post(unresolved::retry_parked_jobs))
        .layer(from_fn_with_state(Arc::clone(app), render_problems))
        .with_state(Arc::clone(app))
}

async fn render_problems(
    State(app): State<Arc<Application>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    if let Some(error) = take_error(&mut response) {
        error.write_response(&mut response, &app.error_docs_url(), &id::new_request_id());
    }
    response
}

async fn metrics() -> Response {
    let metrics = observe::metrics_handle();
    metrics.run_upkeep();
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        metrics.render(),
    )
        .into_response()
}

async fn list_plugins(State(app): State<Arc<Application>>) -> Json<Value> {
    Json(json!({ "data": app.runtime.list().iter().map(plugin_info).collect::<Vec<_>>() }))
}

async fn reload_plugin(
    State(app): State<Arc<Application>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let id = SupplierId::parse(&id).map_err(|_| plugin_not_found())?;
    match app.suppliers.reload(&id).await {
        Ok(info) => Ok(Json(json!({ "data": plugin_info(&info) }))),
        Err(LoadError::NotLoaded(_)) => Err(plugin_not_found()),
        // The response includes the cause, because the file belongs to the operator.
        Err(error) => Err(ApiError::from(ErrorCode::SupplierError)
            .with_supplier(&id)
            .with_detail(error_chain(&error))
            .with_cause(&error)),
    }
}

fn plugin_not_found() -> ApiError {
    ApiError::from(ErrorCode::NotFound).with_detail("no plugin with this id is configured")
}

/// Returns an error and its causes in one line.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// Returns the JSON description of a loaded plugin.
pub(crate) fn plugin_info(info: &PluginInfo) -> Value {
    json!({
        "id": info.id.as_str(),
        "name": info.description.name,
        "version": info.description.version,
        "digest": info.digest,
        "modes": info.modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>(),
        "operations": info.capabilities.iter().copied().map(Capability::as_str).collect::<Vec<_>>(),
        "hosts": info.description.hosts,
        "missing_hosts": info.missing_grants,
        "secrets": info.description.secrets,
        "missing_secrets": info.missing_secrets,
        "loaded_at": info.loaded_at.to_string(),
        "load_ms": u64::try_from(info.load_time.as_millis()).unwrap_or(u64::MAX),
    })
}

/// Reloads every plugin, on `SIGHUP`.
pub(crate) async fn reload_all_plugins(app: &Application) {
    for (supplier, error) in app.suppliers.load_all().await {
        tracing::warn!(
            supplier = supplier.as_str(),
            reason = error_chain(&error),
            "a plugin cannot be reloaded; the previously loaded plugin stays in use"
        );
    }
}
