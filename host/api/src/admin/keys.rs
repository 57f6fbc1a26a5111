//! API keys of all organizations on the admin listener.

use crate::admin::actor::AdminActor;
use crate::admin::parameter::{
    page_json, page_request, parse, parse_required, search_text, tenant, tenant_scope,
};
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::api_key::service::{
    ApiKeyService, CreateApiKeyError, ListedApiKey, NewApiKey, parse_expiry,
};
use host_application::context::ApiKeyScope;
use host_domain::console::{ApiKeyFilter, ApiKeyStatus};
use host_domain::id::KeyId;
use host_domain::time::Timestamp;
use http::StatusCode;
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Filter of the keys. Absent fields mean any.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeysQuery {
    /// `test`, the default, or `live`.
    mode: Option<String>,
    organization: Option<String>,
    /// `active`, `expired` or `revoked`.
    status: Option<String>,
    /// A part of the name or of the masked key.
    q: Option<String>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of keys, at most 500.
    limit: Option<u32>,
}

/// A new key of an organization.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewKeyRequest {
    organization: String,
    /// `test`, the default, or `live`.
    mode: Option<String>,
    #[serde(default)]
    name: String,
    /// Names of scopes, all but `admin` by default.
    scopes: Option<Vec<String>>,
    /// A timestamp, or a date at the end of which the key expires (UTC).
    expires_at: Option<String>,
}

/// `GET /keys`: lists keys, newest first, without the secret key text.
pub(super) async fn list(
    State(keys): State<Arc<ApiKeyService>>,
    Query(query): Query<KeysQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let filter = ApiKeyFilter {
        text: parse(query.q, "q", search_text)?.map(|text| text.to_lowercase()),
        status: parse(query.status, "status", ApiKeyStatus::parse)?,
    };
    let page = page_request(query.after, query.limit)?;
    let found = keys.list_unscoped(&scope, &filter, &page).await;
    let found = found.map_err(ApiError::from_storage)?;
    Ok(page_json(found.map(|listed| key_json(&listed))))
}

/// `GET /keys/{id}`
pub(super) async fn show(
    State(keys): State<Arc<ApiKeyService>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let found = keys.find_unscoped(&parse_id(&id)?).await;
    let found = found.map_err(ApiError::from_storage)?;
    let found = found.ok_or_else(not_found)?;
    Ok(Json(json!({ "data": key_json(&found) })))
}

/// `POST /keys`: creates a key and returns it with its text, which cannot be shown again.
pub(super) async fn create(
    State(keys): State<Arc<ApiKeyService>>,
    AdminActor(actor): AdminActor,
    Json(request): Json<NewKeyRequest>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let scopes = match &request.scopes {
        Some(names) => names
            .iter()
            .map(|name| parse_required(name, "scopes", ApiKeyScope::from_name))
            .collect::<Result<Vec<_>, ApiError>>()?,
        None => ApiKeyScope::DEFAULT.to_vec(),
    };
    let new = NewApiKey {
        tenant: tenant(&request.organization, request.mode)?,
        name: request.name,
        scopes,
        expires_at: parse(request.expires_at, "expires_at", parse_expiry)?,
    };
    let created = keys.create_unexpired(&actor, new).await.map_err(problem)?;
    let created = json!({
        "id": created.id.as_str(),
        "key": created.key.expose_secret(),
    });
    Ok((StatusCode::CREATED, Json(json!({ "data": created }))))
}

/// `POST /keys/{id}/revoke`: the key stops working within 5 seconds.
pub(super) async fn revoke(
    State(keys): State<Arc<ApiKeyService>>,
    Path(id): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let id = parse_id(&id)?;
    let exists = keys.revoke(&actor, &id).await;
    if !exists.map_err(ApiError::from_storage)? {
        return Err(not_found());
    }
    let status = ApiKeyStatus::Revoked.as_str();
    let revoked = json!({ "id": id.as_str(), "status": status });
    Ok(Json(json!({ "data": revoked })))
}

fn parse_id(id: &str) -> Result<KeyId, ApiError> {
    KeyId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::from(ErrorCode::NotFound).with_detail("there is no API key with this id")
}

fn problem(error: CreateApiKeyError) -> ApiError {
    match error {
        CreateApiKeyError::Invalid(_) => {
            ApiError::from(ErrorCode::ValidationFailed).with_detail(error.to_string())
        }
        CreateApiKeyError::Random => ApiError::internal(error),
        CreateApiKeyError::Storage(failure) => ApiError::from_storage(failure),
    }
}

fn key_json(ListedApiKey { key, status }: &ListedApiKey) -> Value {
    let at = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": key.id.as_str(),
        "name": key.name,
        "organization": key.tenant.organization,
        "mode": key.tenant.mode.as_str(),
        "masked_key": key.masked_key,
        "scopes": key.scopes,
        "status": status.as_str(),
        "created_at": key.created_at.to_string(),
        "expires_at": at(key.expires_at),
        "last_used_at": at(key.last_used_at),
        "revoked_at": at(key.revoked_at),
    })
}
