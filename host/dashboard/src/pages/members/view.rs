//! Contents of the pages of members, and the fields of the form that invites.

use crate::form::{FormFields, FormProblems, own_organization};
use crate::list::{FilterForm, FilterOption, ListAddress, Pager};
use crate::page::PageContext;
use crate::query::QueryFields;
use crate::state::DashboardSettings;
use crate::text::{State, TimeText};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::console::members::{Invitation, MemberList, MemberView};
use host_domain::account::{AccountState, EmailAddress, OrganizationRole, Permission};
use host_domain::time::Timestamp;
use secrecy::{ExposeSecret, SecretString};

/// Reads the list from its query, or from that of a page or form which leads back to it.
pub(super) fn list_address(query: &QueryFields) -> ListAddress {
    ListAddress::read("/members", &["organization"], query)
}

#[derive(Template)]
#[template(path = "members.html")]
pub(super) struct MembersPage {
    pub(super) page: PageContext,
    pub(super) invited: Option<NewInvitation>,
    /// `None` if the person may invite nobody.
    pub(super) form: Option<InvitationForm>,
    pub(super) list: ListAddress,
    pub(super) filter: FilterForm,
    pub(super) pager: Pager,
    pub(super) show_organization: bool,
    pub(super) rows: Vec<MemberRow>,
    pub(super) invitations: Vec<InvitationRow>,
}

impl MembersPage {
    /// Returns whether a row has the button that opens the dialog.
    fn can_manage_any(&self) -> bool {
        self.rows.iter().any(|row| row.can_manage)
    }

    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        found: MemberList,
        now: Timestamp,
    ) -> Self {
        let MemberList { list, invitations } = found;
        let filtered = query.text("organization").to_owned();
        let may_invite = match filtered.as_str() {
            "" => viewer.may_anywhere(Permission::ManageMembers),
            named => viewer.require(Permission::ManageMembers, named).is_ok(),
        };
        let form = may_invite.then(|| InvitationForm::new(viewer, &list.organizations, &filtered));
        // No two fields of the page have the same label.
        let label = match form.as_ref().is_some_and(InvitationForm::asks_organization) {
            true => "Members of",
            false => "Organization",
        };
        let several = viewer.reads_several_organizations();
        let filter = FilterForm::builder("/members", query)
            .organization_labelled(label, several, &list.organizations)
            .build();
        Self {
            page: page.titled("Members").about(&filtered),
            invited: None,
            form,
            list: list_address(query),
            pager: filter.pager(list.page.next.as_ref()),
            filter,
            show_organization: several,
            rows: list
                .page
                .items
                .into_iter()
                .map(|member| MemberRow::new(member, now))
                .collect(),
            invitations: invitations
                .into_iter()
                .map(|invitation| InvitationRow::new(invitation, now))
                .collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "member.html")]
pub(super) struct MemberPage {
    pub(super) page: PageContext,
    /// The list to which the page leads back.
    pub(super) list: ListAddress,
    pub(super) alert: Option<&'static str>,
    pub(super) member: MemberRow,
    /// The problem of the role.
    pub(super) form: FormProblems,
    pub(super) is_confirming: bool,
}

impl MemberPage {
    pub(super) fn new(
        page: PageContext,
        query: &QueryFields,
        found: MemberView,
        now: Timestamp,
    ) -> Self {
        let member = MemberRow::new(found, now);
        Self {
            page: page
                .titled(format!("Member {}", member.email))
                .about(&member.organization),
            list: list_address(query),
            alert: None,
            form: FormProblems::default(),
            is_confirming: false,
            member,
        }
    }
}

/// The link of an invitation that was just made. It is shown once.
pub(super) struct NewInvitation {
    pub(super) email: String,
    pub(super) link: String,
}

impl NewInvitation {
    pub(super) fn new(
        settings: &DashboardSettings,
        email: &EmailAddress,
        token: &SecretString,
    ) -> Self {
        Self {
            email: email.to_string(),
            link: format!("{}/setup/{}", settings.base_url, token.expose_secret()),
        }
    }
}

pub(super) struct MemberRow {
    /// Id of the element that names the member.
    pub(super) id: String,
    pub(super) path: String,
    pub(super) email: String,
    pub(super) organization: String,
    pub(super) role: &'static str,
    pub(super) roles: Vec<FilterOption>,
    /// The state of an account that cannot sign in.
    pub(super) state: Option<State>,
    pub(super) joined: TimeText,
    pub(super) signed_in: Option<TimeText>,
    pub(super) can_manage: bool,
}

impl MemberRow {
    fn new(view: MemberView, now: Timestamp) -> Self {
        let member = view.member;
        Self {
            id: format!("member-{}-{}", member.organization, member.account),
            path: format!("/members/{}/{}", member.organization, member.account),
            email: member.email.to_string(),
            organization: member.organization,
            role: role_label(member.role),
            roles: role_options(member.role.as_str()),
            state: account_state(member.state),
            joined: TimeText::new(member.joined_at, now),
            signed_in: member.signed_in_at.map(|at| TimeText::new(at, now)),
            can_manage: view.can_manage,
        }
    }
}

pub(super) struct InvitationRow {
    pub(super) email: String,
    pub(super) organization: String,
    pub(super) role: &'static str,
    pub(super) expires: TimeText,
    pub(super) can_manage: bool,
}

impl InvitationRow {
    fn new(invitation: Invitation, now: Timestamp) -> Self {
        Self {
            email: invitation.email.to_string(),
            organization: invitation.organization,
            role: role_label(invitation.role),
            expires: TimeText::new(invitation.expires_at, now),
            can_manage: invitation.can_manage,
        }
    }
}

/// The form that invites a person.
pub(super) struct InvitationForm {
    pub(super) alert: Option<&'static str>,
    pub(super) email: String,
    pub(super) roles: Vec<FilterOption>,
    pub(super) organization: String,
    /// The organizations to which the person may invite, as far as they are known.
    pub(super) organizations: Vec<String>,
    /// The person may name any organization.
    pub(super) is_operator: bool,
    pub(super) problems: FormProblems,
}

impl InvitationForm {
    fn new(viewer: &Viewer, readable: &[String], filtered: &str) -> Self {
        let managed = viewer.organizations_with(Permission::ManageMembers);
        let organizations = managed.unwrap_or_else(|| readable.to_vec());
        Self {
            alert: None,
            email: String::new(),
            roles: role_options(OrganizationRole::Viewer.as_str()),
            organization: Self::organization(viewer, filtered),
            organizations,
            is_operator: viewer.is_operator(),
            problems: FormProblems::default(),
        }
    }

    /// Returns whether the form has the field "Organization".
    fn asks_organization(&self) -> bool {
        self.is_operator || self.organizations.len() > 1
    }

    /// Returns the form as it was sent, with its problems.
    pub(super) fn sent(self, fields: &FormFields, problems: FormProblems) -> Self {
        let organization = match fields.text("organization") {
            "" => self.organization,
            sent => sent.to_owned(),
        };
        Self {
            alert: Some("Nobody was invited. Correct the marked fields."),
            email: fields.text("email").to_owned(),
            roles: role_options(fields.text("role")),
            organization,
            problems,
            ..self
        }
    }

    /// Returns the organization that was sent, or else one of which the person is admin. The form of
    /// a person with one organization has no field for it.
    pub(super) fn organization(viewer: &Viewer, sent: &str) -> String {
        let sent = sent.trim();
        if !sent.is_empty() {
            return sent.to_owned();
        }
        let own = own_organization(viewer, Permission::ManageMembers);
        own.unwrap_or_default().to_owned()
    }
}

fn role_options(chosen: &str) -> Vec<FilterOption> {
    let options = OrganizationRole::ALL.into_iter().map(|role| FilterOption {
        value: role.as_str().to_owned(),
        label: role_label(role).to_owned(),
        is_chosen: role.as_str() == chosen,
    });
    options.collect()
}

fn role_label(role: OrganizationRole) -> &'static str {
    match role {
        OrganizationRole::Viewer => "Viewer",
        OrganizationRole::Developer => "Developer",
        OrganizationRole::Admin => "Admin",
    }
}

fn account_state(state: AccountState) -> Option<State> {
    let (tone, label) = match state {
        AccountState::Active => return None,
        AccountState::Invited => ("wait", "Not set up"),
        AccountState::Disabled => ("bad", "Disabled"),
    };
    Some(State { tone, label })
}
