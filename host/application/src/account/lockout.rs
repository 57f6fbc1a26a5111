//! Locks accounts and addresses after failed sign-ins.
//!
//! An attempt is counted as a failure before its password is checked, and the count is corrected
//! when the password was right. Attempts that come together therefore never check more passwords
//! than the limit, on however many processes. In return, an attempt may be refused because of others
//! that are not decided yet.
//!
//! An attempt runs in a task of its own, so that it is decided even if its client hangs up. It stops
//! counting if it ends without the check of its password, for example because the database failed.

use crate::base::Base;
use crate::conflict_backoff::{ConflictBackoff, DeadlinePassed};
use crate::deadline::Deadline;
use crate::error_chain::describe_error_chain;
use crate::storage_failure::StorageFailure;
use crate::task_supervisor::TaskSupervisor;
use host_domain::account::EmailAddress;
use host_domain::time::Timestamp;
use host_storage::{CommitError, Conflict, DatabaseError, SignInGuard, UnitOfWork};
use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Number of failures that lock a subject.
pub(super) const FAILURES_MAX: usize = 5;
/// Time within which failures are counted, and for which a subject is locked after the last one.
pub(super) const WINDOW_MS: i64 = 15 * 60 * 1000;

/// Time in which concurrent attempts must have been recorded.
const COMMIT_TIME_MAX: Duration = Duration::from_secs(5);

/// Times to wait, in seconds, before it is tried again to stop counting an attempt.
const WITHDRAWAL_WAITS_S: [u64; 6] = [1, 2, 4, 8, 16, 32];

#[derive(Debug, thiserror::Error)]
pub(super) enum AttemptError {
    #[error("too many failed sign-ins; try again in {retry_after_s} s")]
    Locked { retry_after_s: u64 },
    #[error(transparent)]
    Contended(#[from] DeadlinePassed),
    /// Another precondition of the change was not met.
    #[error("{0}")]
    Conflict(Conflict),
    #[error("sign-ins could not be counted")]
    Storage(#[from] StorageFailure),
}

impl From<DatabaseError> for AttemptError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CommitError> for AttemptError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Conflict(conflict) => Self::Conflict(conflict),
            CommitError::Database(error) => error.into(),
        }
    }
}

/// The account and the address of an attempt, by which failures are counted.
#[derive(Debug, Clone)]
pub(super) struct SignInSubjects {
    /// The account, which need not exist. Addresses without an account are locked too, so that a
    /// lock does not reveal whether there is one.
    account: String,
    address: String,
}

impl SignInSubjects {
    pub(super) fn new(email: &str, address: IpAddr) -> Self {
        Self {
            account: account_subject(email),
            address: address_subject(address),
        }
    }

    fn keys(&self) -> [String; 2] {
        [self.account.clone(), self.address.clone()]
    }
}

/// Returns the subject of an account.
fn account_subject(email: &str) -> String {
    // The digest bounds the length. The spelling is that of `EmailAddress`.
    let email = Sha256::digest(email.trim().to_lowercase());
    format!("account:{}", hex::encode(email))
}

/// Adds to a write that an account has no failures. Attempts that are not decided yet do not count
/// any more.
pub(super) fn clear_failures_in(write: &mut UnitOfWork, email: &EmailAddress) {
    write.delete_sign_in_guard(&account_subject(email.as_str()));
}

/// Returns the subject of an address. A subscriber usually has a whole IPv6 network of 64 bits.
fn address_subject(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => format!("address:{address}"),
        IpAddr::V6(address) => {
            let network = Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX));
            format!("address:{network}/64")
        }
    }
}

/// An attempt that is counted as a failure until it succeeds.
#[derive(Debug, Clone)]
#[must_use = "an attempt counts as a failure until it succeeds"]
pub(super) struct SignInAttempt {
    subjects: SignInSubjects,
    began_at: Timestamp,
}

/// Counts failed sign-ins. Cloning is cheap.
#[derive(Clone)]
pub(super) struct SignInLimiter {
    pub(super) base: Base,
    pub(super) tasks: TaskSupervisor,
}

impl SignInLimiter {
    /// Begins an attempt and runs its check, in a task that ends even if the caller stops waiting. The
    /// check commits its success with [`SignInLimiter::succeed`] or [`SignInLimiter::withdraw`]. If it
    /// fails, the attempt remains a failure only if `is_wrong` says that the error is about the password
    /// or the code.
    ///
    /// # Errors
    /// [`AttemptError::Locked`] if the account or the address is locked, or the error of the check.
    pub(super) async fn run<T, E, W>(
        &self,
        subjects: SignInSubjects,
        is_wrong: fn(&E) -> bool,
        check: impl FnOnce(SignInAttempt) -> W + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<AttemptError> + Send + 'static,
        W: Future<Output = Result<T, E>> + Send + 'static,
    {
        let limiter = self.clone();
        let decided = self.tasks.run_to_completion(async move {
            let attempt = limiter.begin(subjects).await?;
            let result = check(attempt.clone()).await;
            if result.as_ref().is_err_and(|error| !is_wrong(error)) {
                limiter.withdraw_undecided(attempt).await;
            }
            result
        });
        decided.await.unwrap_or_else(|panicked| {
            let failure = StorageFailure::Internal(panicked.into());
            Err(AttemptError::Storage(failure).into())
        })
    }

    /// Checks whether an attempt may begin.
    ///
    /// # Errors
    /// [`AttemptError::Locked`] if the account or the address is locked.
    pub(super) async fn check(&self, subjects: &SignInSubjects) -> Result<(), AttemptError> {
        let guards = self.base.store.sign_in_guards(&subjects.keys()).await?;
        refuse_locked(&guards, self.base.now())
    }

    /// Begins an attempt and counts it as a failure.
    async fn begin(&self, subjects: SignInSubjects) -> Result<SignInAttempt, AttemptError> {
        let mut backoff = ConflictBackoff::new(Deadline::from_now(COMMIT_TIME_MAX));
        loop {
            let keys = subjects.keys();
            let guards = self.base.store.sign_in_guards(&keys).await?;
            let now = self.base.now();
            refuse_locked(&guards, now)?;
            let mut write = UnitOfWork::new(now);
            for subject in keys {
                let stored = guards.iter().find(|guard| guard.subject == subject);
                let mut guard = next_revision(subject, stored, now);
                guard.failures.retain(|at| now.since(*at) < WINDOW_MS);
                guard.failures.push(now);
                write.put_sign_in_guard(&guard, stored.map(|stored| stored.revision));
            }
            let conflict = Conflict::SignInRaced;
            if self.base.commit_unless(conflict, write).await? {
                return Ok(SignInAttempt {
                    subjects,
                    began_at: now,
                });
            }
            backoff.wait(self.base.ids.as_ref()).await?;
        }
    }

    /// Commits what a successful attempt changes. The account has no failures then, and the address
    /// keeps those of other attempts.
    ///
    /// # Errors
    /// [`AttemptError::Conflict`] if a precondition of the change is not met.
    pub(super) async fn succeed(
        &self,
        attempt: &SignInAttempt,
        change: &UnitOfWork,
    ) -> Result<(), AttemptError> {
        self.finish_attempt(attempt, change, true).await
    }

    /// Stops counting an attempt whose password was right and which needs a code besides. The
    /// account keeps its other failures. Otherwise, whoever knows the password could try codes
    /// without a limit.
    ///
    /// # Errors
    /// The database failed, or too many attempts were made at the same time.
    pub(super) async fn withdraw(&self, attempt: &SignInAttempt) -> Result<(), AttemptError> {
        let nothing = self.base.unit_of_work();
        self.finish_attempt(attempt, &nothing, false).await
    }

    /// Stops counting an attempt whose check could not be made or committed. If the database does not
    /// permit it now, it is tried again for about a minute.
    async fn withdraw_undecided(&self, attempt: SignInAttempt) {
        if self.withdraw(&attempt).await.is_err() {
            let limiter = self.clone();
            self.tasks.spawn("withdraw_sign_in", async move {
                limiter.withdraw_later(&attempt).await;
            });
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "only another attempt shows whether the database accepts writes again"
    )]
    async fn withdraw_later(&self, attempt: &SignInAttempt) {
        let stopping = self.tasks.shutdown_token();
        let mut waits = WITHDRAWAL_WAITS_S.into_iter();
        while let Some(seconds) = waits.next() {
            tokio::select! {
                () = stopping.cancelled() => return,
                () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
            }
            match self.withdraw(attempt).await {
                Ok(()) => return,
                Err(error) if waits.len() == 0 => {
                    tracing::warn!(error = %describe_error_chain(&error), "a sign-in that was not checked counts as a failure for 15 minutes, because the database did not accept its correction");
                }
                Err(_) => {}
            }
        }
    }

    /// Removes the failure as which an attempt is counted, and commits a change.
    async fn finish_attempt(
        &self,
        attempt: &SignInAttempt,
        change: &UnitOfWork,
        clears_account: bool,
    ) -> Result<(), AttemptError> {
        let mut backoff = ConflictBackoff::new(Deadline::from_now(COMMIT_TIME_MAX));
        loop {
            let keys = attempt.subjects.keys();
            let guards = self.base.store.sign_in_guards(&keys).await?;
            let mut write = change.clone();
            for stored in &guards {
                let subject = stored.subject.clone();
                let mut guard = next_revision(subject, Some(stored), attempt.began_at);
                if clears_account && guard.subject == attempt.subjects.account {
                    guard.failures.clear();
                } else {
                    let mut failures = guard.failures.iter();
                    if let Some(own) = failures.position(|at| *at == attempt.began_at) {
                        guard.failures.remove(own);
                    }
                }
                write.put_sign_in_guard(&guard, Some(stored.revision));
            }
            let conflict = Conflict::SignInRaced;
            if self.base.commit_unless(conflict, write).await? {
                return Ok(());
            }
            backoff.wait(self.base.ids.as_ref()).await?;
        }
    }
}

/// Returns the row that replaces the stored one.
fn next_revision(subject: String, stored: Option<&SignInGuard>, now: Timestamp) -> SignInGuard {
    SignInGuard {
        subject,
        revision: stored.map_or(now.0, |stored| stored.revision.saturating_add(1)),
        failures: stored.map_or_else(Vec::new, |stored| stored.failures.clone()),
    }
}

fn refuse_locked(guards: &[SignInGuard], now: Timestamp) -> Result<(), AttemptError> {
    let ends = guards.iter().filter_map(|guard| lock_end(&guard.failures));
    match ends.max() {
        Some(end) if now < end => {
            let wait_s = end.since(now).unsigned_abs().div_ceil(1000);
            Err(AttemptError::Locked {
                retry_after_s: wait_s,
            })
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the time until which these failures lock their subject. They are within one window,
/// because each attempt removes earlier ones.
fn lock_end(failures: &[Timestamp]) -> Option<Timestamp> {
    let last = failures.iter().max()?;
    (failures.len() >= FAILURES_MAX).then(|| last.plus_ms(WINDOW_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_addresses_of_a_network_are_one_subject() {
        for (address, subject) in [
            ("192.0.2.1", "address:192.0.2.1"),
            ("::ffff:192.0.2.1", "address:192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "address:2001:db8:1:2::/64"),
            ("2001:db8:1:2::", "address:2001:db8:1:2::/64"),
            ("2001:db8:1:3::", "address:2001:db8:1:3::/64"),
        ] {
            assert_eq!(address_subject(address.parse().unwrap()), subject);
        }
    }

    #[test]
    fn spellings_of_an_account_are_one_subject() {
        let address = IpAddr::V6(Ipv6Addr::LOCALHOST);
        let account = |email| SignInSubjects::new(email, address).account;
        assert_eq!(account("ada@example.com"), account(" Ada@Example.COM "));
        assert_ne!(account("ada@example.com"), account("eda@example.com"));
    }
}
