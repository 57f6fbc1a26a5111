//! Accounts of people, their roles, and the links that set them up. Only digests of passwords and
//! links are stored.

use crate::statement::{Row, Statement, Value, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::account::{AccountRole, AccountState, EmailAddress, OrganizationRole};
use host_domain::id::AccountId;
use host_domain::time::Timestamp;
use std::fmt;

/// The role of operators in `account_role`. Its organization is empty.
const OPERATOR: &str = "operator";

/// The columns of an account joined to its roles, one row for each role, as [`read_accounts`] reads
/// them.
pub(crate) const ACCOUNT_COLUMNS: &str = "account.id AS account_id, account.email, account.state, \
    account.password_hash, account.session_epoch, account.created_at AS account_created_at, \
    account.updated_at, account.signed_in_at, account.version, \
    account_role.organization AS role_organization, COALESCE(account_role.role, '') AS role";

/// The hash of a password in PHC form. Its debug output does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[password hash]")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAccount {
    pub id: AccountId,
    pub email: EmailAddress,
    pub state: AccountState,
    /// `None` until the account is set up.
    pub password_hash: Option<PasswordHash>,
    /// Sessions of earlier epochs have ended.
    pub session_epoch: i64,
    /// Operator first, then by organization. At most one role for each organization.
    pub roles: Vec<AccountRole>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Time of the last sign-in.
    pub signed_in_at: Option<Timestamp>,
    pub version: i64,
}

/// A link with which a person sets the password of a new account, or of one that was reset, or joins
/// an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAccountLink {
    /// The account's address. `None` if the person who opens the link chooses one.
    pub email: Option<EmailAddress>,
    /// The roles of an account that the link creates, or the role that an invitation gives.
    pub roles: Vec<AccountRole>,
    /// The organization that the link invites to. Invitations have an address and one role.
    pub organization: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// Time at which the link was used or revoked.
    pub used_at: Option<Timestamp>,
}

impl UnitOfWork {
    /// Stores a new account with its roles. Fails with [`Conflict::AccountExists`] if the id or the
    /// address exists.
    pub fn insert_account(&mut self, account: &StoredAccount) -> &mut Self {
        let insert = statement!(
            "INSERT INTO account (id, email, state, password_hash, session_epoch, created_at, \
             updated_at, signed_in_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
             ON CONFLICT DO NOTHING",
            account.id.as_str(),
            account.email.as_str(),
            account.state.as_str(),
            hash_text(account),
            account.session_epoch,
            account.created_at,
            account.updated_at,
            account.signed_in_at,
            account.version,
        );
        self.add_expecting_one(insert, Conflict::AccountExists);
        for role in &account.roles {
            let insert = insert_role(&account.id, role, account.created_at);
            self.add_expecting_one(insert, Conflict::AccountExists);
        }
        self
    }

    /// Replaces the roles of an account that was read with the roles `before`. A role whose organization
    /// stays keeps the time since which the account is a member. Fails with
    /// [`Conflict::AccountVersion`] if the roles have changed.
    pub fn set_account_roles(
        &mut self,
        id: &AccountId,
        before: &[AccountRole],
        after: &[AccountRole],
    ) -> &mut Self {
        for role in (before.iter()).filter(|role| role_beside(after, role).is_none()) {
            let (organization, name) = role_columns(role);
            let delete = statement!(
                "DELETE FROM account_role \
                 WHERE account_id = $1 AND organization = $2 AND role = $3",
                id.as_str(),
                organization,
                name,
            );
            self.add_expecting_one(delete, Conflict::AccountVersion);
        }
        for role in after.iter().filter(|role| !before.contains(role)) {
            let change = match role_beside(before, role) {
                Some(held) => update_role(id, held, role),
                None => insert_role(id, role, self.now),
            };
            self.add_expecting_one(change, Conflict::AccountVersion);
        }
        self
    }

    /// Stores by which issuer and subject single sign-on knows an account. Fails with
    /// [`Conflict::AccountExists`] if they name an account.
    pub fn insert_account_identity(
        &mut self,
        issuer: &str,
        subject: &str,
        id: &AccountId,
    ) -> &mut Self {
        let insert = statement!(
            "INSERT INTO account_identity (issuer, subject, account_id, created_at) \
             VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            issuer,
            subject,
            id.as_str(),
            self.now,
        );
        self.add_expecting_one(insert, Conflict::AccountExists)
    }

    /// Ends single sign-on of an account, which then needs a password.
    pub fn delete_account_identities(&mut self, id: &AccountId) -> &mut Self {
        let delete = statement!(
            "DELETE FROM account_identity WHERE account_id = $1",
            id.as_str(),
        );
        self.add(delete)
    }

    /// Stores the state, the password and the session epoch of an account that was read at version
    /// `read_version`. Fails with [`Conflict::AccountVersion`] if the stored version is another one.
    pub fn update_account(&mut self, account: &StoredAccount, read_version: i64) -> &mut Self {
        let update = statement!(
            "UPDATE account SET state = $2, password_hash = $3, session_epoch = $4, \
             updated_at = $5, version = $6 WHERE id = $1 AND version = $7",
            account.id.as_str(),
            account.state.as_str(),
            hash_text(account),
            account.session_epoch,
            account.updated_at,
            account.version,
            read_version,
        );
        self.add_expecting_one(update, Conflict::AccountVersion)
    }

    /// Records a sign-in at the time of this unit of work. The version stays the same, because
    /// concurrent sign-ins do not contradict each other.
    pub fn record_sign_in(&mut self, id: &AccountId) -> &mut Self {
        let update = statement!(
            "UPDATE account SET signed_in_at = $2 WHERE id = $1",
            id.as_str(),
            self.now,
        );
        self.add(update)
    }

    /// Stores a link with the SHA-256 digest of its token.
    pub fn insert_account_link(
        &mut self,
        link: &StoredAccountLink,
        sha256: &[u8; 32],
    ) -> &mut Self {
        let roles = self.encode_json(&link.roles);
        let insert = statement!(
            "INSERT INTO account_link (sha256, email, roles, organization, created_at, \
             expires_at, used_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            sha256.as_slice(),
            link.email.as_ref().map(EmailAddress::as_str),
            roles,
            link.organization.as_deref(),
            link.created_at,
            link.expires_at,
            link.used_at,
        );
        self.add(insert)
    }

    /// Uses a link. Fails with [`Conflict::AccountLinkUsed`] if it was used, has expired or does not
    /// exist: of several concurrent uses, one succeeds.
    pub fn use_account_link(&mut self, sha256: &[u8; 32]) -> &mut Self {
        let update = statement!(
            "UPDATE account_link SET used_at = $2 \
             WHERE sha256 = $1 AND used_at IS NULL AND expires_at > $2",
            sha256.as_slice(),
            self.now,
        );
        self.add_expecting_one(update, Conflict::AccountLinkUsed)
    }

    /// Revokes the unused links of an address, or those without an address.
    pub fn revoke_account_links(&mut self, email: Option<&EmailAddress>) -> &mut Self {
        let update = match email {
            Some(email) => statement!(
                "UPDATE account_link SET used_at = $1 WHERE used_at IS NULL AND email = $2",
                self.now,
                email.as_str(),
            ),
            None => statement!(
                "UPDATE account_link SET used_at = $1 WHERE used_at IS NULL AND email IS NULL",
                self.now,
            ),
        };
        self.add(update)
    }
}

impl Store {
    /// Returns all accounts, ordered by address.
    pub async fn accounts(&self) -> Result<Vec<StoredAccount>, DatabaseError> {
        self.read_accounts("", []).await
    }

    pub async fn account_by_email(
        &self,
        email: &EmailAddress,
    ) -> Result<Option<StoredAccount>, DatabaseError> {
        let condition = "WHERE account.email = $1";
        let accounts = self.read_accounts(condition, [email.as_str().into()]);
        Ok(accounts.await?.pop())
    }

    /// Returns the account that single sign-on knows by this issuer and subject.
    pub async fn account_by_identity(
        &self,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<StoredAccount>, DatabaseError> {
        let condition = "WHERE account.id = (SELECT account_id FROM account_identity \
             WHERE issuer = $1 AND subject = $2)";
        let accounts = self.read_accounts(condition, [issuer.into(), subject.into()]);
        Ok(accounts.await?.pop())
    }

    async fn read_accounts(
        &self,
        condition: &str,
        arguments: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<StoredAccount>, DatabaseError> {
        let mut select = statement!(format!(
            "SELECT {ACCOUNT_COLUMNS} FROM account \
             LEFT JOIN account_role ON account_role.account_id = account.id \
             {condition} ORDER BY account.email, account_role.organization"
        ));
        select.args.extend(arguments);
        read_accounts(&self.fetch_all(select).await?)
    }

    /// Returns whether there is an operator who can sign in.
    pub async fn has_active_operator(&self) -> Result<bool, DatabaseError> {
        let select = statement!(
            "SELECT account.id FROM account \
             JOIN account_role ON account_role.account_id = account.id \
             WHERE account_role.role = $1 AND account.state = $2 LIMIT 1",
            OPERATOR,
            AccountState::Active.as_str(),
        );
        Ok(!self.fetch_all(select).await?.is_empty())
    }

    /// Returns the link with this SHA-256 digest, even if it was used or has expired.
    pub async fn account_link(
        &self,
        sha256: &[u8; 32],
    ) -> Result<Option<StoredAccountLink>, DatabaseError> {
        let select = statement!(
            "SELECT email, roles, organization, created_at, expires_at, used_at \
             FROM account_link WHERE sha256 = $1",
            sha256.as_slice(),
        );
        self.read_optional(select, read_link).await
    }

    /// Deletes up to `limit` links that expired before `before`. Returns their number.
    pub async fn purge_account_links(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        let delete = statement!(
            "DELETE FROM account_link WHERE sha256 IN \
             (SELECT sha256 FROM account_link WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
            before,
            limit,
        );
        self.execute_statement(delete).await
    }
}

fn insert_role(id: &AccountId, role: &AccountRole, at: Timestamp) -> Statement {
    let (organization, name) = role_columns(role);
    statement!(
        "INSERT INTO account_role (account_id, organization, role, created_at) \
         VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        id.as_str(),
        organization,
        name,
        at,
    )
}

/// Returns the role of these that is in the same organization as another one.
fn role_beside<'a>(roles: &'a [AccountRole], other: &AccountRole) -> Option<&'a AccountRole> {
    let mut roles = roles.iter();
    roles.find(|role| role.organization() == other.organization())
}

/// Changes a role to another one in the same organization.
fn update_role(id: &AccountId, held: &AccountRole, role: &AccountRole) -> Statement {
    let (organization, held) = role_columns(held);
    let (_, name) = role_columns(role);
    statement!(
        "UPDATE account_role SET role = $4 \
         WHERE account_id = $1 AND organization = $2 AND role = $3",
        id.as_str(),
        organization,
        held,
        name,
    )
}

fn hash_text(account: &StoredAccount) -> Option<&str> {
    account.password_hash.as_ref().map(|hash| hash.0.as_str())
}

fn role_columns(role: &AccountRole) -> (&str, &'static str) {
    match role {
        AccountRole::Operator => ("", OPERATOR),
        AccountRole::Organization { organization, role } => (organization, role.as_str()),
    }
}

/// Reads accounts from rows with [`ACCOUNT_COLUMNS`]. The rows of one account follow each other.
pub(crate) fn read_accounts(rows: &[Row]) -> Result<Vec<StoredAccount>, DatabaseError> {
    let mut accounts: Vec<StoredAccount> = Vec::new();
    for row in rows {
        let id = row.parsed("account_id", AccountId::parse)?;
        let role = read_role(row)?;
        match accounts.last_mut() {
            Some(account) if account.id == id => account.roles.extend(role),
            Some(_) | None => accounts.push(read_account(row, id, role)?),
        }
    }
    Ok(accounts)
}

fn read_account(
    row: &Row,
    id: AccountId,
    role: Option<AccountRole>,
) -> Result<StoredAccount, DatabaseError> {
    let password_hash = row.get::<Option<String>>("password_hash")?;
    Ok(StoredAccount {
        id,
        email: row.parsed("email", EmailAddress::parse)?,
        state: row.enum_value("state", AccountState::parse)?,
        password_hash: password_hash.map(PasswordHash),
        session_epoch: row.get("session_epoch")?,
        roles: role.into_iter().collect(),
        created_at: row.timestamp("account_created_at")?,
        updated_at: row.timestamp("updated_at")?,
        signed_in_at: row.timestamp_opt("signed_in_at")?,
        version: row.get("version")?,
    })
}

/// Returns the role of a row; `None` if its account has no roles.
fn read_role(row: &Row) -> Result<Option<AccountRole>, DatabaseError> {
    let organization = row.get::<Option<String>>("role_organization")?;
    row.enum_value("role", |name| match (name, organization) {
        ("", None) => Some(None),
        (OPERATOR, Some(_)) => Some(Some(AccountRole::Operator)),
        (name, organization) => Some(Some(AccountRole::Organization {
            organization: organization?,
            role: OrganizationRole::parse(name)?,
        })),
    })
}

pub(crate) fn read_link(row: &Row) -> Result<StoredAccountLink, DatabaseError> {
    Ok(StoredAccountLink {
        email: row.parsed_opt("email", EmailAddress::parse)?,
        roles: row.json("roles")?,
        organization: row.get("organization")?,
        created_at: row.timestamp("created_at")?,
        expires_at: row.timestamp("expires_at")?,
        used_at: row.timestamp_opt("used_at")?,
    })
}
