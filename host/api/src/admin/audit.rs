//! The audit log on the admin listener.

use crate::admin::parameter::{organizations, page_json, page_request, parse, search_text};
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Query, State};
use host_application::audit::service::{AuditError, AuditRow, AuditService, VerifyHeadError};
use host_domain::audit::{AuditAction, AuditFilter, AuditScope};
use host_domain::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Filter of the audit log. Absent fields mean any.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditQuery {
    organization: Option<String>,
    /// Id or name of an actor, or the name of a kind of actors, for example `cli`.
    actor: Option<String>,
    /// Name of an action, for example `api_key.created`.
    action: Option<String>,
    /// Id of the changed object.
    target: Option<String>,
    /// Time of the first entry, RFC 3339.
    from: Option<String>,
    /// Time before which the last entry was made, RFC 3339.
    until: Option<String>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of entries, at most 500.
    limit: Option<u32>,
}

/// The head that the chain must have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerifyQuery {
    /// A hash that was the head at some time, in hexadecimal.
    head: Option<String>,
}

/// `GET /audit`: lists entries, latest first.
pub(super) async fn list(
    State(audit): State<Arc<AuditService>>,
    Query(query): Query<AuditQuery>,
) -> Result<Json<Value>, ApiError> {
    let filter = AuditFilter {
        actor: parse(query.actor, "actor", search_text)?,
        action: parse(query.action, "action", AuditAction::parse)?,
        target: parse(query.target, "target", search_text)?,
        from: parse(query.from, "from", Timestamp::parse)?,
        until: parse(query.until, "until", Timestamp::parse)?,
    };
    let scope = AuditScope {
        organizations: organizations(query.organization)?,
        ..AuditScope::ALL
    };
    let page = page_request(query.after, query.limit)?;
    let list = audit.list(&scope, &filter, &page).await;
    let page = list.map_err(ApiError::from_storage)?.page;
    Ok(page_json(page.map(AuditRow::into_json)))
}

/// `GET /audit/verify`: verifies the whole chain.
pub(super) async fn verify(
    State(audit): State<Arc<AuditService>>,
    Query(query): Query<VerifyQuery>,
) -> Result<Json<Value>, ApiError> {
    let verified = match query.head.as_deref() {
        Some(hash) => audit.verify_with_head(hash).await,
        None => audit.verify().await.map_err(VerifyHeadError::Chain),
    };
    let result = match verified {
        Ok(head) => json!({ "intact": true, "entries": head.sequence, "head": head.hash }),
        Err(VerifyHeadError::Chain(AuditError::Broken { sequence })) => {
            json!({ "intact": false, "broken_sequence": sequence })
        }
        // The end was cut off, so no entry that is left is wrong.
        Err(VerifyHeadError::NotFound) => json!({ "intact": false, "broken_sequence": null }),
        Err(VerifyHeadError::Chain(AuditError::Storage(failure))) => {
            return Err(ApiError::from_storage(failure));
        }
    };
    Ok(Json(json!({ "data": result })))
}
