//! Links with which a person sets the password of an account or joins an organization. A link is
//! valid once, for 24 hours.
//!
//! An invitation never sets the password of an account that exists: the admin who makes the link
//! would otherwise get the other roles of the account. Its owner signs in and accepts.

use crate::account::failure::convert_shared_failures;
use crate::account::lockout::clear_failures_in;
use crate::account::password::{HashingQueue, check_new_password};
use crate::account::secret::{RandomSourceFailure, digest_token, generate_token};
use crate::account::session::{NewSession, SessionService};
use crate::account::viewer::{ClientInfo, Viewer, account_actor};
use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use host_domain::account::{
    AccountRole, AccountState, EmailAddress, InvalidEmailAddress, OrganizationRole, PasswordProblem,
};
use host_domain::audit::{Actor, AuditAction};
use host_domain::id::AccountId;
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use host_storage::{
    CommitError, Conflict, PasswordHash, StoredAccount, StoredAccountLink, UnitOfWork,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::sync::Arc;

/// Time for which a link is valid.
const LINK_TTL_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The link is unknown, was used or revoked, or has expired. Callers do not learn which.
    #[error("the link is not valid")]
    NotFound,
    #[error(transparent)]
    Email(#[from] InvalidEmailAddress),
    #[error("an account with this address exists")]
    EmailTaken,
    /// The invited person has an account and must sign in to it before accepting.
    #[error("the invitation is for another account")]
    OtherAccount,
    #[error(transparent)]
    Password(#[from] PasswordProblem),
    #[error("too many people set a password at the same time; try again later")]
    Busy,
    #[error("the account could not be read or stored")]
    Storage(#[from] StorageFailure),
    /// A defect.
    #[error(transparent)]
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

convert_shared_failures!(SetupError);

impl From<CommitError> for SetupError {
    fn from(error: CommitError) -> Self {
        match error.conflict() {
            // Whatever changes an invited account revokes its links too, and a member has no use
            // for an invitation.
            Some(Conflict::AccountLinkUsed | Conflict::AccountVersion | Conflict::MemberExists) => {
                Self::NotFound
            }
            Some(Conflict::AccountExists) => Self::EmailTaken,
            _ => Self::Storage(error.into()),
        }
    }
}

/// The account that a link sets up, or the organization that its owner joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkDescription {
    /// The account's address. `None` if the person chooses one.
    pub email: Option<EmailAddress>,
    /// The roles that the account gets.
    pub roles: Vec<AccountRole>,
    /// The organization that the owner of an existing account is invited to.
    pub joins: Option<String>,
}

/// Sets up accounts.
pub struct SetupService {
    pub(super) base: Base,
    pub(super) hashing: Arc<HashingQueue>,
    pub(super) sessions: Arc<SessionService>,
}

impl SetupService {
    /// Makes the link of the first account, which gets these roles and the address that the person
    /// chooses. Earlier links of this kind are revoked. The link ends when an operator can sign in.
    /// Returns `None` if one already can.
    ///
    /// # Errors
    /// [`SetupError::Storage`] or [`SetupError::Internal`].
    pub async fn create_first_link(
        &self,
        roles: Vec<AccountRole>,
    ) -> Result<Option<SecretString>, SetupError> {
        if self.base.store.has_active_operator().await? {
            return Ok(None);
        }
        let mut write = self.base.unit_of_work();
        let token = add_link_in(&mut write, &self.base, None, roles)?;
        self.base.store.commit(write).await?;
        Ok(Some(token))
    }

    /// Returns the account that a link sets up.
    ///
    /// # Errors
    /// [`SetupError::NotFound`] or [`SetupError::Storage`].
    pub async fn describe(&self, token: &str) -> Result<LinkDescription, SetupError> {
        let link = self.find_link(token).await?;
        let (roles, joins) = match (&link.email, link.organization) {
            (Some(email), Some(organization)) => {
                let account = self.base.store.account_by_email(email).await?;
                (link.roles, account.map(|_| organization))
            }
            (Some(email), None) => (self.find_invited(email).await?.roles, None),
            (None, _) => (link.roles, None),
        };
        Ok(LinkDescription {
            email: link.email,
            roles,
            joins,
        })
    }

    /// Gives the role of an invitation to the account that it was made for.
    ///
    /// # Errors
    /// [`SetupError::NotFound`] if the link is not valid, is no invitation, or the person is a member
    /// already; [`SetupError::OtherAccount`] or [`SetupError::Storage`].
    pub async fn accept(&self, token: &str, viewer: &Viewer) -> Result<(), SetupError> {
        let link = self.find_link(token).await?;
        if link.organization.is_none() {
            return Err(SetupError::NotFound);
        }
        if link.email.as_ref() != Some(&viewer.email) {
            return Err(SetupError::OtherAccount);
        }
        let mut write = self.base.unit_of_work();
        write.use_account_link(&digest_token(token));
        for role in &link.roles {
            if let AccountRole::Organization { organization, role } = role {
                write.insert_member(organization, &viewer.account, *role);
            }
        }
        join_in(&mut write, &self.base, &viewer.actor(), &link.roles);
        self.base.store.commit(write).await?;
        Ok(())
    }

    /// Uses a link: sets the password of its account, and begins a session. The address is used
    /// only if the link has none.
    ///
    /// # Errors
    /// [`SetupError`]. Except after [`SetupError::NotFound`], the link remains valid.
    pub async fn complete(
        &self,
        token: &str,
        email: &str,
        password: SecretString,
        client: &ClientInfo,
    ) -> Result<NewSession, SetupError> {
        let link = self.find_link(token).await?;
        let email = match &link.email {
            Some(email) => email.clone(),
            None => EmailAddress::parse(email)?,
        };
        check_new_password(&password, &email)?;
        let permit = self.hashing.enter().await?;
        let (permit, hash) = permit.hash(password).await?;
        drop(permit);
        let mut write = self.base.unit_of_work();
        write.use_account_link(&digest_token(token));
        // Nobody has recorded yet that the person is a member.
        let joins = link.organization.is_some() || link.email.is_none();
        let account = self.set_up_in(&mut write, link, email, hash).await?;
        let actor = account_actor(&account.id, &account.email, client.address);
        let change = AuditChange::new(AuditAction::AccountSetUp, account.id.as_str());
        audit_in(&mut write, &self.base, &actor, change);
        if joins {
            join_in(&mut write, &self.base, &actor, &account.roles);
        }
        let session = self
            .sessions
            .begin_in(&mut write, &account, client, Mode::Test)?;
        write.record_sign_in(&account.id);
        clear_failures_in(&mut write, &account.email);
        self.base.store.commit(write).await?;
        tracing::info!(account = %account.id, session = %session.id, "an account was set up");
        Ok(session)
    }

    async fn find_link(&self, token: &str) -> Result<StoredAccountLink, SetupError> {
        let link = self.base.store.account_link(&digest_token(token)).await?;
        let now = self.base.now();
        let valid = link.filter(|link| link.used_at.is_none() && now < link.expires_at);
        valid.ok_or(SetupError::NotFound)
    }

    async fn find_invited(&self, email: &EmailAddress) -> Result<StoredAccount, SetupError> {
        let account = self.base.store.account_by_email(email).await?;
        let invited = account.filter(|account| account.state == AccountState::Invited);
        invited.ok_or(SetupError::NotFound)
    }

    /// Adds the account with its password to a write: the account that the link was made for, or a
    /// new one. An invitation only makes new ones.
    async fn set_up_in(
        &self,
        write: &mut UnitOfWork,
        link: StoredAccountLink,
        email: EmailAddress,
        hash: PasswordHash,
    ) -> Result<StoredAccount, SetupError> {
        let now = self.base.now();
        if link.email.is_none() || link.organization.is_some() {
            let id = AccountId::from_bits(self.base.ids.generate());
            let account = StoredAccount {
                state: AccountState::Active,
                password_hash: Some(hash),
                ..invited_account(id, email, link.roles, now)
            };
            end_first_link_in(write, &account);
            write.insert_account(&account);
            return Ok(account);
        }
        let invited = self.find_invited(&email).await?;
        let account = StoredAccount {
            state: AccountState::Active,
            password_hash: Some(hash),
            session_epoch: invited.session_epoch + 1,
            updated_at: now,
            version: invited.version + 1,
            ..invited
        };
        end_first_link_in(write, &account);
        write.update_account(&account, invited.version);
        Ok(account)
    }
}

/// Adds the audit entries of the organizations that the owner of a link joins.
fn join_in(write: &mut UnitOfWork, base: &Base, actor: &Actor, roles: &[AccountRole]) {
    for role in roles {
        if let AccountRole::Organization { organization, role } = role {
            let change = AuditChange::new(AuditAction::MemberJoined, &actor.id);
            let change = change.of_organization(organization);
            let after = json!({ "email": actor.name, "role": role.as_str() });
            audit_in(write, base, actor, change.after(after));
        }
    }
}

/// Returns a new account without a password.
pub(super) fn invited_account(
    id: AccountId,
    email: EmailAddress,
    roles: Vec<AccountRole>,
    now: Timestamp,
) -> StoredAccount {
    StoredAccount {
        id,
        email,
        state: AccountState::Invited,
        password_hash: None,
        session_epoch: 1,
        roles,
        created_at: now,
        updated_at: now,
        signed_in_at: None,
        version: 1,
    }
}

/// Adds to a write that an account can sign in. If it is an operator, the links without an address
/// end, which set up the first one. They are revoked before the account is stored, in the order of
/// [`SetupService::complete`]: otherwise the two could lock each other's rows in PostgreSQL.
pub(super) fn end_first_link_in(write: &mut UnitOfWork, account: &StoredAccount) {
    if account.roles.contains(&AccountRole::Operator) {
        write.revoke_account_links(None);
    }
}

/// Adds a link to a write and returns its token. Unused links of the same address, or the others
/// without an address, are revoked. `roles` are those of an account that the link creates.
pub(super) fn add_link_in(
    write: &mut UnitOfWork,
    base: &Base,
    email: Option<&EmailAddress>,
    roles: Vec<AccountRole>,
) -> Result<SecretString, RandomSourceFailure> {
    write.revoke_account_links(email);
    insert_link_in(write, &new_link(base, email, roles))
}

/// Adds the invitation of an address to a write and returns its token. Earlier invitations of the
/// address to the organization are revoked.
pub(crate) fn add_invitation_in(
    write: &mut UnitOfWork,
    base: &Base,
    organization: &str,
    email: &EmailAddress,
    role: OrganizationRole,
) -> Result<SecretString, RandomSourceFailure> {
    let organization = organization.to_owned();
    write.revoke_invitations(&organization, email);
    let role = AccountRole::Organization {
        organization: organization.clone(),
        role,
    };
    let link = StoredAccountLink {
        organization: Some(organization),
        ..new_link(base, Some(email), vec![role])
    };
    insert_link_in(write, &link)
}

fn new_link(
    base: &Base,
    email: Option<&EmailAddress>,
    roles: Vec<AccountRole>,
) -> StoredAccountLink {
    let now = base.now();
    StoredAccountLink {
        email: email.cloned(),
        roles,
        organization: None,
        created_at: now,
        expires_at: now.plus_ms(LINK_TTL_MS),
        used_at: None,
    }
}

fn insert_link_in(
    write: &mut UnitOfWork,
    link: &StoredAccountLink,
) -> Result<SecretString, RandomSourceFailure> {
    let token = generate_token()?;
    write.insert_account_link(link, &digest_token(token.expose_secret()));
    Ok(token)
}
