//! Two-factor authentication: an account's owner sets it up with an authenticator app and turns it
//! off.

use crate::account::password_change::{ChangePasswordError, PasswordService};
use crate::account::secret::RandomSourceFailure;
use crate::account::totp::{TotpSecret, digest_recovery_code, generate_recovery_codes};
use crate::account::viewer::{ClientInfo, Viewer};
use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::sealer::{SealError, Sealer};
use crate::storage_failure::StorageFailure;
use host_domain::audit::AuditAction;
use host_storage::{CommitError, Conflict, DatabaseError, SignInMethods, StoredTotp};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use totp_rs::TotpError;

/// Binds the secret of a set-up that is not confirmed to its account and session.
const PURPOSE: &str = "totp_enrolment";

/// Time in which a set-up can be confirmed.
const ENROLMENT_TTL_MS: i64 = 15 * 60 * 1000;

/// Time after a sign-in in which a set-up begins without the current password. Whoever finds an
/// older session open could otherwise lock its owner out with an own device.
const RECENT_SIGN_IN_MS: i64 = 60 * 60 * 1000;

#[derive(Debug, thiserror::Error)]
pub enum TwoFactorError {
    /// The code is not the one that the authenticator app shows.
    #[error("the code is wrong")]
    WrongCode,
    /// The set-up began in another session or too long ago.
    #[error("the set-up has to begin again")]
    UnknownEnrolment,
    /// For a set-up, the account uses two-factor authentication already or has no password. For new
    /// recovery codes, it does not use two-factor authentication.
    #[error("the account does not allow this change of two-factor authentication")]
    NotAvailable,
    /// The person signed in too long ago to do this without the current password.
    #[error("the current password is required")]
    PasswordRequired,
    #[error(transparent)]
    Password(#[from] ChangePasswordError),
    #[error("two-factor authentication could not be read or stored")]
    Storage(#[from] StorageFailure),
    /// A defect.
    #[error(transparent)]
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl From<DatabaseError> for TwoFactorError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CommitError> for TwoFactorError {
    fn from(error: CommitError) -> Self {
        match error.conflict() {
            Some(Conflict::SecondFactorExists) => Self::NotAvailable,
            _ => Self::Storage(error.into()),
        }
    }
}

impl From<RandomSourceFailure> for TwoFactorError {
    fn from(error: RandomSourceFailure) -> Self {
        Self::Internal(error.into())
    }
}

impl From<SealError> for TwoFactorError {
    fn from(error: SealError) -> Self {
        Self::Internal(error.into())
    }
}

impl From<TotpError> for TwoFactorError {
    fn from(error: TotpError) -> Self {
        Self::Internal(error.into())
    }
}

/// A set-up that a code of the authenticator app has to confirm.
#[derive(Debug)]
pub struct TotpEnrolment {
    /// The secret in base 32.
    pub secret: SecretString,
    /// The content of the QR code.
    pub uri: SecretString,
    /// The sealed secret, with which [`TwoFactorService::confirm`] is called.
    pub token: SecretString,
}

/// Sets up and turns off two-factor authentication.
pub struct TwoFactorService {
    pub(super) base: Base,
    pub(super) sealer: Arc<Sealer>,
    pub(super) passwords: Arc<PasswordService>,
}

impl TwoFactorService {
    /// Returns how the person can sign in.
    ///
    /// # Errors
    /// The database failed.
    pub async fn methods(&self, viewer: &Viewer) -> Result<SignInMethods, StorageFailure> {
        let methods = self.base.store.sign_in_methods(&viewer.account).await?;
        Ok(methods.unwrap_or(SignInMethods {
            has_password: false,
            has_totp: false,
            recovery_codes: 0,
        }))
    }

    /// Begins a set-up with a new secret, for a person who has signed in during the last hour.
    /// Nothing is stored.
    ///
    /// # Errors
    /// [`TwoFactorError::PasswordRequired`] after an earlier sign-in: then
    /// [`TwoFactorService::begin_with_password`] begins the set-up. Otherwise [`TwoFactorError`].
    pub async fn begin(&self, viewer: &Viewer) -> Result<TotpEnrolment, TwoFactorError> {
        self.check_can_begin(viewer).await?;
        if self.base.now().since(viewer.signed_in_at) >= RECENT_SIGN_IN_MS {
            return Err(TwoFactorError::PasswordRequired);
        }
        self.new_enrolment(viewer)
    }

    /// Begins a set-up as [`TwoFactorService::begin`] does, for a person who knows the current
    /// password. A wrong password counts like a failed sign-in.
    ///
    /// # Errors
    /// [`TwoFactorError`], but never [`ChangePasswordError::Password`].
    pub async fn begin_with_password(
        &self,
        viewer: &Viewer,
        current_password: SecretString,
        client: &ClientInfo,
    ) -> Result<TotpEnrolment, TwoFactorError> {
        self.check_can_begin(viewer).await?;
        let nothing = self.base.unit_of_work();
        self.passwords
            .commit_with_password(viewer, current_password, client, nothing)
            .await?;
        self.new_enrolment(viewer)
    }

    async fn check_can_begin(&self, viewer: &Viewer) -> Result<(), TwoFactorError> {
        let methods = self.methods(viewer).await?;
        if methods.has_totp || !methods.has_password {
            return Err(TwoFactorError::NotAvailable);
        }
        Ok(())
    }

    fn new_enrolment(&self, viewer: &Viewer) -> Result<TotpEnrolment, TwoFactorError> {
        let secret = TotpSecret::generate()?;
        let context = seal_context(viewer);
        let expires_at = self.base.now().plus_ms(ENROLMENT_TTL_MS);
        let sealed = [&expires_at.0.to_be_bytes(), secret.bytes()].concat();
        let token = self.sealer.seal_text(PURPOSE, &context, &sealed)?;
        enrolment(viewer, &secret, token.into())
    }

    /// Returns a set-up that has begun in the person's session, to show it again.
    ///
    /// # Errors
    /// [`TwoFactorError::UnknownEnrolment`].
    pub fn resume(
        &self,
        viewer: &Viewer,
        token: &SecretString,
    ) -> Result<TotpEnrolment, TwoFactorError> {
        let secret = self.open(viewer, token)?;
        enrolment(viewer, &secret, token.clone())
    }

    /// Turns two-factor authentication on. Returns the recovery codes, which cannot be read again.
    ///
    /// # Errors
    /// [`TwoFactorError`].
    pub async fn confirm(
        &self,
        viewer: &Viewer,
        token: &SecretString,
        code: &str,
    ) -> Result<Vec<SecretString>, TwoFactorError> {
        let secret = self.open(viewer, token)?;
        let step = secret.step_of(code, self.base.now())?;
        let step = step.ok_or(TwoFactorError::WrongCode)?;
        let totp = StoredTotp {
            sealed_secret: secret.seal(&self.sealer, &viewer.account)?,
            // This is no sign-in, so the same code may still be used for one.
            last_step: step.saturating_sub(1),
        };
        let codes = generate_recovery_codes()?;
        let mut write = self.base.unit_of_work();
        write.insert_second_factor(&viewer.account, &totp, &digests(&codes));
        let change = AuditChange::new(AuditAction::AccountTotpEnabled, viewer.account.as_str());
        audit_in(&mut write, &self.base, &viewer.actor(), change);
        self.base.store.commit(write).await?;
        Ok(codes)
    }

    /// Replaces the recovery codes of a person who knows the current password, and returns the new
    /// ones, which cannot be read again. A wrong password counts like a failed sign-in.
    ///
    /// # Errors
    /// [`TwoFactorError`], but never [`ChangePasswordError::Password`].
    pub async fn replace_recovery_codes(
        &self,
        viewer: &Viewer,
        current_password: SecretString,
        client: &ClientInfo,
    ) -> Result<Vec<SecretString>, TwoFactorError> {
        if !self.methods(viewer).await?.has_totp {
            return Err(TwoFactorError::NotAvailable);
        }
        let codes = generate_recovery_codes()?;
        let mut write = self.base.unit_of_work();
        write.replace_recovery_codes(&viewer.account, &digests(&codes));
        let action = AuditAction::AccountRecoveryCodesReplaced;
        let change = AuditChange::new(action, viewer.account.as_str());
        audit_in(&mut write, &self.base, &viewer.actor(), change);
        self.passwords
            .commit_with_password(viewer, current_password, client, write)
            .await?;
        Ok(codes)
    }

    /// Turns two-factor authentication off for a person who knows the current password. A wrong
    /// password counts like a failed sign-in.
    ///
    /// # Errors
    /// [`ChangePasswordError`], but never [`ChangePasswordError::Password`].
    pub async fn turn_off(
        &self,
        viewer: &Viewer,
        current_password: SecretString,
        client: &ClientInfo,
    ) -> Result<(), ChangePasswordError> {
        let mut write = self.base.unit_of_work();
        write.delete_second_factor(&viewer.account);
        let change = AuditChange::new(AuditAction::AccountTotpDisabled, viewer.account.as_str());
        audit_in(&mut write, &self.base, &viewer.actor(), change);
        self.passwords
            .commit_with_password(viewer, current_password, client, write)
            .await
    }

    fn open(&self, viewer: &Viewer, token: &SecretString) -> Result<TotpSecret, TwoFactorError> {
        let context = seal_context(viewer);
        let opened = self
            .sealer
            .open_text(PURPOSE, &context, token.expose_secret());
        let bytes = opened.map_err(|_| TwoFactorError::UnknownEnrolment)?;
        let (expires_at, secret) = bytes
            .split_first_chunk()
            .ok_or(TwoFactorError::UnknownEnrolment)?;
        if self.base.now().0 >= i64::from_be_bytes(*expires_at) {
            return Err(TwoFactorError::UnknownEnrolment);
        }
        Ok(TotpSecret::from_bytes(secret.to_vec()))
    }
}

fn digests(recovery_codes: &[SecretString]) -> Vec<[u8; 32]> {
    let codes = recovery_codes.iter();
    codes
        .map(|code| digest_recovery_code(code.expose_secret()))
        .collect()
}

fn seal_context(viewer: &Viewer) -> [&str; 2] {
    [viewer.account.as_str(), viewer.session.as_str()]
}

fn enrolment(
    viewer: &Viewer,
    secret: &TotpSecret,
    token: SecretString,
) -> Result<TotpEnrolment, TwoFactorError> {
    Ok(TotpEnrolment {
        secret: secret.to_text(),
        uri: secret.to_uri(&viewer.email)?,
        token,
    })
}
