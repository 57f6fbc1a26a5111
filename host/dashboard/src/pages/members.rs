//! `/members`: the people of an organization and the invitations to it.

mod view;

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::members::view::{
    InvitationForm, MemberPage, MembersPage, NewInvitation, list_address,
};
use crate::path_text::PairInPath;
use crate::query::QueryFields;
use crate::render::{redirect, render, render_with};
use crate::state::{DashboardSettings, DashboardState};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::account::members::MembershipError;
use host_application::account::viewer::Viewer;
use host_application::console::members::{ConsoleMembers, MemberError};
use host_domain::account::{EmailAddress, OrganizationRole, Permission};
use host_domain::id::AccountId;
use host_domain::time::Clock;
use http::StatusCode;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/members", get(list).post(invite))
        .route("/members/invitations/revoke", post(revoke_invitation))
        .route("/members/{organization}/{account}", get(show))
        .route("/members/{organization}/{account}/role", post(set_role))
        .route("/members/{organization}/{account}/remove", post(remove))
}

impl From<MemberError> for PageError {
    fn from(error: MemberError) -> Self {
        match error {
            MemberError::Access(error) => error.into(),
            MemberError::Membership(MembershipError::Storage(failure)) => failure.into(),
            MemberError::Membership(MembershipError::Contended(_)) => Self::Unavailable,
            // The pages show the others beside the fields.
            MemberError::Membership(
                MembershipError::NoMember
                | MembershipError::InvalidOrganization
                | MembershipError::AlreadyMember
                | MembershipError::LastAdmin
                | MembershipError::Random(_),
            ) => Self::internal(error),
        }
    }
}

/// An organization and the account of a member.
type MemberInPath = PairInPath<String, AccountId>;

/// `GET /members`
async fn list(
    State(members): State<Arc<ConsoleMembers>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let members_page = load(&members, clock.as_ref(), &viewer, page, &query).await?;
    Ok(render(&members_page))
}

async fn load(
    members: &ConsoleMembers,
    clock: &dyn Clock,
    viewer: &Viewer,
    page: PageContext,
    query: &QueryFields,
) -> Result<MembersPage, PageError> {
    let request = query.list_request(())?;
    let found = members.list(viewer, &request).await?;
    Ok(MembersPage::new(page, viewer, query, found, clock.now()))
}

/// `POST /members`: shows the link of the invitation once, or the problems of the form, above the list
/// with the filter of the query.
async fn invite(
    State(members): State<Arc<ConsoleMembers>>,
    State(clock): State<Arc<dyn Clock>>,
    State(settings): State<Arc<DashboardSettings>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    if !viewer.may_anywhere(Permission::ManageMembers) {
        return Err(PageError::Forbidden);
    }
    let organization = InvitationForm::organization(&viewer, fields.text("organization"));
    viewer.require(Permission::ManageMembers, &organization)?;
    // The link is shown once, so nothing may fail after it is stored.
    let request = query.list_request(())?;
    viewer.scope(request.organization.as_deref())?;
    let mut problems = FormProblems::default();
    let invited = create_invitation(&members, &viewer, &settings, &fields, &mut problems).await?;
    let mut members_page = load(&members, clock.as_ref(), &viewer, page, &query).await?;
    if invited.is_some() {
        members_page.invited = invited;
        return Ok(render(&members_page));
    }
    members_page.form = members_page.form.map(|form| form.sent(&fields, problems));
    Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &members_page))
}

/// Creates an invitation. Returns `None` after adding the problems of the form.
async fn create_invitation(
    members: &ConsoleMembers,
    viewer: &Viewer,
    settings: &DashboardSettings,
    fields: &FormFields,
    problems: &mut FormProblems,
) -> Result<Option<NewInvitation>, PageError> {
    let email = EmailAddress::parse(fields.text("email")).ok();
    if email.is_none() {
        problems.add("email", "Enter a complete address, e.g. ada@example.com.");
    }
    let role = OrganizationRole::parse(fields.text("role"));
    if role.is_none() {
        problems.add("role", "Choose a role of the list.");
    }
    let organization = InvitationForm::organization(viewer, fields.text("organization"));
    let (Some(email), Some(role)) = (email, role) else {
        return Ok(None);
    };
    match members.invite(viewer, &organization, &email, role).await {
        Ok(token) => Ok(Some(NewInvitation::new(settings, &email, &token))),
        Err(MemberError::Membership(MembershipError::InvalidOrganization)) => {
            let rule = "Enter 1 to 64 letters, digits, dots, underscores or hyphens.";
            problems.add("organization", rule);
            Ok(None)
        }
        Err(MemberError::Membership(MembershipError::AlreadyMember)) => {
            problems.add("email", "This person is a member already.");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /members/invitations/revoke`: leads back to the list with the filter of the query.
async fn revoke_invitation(
    State(members): State<Arc<ConsoleMembers>>,
    SignedIn(viewer): SignedIn,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    let organization = fields.text("organization");
    viewer.require(Permission::ManageMembers, organization)?;
    let email = EmailAddress::parse(fields.text("email")).map_err(|_| PageError::NotFound)?;
    let revoked = members.revoke_invitation(&viewer, organization, &email);
    let notice = match revoked.await? {
        true => "invitation-revoked",
        false => "no-invitation",
    };
    Ok(redirect(&list_address(&query).path_with_notice(notice)))
}

/// `GET /members/{organization}/{account}`; with `?confirm=remove` the page asks whether to remove
/// the member.
async fn show(
    State(members): State<Arc<ConsoleMembers>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    PairInPath(organization, account): MemberInPath,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = members.find(&viewer, &organization, &account).await?;
    let is_confirming = query.confirms("remove");
    let mut member_page = MemberPage::new(page, &query, found, clock.now());
    member_page.is_confirming = is_confirming && member_page.member.can_manage;
    Ok(render(&member_page))
}

/// `POST /members/{organization}/{account}/role`: leads back to the list with the filter of the query.
async fn set_role(
    State(members): State<Arc<ConsoleMembers>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    PairInPath(organization, account): MemberInPath,
    page: PageContext,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    viewer.require(Permission::ManageMembers, &organization)?;
    let Some(role) = OrganizationRole::parse(fields.text("role")) else {
        let found = members.find(&viewer, &organization, &account).await?;
        let mut member_page = MemberPage::new(page, &query, found, clock.now());
        member_page.alert = Some("Nothing was changed. Correct the marked field.");
        member_page.form.add("role", "Choose a role of the list.");
        return Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &member_page));
    };
    let changed = members.set_role(&viewer, &organization, &account, role);
    match changed.await {
        Ok(()) => Ok(redirect(
            &list_address(&query).path_with_notice("member-changed"),
        )),
        Err(MemberError::Membership(MembershipError::LastAdmin)) => {
            let found = members.find(&viewer, &organization, &account).await?;
            Ok(last_admin(MemberPage::new(
                page,
                &query,
                found,
                clock.now(),
            )))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /members/{organization}/{account}/remove`: leads back to the list with the filter of the query.
async fn remove(
    State(members): State<Arc<ConsoleMembers>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    PairInPath(organization, account): MemberInPath,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    match members.remove(&viewer, &organization, &account).await {
        Ok(()) => Ok(redirect(
            &list_address(&query).path_with_notice("member-removed"),
        )),
        Err(MemberError::Membership(MembershipError::LastAdmin)) => {
            let found = members.find(&viewer, &organization, &account).await?;
            Ok(last_admin(MemberPage::new(
                page,
                &query,
                found,
                clock.now(),
            )))
        }
        Err(error) => Err(error.into()),
    }
}

fn last_admin(mut member_page: MemberPage) -> Response {
    let alert = "Nothing was changed, because the organization would have no admin who can sign in. Make somebody else admin first.";
    member_page.alert = Some(alert);
    render_with(StatusCode::CONFLICT, &member_page)
}
