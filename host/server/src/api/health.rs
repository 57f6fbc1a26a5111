//! Whether the process runs, and whether it can do its work.

use crate::api::answer::Answer;
use crate::api::code::Code;
use crate::api::extract::Valid;
use crate::api::problem::ApiError;
use crate::app::App;
use axum::extract::State;
use serde::Serialize;
use std::sync::Arc;
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

fn ok() -> Health {
    Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Whether the process runs
#[utoipa::path(get, path = "/healthz", tag = "Health", responses((status = 200, description = "It runs.")))]
pub(crate) async fn get_health(
    State(_app): State<Arc<App>>,
    Valid(()): Valid<()>,
) -> Result<Answer<Health>, ApiError> {
    Ok(Answer::ok(ok()))
}

/// Whether it can take calls
///
/// 503 while the database does not answer, and once the process has begun to stop.
#[utoipa::path(get, path = "/readyz", tag = "Health", responses((status = 200, description = "It can.")))]
pub(crate) async fn get_readiness(
    State(app): State<Arc<App>>,
    Valid(()): Valid<()>,
) -> Result<Answer<Health>, ApiError> {
    if app.tasks.stopping().is_cancelled() {
        return Err(ApiError::from(Code::Overloaded).detail("the process is stopping"));
    }
    app.store.ping().await.map_err(ApiError::storage)?;
    Ok(Answer::ok(ok()))
}
