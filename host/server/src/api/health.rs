//! Liveness and readiness of the process.

use crate::api::answer::ApiResponse;
use crate::api::code::ErrorCode;
use crate::api::extract::Validated;
use crate::api::problem::ApiError;
use crate::app::Application;
use axum::extract::State;
use host_storage::{DatabaseError, Store};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use utoipa::ToSchema;

/// State of the process.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`; a process that is not running sends no response.
    #[schema(example = "ok")]
    status: &'static str,
    /// Version of the program.
    version: &'static str,
}

/// Paths of the health probes, which are exempt from the rate limit.
pub(crate) const PROBE_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// Minimum time between two pings of the database, however many readiness requests arrive.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Result of the last ping of the database.
#[derive(Default)]
pub struct Readiness(Mutex<Option<(Instant, Result<(), DatabaseError>)>>);

impl Readiness {
    async fn check(&self, store: &Store) -> Result<(), DatabaseError> {
        let mut last = self.0.lock().await;
        if let Some((at, answers)) = &*last
            && at.elapsed() < CHECK_INTERVAL
        {
            return answers.clone();
        }
        let answers = store.ping().await;
        *last = Some((Instant::now(), answers.clone()));
        answers
    }
}

fn ok() -> Health {
    Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Check liveness
///
/// Responds as long as the process is running.
#[utoipa::path(get, path = "/healthz", tag = "Health", responses((status = 200, description = "The process is running.")))]
pub(crate) async fn get_health(
    State(_app): State<Arc<Application>>,
    Validated(()): Validated<()>,
) -> Result<ApiResponse<Health>, ApiError> {
    Ok(ApiResponse::ok(ok()))
}

/// Check readiness
///
/// Responds 503 while the database does not respond, and once the process has begun to shut down.
#[utoipa::path(get, path = "/readyz", tag = "Health", responses((status = 200, description = "The process accepts requests.")))]
pub(crate) async fn get_readiness(
    State(app): State<Arc<Application>>,
    Validated(()): Validated<()>,
) -> Result<ApiResponse<Health>, ApiError> {
    if app.tasks.shutdown_token().is_cancelled() {
        return Err(
            ApiError::from(ErrorCode::Overloaded).with_detail("the process is shutting down")
        );
    }
    let answers = app.readiness.check(&app.store).await;
    answers.map_err(ApiError::from_database)?;
    Ok(ApiResponse::ok(ok()))
}
