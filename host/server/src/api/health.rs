//! Whether the process runs, and whether it can do its work.

use crate::api::answer::ApiResponse;
use crate::api::code::Code;
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

/// That it runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`; otherwise there is no answer.
    #[schema(example = "ok")]
    status: &'static str,
    /// Of the program.
    version: &'static str,
}

/// Answered however many calls there are.
pub(crate) const PROBE_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// The database is asked no more often than this, however many want to know.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Whether the database answered when it was asked last.
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

/// Whether the process runs
#[utoipa::path(get, path = "/healthz", tag = "Health", responses((status = 200, description = "It runs.")))]
pub(crate) async fn get_health(
    State(_app): State<Arc<Application>>,
    Validated(()): Validated<()>,
) -> Result<ApiResponse<Health>, ApiError> {
    Ok(ApiResponse::ok(ok()))
}

/// Whether it can take calls
///
/// 503 while the database does not answer, and once the process has begun to stop.
#[utoipa::path(get, path = "/readyz", tag = "Health", responses((status = 200, description = "It can.")))]
pub(crate) async fn get_readiness(
    State(app): State<Arc<Application>>,
    Validated(()): Validated<()>,
) -> Result<ApiResponse<Health>, ApiError> {
    if app.tasks.shutdown_token().is_cancelled() {
        return Err(ApiError::from(Code::Overloaded).with_detail("the process is stopping"));
    }
    let answers = app.readiness.check(&app.store).await;
    answers.map_err(ApiError::from_database)?;
    Ok(ApiResponse::ok(ok()))
}
