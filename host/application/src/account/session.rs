//! Sessions of the dashboard. They end after twelve hours without a request and after seven days at
//! the latest. Each request looks its session up, so that a session ends at once when the account
//! is disabled or reset.

use crate::account::secret::{RandomSourceFailure, digest_token, generate_token};
use crate::account::viewer::{ClientInfo, Viewer};
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use host_domain::account::AccountState;
use host_domain::id::SessionId;
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use host_storage::{StoredAccount, StoredSession, UnitOfWork};
use secrecy::{ExposeSecret, SecretString};
use std::net::IpAddr;
use std::sync::Arc;

/// Time without a request after which a session ends.
pub(super) const IDLE_MS: i64 = 12 * 60 * 60 * 1000;
/// Time after which a session ends in any case.
const AGE_MAX_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// The resolution of a session's last use, so that not every request writes the row.
const SEEN_RESOLUTION_MS: i64 = 60 * 1000;

/// A session that has begun.
#[derive(Debug)]
pub struct NewSession {
    pub id: SessionId,
    /// The value of the cookie. It cannot be read again.
    pub token: SecretString,
}

/// The cause of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionActivity {
    /// The person opens a page or sends a form.
    Person,
    /// A script refreshes an open page. This does not extend the session.
    Poll,
}

/// A session as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    pub id: SessionId,
    /// The client's IP address at sign-in.
    pub address: String,
    pub user_agent: String,
    pub created_at: Timestamp,
    /// Time of the last request, with a resolution of one minute.
    pub seen_at: Timestamp,
}

/// Finds, lists, changes and ends sessions.
pub struct SessionService {
    pub(super) base: Base,
}

impl SessionService {
    /// Returns the person of a session, or `None` if there is no such session or it has ended.
    /// Records that the session is in use, unless the request is a [`SessionActivity::Poll`].
    /// `address` is the client's.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find(
        &self,
        token: &SecretString,
        activity: SessionActivity,
        address: IpAddr,
    ) -> Result<Option<Arc<Viewer>>, StorageFailure> {
        let sha256 = digest_token(token.expose_secret());
        let Some((session, account)) = self.base.store.session_by_hash(&sha256).await? else {
            return Ok(None);
        };
        let now = self.base.now();
        if account.state != AccountState::Active || has_ended(&session, now) {
            return Ok(None);
        }
        let is_recorded = now.since(session.seen_at) < SEEN_RESOLUTION_MS;
        if activity == SessionActivity::Person && !is_recorded {
            let unless_after = now.plus_ms(-SEEN_RESOLUTION_MS);
            let touched = self.base.store.touch_session(&sha256, now, unless_after);
            if let Err(error) = touched.await {
                tracing::warn!(session = %session.id, error = &error as &dyn std::error::Error, "the last use of a session was not recorded; its next request records it");
            }
        }
        Ok(Some(Arc::new(viewer(session, account, address))))
    }

    /// Sets the mode whose data the pages of a session show.
    ///
    /// # Errors
    /// The database failed.
    pub async fn set_mode(&self, token: &SecretString, mode: Mode) -> Result<(), StorageFailure> {
        let sha256 = digest_token(token.expose_secret());
        self.base.store.set_session_mode(&sha256, mode).await?;
        Ok(())
    }

    /// Returns the account's sessions that have not ended, the last used one first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list(&self, viewer: &Viewer) -> Result<Vec<SessionSummary>, StorageFailure> {
        let (sessions, now) = (
            self.base.store.sessions_of(&viewer.account).await?,
            self.base.now(),
        );
        let open = sessions
            .into_iter()
            .filter(|session| !has_ended(session, now));
        let summaries = open.map(|session| SessionSummary {
            id: session.id,
            address: session.address,
            user_agent: session.user_agent,
            created_at: session.created_at,
            seen_at: session.seen_at,
        });
        Ok(summaries.collect())
    }

    /// Ends a session of the same account. Returns whether it existed.
    ///
    /// # Errors
    /// The database failed.
    pub async fn revoke(&self, viewer: &Viewer, id: &SessionId) -> Result<bool, StorageFailure> {
        let store = &self.base.store;
        Ok(store.delete_session_of(&viewer.account, id).await?)
    }

    /// Ends a session.
    ///
    /// # Errors
    /// The database failed.
    pub async fn end(&self, token: &SecretString) -> Result<(), StorageFailure> {
        let sha256 = digest_token(token.expose_secret());
        self.base.store.delete_session(&sha256).await?;
        Ok(())
    }

    /// Adds a session of an account to a write.
    pub(super) fn begin_in(
        &self,
        write: &mut UnitOfWork,
        account: &StoredAccount,
        client: &ClientInfo,
        mode: Mode,
    ) -> Result<NewSession, RandomSourceFailure> {
        let (token, now) = (generate_token()?, self.base.now());
        let session = StoredSession {
            id: SessionId::from_bits(self.base.ids.generate()),
            account: account.id.clone(),
            session_epoch: account.session_epoch,
            mode,
            address: client.address.to_string(),
            user_agent: client.user_agent.clone(),
            created_at: now,
            seen_at: now,
        };
        write.insert_session(&session, &digest_token(token.expose_secret()));
        Ok(NewSession {
            id: session.id,
            token,
        })
    }
}

fn has_ended(session: &StoredSession, now: Timestamp) -> bool {
    now.since(session.seen_at) >= IDLE_MS || now.since(session.created_at) >= AGE_MAX_MS
}

fn viewer(session: StoredSession, account: StoredAccount, address: IpAddr) -> Viewer {
    Viewer {
        account: account.id,
        email: account.email,
        roles: account.roles,
        mode: session.mode,
        session: session.id,
        signed_in_at: session.created_at,
        address,
    }
}
