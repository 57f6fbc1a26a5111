//! Members of organizations, and the links that invite people to them.

use crate::account::read_link;
use crate::condition::ConditionBuilder;
use crate::statement::{Row, statement, text_array};
use crate::{Conflict, DatabaseError, Store, StoredAccountLink, UnitOfWork};
use host_domain::account::{AccountState, EmailAddress, OrganizationRole};
use host_domain::id::AccountId;
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::time::Timestamp;

/// Orders the roles that began at the same time. An index has this expression.
const ROLE_ID: &str = "account_role.account_id || '-' || account_role.organization";

const COLUMNS: &str = "account_role.organization, account_role.role, \
    account_role.created_at AS joined_at, account.id, account.email, account.state, \
    account.signed_in_at";

/// An account with its role in one organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub organization: String,
    pub account: AccountId,
    pub email: EmailAddress,
    pub state: AccountState,
    pub role: OrganizationRole,
    pub joined_at: Timestamp,
    /// Time of the last sign-in.
    pub signed_in_at: Option<Timestamp>,
}

impl UnitOfWork {
    /// Gives an account a role in an organization. Fails with [`Conflict::MemberExists`] if it has
    /// one there.
    pub fn insert_member(
        &mut self,
        organization: &str,
        account: &AccountId,
        role: OrganizationRole,
    ) -> &mut Self {
        let insert = statement!(
            "INSERT INTO account_role (account_id, organization, role, created_at) \
             VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            account.as_str(),
            organization,
            role.as_str(),
            self.now,
        );
        self.add_expecting_one(insert, Conflict::MemberExists)
    }

    /// Changes the role of a member that was read. Fails with [`Conflict::MemberChanged`] if the
    /// member has another role by now, or if no admin who can sign in would remain.
    pub fn set_member_role(&mut self, member: &Member, role: OrganizationRole) -> &mut Self {
        self.lock_admins(&member.organization);
        let update = statement!(
            format!(
                "UPDATE account_role SET role = $4 WHERE {}",
                unchanged_and_not_last()
            ),
            member.organization.as_str(),
            member.account.as_str(),
            member.role.as_str(),
            role.as_str(),
        );
        self.add_expecting_one(update, Conflict::MemberChanged)
    }

    /// Removes the role of a member that was read. Fails with [`Conflict::MemberChanged`] if the
    /// member has another role by now, or if no admin who can sign in would remain.
    pub fn delete_member(&mut self, member: &Member) -> &mut Self {
        self.lock_admins(&member.organization);
        let delete = statement!(
            format!(
                "DELETE FROM account_role WHERE {}",
                unchanged_and_not_last()
            ),
            member.organization.as_str(),
            member.account.as_str(),
            member.role.as_str(),
        );
        self.add_expecting_one(delete, Conflict::MemberChanged)
    }

    /// Locks the rows of the admins, so that of two who remove each other at the same time, the
    /// second one is seen as the last.
    fn lock_admins(&mut self, organization: &str) {
        let lock = statement!(
            "UPDATE account_role SET role = role WHERE organization = $1 AND role = 'admin'",
            organization,
        );
        self.add(lock);
    }

    /// Revokes all unused invitations to an organization.
    pub fn revoke_all_invitations(&mut self, organization: &str) -> &mut Self {
        let update = statement!(
            "UPDATE account_link SET used_at = $1 WHERE used_at IS NULL AND organization = $2",
            self.now,
            organization,
        );
        self.add(update)
    }

    /// Revokes the unused invitations of an address to an organization. Fails with
    /// [`Conflict::AccountLinkUsed`] if none of them can be accepted at the time of this unit of work:
    /// of several concurrent revocations, one succeeds.
    pub fn revoke_open_invitation(
        &mut self,
        organization: &str,
        email: &EmailAddress,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE account_link SET used_at = $1 WHERE used_at IS NULL AND sha256 = ( \
               SELECT sha256 FROM account_link WHERE used_at IS NULL AND organization = $2 \
                 AND email = $3 AND expires_at > $1 ORDER BY created_at, sha256 LIMIT 1)",
            self.now,
            organization,
            email.as_str(),
        );
        self.add_expecting_one(update, Conflict::AccountLinkUsed)
            .revoke_invitations(organization, email)
    }

    /// Revokes the unused invitations of an address to an organization.
    pub fn revoke_invitations(&mut self, organization: &str, email: &EmailAddress) -> &mut Self {
        let update = statement!(
            "UPDATE account_link SET used_at = $1 \
             WHERE used_at IS NULL AND organization = $2 AND email = $3",
            self.now,
            organization,
            email.as_str(),
        );
        self.add(update)
    }
}

/// Selects the admins of the organization `$1` besides the account `$2` who can sign in. A disabled
/// account and one that was never set up cannot.
const OTHER_ADMINS: &str = "SELECT other.account_id FROM account_role AS other \
    JOIN account AS holder ON holder.id = other.account_id \
    WHERE other.organization = $1 AND other.role = 'admin' AND other.account_id <> $2 \
      AND holder.state = 'active'";

/// Returns the condition of a change of a member's role.
fn unchanged_and_not_last() -> String {
    format!(
        "organization = $1 AND account_id = $2 AND role = $3 \
         AND (role <> 'admin' OR EXISTS ({OTHER_ADMINS}))"
    )
}

impl Store {
    /// Returns the members of these organizations, or of all, the last joined one first.
    pub async fn member_page(
        &self,
        organizations: Option<&[String]>,
        page: &CursorRequest,
    ) -> Result<CursorPage<Member>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        conditions.add_text("account_role.organization <> ''".to_owned());
        add_organizations(&mut conditions, "account_role.organization", organizations);
        let order = conditions.cursor_order("account_role.created_at", ROLE_ID, page);
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM account_role \
             JOIN account ON account.id = account_role.account_id WHERE {condition} {order}"
        ));
        let cursor = |member: &Member| {
            let id = format!("{}-{}", member.account, member.organization);
            Cursor::new(member.joined_at, id)
        };
        self.read_cursor_page(select, page, read_member, cursor)
            .await
    }

    /// Returns the e-mail addresses of the accounts that are members of these organizations, or were: an
    /// entry of the audit log of an organization is about them. Former members who are operators now are
    /// left out. `among` limits the result to some addresses.
    pub async fn member_addresses(
        &self,
        organizations: &[String],
        among: Option<&[String]>,
    ) -> Result<Vec<String>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        if let Some(addresses) = among {
            let list = conditions.bind(text_array(addresses.iter().map(String::as_str)));
            conditions.add_text(format!("account.email {{in {list}}}"));
        }
        let list = conditions.bind(text_array(organizations.iter().map(String::as_str)));
        // The index of the target has few entries of an account. PostgreSQL would turn EXISTS into a
        // join, and SQLite might choose the index of the organization, which has all its entries.
        conditions.add_text(format!(
            "(EXISTS (SELECT 1 FROM account_role AS member \
               WHERE member.account_id = account.id AND member.organization {{in {list}}}) \
             OR NOT EXISTS (SELECT 1 FROM account_role AS held \
               WHERE held.account_id = account.id AND held.role = 'operator') \
             AND (SELECT audit_log.sequence FROM audit_log \
               WHERE audit_log.target_id = account.id \
                 AND audit_log.organization || '' {{in {list}}} LIMIT 1) IS NOT NULL)"
        ));
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT account.email FROM account WHERE {condition}"
        ));
        self.read_all(select, |row| row.get("email")).await
    }

    /// Returns a member of an organization.
    pub async fn member(
        &self,
        organization: &str,
        account: &AccountId,
    ) -> Result<Option<Member>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM account_role \
                 JOIN account ON account.id = account_role.account_id \
                 WHERE account_role.organization = $1 AND account_role.account_id = $2"
            ),
            organization,
            account.as_str(),
        );
        self.read_optional(select, read_member).await
    }

    /// Returns whether an organization has an admin besides this account who can sign in.
    pub async fn has_other_admin(
        &self,
        organization: &str,
        account: &AccountId,
    ) -> Result<bool, DatabaseError> {
        let select = statement!(
            format!("{OTHER_ADMINS} LIMIT 1"),
            organization,
            account.as_str(),
        );
        Ok(!self.fetch_all(select).await?.is_empty())
    }

    /// Returns the invitations to these organizations, or to all, that can be accepted at `now`,
    /// ordered by organization and address.
    pub async fn invitations(
        &self,
        organizations: Option<&[String]>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<StoredAccountLink>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        conditions.add_text("organization IS NOT NULL AND used_at IS NULL".to_owned());
        conditions.add("expires_at >", now);
        add_organizations(&mut conditions, "organization", organizations);
        let limit = conditions.bind(limit);
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT email, roles, organization, created_at, expires_at, used_at \
             FROM account_link WHERE {condition} ORDER BY organization, email LIMIT {limit}"
        ));
        self.read_all(select, read_link).await
    }
}

/// Adds the condition of these organizations. A single one is compared by equality, so that an
/// index gives the order.
fn add_organizations(
    conditions: &mut ConditionBuilder,
    column: &str,
    organizations: Option<&[String]>,
) {
    match organizations {
        None => {}
        Some([only]) => conditions.add(&format!("{column} ="), only.as_str()),
        Some(several) => {
            let list = conditions.bind(text_array(several.iter().map(String::as_str)));
            conditions.add_text(format!("{column} {{in {list}}}"));
        }
    }
}

fn read_member(row: &Row) -> Result<Member, DatabaseError> {
    Ok(Member {
        organization: row.get("organization")?,
        account: row.parsed("id", AccountId::parse)?,
        email: row.parsed("email", EmailAddress::parse)?,
        state: row.enum_value("state", AccountState::parse)?,
        role: row.enum_value("role", OrganizationRole::parse)?,
        joined_at: row.timestamp("joined_at")?,
        signed_in_at: row.timestamp_opt("signed_in_at")?,
    })
}
