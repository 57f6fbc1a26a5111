//! Members of organizations as admins manage them.

use crate::account::secret::RandomSourceFailure;
use crate::account::setup::add_invitation_in;
use crate::account::viewer::Viewer;
use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::conflict_backoff::{ConflictBackoff, DeadlinePassed};
use crate::console::access::AccessError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::deadline::Deadline;
use crate::storage_failure::StorageFailure;
use host_domain::account::{
    AccountRole, EmailAddress, OrganizationRole, Permission, is_organization_id,
};
use host_domain::audit::AuditAction;
use host_domain::id::AccountId;
use host_domain::time::Timestamp;
use host_storage::{CommitError, Conflict, DatabaseError, Member, StoredAccountLink};
use secrecy::SecretString;
use serde_json::json;
use std::time::Duration;

/// Maximum number of invitations that are shown. They last 24 hours.
const INVITATIONS_MAX: u32 = 200;

/// Time in which concurrent changes of a member must have ended.
const CHANGE_TIME_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("not an organization's id")]
    InvalidOrganization,
    #[error("the person is a member of the organization already")]
    AlreadyMember,
    /// No admin who can sign in would remain. Invited and disabled accounts do not count.
    #[error("the organization would have no admin")]
    LastAdmin,
    #[error(transparent)]
    Contended(#[from] DeadlinePassed),
    #[error(transparent)]
    Random(#[from] RandomSourceFailure),
    #[error("the members could not be read or stored")]
    Storage(#[from] StorageFailure),
}

impl From<DatabaseError> for MemberError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CommitError> for MemberError {
    fn from(error: CommitError) -> Self {
        Self::Storage(error.into())
    }
}

/// A member as a person sees it.
#[derive(Debug, Clone)]
pub struct MemberView {
    pub member: Member,
    /// Whether the person may change the role and remove the member.
    pub can_manage: bool,
}

/// An invitation that can be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    pub organization: String,
    pub email: EmailAddress,
    pub role: OrganizationRole,
    pub expires_at: Timestamp,
    /// Whether the person may revoke the invitation.
    pub can_manage: bool,
}

#[derive(Debug, Clone)]
pub struct MemberList {
    pub list: ConsoleList<MemberView>,
    /// The open invitations to the organizations of the list.
    pub invitations: Vec<Invitation>,
}

/// Lists, invites, changes and removes members within the roles of a person. Members belong to
/// both modes of an organization.
pub struct ConsoleMembers {
    pub(crate) base: Base,
}

impl ConsoleMembers {
    /// Returns a page of members, the last joined one first, and the open invitations.
    ///
    /// # Errors
    /// [`MemberError::Access`] if the organization is somebody else's.
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<()>,
    ) -> Result<MemberList, MemberError> {
        let scope = viewer.scope(request.organization.as_deref())?;
        let (store, now) = (&self.base.store, self.base.now());
        let (organizations, page) = (scope.organizations.as_deref(), request.page());
        let (members, links, organizations) = futures::try_join!(
            store.member_page(organizations, &page),
            store.invitations(organizations, now, INVITATIONS_MAX),
            readable_organizations(store, viewer),
        )?;
        let list = ConsoleList {
            page: members.map(|member| view(viewer, member)),
            organizations,
        };
        let invitations = links
            .into_iter()
            .filter_map(|link| invitation(viewer, link))
            .collect();
        Ok(MemberList { list, invitations })
    }

    /// Returns a member of an organization.
    ///
    /// # Errors
    /// [`MemberError::Access`] or [`MemberError::Storage`].
    pub async fn find(
        &self,
        viewer: &Viewer,
        organization: &str,
        account: &AccountId,
    ) -> Result<MemberView, MemberError> {
        viewer.require(Permission::Read, organization)?;
        let member = self.base.store.member(organization, account).await?;
        let member = member.ok_or(AccessError::NotFound)?;
        Ok(view(viewer, member))
    }

    /// Invites an address to an organization. Returns the token of the link with which its owner
    /// joins. Earlier invitations of the address to the organization are revoked.
    ///
    /// # Errors
    /// [`MemberError`].
    pub async fn invite(
        &self,
        viewer: &Viewer,
        organization: &str,
        email: &EmailAddress,
        role: OrganizationRole,
    ) -> Result<SecretString, MemberError> {
        viewer.require(Permission::ManageMembers, organization)?;
        if !is_organization_id(organization) {
            return Err(MemberError::InvalidOrganization);
        }
        let account = self.base.store.account_by_email(email).await?;
        let roles = account.map(|account| account.roles).unwrap_or_default();
        if roles.iter().any(|held| is_role_in(held, organization)) {
            return Err(MemberError::AlreadyMember);
        }
        let mut write = self.base.unit_of_work();
        let token = add_invitation_in(&mut write, &self.base, organization, email, role)?;
        let change = AuditChange::new(AuditAction::MemberInvited, email.as_str());
        let change = change.of_organization(organization);
        let after = json!({ "role": role.as_str() });
        audit_in(&mut write, &self.base, &viewer.actor(), change.after(after));
        self.base.store.commit(write).await?;
        Ok(token)
    }

    /// Revokes the open invitation of an address to an organization. Returns `false` if there is none;
    /// nothing is recorded then.
    ///
    /// # Errors
    /// [`MemberError::Access`] or [`MemberError::Storage`].
    pub async fn revoke_invitation(
        &self,
        viewer: &Viewer,
        organization: &str,
        email: &EmailAddress,
    ) -> Result<bool, MemberError> {
        viewer.require(Permission::ManageMembers, organization)?;
        let (store, now) = (&self.base.store, self.base.now());
        if !store.has_invitation(organization, email, now).await? {
            return Ok(false);
        }
        let mut write = self.base.unit_of_work();
        write.revoke_invitations(organization, email);
        let change = AuditChange::new(AuditAction::MemberInvitationRevoked, email.as_str());
        let change = change.of_organization(organization);
        audit_in(&mut write, &self.base, &viewer.actor(), change);
        self.base.store.commit(write).await?;
        Ok(true)
    }

    /// Changes the role of a member. If an admin loses the role, the unused invitations to the
    /// organization are revoked.
    ///
    /// # Errors
    /// [`MemberError::LastAdmin`] if no admin who can sign in would remain; [`MemberError::Access`],
    /// [`MemberError::Contended`] or [`MemberError::Storage`].
    pub async fn set_role(
        &self,
        viewer: &Viewer,
        organization: &str,
        account: &AccountId,
        role: OrganizationRole,
    ) -> Result<(), MemberError> {
        self.change(viewer, organization, account, Some(role)).await
    }

    /// Removes a member, as [`ConsoleMembers::set_role`] for the invitations of an admin. The account and
    /// its roles in other organizations remain.
    ///
    /// # Errors
    /// As [`ConsoleMembers::set_role`].
    pub async fn remove(
        &self,
        viewer: &Viewer,
        organization: &str,
        account: &AccountId,
    ) -> Result<(), MemberError> {
        self.change(viewer, organization, account, None).await
    }

    /// Gives a member a role, or removes the member if it is `None`. Repeats the change if the
    /// members changed meanwhile.
    async fn change(
        &self,
        viewer: &Viewer,
        organization: &str,
        account: &AccountId,
        role: Option<OrganizationRole>,
    ) -> Result<(), MemberError> {
        viewer.require(Permission::ManageMembers, organization)?;
        let store = &self.base.store;
        let mut backoff = ConflictBackoff::new(Deadline::from_now(CHANGE_TIME_MAX));
        loop {
            let member = store.member(organization, account).await?;
            let member = member.ok_or(AccessError::NotFound)?;
            if role == Some(member.role) {
                return Ok(());
            }
            if member.role == OrganizationRole::Admin
                && !store.has_other_admin(organization, account).await?
            {
                return Err(MemberError::LastAdmin);
            }
            let mut write = self.base.unit_of_work();
            let action = match role {
                Some(role) => {
                    write.set_member_role(&member, role);
                    AuditAction::MemberRoleChanged
                }
                None => {
                    write.delete_member(&member);
                    AuditAction::MemberRemoved
                }
            };
            if member.role == OrganizationRole::Admin {
                // Otherwise the person could come back by an invitation to another address.
                write.revoke_all_invitations(organization);
            }
            let state = |role: OrganizationRole| json!({ "email": member.email.as_str(), "role": role.as_str() });
            let change = AuditChange::new(action, account.as_str()).of_organization(organization);
            let change = change.before(state(member.role));
            let change = match role {
                Some(role) => change.after(state(role)),
                None => change,
            };
            audit_in(&mut write, &self.base, &viewer.actor(), change);
            let conflict = Conflict::MemberChanged;
            if self.base.commit_unless(conflict, write).await? {
                return Ok(());
            }
            backoff.wait(self.base.ids.as_ref()).await?;
        }
    }
}

fn view(viewer: &Viewer, member: Member) -> MemberView {
    MemberView {
        can_manage: can_manage(viewer, &member.organization),
        member,
    }
}

fn can_manage(viewer: &Viewer, organization: &str) -> bool {
    let required = viewer.require(Permission::ManageMembers, organization);
    required.is_ok()
}

/// Returns the invitation of a link, which has an organization, an address and one role.
fn invitation(viewer: &Viewer, link: StoredAccountLink) -> Option<Invitation> {
    let organization = link.organization?;
    let role = link.roles.first().and_then(|role| match role {
        AccountRole::Operator => None,
        AccountRole::Organization { role, .. } => Some(*role),
    });
    Some(Invitation {
        can_manage: can_manage(viewer, &organization),
        organization,
        email: link.email?,
        role: role?,
        expires_at: link.expires_at,
    })
}

fn is_role_in(role: &AccountRole, organization: &str) -> bool {
    match role {
        AccountRole::Operator => false,
        AccountRole::Organization {
            organization: own, ..
        } => own == organization,
    }
}
