//! The change of a password by its owner. A wrong current password counts like a failed sign-in.

use crate::account::failure::convert_shared_failures;
use crate::account::lockout::{AttemptError, SignInAttempt, SignInLimiter, SignInSubjects};
use crate::account::password::{HashingPermit, HashingQueue, check_new_password};
use crate::account::session::{NewSession, SessionService};
use crate::account::viewer::{ClientInfo, Viewer};
use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use host_domain::account::{AccountState, PasswordProblem};
use host_domain::audit::AuditAction;
use host_storage::{Conflict, PasswordHash, StoredAccount, UnitOfWork};
use secrecy::SecretString;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum ChangePasswordError {
    #[error("the current password is wrong")]
    WrongPassword,
    /// The account or the client's address is locked.
    #[error("too many failed attempts; try again in {retry_after_s} s")]
    Locked { retry_after_s: u64 },
    #[error(transparent)]
    Password(#[from] PasswordProblem),
    #[error("too many passwords are being checked; try again later")]
    Busy,
    #[error("the password could not be checked or stored")]
    Storage(#[from] StorageFailure),
    /// A defect.
    #[error(transparent)]
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl From<AttemptError> for ChangePasswordError {
    fn from(error: AttemptError) -> Self {
        match error {
            AttemptError::Locked { retry_after_s } => Self::Locked { retry_after_s },
            AttemptError::Contended(_) => Self::Busy,
            // The account got another password, or lost it, after this one was checked.
            AttemptError::Conflict(Conflict::AccountVersion) => Self::WrongPassword,
            AttemptError::Conflict(_) => Self::Internal(error.into()),
            AttemptError::Storage(failure) => Self::Storage(failure),
        }
    }
}

convert_shared_failures!(ChangePasswordError);

impl ChangePasswordError {
    /// Returns whether the attempt counts as a failed sign-in.
    const fn is_failed_attempt(&self) -> bool {
        matches!(self, Self::WrongPassword)
    }
}

/// Changes passwords. Cloning is cheap.
#[derive(Clone)]
pub struct PasswordService {
    base: Base,
    limiter: SignInLimiter,
    hashing: Arc<HashingQueue>,
    sessions: Arc<SessionService>,
}

impl PasswordService {
    pub(super) fn new(
        limiter: SignInLimiter,
        hashing: &Arc<HashingQueue>,
        sessions: &Arc<SessionService>,
    ) -> Self {
        Self {
            base: limiter.base.clone(),
            limiter,
            hashing: Arc::clone(hashing),
            sessions: Arc::clone(sessions),
        }
    }

    /// Changes the password of a person who knows the current one. All sessions of the account end,
    /// and the returned one begins, in the same mode.
    ///
    /// # Errors
    /// [`ChangePasswordError`].
    pub async fn change(
        &self,
        viewer: &Viewer,
        current: SecretString,
        new: SecretString,
        client: &ClientInfo,
    ) -> Result<NewSession, ChangePasswordError> {
        check_new_password(&new, &viewer.email)?;
        let service = self.clone();
        let (person, device) = (viewer.clone(), client.clone());
        let check = |attempt, permit| async move {
            let (permit, account) = service.verify(permit, &person, current).await?;
            let (permit, hash) = permit.hash(new).await?;
            let session = service.replace(&attempt, &person, &device, (account, hash));
            let session = session.await?;
            drop(permit);
            Ok(session)
        };
        self.attempt(viewer, client, check).await
    }

    /// Commits a change that the person's current password permits. A wrong one counts as a failed
    /// sign-in.
    ///
    /// # Errors
    /// [`ChangePasswordError`], but never [`ChangePasswordError::Password`].
    pub(super) async fn commit_with_password(
        &self,
        viewer: &Viewer,
        current: SecretString,
        client: &ClientInfo,
        change: UnitOfWork,
    ) -> Result<(), ChangePasswordError> {
        let (service, person) = (self.clone(), viewer.clone());
        let check = |attempt: SignInAttempt, permit| async move {
            let (permit, _account) = service.verify(permit, &person, current).await?;
            service.limiter.succeed(&attempt, &change).await?;
            drop(permit);
            Ok(())
        };
        self.attempt(viewer, client, check).await
    }

    /// Runs a check of a person's current password. The attempt counts as a failed sign-in until the
    /// check commits what the password permits.
    async fn attempt<T, W>(
        &self,
        viewer: &Viewer,
        client: &ClientInfo,
        check: impl FnOnce(SignInAttempt, HashingPermit) -> W + Send + 'static,
    ) -> Result<T, ChangePasswordError>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, ChangePasswordError>> + Send + 'static,
    {
        let subjects = SignInSubjects::new(viewer.email.as_str(), client.address);
        self.limiter.check(&subjects).await?;
        let permit = self.hashing.enter().await?;
        let is_failed = ChangePasswordError::is_failed_attempt;
        let check = |attempt| check(attempt, permit);
        self.limiter.run(subjects, is_failed, check).await
    }

    /// Stores the hash of a new password, ends all sessions of the account and begins another one.
    async fn replace(
        &self,
        attempt: &SignInAttempt,
        viewer: &Viewer,
        client: &ClientInfo,
        (account, hash): (StoredAccount, PasswordHash),
    ) -> Result<NewSession, ChangePasswordError> {
        let mut write = self.base.unit_of_work();
        let account = self.replaced(account, hash);
        write.update_account(&account, account.version - 1);
        write.delete_sessions(&account.id);
        let change = AuditChange::new(AuditAction::AccountPasswordChanged, account.id.as_str());
        audit_in(&mut write, &self.base, &viewer.actor(), change);
        let begun = self
            .sessions
            .begin_in(&mut write, &account, client, viewer.mode);
        let session = begun?;
        self.limiter.succeed(attempt, &write).await?;
        tracing::info!(account = %account.id, session = %session.id, "a password was changed");
        Ok(session)
    }

    /// Returns the account if the password is its current one.
    async fn verify(
        &self,
        permit: HashingPermit,
        viewer: &Viewer,
        current: SecretString,
    ) -> Result<(HashingPermit, StoredAccount), ChangePasswordError> {
        let account = self.base.store.account_by_email(&viewer.email).await?;
        let account = account
            .filter(|found| found.id == viewer.account && found.state == AccountState::Active);
        let hash = account
            .as_ref()
            .and_then(|found| found.password_hash.clone());
        let (permit, is_right) = permit.verify(current, hash).await?;
        let account = account.filter(|_| is_right);
        let account = account.ok_or(ChangePasswordError::WrongPassword)?;
        Ok((permit, account))
    }

    fn replaced(&self, account: StoredAccount, hash: PasswordHash) -> StoredAccount {
        StoredAccount {
            password_hash: Some(hash),
            session_epoch: account.session_epoch + 1,
            updated_at: self.base.now(),
            version: account.version + 1,
            ..account
        }
    }
}
