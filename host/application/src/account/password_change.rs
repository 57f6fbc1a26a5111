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

/// The owner of an account, who has given the current password.
pub(super) struct PasswordProof {
    permit: HashingPermit,
    attempt: SignInAttempt,
    pub(super) account: StoredAccount,
}

/// Changes passwords.
pub struct PasswordService {
    base: Base,
    limiter: SignInLimiter,
    hashing: Arc<HashingQueue>,
    sessions: Arc<SessionService>,
}

impl PasswordService {
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
        let proof = self.prove(viewer, current, client).await?;
        let (attempt, account) = (proof.attempt, proof.account);
        let (permit, hash) = proof.permit.hash(new).await?;
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
        self.limiter.succeed(&attempt, &write).await?;
        drop(permit);
        tracing::info!(account = %account.id, session = %session.id, "a password was changed");
        Ok(session)
    }

    /// Checks the current password of a person. The attempt counts as a failed sign-in until
    /// [`PasswordService::accept`] commits what it permits.
    pub(super) async fn prove(
        &self,
        viewer: &Viewer,
        current: SecretString,
        client: &ClientInfo,
    ) -> Result<PasswordProof, ChangePasswordError> {
        let subjects = SignInSubjects::new(viewer.email.as_str(), client.address);
        self.limiter.check(&subjects).await?;
        let permit = self.hashing.enter().await?;
        let attempt = self.limiter.begin(subjects).await?;
        let (permit, account) = self.verify(permit, viewer, current).await?;
        Ok(PasswordProof {
            permit,
            attempt,
            account,
        })
    }

    /// Commits a change that the current password permits.
    pub(super) async fn accept(
        &self,
        proof: PasswordProof,
        change: &UnitOfWork,
    ) -> Result<(), ChangePasswordError> {
        Ok(self.limiter.succeed(&proof.attempt, change).await?)
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
