//! Passwords: which ones are accepted, and their hashes.
//!
//! A hash takes 19 MiB of memory and some tens of milliseconds. The number that is computed at a
//! time is therefore limited, and the others wait.

use argon2::password_hash::phc;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use host_domain::account::{EmailAddress, PasswordProblem, check_password};
use host_storage::PasswordHash;
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashSet;
#[cfg(test)]
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The 10,000 most common passwords and, of the next 39,000, those that are long enough to be
/// accepted otherwise. In lower case, one in a line.
static COMMON_PASSWORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("common_passwords.txt").lines().collect());

/// Checks whether a password may become the password of the account with this address.
///
/// # Errors
/// The first rule that is broken.
pub(super) fn check_new_password(
    password: &SecretString,
    email: &EmailAddress,
) -> Result<(), PasswordProblem> {
    let password = password.expose_secret();
    check_password(password, email)?;
    if COMMON_PASSWORDS.contains(password.to_lowercase().as_str()) {
        return Err(PasswordProblem::TooCommon);
    }
    Ok(())
}

// The parameters that OWASP recommends for argon2id.
const MEMORY_KIB: u32 = 19_456;
const ITERATIONS: u32 = 2;
const PARALLELISM: u32 = 1;

/// The hash of a random password that nobody knows, with the parameters of all other hashes. It is
/// verified where an account has no password, so that this takes the same time.
const UNKNOWN_PASSWORD_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$Ji80lfMymFCEhZOaEK/iyw$y2iDxjP7YLfl6PGwi0EcVCQHN/vu34/Vlt8mZp6ilNk";

/// Number of hashes that are computed at the same time.
const RUNNING_MAX: usize = 2;
/// Number of requests that may wait for their hash. At 50 ms for a hash, the last one waits for
/// seven seconds.
const WAITING_MAX: usize = 256;

#[derive(Debug, thiserror::Error)]
pub(super) enum HashError {
    #[error("too many passwords are being checked; try again later")]
    Busy,
    #[error("the password cannot be hashed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Limits how many passwords are hashed at a time.
pub(super) struct HashingQueue {
    admitted: Arc<Semaphore>,
    running: Arc<Semaphore>,
    #[cfg(test)]
    computed: Arc<AtomicU32>,
}

/// The right to compute hashes, one after another.
pub(super) struct HashingPermit {
    _admitted: OwnedSemaphorePermit,
    _running: OwnedSemaphorePermit,
    #[cfg(test)]
    computed: Arc<AtomicU32>,
}

impl Default for HashingQueue {
    fn default() -> Self {
        Self {
            admitted: Arc::new(Semaphore::new(RUNNING_MAX + WAITING_MAX)),
            running: Arc::new(Semaphore::new(RUNNING_MAX)),
            #[cfg(test)]
            computed: Arc::default(),
        }
    }
}

impl HashingQueue {
    /// Waits until a hash may be computed.
    ///
    /// # Errors
    /// [`HashError::Busy`] if [`WAITING_MAX`] others wait already.
    pub(super) async fn enter(&self) -> Result<HashingPermit, HashError> {
        let admitted = Arc::clone(&self.admitted).try_acquire_owned();
        let admitted = admitted.map_err(|_| HashError::Busy)?;
        let running = Arc::clone(&self.running).acquire_owned().await;
        Ok(HashingPermit {
            _admitted: admitted,
            _running: running.map_err(|_| HashError::Busy)?,
            #[cfg(test)]
            computed: Arc::clone(&self.computed),
        })
    }

    /// Returns the number of hashes that were computed.
    #[cfg(test)]
    pub(super) fn computed(&self) -> u32 {
        self.computed.load(Ordering::SeqCst)
    }
}

impl HashingPermit {
    /// Hashes a password under a random salt.
    pub(super) async fn hash(
        self,
        password: SecretString,
    ) -> Result<(Self, PasswordHash), HashError> {
        self.compute(move || hash(password.expose_secret())).await
    }

    /// Returns whether a password has this hash. Without a hash the answer is `false` and takes the
    /// same time.
    pub(super) async fn verify(
        self,
        password: SecretString,
        expected: Option<PasswordHash>,
    ) -> Result<(Self, bool), HashError> {
        self.compute(move || {
            let is_known = expected.is_some();
            let expected = expected.map_or_else(|| UNKNOWN_PASSWORD_HASH.to_owned(), |hash| hash.0);
            let is_equal = verify(password.expose_secret(), &expected)?;
            Ok(is_equal && is_known)
        })
        .await
    }

    /// Computes outside the threads of the requests. The permit is held until the end, even if the
    /// caller stops waiting.
    async fn compute<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, HashError> + Send + 'static,
    ) -> Result<(Self, T), HashError> {
        #[cfg(test)]
        self.computed.fetch_add(1, Ordering::SeqCst);
        let computed = tokio::task::spawn_blocking(move || Ok((self, work()?)));
        computed.await.map_err(failed)?
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> HashError {
    HashError::Failed(Box::new(error))
}

fn hash(password: &str) -> Result<PasswordHash, HashError> {
    let params = Params::new(MEMORY_KIB, ITERATIONS, PARALLELISM, None).map_err(failed)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash: phc::PasswordHash = argon2.hash_password(password.as_bytes()).map_err(failed)?;
    Ok(PasswordHash(hash.to_string()))
}

/// Compares in constant time, with the parameters of the expected hash.
fn verify(password: &str, expected: &str) -> Result<bool, HashError> {
    let expected = phc::PasswordHash::new(expected).map_err(failed)?;
    match Argon2::default().verify_password(password.as_bytes(), &expected) {
        Ok(()) => Ok(true),
        Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::join_all;

    #[test]
    fn common_passwords_are_refused_in_any_case() {
        assert!(COMMON_PASSWORDS.len() >= 10_000);
        let email = EmailAddress::parse("administrator@example.com").unwrap();
        for (password, expected) in [
            ("123qweasdzxc", Err(PasswordProblem::TooCommon)),
            ("1Qaz2Wsx3Edc", Err(PasswordProblem::TooCommon)),
            ("passwordpassword", Err(PasswordProblem::TooCommon)),
            ("password", Err(PasswordProblem::TooShort)),
            (
                "Administrator@example.com",
                Err(PasswordProblem::EqualsEmail),
            ),
            ("correct horse battery staple", Ok(())),
        ] {
            assert_eq!(check_new_password(&password.into(), &email), expected);
        }
    }

    #[test]
    fn hash_is_verified_by_its_password_only() {
        let (one, other) = (hash("one password").unwrap(), hash("one password").unwrap());
        assert_ne!(one, other);
        assert!(verify("one password", &one.0).unwrap());
        assert!(!verify("one passworD", &one.0).unwrap());
        assert!(verify("one password", "no hash").is_err());
    }

    /// An unknown account could be recognized by the time otherwise.
    #[test]
    fn unknown_password_hash_has_the_parameters_and_lengths_of_others() {
        let shape = |hash: &str| {
            let hash = phc::PasswordHash::new(hash).unwrap();
            let salt = hash.salt.map(|salt| salt.as_ref().len());
            let output = hash.hash.map(|hash| hash.as_bytes().len());
            (hash.algorithm, hash.version, hash.params, salt, output)
        };
        let known = hash("a password").unwrap();
        assert_eq!(shape(UNKNOWN_PASSWORD_HASH), shape(&known.0));
    }

    #[tokio::test]
    async fn hashes_run_two_at_a_time_and_a_bounded_number_waits() {
        let queue = HashingQueue::default();
        let running = [queue.enter().await.unwrap(), queue.enter().await.unwrap()];
        let mut waiting: Vec<_> = (0..WAITING_MAX).map(|_| Box::pin(queue.enter())).collect();
        for one in &mut waiting {
            assert!(futures::poll!(one.as_mut()).is_pending());
        }
        assert!(matches!(queue.enter().await, Err(HashError::Busy)));
        drop(running);
        let all = join_all(waiting.into_iter().map(async |one| one.await.is_ok())).await;
        assert!(all.into_iter().all(|entered| entered));
        assert!(queue.enter().await.is_ok());
    }
}
