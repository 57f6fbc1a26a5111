//! Accounts of people on the admin listener. Paths name an account by its e-mail address.

use crate::admin::actor::AdminActor;
use crate::admin::parameter::{organization_id, parse, parse_required};
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, State};
use host_application::account::service::{
    AccountError, AccountService, AccountSummary, SetupLinkError,
};
use host_application::config::DashboardConfig;
use host_domain::account::{AccountRole, EmailAddress, OrganizationRole};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// A new account.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAccountRequest {
    email: String,
    /// At most one role of operators, and one for each organization.
    #[serde(default)]
    roles: Vec<RoleRequest>,
}

/// A role: `operator` without an organization, or `admin`, `developer` or `viewer` in one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleRequest {
    organization: Option<String>,
    role: String,
}

/// The role to remove: that of operators, or the one in an organization.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleRemovalRequest {
    organization: Option<String>,
}

/// `GET /accounts`: lists all accounts, ordered by address.
pub(super) async fn list(
    State(accounts): State<Arc<AccountService>>,
) -> Result<Json<Value>, ApiError> {
    let found = accounts.list().await.map_err(ApiError::from_storage)?;
    let found: Vec<Value> = found.iter().map(AccountSummary::to_json).collect();
    Ok(Json(json!({ "data": found })))
}

/// `POST /accounts`: creates an account and returns the link that sets its password, valid once for
/// 24 hours.
pub(super) async fn create(
    State(accounts): State<Arc<AccountService>>,
    State(dashboard): State<DashboardConfig>,
    AdminActor(actor): AdminActor,
    Json(request): Json<NewAccountRequest>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let email = new_email(&request.email)?;
    let roles = parse_roles(request.roles)?;
    // A link that nobody learns would be of no use.
    let links = accounts.setup_links(&dashboard).await?;
    let token = accounts.create(&actor, &email, roles).await?;
    let created = json!({ "email": email.as_str(), "link": links.url(&token) });
    Ok((StatusCode::CREATED, Json(json!({ "data": created }))))
}

/// `POST /accounts/{email}/disable`: the account's sessions and links end at once.
pub(super) async fn disable(
    State(accounts): State<Arc<AccountService>>,
    Path(email): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let email = email_in_path(&email)?;
    accounts.disable(&actor, &email).await?;
    let disabled = json!({ "email": email.as_str(), "state": "disabled" });
    Ok(Json(json!({ "data": disabled })))
}

/// `POST /accounts/{email}/reset`: removes password, second factor and single sign-on, and returns a
/// link that sets a new password. A disabled account is enabled by it.
pub(super) async fn reset(
    State(accounts): State<Arc<AccountService>>,
    State(dashboard): State<DashboardConfig>,
    Path(email): Path<String>,
    AdminActor(actor): AdminActor,
) -> Result<Json<Value>, ApiError> {
    let email = email_in_path(&email)?;
    let links = accounts.setup_links(&dashboard).await?;
    let token = accounts.reset(&actor, &email).await?;
    let reset = json!({ "email": email.as_str(), "link": links.url(&token) });
    Ok(Json(json!({ "data": reset })))
}

/// `POST /accounts/{email}/set-role`: gives a role, which replaces the account's role in the same
/// organization.
pub(super) async fn set_role(
    State(accounts): State<Arc<AccountService>>,
    Path(email): Path<String>,
    AdminActor(actor): AdminActor,
    Json(request): Json<RoleRequest>,
) -> Result<Json<Value>, ApiError> {
    let (email, role) = (email_in_path(&email)?, parse_role(request)?);
    let changed = accounts.set_role(&actor, &email, &role).await?;
    Ok(Json(json!({ "data": changed.to_json() })))
}

/// `POST /accounts/{email}/remove-role`: takes a role away.
pub(super) async fn remove_role(
    State(accounts): State<Arc<AccountService>>,
    Path(email): Path<String>,
    AdminActor(actor): AdminActor,
    Json(request): Json<RoleRemovalRequest>,
) -> Result<Json<Value>, ApiError> {
    let email = email_in_path(&email)?;
    let organization = parse(request.organization, "organization", organization_id)?;
    let changed = accounts.remove_role(&actor, &email, organization.as_deref());
    let changed = changed.await?;
    Ok(Json(json!({ "data": changed.to_json() })))
}

/// Parses the address of somebody who may have no account.
pub(super) fn new_email(text: &str) -> Result<EmailAddress, ApiError> {
    parse_required(text, "email", |text| EmailAddress::parse(text).ok())
}

fn email_in_path(text: &str) -> Result<EmailAddress, ApiError> {
    EmailAddress::parse(text).map_err(|_| AccountError::NotFound.into())
}

/// Parses the roles of a new account, of which there is at most one for each organization.
fn parse_roles(requests: Vec<RoleRequest>) -> Result<Vec<AccountRole>, ApiError> {
    let mut roles: Vec<AccountRole> = Vec::new();
    for request in requests {
        let role = parse_role(request)?;
        let mut held = roles.iter().map(AccountRole::organization);
        if held.any(|organization| organization == role.organization()) {
            return Err(ApiError::from(ErrorCode::ValidationFailed)
                .with_detail("`roles` has two roles in one organization"));
        }
        roles.push(role);
    }
    Ok(roles)
}

fn parse_role(request: RoleRequest) -> Result<AccountRole, ApiError> {
    let Some(organization) = request.organization else {
        let operator = |text: &str| (text == "operator").then_some(AccountRole::Operator);
        return parse_required(&request.role, "role", operator);
    };
    Ok(AccountRole::Organization {
        organization: parse_required(&organization, "organization", organization_id)?,
        role: parse_required(&request.role, "role", OrganizationRole::parse)?,
    })
}

impl From<AccountError> for ApiError {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::NotFound => Self::from(ErrorCode::NotFound),
            AccountError::Exists | AccountError::NoRole => Self::from(ErrorCode::AccountConflict),
            AccountError::Contended(_) => Self::from(ErrorCode::Overloaded),
            AccountError::Random(_) => return Self::internal(error),
            AccountError::Storage(failure) => return Self::from_storage(failure),
        }
        .with_detail(error.to_string())
    }
}

impl From<SetupLinkError> for ApiError {
    fn from(error: SetupLinkError) -> Self {
        match error {
            SetupLinkError::NotServed => {
                Self::from(ErrorCode::NotFound).with_detail(error.to_string())
            }
            SetupLinkError::Storage(failure) => Self::from_storage(failure),
        }
    }
}
