//! Sign-in with a password, and with a code if the account requires one.
//!
//! Accounts that do not exist, are disabled or have no password are treated like a wrong password:
//! the same steps in the same order, which take the same time, and the same error.

use crate::account::failure::convert_shared_failures;
use crate::account::lockout::{AttemptError, SignInAttempt, SignInLimiter, SignInSubjects};
use crate::account::password::{HashingPermit, HashingQueue};
use crate::account::session::{NewSession, SessionService};
use crate::account::totp::{TotpSecret, digest_recovery_code};
use crate::account::viewer::ClientInfo;
use crate::base::Base;
use crate::sealer::{SealError, Sealer};
use crate::storage_failure::StorageFailure;
use host_domain::account::{AccountState, EmailAddress};
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use host_storage::{Conflict, DatabaseError, StoredAccount, UnitOfWork};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use totp_rs::TotpError;

/// Time between the password and the code.
const CHALLENGE_TTL_MS: i64 = 10 * 60 * 1000;

const PURPOSE: &str = "sign_in_challenge";

#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// The account does not exist or cannot sign in, or the password or the code is wrong.
    #[error("the e-mail address, the password or the code is wrong")]
    Refused,
    /// The code came too late, or the account has changed since the password was checked.
    #[error("the sign-in has to begin again")]
    ChallengeEnded,
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
            AttemptError::Conflict(Conflict::CodeUsed) => Self::Refused,
            AttemptError::Conflict(_) => Self::Internal(error.into()),
            AttemptError::Storage(failure) => Self::Storage(failure),
        }
    }
}

convert_shared_failures!(SignInError);

impl SignInError {
    /// Returns whether the attempt counts as a failed one.
    const fn is_failed_attempt(&self) -> bool {
        matches!(self, Self::Refused)
    }
}

impl From<SealError> for SignInError {
    fn from(error: SealError) -> Self {
        Self::Internal(error.into())
    }
}

impl From<TotpError> for SignInError {
    fn from(error: TotpError) -> Self {
        Self::Internal(error.into())
    }
}

/// The result of a right password.
#[derive(Debug)]
pub enum SignInStep {
    Session(NewSession),
    /// The account requires a code. The challenge proves that the password was right.
    CodeRequired {
        challenge: SecretString,
    },
}

/// A code that a person enters after the password.
#[derive(Debug, Clone, Copy)]
pub enum SecondFactor<'a> {
    /// The code of an authenticator app.
    Totp(&'a str),
    /// A recovery code, which works once.
    RecoveryCode(&'a str),
}

/// A second factor that the task of an attempt owns.
enum GivenFactor {
    Totp(SecretString),
    /// The digest of a recovery code.
    RecoveryCode([u8; 32]),
}

impl From<SecondFactor<'_>> for GivenFactor {
    fn from(factor: SecondFactor<'_>) -> Self {
        match factor {
            SecondFactor::Totp(code) => Self::Totp(code.into()),
            SecondFactor::RecoveryCode(code) => Self::RecoveryCode(digest_recovery_code(code)),
        }
    }
}

/// The content of a sealed challenge.
#[derive(Serialize, Deserialize)]
struct Challenge {
    email: EmailAddress,
    /// A reset or a change of the password ends the challenge.
    session_epoch: i64,
    expires_at: Timestamp,
}

/// Begins sessions for people who prove who they are. Cloning is cheap.
#[derive(Clone)]
pub struct SignInService {
    base: Base,
    sealer: Arc<Sealer>,
    limiter: SignInLimiter,
    hashing: Arc<HashingQueue>,
    sessions: Arc<SessionService>,
}

impl SignInService {
    pub(super) fn new(
        limiter: SignInLimiter,
        sealer: &Arc<Sealer>,
        hashing: &Arc<HashingQueue>,
        sessions: &Arc<SessionService>,
    ) -> Self {
        Self {
            base: limiter.base.clone(),
            sealer: Arc::clone(sealer),
            limiter,
            hashing: Arc::clone(hashing),
            sessions: Arc::clone(sessions),
        }
    }

    /// Begins a session if the password is the account's, or asks for a code.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn with_password(
        &self,
        email: &str,
        password: SecretString,
        client: &ClientInfo,
    ) -> Result<SignInStep, SignInError> {
        let subjects = SignInSubjects::new(email, client.address);
        // Attempts on a locked account do not wait for others.
        self.limiter.check(&subjects).await?;
        let permit = self.hashing.enter().await?;
        // The attempt counts as a failure until its password is checked. It begins with the permit,
        // so that each process has at most as many of these as hashes that run. An address that has
        // some failures already, or whose people sign in on several processes at the same moment, may
        // still be refused until these attempts are decided.
        let (service, email, client) = (self.clone(), email.to_owned(), client.clone());
        let check = |attempt| async move {
            let checked = service.check_password(&attempt, permit, &email, password, &client);
            checked.await
        };
        let is_failed = SignInError::is_failed_attempt;
        self.limiter.run(subjects, is_failed, check).await
    }

    async fn check_password(
        &self,
        attempt: &SignInAttempt,
        permit: HashingPermit,
        email: &str,
        password: SecretString,
        client: &ClientInfo,
    ) -> Result<SignInStep, SignInError> {
        let account = self.find_active(email).await?;
        let hash = account
            .as_ref()
            .and_then(|found| found.password_hash.clone());
        let (permit, is_right) = permit.verify(password, hash).await?;
        let account = account.filter(|_| is_right).ok_or(SignInError::Refused)?;
        let step = self.accept_password(attempt, &account, client).await;
        drop(permit);
        step
    }

    /// Begins a session if the second factor is the account's.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn with_second_factor(
        &self,
        challenge: &SecretString,
        factor: SecondFactor<'_>,
        client: &ClientInfo,
    ) -> Result<NewSession, SignInError> {
        let challenge = self.open_challenge(challenge)?;
        let subjects = SignInSubjects::new(challenge.email.as_str(), client.address);
        // The attempt counts as a failure until its code is accepted.
        let (service, client) = (self.clone(), client.clone());
        let factor = GivenFactor::from(factor);
        let check = |attempt| async move {
            let checked = service.check_factor(&attempt, &challenge, &factor, &client);
            checked.await
        };
        let is_failed = SignInError::is_failed_attempt;
        self.limiter.run(subjects, is_failed, check).await
    }

    async fn check_factor(
        &self,
        attempt: &SignInAttempt,
        challenge: &Challenge,
        factor: &GivenFactor,
        client: &ClientInfo,
    ) -> Result<NewSession, SignInError> {
        let account = self.find_active(challenge.email.as_str()).await?;
        let account = account.filter(|found| found.session_epoch == challenge.session_epoch);
        let account = account.ok_or(SignInError::ChallengeEnded)?;
        let mut write = self.base.unit_of_work();
        self.use_factor_in(&mut write, &account, factor).await?;
        self.begin_session(attempt, write, &account, client).await
    }

    /// Returns the number of hashes that were computed.
    #[cfg(test)]
    pub(super) fn computed_hashes(&self) -> u32 {
        self.hashing.computed()
    }

    async fn find_active(&self, email: &str) -> Result<Option<StoredAccount>, DatabaseError> {
        let Ok(email) = EmailAddress::parse(email) else {
            return Ok(None);
        };
        let account = self.base.store.account_by_email(&email).await?;
        Ok(account.filter(|account| account.state == AccountState::Active))
    }

    async fn accept_password(
        &self,
        attempt: &SignInAttempt,
        account: &StoredAccount,
        client: &ClientInfo,
    ) -> Result<SignInStep, SignInError> {
        if self.base.store.totp(&account.id).await?.is_none() {
            let write = self.base.unit_of_work();
            let session = self.begin_session(attempt, write, account, client).await?;
            return Ok(SignInStep::Session(session));
        }
        self.limiter.withdraw(attempt).await?;
        let challenge = Challenge {
            email: account.email.clone(),
            session_epoch: account.session_epoch,
            expires_at: self.base.now().plus_ms(CHALLENGE_TTL_MS),
        };
        let bytes = serde_json::to_vec(&challenge);
        let bytes = bytes.map_err(|error| SignInError::Internal(error.into()))?;
        let challenge = self.sealer.seal_text(PURPOSE, &[], &bytes)?;
        Ok(SignInStep::CodeRequired {
            challenge: challenge.into(),
        })
    }

    fn open_challenge(&self, challenge: &SecretString) -> Result<Challenge, SignInError> {
        let opened = self
            .sealer
            .open_text(PURPOSE, &[], challenge.expose_secret());
        let opened = opened.ok();
        let challenge: Option<Challenge> =
            opened.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let now = self.base.now();
        let challenge = challenge.filter(|challenge| now < challenge.expires_at);
        challenge.ok_or(SignInError::ChallengeEnded)
    }

    /// Adds the use of a code to a write, whose commit fails if the code was used before.
    async fn use_factor_in(
        &self,
        write: &mut UnitOfWork,
        account: &StoredAccount,
        factor: &GivenFactor,
    ) -> Result<(), SignInError> {
        match factor {
            GivenFactor::Totp(code) => {
                let totp = self.base.store.totp(&account.id).await?;
                let totp = totp.ok_or(SignInError::ChallengeEnded)?;
                let secret = TotpSecret::open(&self.sealer, &account.id, &totp.sealed_secret)?;
                let step = secret.step_of(code.expose_secret(), self.base.now())?;
                write.use_totp_step(&account.id, step.ok_or(SignInError::Refused)?);
            }
            GivenFactor::RecoveryCode(digest) => {
                write.use_recovery_code(&account.id, digest);
            }
        }
        Ok(())
    }

    /// Begins the session of an account whose owner has proved everything that is required. If the
    /// account was disabled or reset since it was read, its epoch has ended the session already.
    async fn begin_session(
        &self,
        attempt: &SignInAttempt,
        mut write: UnitOfWork,
        account: &StoredAccount,
        client: &ClientInfo,
    ) -> Result<NewSession, SignInError> {
        // A new session shows test data first.
        let mode = Mode::Test;
        let session = self.sessions.begin_in(&mut write, account, client, mode)?;
        write.record_sign_in(&account.id);
        self.limiter.succeed(attempt, &write).await?;
        tracing::info!(account = %account.id, session = %session.id, "a person has signed in");
        Ok(session)
    }
}
