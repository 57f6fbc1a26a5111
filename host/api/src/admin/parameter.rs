//! Parameters of the admin listener's queries, and the pages that they ask for.

use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use host_domain::account::is_organization_id;
use host_domain::console::TenantScope;
use host_domain::owner::{Mode, Tenant};
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const LIMIT_DEFAULT: u32 = 50;
const LIMIT_MAX: u32 = 500;

/// Filter of a list of what users own: watches or mandates. Absent fields mean any.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnedListQuery {
    /// `test`, the default, or `live`.
    pub(super) mode: Option<String>,
    pub(super) organization: Option<String>,
    pub(super) status: Option<String>,
    pub(super) user: Option<String>,
    /// The `next` of the previous page.
    pub(super) after: Option<String>,
    /// Maximum number of items, at most 500.
    pub(super) limit: Option<u32>,
}

/// Parses a parameter that may be left out.
pub(super) fn parse<T>(
    text: Option<String>,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, ApiError> {
    let value = text.map(|text| parse_required(&text, name, parse));
    value.transpose()
}

/// Parses a parameter that must be there.
pub(super) fn parse_required<T>(
    text: &str,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, ApiError> {
    parse(text).ok_or_else(|| {
        ApiError::from(ErrorCode::ValidationFailed).with_detail(format!("`{name}` is not valid"))
    })
}

/// Returns a text if it may be the id of an organization.
pub(super) fn organization_id(text: &str) -> Option<String> {
    is_organization_id(text).then(|| text.to_owned())
}

/// Returns the list of the organization that `organization` names, or `None` for all.
pub(super) fn organizations(organization: Option<String>) -> Result<Option<Vec<String>>, ApiError> {
    let organization = parse(organization, "organization", organization_id)?;
    Ok(organization.map(|organization| vec![organization]))
}

/// Returns a text to search for if it has no control characters, which no stored text has, and which
/// PostgreSQL may refuse.
pub(super) fn search_text(text: &str) -> Option<String> {
    let is_text = !text.chars().any(char::is_control);
    is_text.then(|| text.to_owned())
}

/// Returns the tenant that `organization` and `mode` name, test mode unless it is set.
pub(super) fn tenant(organization: &str, mode: Option<String>) -> Result<Tenant, ApiError> {
    Ok(Tenant {
        organization: parse_required(organization, "organization", organization_id)?,
        mode: parse(mode, "mode", Mode::parse)?.unwrap_or(Mode::Test),
    })
}

/// Returns the scope that `organization` and `mode` name: all organizations, and test mode, unless
/// they are set.
pub(super) fn tenant_scope(
    organization: Option<String>,
    mode: Option<String>,
) -> Result<TenantScope, ApiError> {
    Ok(TenantScope {
        organizations: organizations(organization)?,
        mode: parse(mode, "mode", Mode::parse)?.unwrap_or(Mode::Test),
    })
}

/// Returns the page that `after` and `limit` name.
pub(super) fn page_request(
    after: Option<String>,
    limit: Option<u32>,
) -> Result<CursorRequest, ApiError> {
    Ok(CursorRequest {
        after: parse(after, "after", Cursor::parse)?,
        limit: limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX),
    })
}

/// Renders a page of a list. `next` is the `after` of the next page.
pub(super) fn page_json<T: Serialize>(page: CursorPage<T>) -> Json<Value> {
    let next = page.next.map(|next| next.to_string());
    Json(json!({ "data": page.items, "next": next }))
}

/// Adds the members of an object to another one.
pub(super) fn with_members(mut object: Value, members: Value) -> Value {
    if let (Value::Object(own), Value::Object(added)) = (&mut object, members) {
        own.extend(added);
    }
    object
}
