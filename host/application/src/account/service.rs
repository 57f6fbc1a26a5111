//! Accounts as operators manage them.

use crate::account::audited::{audit_account_in, audit_roles_in};
use crate::account::lockout::clear_failures_in;
use crate::account::secret::RandomSourceFailure;
use crate::account::setup::{add_link_in, end_first_link_in, invited_account};
use crate::base::Base;
use crate::config::DashboardConfig;
use crate::conflict_backoff::{ConflictBackoff, DeadlinePassed};
use crate::deadline::Deadline;
use crate::storage_failure::StorageFailure;
use host_domain::account::{AccountRole, AccountState, EmailAddress, OrganizationRole};
use host_domain::audit::{Actor, AuditAction};
use host_domain::id::AccountId;
use host_domain::time::Timestamp;
use host_storage::{CommitError, Conflict, DatabaseError, StoredAccount, UnitOfWork};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::time::Duration;

/// Time in which concurrent changes of an account must have ended.
const CHANGE_TIME_MAX: Duration = Duration::from_secs(10);

/// Name of the stored URL with which links to the dashboard begin.
const LINK_BASE: &str = "dashboard_url";

#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    #[error("there is no account with this address")]
    NotFound,
    #[error("an account with this address exists")]
    Exists,
    #[error("the account does not have this role")]
    NoRole,
    #[error(transparent)]
    Contended(#[from] DeadlinePassed),
    #[error(transparent)]
    Random(#[from] RandomSourceFailure),
    #[error("the account could not be read or stored")]
    Storage(#[from] StorageFailure),
}

impl From<DatabaseError> for AccountError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CommitError> for AccountError {
    fn from(error: CommitError) -> Self {
        match error.conflict() {
            Some(Conflict::AccountExists) => Self::Exists,
            _ => Self::Storage(error.into()),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SetupLinkError {
    #[error("the dashboard has no listener; set dashboard.listen or dashboard.public_url")]
    NotServed,
    #[error(transparent)]
    Storage(#[from] StorageFailure),
}

/// Makes links to the dashboard's set-up page, which sets up accounts and accepts invitations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupLinks {
    /// Without a trailing slash.
    base_url: String,
}

impl SetupLinks {
    /// Returns the link with a token. Whoever has it can use it.
    pub fn url(&self, token: &SecretString) -> String {
        format!("{}/setup/{}", self.base_url, token.expose_secret())
    }
}

/// An account without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSummary {
    pub id: AccountId,
    pub email: EmailAddress,
    pub state: AccountState,
    pub roles: Vec<AccountRole>,
    pub created_at: Timestamp,
    /// Time of the last sign-in.
    pub signed_in_at: Option<Timestamp>,
}

impl AccountSummary {
    /// Returns the form in which the admin listener and the command line show an account.
    pub fn to_json(&self) -> Value {
        let roles = self.roles.iter().map(|role| match role {
            AccountRole::Operator => json!({ "organization": null, "role": "operator" }),
            AccountRole::Organization { organization, role } => {
                json!({ "organization": organization, "role": role.as_str() })
            }
        });
        json!({
            "id": self.id.as_str(),
            "email": self.email.as_str(),
            "state": self.state.as_str(),
            "roles": roles.collect::<Vec<Value>>(),
            "created_at": self.created_at.to_string(),
            "signed_in_at": self.signed_in_at.map(|at| at.to_string()),
        })
    }
}

impl From<StoredAccount> for AccountSummary {
    fn from(stored: StoredAccount) -> Self {
        Self {
            id: stored.id,
            email: stored.email,
            state: stored.state,
            roles: stored.roles,
            created_at: stored.created_at,
            signed_in_at: stored.signed_in_at,
        }
    }
}

/// Creates, lists, disables and resets accounts, and changes their roles.
pub struct AccountService {
    base: Base,
}

impl AccountService {
    pub fn new(base: Base) -> Self {
        Self { base }
    }

    /// Stores the URL under which a gateway serves the dashboard, so that commands that run beside
    /// it make links to the same address.
    ///
    /// # Errors
    /// The database failed.
    pub async fn set_link_base(&self, url: &str) -> Result<(), StorageFailure> {
        let stored = self.base.store.set_setting(LINK_BASE, url.as_bytes());
        Ok(stored.await?)
    }

    /// Returns the beginning of links to the dashboard: the configured public URL, else the address
    /// at which a gateway with this database served the dashboard last, else the configured address.
    ///
    /// # Errors
    /// [`SetupLinkError`].
    pub async fn setup_links(
        &self,
        dashboard: &DashboardConfig,
    ) -> Result<SetupLinks, SetupLinkError> {
        if let Some(origin) = dashboard.public_origin() {
            return Ok(SetupLinks { base_url: origin });
        }
        let stored = self.base.store.setting(LINK_BASE).await;
        let stored = stored.map_err(StorageFailure::from)?;
        let served = stored.and_then(|url| String::from_utf8(url).ok());
        let configured = || dashboard.listen.map(|address| dashboard.base_url(address));
        let base_url = served.or_else(configured);
        let base_url = base_url.ok_or(SetupLinkError::NotServed)?;
        Ok(SetupLinks { base_url })
    }

    /// Returns all accounts, ordered by address.
    pub async fn list(&self) -> Result<Vec<AccountSummary>, StorageFailure> {
        let stored = self.base.store.accounts().await?;
        Ok(stored.into_iter().map(AccountSummary::from).collect())
    }

    /// Creates an account and returns the token of the link that sets it up. There is at most one
    /// role for each organization.
    ///
    /// # Errors
    /// [`AccountError::Exists`] if the address has an account.
    pub async fn create(
        &self,
        actor: &Actor,
        email: &EmailAddress,
        roles: Vec<AccountRole>,
    ) -> Result<SecretString, AccountError> {
        let id = AccountId::from_bits(self.base.ids.generate());
        let account = invited_account(id, email.clone(), roles, self.base.now());
        let mut write = self.base.unit_of_work();
        write.insert_account(&account);
        let (action, accounts) = (AuditAction::AccountCreated, (None, &account));
        audit_account_in(&mut write, &self.base, actor, action, accounts, describe);
        let token = add_link_in(&mut write, &self.base, Some(email), Vec::new())?;
        self.base.store.commit(write).await?;
        Ok(token)
    }

    /// Disables an account. Its sessions end, and its link is revoked, as are the unused invitations of
    /// organizations whose admin it is. A reset enables it again. Disabling it again changes nothing.
    ///
    /// # Errors
    /// [`AccountError::NotFound`].
    pub async fn disable(&self, actor: &Actor, email: &EmailAddress) -> Result<(), AccountError> {
        let disable = |write: &mut UnitOfWork, account: &mut StoredAccount| {
            if account.state == AccountState::Disabled {
                return Ok(());
            }
            account.state = AccountState::Disabled;
            write.revoke_account_links(Some(email));
            revoke_invitations_of_lost_in(write, &account.roles, &[]);
            Ok(())
        };
        self.change(actor, AuditAction::AccountDisabled, email, disable)
            .await
    }

    /// Removes the password, the second factor and the single sign-on of an account and ends its
    /// sessions, so that nobody who could sign in before still can. Lifts the account's lock. Returns the token of the link that
    /// sets a new password; earlier links are revoked.
    ///
    /// # Errors
    /// [`AccountError::NotFound`].
    pub async fn reset(
        &self,
        actor: &Actor,
        email: &EmailAddress,
    ) -> Result<SecretString, AccountError> {
        let reset = |write: &mut UnitOfWork, account: &mut StoredAccount| {
            account.state = AccountState::Invited;
            account.password_hash = None;
            write.delete_second_factor(&account.id);
            write.delete_account_identities(&account.id);
            clear_failures_in(write, email);
            add_link_in(write, &self.base, Some(email), Vec::new())
        };
        self.change(actor, AuditAction::AccountReset, email, reset)
            .await
    }

    /// Gives an account a role: that of operators, or one in an organization, which replaces the
    /// account's previous one there. Open invitations of the address to the organization are revoked.
    /// Unlike [`MemberService::set_role`](crate::account::members::MemberService::set_role), this may
    /// leave an organization without an admin. Returns the account.
    ///
    /// # Errors
    /// [`AccountError::NotFound`], [`AccountError::Contended`] or [`AccountError::Storage`].
    pub async fn set_role(
        &self,
        actor: &Actor,
        email: &EmailAddress,
        role: &AccountRole,
    ) -> Result<AccountSummary, AccountError> {
        let organization = role.organization();
        let set = |write: &mut UnitOfWork, roles: &mut Vec<AccountRole>| {
            roles.retain(|held| held.organization() != organization);
            roles.push(role.clone());
            if let Some(organization) = organization {
                write.revoke_invitations(organization, email);
            }
            Ok(())
        };
        self.change_roles(actor, email, set).await
    }

    /// Takes the role of operators from an account, or its role in an organization. If an admin loses
    /// the role, the unused invitations to the organization are revoked. This may leave an
    /// organization without an admin, and the installation without an operator. Returns the account.
    ///
    /// # Errors
    /// [`AccountError::NotFound`], [`AccountError::NoRole`], [`AccountError::Contended`] or
    /// [`AccountError::Storage`].
    pub async fn remove_role(
        &self,
        actor: &Actor,
        email: &EmailAddress,
        organization: Option<&str>,
    ) -> Result<AccountSummary, AccountError> {
        let remove = |_: &mut UnitOfWork, roles: &mut Vec<AccountRole>| {
            let before = roles.len();
            roles.retain(|held| held.organization() != organization);
            match roles.len() < before {
                true => Ok(()),
                false => Err(AccountError::NoRole),
            }
        };
        self.change_roles(actor, email, remove).await
    }

    /// Changes the roles of an account. Its sessions continue with the new roles. Repeats the change
    /// if the account or its roles changed meanwhile.
    async fn change_roles(
        &self,
        actor: &Actor,
        email: &EmailAddress,
        change: impl Fn(&mut UnitOfWork, &mut Vec<AccountRole>) -> Result<(), AccountError>,
    ) -> Result<AccountSummary, AccountError> {
        let mut backoff = ConflictBackoff::new(Deadline::from_now(CHANGE_TIME_MAX));
        loop {
            let account = self.base.store.account_by_email(email).await?;
            let account = account.ok_or(AccountError::NotFound)?;
            let mut changed = account.clone();
            let mut write = self.base.unit_of_work();
            change(&mut write, &mut changed.roles)?;
            (changed.roles).sort_by(|a, b| a.organization().cmp(&b.organization()));
            if changed.roles == account.roles {
                return Ok(account.into());
            }
            revoke_invitations_of_lost_in(&mut write, &account.roles, &changed.roles);
            if changed.state == AccountState::Active {
                end_first_link_in(&mut write, &changed);
            }
            write.set_account_roles(&account.id, &account.roles, &changed.roles);
            audit_roles_in(
                &mut write,
                &self.base,
                actor,
                (&account, &changed),
                describe,
            );
            let conflict = Conflict::AccountVersion;
            if self.base.commit_unless(conflict, write).await? {
                return Ok(changed.into());
            }
            backoff.wait(self.base.ids.as_ref()).await?;
        }
    }

    /// Changes an account and ends its sessions, unless there is nothing to change. Repeats the change if the account changed
    /// meanwhile.
    async fn change<T>(
        &self,
        actor: &Actor,
        action: AuditAction,
        email: &EmailAddress,
        change: impl Fn(&mut UnitOfWork, &mut StoredAccount) -> Result<T, RandomSourceFailure>,
    ) -> Result<T, AccountError> {
        let mut backoff = ConflictBackoff::new(Deadline::from_now(CHANGE_TIME_MAX));
        loop {
            let account = self.base.store.account_by_email(email).await?;
            let mut account = account.ok_or(AccountError::NotFound)?;
            let (read_version, before) = (account.version, account.clone());
            let mut write = self.base.unit_of_work();
            let result = change(&mut write, &mut account)?;
            if write.is_empty() && account == before {
                return Ok(result);
            }
            account.session_epoch += 1;
            account.updated_at = self.base.now();
            account.version += 1;
            write.update_account(&account, read_version);
            write.delete_sessions(&account.id);
            let accounts = (Some(&before), &account);
            audit_account_in(&mut write, &self.base, actor, action, accounts, describe);
            let conflict = Conflict::AccountVersion;
            if self.base.commit_unless(conflict, write).await? {
                return Ok(result);
            }
            backoff.wait(self.base.ids.as_ref()).await?;
        }
    }
}

/// Returns the properties of an account that the audit log has.
fn describe(account: &StoredAccount) -> Value {
    json!({
        "email": account.email,
        "state": account.state,
        "roles": account.roles,
        "has_password": account.password_hash.is_some(),
    })
}

/// Adds the revocation of the unused invitations to organizations in which an account loses the role
/// of an admin. Otherwise the person could come back by an invitation to another address.
pub(super) fn revoke_invitations_of_lost_in(
    write: &mut UnitOfWork,
    before: &[AccountRole],
    after: &[AccountRole],
) {
    for role in before.iter().filter(|role| !after.contains(role)) {
        match role {
            AccountRole::Organization {
                organization,
                role: OrganizationRole::Admin,
            } => {
                write.revoke_all_invitations(organization);
            }
            AccountRole::Organization {
                role: OrganizationRole::Developer | OrganizationRole::Viewer,
                ..
            }
            | AccountRole::Operator => {}
        }
    }
}
