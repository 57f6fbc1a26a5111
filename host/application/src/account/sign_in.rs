//! Sign-in with a password.
//!
//! Accounts that do not exist, are disabled or have no password are treated like a wrong password:
//! the same steps in the same order, which take the same time, and the same error.

use crate::account::failure::convert_shared_failures;
use crate::account::lockout::{AttemptError, SignInAttempt, SignInLimiter, SignInSubjects};
use crate::account::password::HashingQueue;
use crate::account::session::{NewSession, SessionService};
use crate::account::viewer::ClientInfo;
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use host_domain::account::{AccountState, EmailAddress};
use host_domain::owner::Mode;
use host_storage::{DatabaseError, StoredAccount};
use secrecy::SecretString;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// The account does not exist or cannot sign in, or the password is wrong.
    #[error("the e-mail address or the password is wrong")]
    Refused,
    /// The account or the client's address is locked.
    #[error("too many failed sign-ins; try again in {retry_after_s} s")]
    Locked { retry_after_s: u64 },
    #[error("too many people sign in at the same time; try again later")]
    Busy,
    #[error("the sign-in could not be checked or stored")]
    Storage(#[from] StorageFailure),
    /// A defect.
    #[error(transparent)]
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl From<AttemptError> for SignInError {
    fn from(error: AttemptError) -> Self {
        match error {
            AttemptError::Locked { retry_after_s } => Self::Locked { retry_after_s },
            AttemptError::Contended(_) => Self::Busy,
            AttemptError::Conflict(_) => Self::Internal(error.into()),
            AttemptError::Storage(failure) => Self::Storage(failure),
        }
    }
}

convert_shared_failures!(SignInError);

/// Begins sessions for people who prove who they are.
pub struct SignInService {
    base: Base,
    limiter: SignInLimiter,
    hashing: Arc<HashingQueue>,
    sessions: Arc<SessionService>,
}

impl SignInService {
    pub(super) fn new(
        base: &Base,
        hashing: &Arc<HashingQueue>,
        sessions: &Arc<SessionService>,
    ) -> Self {
        Self {
            base: base.clone(),
            limiter: SignInLimiter { base: base.clone() },
            hashing: Arc::clone(hashing),
            sessions: Arc::clone(sessions),
        }
    }

    /// Begins a session if the password is the account's.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn with_password(
        &self,
        email: &str,
        password: SecretString,
        client: &ClientInfo,
    ) -> Result<NewSession, SignInError> {
        let subjects = SignInSubjects::new(email, client.address);
        // Attempts on a locked account do not wait for others.
        self.limiter.check(&subjects).await?;
        let permit = self.hashing.enter().await?;
        // The attempt counts as a failure until its password is checked. It begins with the permit,
        // so that each host has at most as many of these as hashes that run. An address that has
        // some failures already, or whose people sign in on several hosts at the same moment, may
        // still be refused until these attempts are decided.
        let attempt = self.limiter.begin(subjects).await?;
        let account = self.find_active(email).await?;
        let hash = account
            .as_ref()
            .and_then(|found| found.password_hash.clone());
        let (permit, is_right) = permit.verify(password, hash).await?;
        let account = account.filter(|_| is_right);
        let session = match account {
            Some(account) => self.begin_session(&attempt, &account, client).await,
            None => Err(SignInError::Refused),
        };
        drop(permit);
        session
    }

    async fn find_active(&self, email: &str) -> Result<Option<StoredAccount>, DatabaseError> {
        let Ok(email) = EmailAddress::parse(email) else {
            return Ok(None);
        };
        let account = self.base.store.account_by_email(&email).await?;
        Ok(account.filter(|account| account.state == AccountState::Active))
    }

    /// Begins the session of an account whose owner has proved everything that is required. If the
    /// account was disabled or reset since it was read, its epoch has ended the session already.
    async fn begin_session(
        &self,
        attempt: &SignInAttempt,
        account: &StoredAccount,
        client: &ClientInfo,
    ) -> Result<NewSession, SignInError> {
        let mut write = self.base.unit_of_work();
        // A new session shows test data first.
        let mode = Mode::Test;
        let session = self.sessions.begin_in(&mut write, account, client, mode)?;
        write.record_sign_in(&account.id);
        self.limiter.succeed(attempt, &write).await?;
        tracing::info!(account = %account.id, session = %session.id, "a person has signed in");
        Ok(session)
    }
}
