//! Second factors of accounts: one-time passwords (TOTP) and recovery codes.

use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::AccountId;

const DELETE_RECOVERY_CODES: &str = "DELETE FROM account_recovery_code WHERE account_id = $1";

/// The secret of an account's one-time passwords.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTotp {
    pub sealed_secret: Vec<u8>,
    /// The time step of the last accepted code.
    pub last_step: i64,
}

/// The ways in which a person can prove to be the owner of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInMethods {
    pub has_password: bool,
    pub has_totp: bool,
    /// Number of unused recovery codes.
    pub recovery_codes: i64,
}

impl UnitOfWork {
    /// Stores the second factor of an account: the secret and the SHA-256 digests of the recovery
    /// codes. Fails with [`Conflict::SecondFactorExists`] if the account has one.
    pub fn insert_second_factor(
        &mut self,
        account: &AccountId,
        totp: &StoredTotp,
        recovery_codes: &[[u8; 32]],
    ) -> &mut Self {
        let insert = statement!(
            "INSERT INTO account_totp (account_id, sealed_secret, last_step, created_at) \
             VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            account.as_str(),
            totp.sealed_secret.as_slice(),
            totp.last_step,
            self.now,
        );
        self.add_expecting_one(insert, Conflict::SecondFactorExists);
        self.replace_recovery_codes(account, recovery_codes)
    }

    /// Replaces the recovery codes of an account by the ones with these SHA-256 digests.
    pub fn replace_recovery_codes(
        &mut self,
        account: &AccountId,
        recovery_codes: &[[u8; 32]],
    ) -> &mut Self {
        self.add(statement!(DELETE_RECOVERY_CODES, account.as_str()));
        for sha256 in recovery_codes {
            let insert = statement!(
                "INSERT INTO account_recovery_code (account_id, sha256) VALUES ($1, $2) \
                 ON CONFLICT DO NOTHING",
                account.as_str(),
                sha256.as_slice(),
            );
            self.add_expecting_one(insert, Conflict::SecondFactorExists);
        }
        self
    }

    /// Records the time step of an accepted code. Fails with [`Conflict::CodeUsed`] if a code of
    /// this step or of a later one was accepted: of several uses of one code, one succeeds.
    pub fn use_totp_step(&mut self, account: &AccountId, step: i64) -> &mut Self {
        let update = statement!(
            "UPDATE account_totp SET last_step = $2 WHERE account_id = $1 AND last_step < $2",
            account.as_str(),
            step,
        );
        self.add_expecting_one(update, Conflict::CodeUsed)
    }

    /// Removes a recovery code. Fails with [`Conflict::CodeUsed`] if the account has no such code.
    pub fn use_recovery_code(&mut self, account: &AccountId, sha256: &[u8; 32]) -> &mut Self {
        let delete = statement!(
            "DELETE FROM account_recovery_code WHERE account_id = $1 AND sha256 = $2",
            account.as_str(),
            sha256.as_slice(),
        );
        self.add_expecting_one(delete, Conflict::CodeUsed)
    }

    /// Removes the second factor of an account, if it has one.
    pub fn delete_second_factor(&mut self, account: &AccountId) -> &mut Self {
        for sql in [
            "DELETE FROM account_totp WHERE account_id = $1",
            DELETE_RECOVERY_CODES,
        ] {
            self.add(statement!(sql, account.as_str()));
        }
        self
    }
}

impl Store {
    /// Returns the secret of an account's one-time passwords.
    pub async fn totp(&self, account: &AccountId) -> Result<Option<StoredTotp>, DatabaseError> {
        let select = statement!(
            "SELECT sealed_secret, last_step FROM account_totp WHERE account_id = $1",
            account.as_str(),
        );
        self.read_optional(select, read_totp).await
    }

    /// Returns how the owner of an account can sign in, or `None` if there is no such account.
    pub async fn sign_in_methods(
        &self,
        account: &AccountId,
    ) -> Result<Option<SignInMethods>, DatabaseError> {
        let select = statement!(
            "SELECT COUNT(account.password_hash) AS passwords, COUNT(account.id) AS accounts, \
             (SELECT COUNT(*) FROM account_totp WHERE account_id = $1) AS secrets, \
             (SELECT COUNT(*) FROM account_recovery_code WHERE account_id = $1) AS recovery_codes \
             FROM account WHERE account.id = $1",
            account.as_str(),
        );
        let methods = self.read_optional(select, read_methods).await?;
        Ok(methods.flatten())
    }
}

fn read_totp(row: &Row) -> Result<StoredTotp, DatabaseError> {
    Ok(StoredTotp {
        sealed_secret: row.get("sealed_secret")?,
        last_step: row.get("last_step")?,
    })
}

/// Returns `None` if there is no such account.
fn read_methods(row: &Row) -> Result<Option<SignInMethods>, DatabaseError> {
    if row.get::<i64>("accounts")? == 0 {
        return Ok(None);
    }
    Ok(Some(SignInMethods {
        has_password: row.get::<i64>("passwords")? > 0,
        has_totp: row.get::<i64>("secrets")? > 0,
        recovery_codes: row.get("recovery_codes")?,
    }))
}
