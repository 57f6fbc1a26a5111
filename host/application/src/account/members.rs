//! Members of organizations and the invitations to them. Members belong to both modes of an
//! organization.

use crate::account::secret::RandomSourceFailure;
use crate::account::setup::add_invitation_in;
use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::conflict_backoff::{ConflictBackoff, DeadlinePassed};
use crate::deadline::Deadline;
use crate::storage_failure::StorageFailure;
use host_domain::account::{
    AccountRole, AccountState, EmailAddress, OrganizationRole, is_organization_id,
};
use host_domain::audit::{Actor, AuditAction};
use host_domain::id::AccountId;
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::time::Timestamp;
use host_storage::{CommitError, Conflict, DatabaseError, Member, StoredAccountLink};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::time::Duration;

/// Maximum number of invitations that are listed. They last 24 hours.
const INVITATIONS_MAX: u32 = 200;

/// Time in which concurrent changes of a member must have ended.
const CHANGE_TIME_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum MembershipError {
    #[error("the organization has no such member")]
    NoMember,
    #[error("an organization's id is 1 to 64 of [A-Za-z0-9._-]")]
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

impl From<DatabaseError> for MembershipError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CommitError> for MembershipError {
    fn from(error: CommitError) -> Self {
        Self::Storage(error.into())
    }
}

/// An account with its role in one organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberSummary {
    pub organization: String,
    pub account: AccountId,
    pub email: EmailAddress,
    pub state: AccountState,
    pub role: OrganizationRole,
    pub joined_at: Timestamp,
    /// Time of the last sign-in.
    pub signed_in_at: Option<Timestamp>,
}

impl From<Member> for MemberSummary {
    fn from(stored: Member) -> Self {
        Self {
            organization: stored.organization,
            account: stored.account,
            email: stored.email,
            state: stored.state,
            role: stored.role,
            joined_at: stored.joined_at,
            signed_in_at: stored.signed_in_at,
        }
    }
}

/// An invitation that can be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenInvitation {
    pub organization: String,
    pub email: EmailAddress,
    pub role: OrganizationRole,
    pub expires_at: Timestamp,
}

impl MemberSummary {
    /// Returns the form in which the admin listener and the command line show a member.
    pub fn to_json(&self) -> Value {
        json!({
            "organization": self.organization,
            "account": self.account.as_str(),
            "email": self.email.as_str(),
            "state": self.state.as_str(),
            "role": self.role.as_str(),
            "joined_at": self.joined_at.to_string(),
            "signed_in_at": self.signed_in_at.map(|at| at.to_string()),
        })
    }
}

impl OpenInvitation {
    /// Returns the form in which the admin listener and the command line show an invitation.
    pub fn to_json(&self) -> Value {
        json!({
            "organization": self.organization,
            "email": self.email.as_str(),
            "role": self.role.as_str(),
            "expires_at": self.expires_at.to_string(),
        })
    }
}

/// Lists, invites, changes and removes members of any organization.
pub struct MemberService {
    base: Base,
}

impl MemberService {
    pub fn new(base: Base) -> Self {
        Self { base }
    }

    /// Returns a page of the members of these organizations, or of all, the last joined one first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list(
        &self,
        organizations: Option<&[String]>,
        page: &CursorRequest,
    ) -> Result<CursorPage<MemberSummary>, DatabaseError> {
        let found = self.base.store.member_page(organizations, page).await?;
        Ok(found.map(MemberSummary::from))
    }

    /// Returns the open invitations to these organizations, or to all, ordered by organization and
    /// address, at most 200.
    ///
    /// # Errors
    /// The database failed.
    pub async fn invitations(
        &self,
        organizations: Option<&[String]>,
    ) -> Result<Vec<OpenInvitation>, DatabaseError> {
        let (store, now) = (&self.base.store, self.base.now());
        let links = store.invitations(organizations, now, INVITATIONS_MAX);
        Ok(links.await?.into_iter().filter_map(invitation).collect())
    }

    /// Returns a member of an organization.
    ///
    /// # Errors
    /// [`MembershipError::NoMember`] or [`MembershipError::Storage`].
    pub async fn find(
        &self,
        organization: &str,
        account: &AccountId,
    ) -> Result<MemberSummary, MembershipError> {
        Ok(self.find_stored(organization, account).await?.into())
    }

    /// Returns the account with an address, as the methods for members take it.
    ///
    /// # Errors
    /// [`MembershipError::NoMember`] or [`MembershipError::Storage`].
    pub async fn account_of(&self, email: &EmailAddress) -> Result<AccountId, MembershipError> {
        let account = self.base.store.account_by_email(email).await?;
        account
            .map(|account| account.id)
            .ok_or(MembershipError::NoMember)
    }

    async fn find_stored(
        &self,
        organization: &str,
        account: &AccountId,
    ) -> Result<Member, MembershipError> {
        let member = self.base.store.member(organization, account).await?;
        member.ok_or(MembershipError::NoMember)
    }

    /// Invites an address to an organization. Returns the token of the link with which its owner
    /// joins. Earlier invitations of the address to the organization are revoked.
    ///
    /// # Errors
    /// [`MembershipError::InvalidOrganization`], [`MembershipError::AlreadyMember`],
    /// [`MembershipError::Random`] or [`MembershipError::Storage`].
    pub async fn invite(
        &self,
        actor: &Actor,
        organization: &str,
        email: &EmailAddress,
        role: OrganizationRole,
    ) -> Result<SecretString, MembershipError> {
        if !is_organization_id(organization) {
            return Err(MembershipError::InvalidOrganization);
        }
        let account = self.base.store.account_by_email(email).await?;
        let roles = account.map(|account| account.roles).unwrap_or_default();
        if (roles.iter()).any(|held| held.organization() == Some(organization)) {
            return Err(MembershipError::AlreadyMember);
        }
        let mut write = self.base.unit_of_work();
        let token = add_invitation_in(&mut write, &self.base, organization, email, role)?;
        let change = AuditChange::new(AuditAction::MemberInvited, email.as_str());
        let change = change.of_organization(organization);
        let after = json!({ "role": role.as_str() });
        audit_in(&mut write, &self.base, actor, change.after(after));
        self.base.store.commit(write).await?;
        Ok(token)
    }

    /// Revokes the open invitation of an address to an organization. Returns `false` if there is none;
    /// nothing is recorded then.
    ///
    /// # Errors
    /// [`MembershipError::Storage`].
    pub async fn revoke_invitation(
        &self,
        actor: &Actor,
        organization: &str,
        email: &EmailAddress,
    ) -> Result<bool, MembershipError> {
        let mut write = self.base.unit_of_work();
        write.revoke_open_invitation(organization, email);
        let change = AuditChange::new(AuditAction::MemberInvitationRevoked, email.as_str());
        let change = change.of_organization(organization);
        audit_in(&mut write, &self.base, actor, change);
        let conflict = Conflict::AccountLinkUsed;
        Ok(self.base.commit_unless(conflict, write).await?)
    }

    /// Changes the role of a member and returns the member. If an admin loses the role, the unused
    /// invitations to the organization are revoked.
    ///
    /// # Errors
    /// [`MembershipError::NoMember`]; [`MembershipError::LastAdmin`] if no admin who can sign in
    /// would remain; [`MembershipError::Contended`] or [`MembershipError::Storage`].
    pub async fn set_role(
        &self,
        actor: &Actor,
        organization: &str,
        account: &AccountId,
        role: OrganizationRole,
    ) -> Result<MemberSummary, MembershipError> {
        let member = self.change(actor, organization, account, Some(role));
        Ok(MemberSummary {
            role,
            ..member.await?.into()
        })
    }

    /// Removes a member, as [`MemberService::set_role`] for the invitations of an admin. The account
    /// and its roles in other organizations remain.
    ///
    /// # Errors
    /// As [`MemberService::set_role`].
    pub async fn remove(
        &self,
        actor: &Actor,
        organization: &str,
        account: &AccountId,
    ) -> Result<(), MembershipError> {
        let removed = self.change(actor, organization, account, None).await;
        removed.map(|_| ())
    }

    /// Gives a member a role, or removes the member if it is `None`. Returns the member as it was.
    /// Repeats the change if the members changed meanwhile.
    async fn change(
        &self,
        actor: &Actor,
        organization: &str,
        account: &AccountId,
        role: Option<OrganizationRole>,
    ) -> Result<Member, MembershipError> {
        let store = &self.base.store;
        let mut backoff = ConflictBackoff::new(Deadline::from_now(CHANGE_TIME_MAX));
        loop {
            let member = self.find_stored(organization, account).await?;
            if role == Some(member.role) {
                return Ok(member);
            }
            if member.role == OrganizationRole::Admin
                && !store.has_other_admin(organization, account).await?
            {
                return Err(MembershipError::LastAdmin);
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
            audit_in(&mut write, &self.base, actor, change);
            let conflict = Conflict::MemberChanged;
            if self.base.commit_unless(conflict, write).await? {
                return Ok(member);
            }
            backoff.wait(self.base.ids.as_ref()).await?;
        }
    }
}

/// Returns the invitation of a link, which has an organization, an address and one role.
fn invitation(link: StoredAccountLink) -> Option<OpenInvitation> {
    let role = link.roles.first().and_then(|role| match role {
        AccountRole::Operator => None,
        AccountRole::Organization { role, .. } => Some(*role),
    });
    Some(OpenInvitation {
        organization: link.organization?,
        email: link.email?,
        role: role?,
        expires_at: link.expires_at,
    })
}
