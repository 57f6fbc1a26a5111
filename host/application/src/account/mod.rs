//! Accounts of people: sign-in, sessions and set-up links.

mod audited;
mod failure;
mod lockout;
pub(crate) mod maintenance;
pub mod members;
pub mod oidc;
mod password;
pub mod password_change;
pub mod secret;
pub mod service;
pub mod session;
pub mod setup;
pub mod sign_in;
mod totp;
pub mod two_factor;
pub mod viewer;

#[cfg(test)]
mod tests;

use crate::account::lockout::SignInLimiter;
use crate::account::members::MemberService;
use crate::account::oidc::OidcService;
use crate::account::password::HashingQueue;
use crate::account::password_change::PasswordService;
use crate::account::service::AccountService;
use crate::account::session::SessionService;
use crate::account::setup::SetupService;
use crate::account::sign_in::SignInService;
use crate::account::two_factor::TwoFactorService;
use crate::base::Base;
use crate::config::oidc::OidcConfig;
use crate::sealer::Sealer;
use crate::task_supervisor::TaskSupervisor;
use std::sync::Arc;

/// The services of people's accounts.
pub struct AccountServices {
    pub accounts: Arc<AccountService>,
    pub members: Arc<MemberService>,
    /// `None` without single sign-on.
    pub oidc: Option<Arc<OidcService>>,
    pub passwords: Arc<PasswordService>,
    pub sessions: Arc<SessionService>,
    pub setup: Arc<SetupService>,
    pub sign_in: Arc<SignInService>,
    pub two_factor: Arc<TwoFactorService>,
}

impl AccountServices {
    /// # Errors
    /// The HTTP client of single sign-on cannot be built.
    pub(crate) fn new(
        base: &Base,
        tasks: &TaskSupervisor,
        sealer: &Arc<Sealer>,
        oidc: &OidcConfig,
    ) -> Result<Self, reqwest::Error> {
        let limiter = SignInLimiter {
            base: base.clone(),
            tasks: tasks.clone(),
        };
        let hashing = Arc::new(HashingQueue::default());
        let sessions = Arc::new(SessionService { base: base.clone() });
        let setup = SetupService {
            base: base.clone(),
            hashing: Arc::clone(&hashing),
            sessions: Arc::clone(&sessions),
        };
        let passwords = Arc::new(PasswordService::new(limiter.clone(), &hashing, &sessions));
        let sign_in = SignInService::new(limiter, sealer, &hashing, &sessions);
        let two_factor = TwoFactorService {
            base: base.clone(),
            sealer: Arc::clone(sealer),
            passwords: Arc::clone(&passwords),
        };
        let oidc = OidcService::new(base, sealer, &sessions, oidc)?;
        Ok(Self {
            accounts: Arc::new(AccountService::new(base.clone())),
            members: Arc::new(MemberService::new(base.clone())),
            oidc: oidc.map(Arc::new),
            passwords,
            sessions,
            setup: Arc::new(setup),
            sign_in: Arc::new(sign_in),
            two_factor: Arc::new(two_factor),
        })
    }
}
