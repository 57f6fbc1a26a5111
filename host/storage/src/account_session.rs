//! Sessions of the dashboard. Only the digests of their cookies are stored.

use crate::account::{ACCOUNT_COLUMNS, StoredAccount, read_accounts};
use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::{AccountId, SessionId};
use host_domain::owner::Mode;
use host_domain::time::Timestamp;

const SESSION_COLUMNS: &str = "session.id AS session_id, session.account_id AS session_account, \
    session.session_epoch AS epoch, session.mode, session.address, \
    session.user_agent, session.created_at AS session_created_at, session.seen_at";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    pub id: SessionId,
    pub account: AccountId,
    /// The account's epoch when the session began.
    pub session_epoch: i64,
    pub mode: Mode,
    /// The client's IP address at sign-in.
    pub address: String,
    pub user_agent: String,
    pub created_at: Timestamp,
    /// Time of the last request.
    pub seen_at: Timestamp,
}

impl UnitOfWork {
    /// Stores a new session with the SHA-256 digest of its cookie. Fails with
    /// [`Conflict::SessionExists`] if the id or the digest exists.
    pub fn insert_session(&mut self, session: &StoredSession, sha256: &[u8; 32]) -> &mut Self {
        let insert = statement!(
            "INSERT INTO account_session (sha256, id, account_id, session_epoch, mode, \
             address, user_agent, created_at, seen_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
            sha256.as_slice(),
            session.id.as_str(),
            session.account.as_str(),
            session.session_epoch,
            session.mode,
            session.address.as_str(),
            session.user_agent.as_str(),
            session.created_at,
            session.seen_at,
        );
        self.add_expecting_one(insert, Conflict::SessionExists)
    }

    /// Deletes the sessions of an account. A sign-in in progress may still add one, which the
    /// account's epoch ends.
    pub fn delete_sessions(&mut self, account: &AccountId) -> &mut Self {
        let delete = statement!(
            "DELETE FROM account_session WHERE account_id = $1",
            account.as_str(),
        );
        self.add(delete)
    }
}

impl Store {
    /// Returns the session with this SHA-256 digest and its account. Returns `None` if the account
    /// has begun a new epoch since.
    pub async fn session_by_hash(
        &self,
        sha256: &[u8; 32],
    ) -> Result<Option<(StoredSession, StoredAccount)>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {SESSION_COLUMNS}, \
                 {ACCOUNT_COLUMNS} FROM account_session AS session \
                 JOIN account ON account.id = session.account_id \
                 LEFT JOIN account_role ON account_role.account_id = account.id \
                 WHERE session.sha256 = $1 AND session.session_epoch = account.session_epoch \
                 ORDER BY account_role.organization"
            ),
            sha256.as_slice(),
        );
        let rows = self.fetch_all(select).await?;
        let account = read_accounts(&rows)?.pop();
        let Some((row, account)) = rows.first().zip(account) else {
            return Ok(None);
        };
        Ok(Some((read(row)?, account)))
    }

    /// Returns the sessions of an account's current epoch, the last used one first.
    pub async fn sessions_of(
        &self,
        account: &AccountId,
    ) -> Result<Vec<StoredSession>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {SESSION_COLUMNS} FROM account_session AS session \
                 JOIN account ON account.id = session.account_id \
                 WHERE session.account_id = $1 AND session.session_epoch = account.session_epoch \
                 ORDER BY session.seen_at DESC, session.id"
            ),
            account.as_str(),
        );
        self.read_all(select, read).await
    }

    /// Records that a session is in use, unless it was recorded after `unless_after`.
    pub async fn touch_session(
        &self,
        sha256: &[u8; 32],
        now: Timestamp,
        unless_after: Timestamp,
    ) -> Result<(), DatabaseError> {
        let update = statement!(
            "UPDATE account_session SET seen_at = $2 WHERE sha256 = $1 AND seen_at <= $3",
            sha256.as_slice(),
            now,
            unless_after,
        );
        self.execute_statement(update).await?;
        Ok(())
    }

    /// Sets the mode whose data the pages of a session show, if the session exists.
    pub async fn set_session_mode(
        &self,
        sha256: &[u8; 32],
        mode: Mode,
    ) -> Result<(), DatabaseError> {
        let update = statement!(
            "UPDATE account_session SET mode = $2 WHERE sha256 = $1",
            sha256.as_slice(),
            mode,
        );
        self.execute_statement(update).await?;
        Ok(())
    }

    /// Deletes a session if it exists.
    pub async fn delete_session(&self, sha256: &[u8; 32]) -> Result<(), DatabaseError> {
        let delete = statement!(
            "DELETE FROM account_session WHERE sha256 = $1",
            sha256.as_slice(),
        );
        self.execute_statement(delete).await?;
        Ok(())
    }

    /// Deletes a session of an account. Returns whether it existed.
    pub async fn delete_session_of(
        &self,
        account: &AccountId,
        id: &SessionId,
    ) -> Result<bool, DatabaseError> {
        // `account_id || ''` keeps the databases from using the index of the account's list instead
        // of the unique index of the id.
        let delete = statement!(
            "DELETE FROM account_session WHERE id = $1 AND account_id || '' = $2",
            id.as_str(),
            account.as_str(),
        );
        Ok(self.execute_statement(delete).await? > 0)
    }

    /// Deletes up to `limit` sessions that were last used before `before`. Returns their number.
    pub async fn purge_sessions(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        let delete = statement!(
            "DELETE FROM account_session WHERE sha256 IN \
             (SELECT sha256 FROM account_session WHERE seen_at < $1 ORDER BY seen_at LIMIT $2)",
            before,
            limit,
        );
        self.execute_statement(delete).await
    }
}

fn read(row: &Row) -> Result<StoredSession, DatabaseError> {
    Ok(StoredSession {
        id: row.parsed("session_id", SessionId::parse)?,
        account: row.parsed("session_account", AccountId::parse)?,
        session_epoch: row.get("epoch")?,
        mode: row.enum_value("mode", Mode::parse)?,
        address: row.get("address")?,
        user_agent: row.get("user_agent")?,
        created_at: row.timestamp("session_created_at")?,
        seen_at: row.timestamp("seen_at")?,
    })
}
