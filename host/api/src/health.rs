//! Liveness and readiness of the process.

use crate::error_code::ErrorCode;
use crate::extract::Validated;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult};
use axum::extract::State;
use host_application::readiness::{NotReady, ReadinessProbe};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// State of the process.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HealthResource {
    /// Always `ok`; a process that is not running sends no response.
    #[schema(example = "ok")]
    status: &'static str,
    /// Version of the program.
    version: &'static str,
}

/// Paths of the health probes, which are exempt from the rate limit.
pub(crate) const PROBE_PATHS: [&str; 2] = ["/healthz", "/readyz"];

fn ok() -> HealthResource {
    HealthResource {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Check liveness
///
/// Responds as long as the process is running.
#[utoipa::path(get, path = "/healthz", tag = "Health", responses((status = 200, description = "The process is running.")))]
pub(crate) async fn get_health(
    State(_readiness): State<Arc<ReadinessProbe>>,
    Validated(()): Validated<()>,
) -> ApiResult<HealthResource> {
    Ok(ApiResponse::ok(ok()))
}

/// Check readiness
///
/// Responds 503 while the database does not commit writes, and once the process has begun to shut
/// down.
#[utoipa::path(get, path = "/readyz", tag = "Health", responses((status = 200, description = "The process accepts requests.")))]
pub(crate) async fn get_readiness(
    State(readiness): State<Arc<ReadinessProbe>>,
    Validated(()): Validated<()>,
) -> ApiResult<HealthResource> {
    readiness.check().await.map_err(|error| match error {
        NotReady::ShuttingDown => {
            ApiError::from(ErrorCode::Overloaded).with_detail(error.to_string())
        }
        NotReady::Storage(failure) => ApiError::from_storage(failure),
    })?;
    Ok(ApiResponse::ok(ok()))
}
