//! The checklist before going live, on the admin listener.

use crate::admin::parameter::organizations;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Query, State};
use host_application::reporting::go_live::GoLiveReader;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The organization that goes live. Without it, a step is done if any organization has done it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoLiveQuery {
    organization: Option<String>,
}

/// `GET /go-live`: lists the steps in their order, each with whether it has happened.
pub(super) async fn show(
    State(checklist): State<Arc<GoLiveReader>>,
    Query(query): Query<GoLiveQuery>,
) -> Result<Json<Value>, ApiError> {
    let organization = organizations(query.organization)?;
    let steps = checklist.read(organization.as_deref()).await;
    let steps = steps.map_err(ApiError::from_storage)?.into_iter();
    let steps: Vec<Value> = steps
        .map(|(step, is_done)| json!({ "step": step.as_str(), "done": is_done }))
        .collect();
    Ok(Json(json!({ "data": steps })))
}
