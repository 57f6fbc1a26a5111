//! The search for anything that has an id or a reference, on the admin listener.

use crate::admin::parameter::{parse_required, search_text, tenant_scope};
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Query, State};
use host_application::search::{SearchService, SearchTarget};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The id or the reference, and where a reference is looked up.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IdSearchQuery {
    /// An id, a supplier's reference or a `reference_id`.
    q: String,
    /// `test`, the default, or `live`.
    mode: Option<String>,
    organization: Option<String>,
}

/// `GET /search`: returns the type and the id of what an id or a reference belongs to, `null` if
/// nothing has the reference. An id is not checked.
pub(super) async fn search(
    State(service): State<Arc<SearchService>>,
    Query(query): Query<IdSearchQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let text = parse_required(query.q.trim(), "q", search_text)?;
    let target = service.find(&scope, &text).await;
    let target = target.map_err(ApiError::from_storage)?;
    let found = target.map(|target| {
        let (kind, id) = kind_and_id(target);
        json!({ "type": kind, "id": id })
    });
    Ok(Json(json!({ "data": found })))
}

/// Returns the type of a target, and its id unless the target is a list.
fn kind_and_id(target: SearchTarget) -> (&'static str, Option<String>) {
    match target {
        SearchTarget::Booking(id) => ("booking", Some(id.to_string())),
        SearchTarget::Bookings => ("bookings", None),
        SearchTarget::Delivery(id) => ("delivery", Some(id.to_string())),
        SearchTarget::Event(id) => ("event", Some(id.to_string())),
        SearchTarget::Key(id) => ("api_key", Some(id.to_string())),
        SearchTarget::Mandate(id) => ("mandate", Some(id.to_string())),
        SearchTarget::Request(id) => ("request", Some(id)),
        SearchTarget::Subscription(id) => ("webhook", Some(id.to_string())),
        SearchTarget::Watch(id) => ("watch", Some(id.to_string())),
    }
}
