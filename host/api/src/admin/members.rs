//! Members of all organizations and the invitations to them, on the admin listener. Members belong
//! to both modes of an organization.

use crate::admin::accounts::new_email;
use crate::admin::actor::AdminActor;
use crate::admin::parameter::{
    organization_id, organizations, page_json, page_request, parse_required,
};
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use crate::response::NoContent;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::account::members::{MemberService, MembershipError, OpenInvitation};
use host_application::account::service::AccountService;
use host_application::config::DashboardConfig;
use host_domain::account::OrganizationRole;
use host_domain::id::AccountId;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Filter of the members.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MembersQuery {
    organization: Option<String>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of members, at most 500.
    limit: Option<u32>,
}

/// Filter of the invitations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InvitationsQuery {
    organization: Option<String>,
}

/// A new invitation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewInvitationRequest {
    organization: String,
    email: String,
    /// `admin`, `developer` or `viewer`.
    role: String,
}

/// The invitation to revoke.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InvitationRequest {
    organization: String,
    email: String,
}

/// The new role of a member.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberRoleRequest {
    /// `admin`, `developer` or `viewer`.
    role: String,
}

/// `GET /members`: lists members, the last joined one first.
pub(super) async fn list(
    State(members): State<Arc<MemberService>>,
    Query(query): Query<MembersQuery>,
) -> Result<Json<Value>, ApiError> {
    let organizations = organizations(query.organization)?;
    let page = page_request(query.after, query.limit)?;
    let found = members.list(organizations.as_deref(), &page).await;
    let found = found.map_err(ApiError::from_storage)?;
    Ok(page_json(found.map(|member| member.to_json())))
}

/// `GET /members/invitations`: lists the open invitations by organization and address, at most 200.
pub(super) async fn list_invitations(
    State(members): State<Arc<MemberService>>,
    Query(query): Query<InvitationsQuery>,
) -> Result<Json<Value>, ApiError> {
    let organizations = organizations(query.organization)?;
    let found = members.invitations(organizations.as_deref()).await;
    let found = found.map_err(ApiError::from_storage)?;
    let found: Vec<Value> = found.iter().map(OpenInvitation::to_json).collect();
    Ok(Json(json!({ "data": found })))
}

/// `POST /members/invitations`: invites an address and returns the link with which its owner joins,
/// valid once for 24 hours.
pub(super) async fn invite(
    State(members): State<Arc<MemberService>>,
    State(accounts): State<Arc<AccountService>>,
    State(dashboard): State<DashboardConfig>,
    AdminActor(actor): AdminActor,
    Json(request): Json<NewInvitationRequest>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let (email, role) = (new_email(&request.email)?, parse_role(&request.role)?);
    let organization = parse_required(&request.organization, "organization", organization_id)?;
    // A link that nobody learns would be of no use.
    let links = accounts.setup_links(&dashboard).await?;
    let token = members.invite(&actor, &organization, &email, role).await?;
    let invited = json!({
        "organization": organization,
        "email": email.as_str(),
        "role": role.as_str(),
        "link": links.url(&token),
    });
    Ok((StatusCode::CREATED, Json(json!({ "data": invited }))))
}

/// `POST /members/invitations/revoke`
pub(super) async fn revoke_invitation(
    State(members): State<Arc<MemberService>>,
    AdminActor(actor): AdminActor,
    Json(request): Json<InvitationRequest>,
) -> Result<NoContent, ApiError> {
    let email = new_email(&request.email)?;
    let organization = parse_required(&request.organization, "organization", organization_id)?;
    let revoked = members.revoke_invitation(&actor, &organization, &email);
    if !revoked.await? {
        let detail = "the organization has no open invitation of this address";
        return Err(ApiError::from(ErrorCode::NotFound).with_detail(detail));
    }
    Ok(NoContent)
}

/// `GET /members/{organization}/{account}`
pub(super) async fn show(
    State(members): State<Arc<MemberService>>,
    Path((organization, account)): Path<(String, String)>,
) -> Result<Json<Value>, ApiError> {
    let (organization, account) = parse_ids(&organization, &account)?;
    let found = members.find(&organization, &account).await?;
    Ok(Json(json!({ "data": found.to_json() })))
}

/// `PATCH /members/{organization}/{account}`: changes the role of a member.
pub(super) async fn set_role(
    State(members): State<Arc<MemberService>>,
    Path((organization, account)): Path<(String, String)>,
    AdminActor(actor): AdminActor,
    Json(request): Json<MemberRoleRequest>,
) -> Result<Json<Value>, ApiError> {
    let (organization, account) = parse_ids(&organization, &account)?;
    let role = parse_role(&request.role)?;
    let changed = members.set_role(&actor, &organization, &account, role);
    Ok(Json(json!({ "data": changed.await?.to_json() })))
}

/// `DELETE /members/{organization}/{account}`: removes a member. The account remains.
pub(super) async fn remove(
    State(members): State<Arc<MemberService>>,
    Path((organization, account)): Path<(String, String)>,
    AdminActor(actor): AdminActor,
) -> Result<NoContent, ApiError> {
    let (organization, account) = parse_ids(&organization, &account)?;
    members.remove(&actor, &organization, &account).await?;
    Ok(NoContent)
}

/// Parses the organization and the account of a path.
fn parse_ids(organization: &str, account: &str) -> Result<(String, AccountId), ApiError> {
    let organization = organization_id(organization).ok_or(MembershipError::NoMember)?;
    let account = AccountId::parse(account).map_err(|_| MembershipError::NoMember)?;
    Ok((organization, account))
}

fn parse_role(text: &str) -> Result<OrganizationRole, ApiError> {
    parse_required(text, "role", OrganizationRole::parse)
}

impl From<MembershipError> for ApiError {
    fn from(error: MembershipError) -> Self {
        match error {
            MembershipError::NoMember => Self::from(ErrorCode::NotFound),
            MembershipError::InvalidOrganization => Self::from(ErrorCode::ValidationFailed),
            MembershipError::AlreadyMember | MembershipError::LastAdmin => {
                Self::from(ErrorCode::AccountConflict)
            }
            MembershipError::Contended(_) => Self::from(ErrorCode::Overloaded),
            MembershipError::Random(_) => return Self::internal(error),
            MembershipError::Storage(failure) => return Self::from_storage(failure),
        }
        .with_detail(error.to_string())
    }
}
