//! Members of organizations as admins manage them.

use crate::account::members::{MemberService, MemberSummary, MembershipError, OpenInvitation};
use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use host_domain::account::{EmailAddress, OrganizationRole, Permission};
use host_domain::id::AccountId;
use host_domain::time::Timestamp;
use host_storage::DatabaseError;
use secrecy::SecretString;

#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    Membership(MembershipError),
}

impl From<DatabaseError> for MemberError {
    fn from(error: DatabaseError) -> Self {
        Self::Membership(error.into())
    }
}

impl From<MembershipError> for MemberError {
    fn from(error: MembershipError) -> Self {
        match error {
            MembershipError::NoMember => AccessError::NotFound.into(),
            error => Self::Membership(error),
        }
    }
}

/// A member as a person sees it.
#[derive(Debug, Clone)]
pub struct MemberView {
    pub member: MemberSummary,
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
    base: Base,
    members: MemberService,
}

impl ConsoleMembers {
    pub(crate) fn new(base: &Base) -> Self {
        Self {
            base: base.clone(),
            members: MemberService::new(base.clone()),
        }
    }

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
        let (organizations, page) = (scope.organizations.as_deref(), request.page());
        let (members, invitations, organizations) = futures::try_join!(
            self.members.list(organizations, &page),
            self.members.invitations(organizations),
            readable_organizations(&self.base.store, viewer),
        )?;
        let list = ConsoleList {
            page: members.map(|member| view(viewer, member)),
            organizations,
        };
        let invitations = invitations.into_iter();
        let invitations = invitations.map(|open| invitation(viewer, open)).collect();
        Ok(MemberList { list, invitations })
    }

    /// Returns a member of an organization.
    ///
    /// # Errors
    /// [`MemberError::Access`] or [`MembershipError::Storage`].
    pub async fn find(
        &self,
        viewer: &Viewer,
        organization: &str,
        account: &AccountId,
    ) -> Result<MemberView, MemberError> {
        viewer.require(Permission::Read, organization)?;
        let member = self.members.find(organization, account).await?;
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
        let (members, actor) = (&self.members, viewer.actor());
        Ok(members.invite(&actor, organization, email, role).await?)
    }

    /// Revokes the open invitation of an address to an organization. Returns `false` if there is none;
    /// nothing is recorded then.
    ///
    /// # Errors
    /// [`MemberError::Access`] or [`MembershipError::Storage`].
    pub async fn revoke_invitation(
        &self,
        viewer: &Viewer,
        organization: &str,
        email: &EmailAddress,
    ) -> Result<bool, MemberError> {
        viewer.require(Permission::ManageMembers, organization)?;
        let (members, actor) = (&self.members, viewer.actor());
        Ok(members
            .revoke_invitation(&actor, organization, email)
            .await?)
    }

    /// Changes the role of a member. If an admin loses the role, the unused invitations to the
    /// organization are revoked.
    ///
    /// # Errors
    /// [`MembershipError::LastAdmin`] if no admin who can sign in would remain; [`MemberError::Access`],
    /// [`MembershipError::Contended`] or [`MembershipError::Storage`].
    pub async fn set_role(
        &self,
        viewer: &Viewer,
        organization: &str,
        account: &AccountId,
        role: OrganizationRole,
    ) -> Result<(), MemberError> {
        viewer.require(Permission::ManageMembers, organization)?;
        let (members, actor) = (&self.members, viewer.actor());
        members
            .set_role(&actor, organization, account, role)
            .await?;
        Ok(())
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
        viewer.require(Permission::ManageMembers, organization)?;
        let (members, actor) = (&self.members, viewer.actor());
        Ok(members.remove(&actor, organization, account).await?)
    }
}

fn view(viewer: &Viewer, member: MemberSummary) -> MemberView {
    MemberView {
        can_manage: can_manage(viewer, &member.organization),
        member,
    }
}

fn can_manage(viewer: &Viewer, organization: &str) -> bool {
    let required = viewer.require(Permission::ManageMembers, organization);
    required.is_ok()
}

fn invitation(viewer: &Viewer, open: OpenInvitation) -> Invitation {
    Invitation {
        can_manage: can_manage(viewer, &open.organization),
        organization: open.organization,
        email: open.email,
        role: open.role,
        expires_at: open.expires_at,
    }
}
