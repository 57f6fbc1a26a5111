//! Watches of all users on the admin listener.

use crate::admin::actor::AdminActor;
use crate::admin::parameter::{
    OwnedListQuery, page_json, page_request, parse, search_text, tenant_scope,
};
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::watch::service::WatchService;
use host_application::watch::unscoped_watch::ListedWatch;
use host_domain::console::watch::WatchScopeFilter;
use host_domain::id::WatchId;
use host_domain::watch::WatchStatus;
use host_resources::watch_event::{WatchResource, watch};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// A watch as the API shows it, with its organization and its next check.
#[derive(Serialize)]
struct WatchJson {
    organization: String,
    mode: &'static str,
    /// `null` if the watch can no longer change.
    next_check_at: Option<String>,
    #[serde(flatten)]
    watch: WatchResource,
}

/// `GET /watches`: lists watches, newest first.
pub(super) async fn list(
    State(watches): State<Arc<WatchService>>,
    Query(query): Query<OwnedListQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let filter = WatchScopeFilter {
        status: parse(query.status, "status", WatchStatus::parse)?,
        user: parse(query.user, "user", search_text)?,
    };
    let page = page_request(query.after, query.limit)?;
    let found = watches.list_unscoped(&scope, &filter, &page).await;
    let found = found.map_err(ApiError::from_storage)?;
    Ok(page_json(found.map(WatchJson::from)))
}

/// `GET /watches/{id}`
pub(super) async fn show(
    State(watches): State<Arc<WatchService>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let found = watches.find_unscoped(&parse_id(&id)?).await?;
    Ok(Json(json!({ "data": WatchJson::from(found) })))
}

/// `POST /watches/{id}/cancel`: ends a watch and revokes its mandate.
pub(super) async fn cancel(
    State(watches): State<Arc<WatchService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let canceled = watches.cancel_unscoped(actor, &parse_id(&id)?).await?;
    Ok(Json(json!({ "data": WatchJson::from(canceled) })))
}

fn parse_id(id: &str) -> Result<WatchId, ApiError> {
    WatchId::parse(id).map_err(|_| ErrorCode::WatchNotFound.into())
}

impl From<ListedWatch> for WatchJson {
    fn from(listed: ListedWatch) -> Self {
        let tenant = &listed.watch.owner.tenant;
        Self {
            organization: tenant.organization.clone(),
            mode: tenant.mode.as_str(),
            next_check_at: listed.next_check_at.map(|at| at.to_string()),
            watch: watch(&listed.watch, listed.last_observed),
        }
    }
}
