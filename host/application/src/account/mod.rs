//! Accounts of people: sign-in, sessions and set-up links.

mod failure;
mod lockout;
pub(crate) mod maintenance;
mod password;
pub mod password_change;
pub mod secret;
pub mod service;
pub mod session;
pub mod setup;
pub mod sign_in;
pub mod viewer;

#[cfg(test)]
mod tests;

use crate::account::password::HashingQueue;
use crate::account::password_change::PasswordService;
use crate::account::service::AccountService;
use crate::account::session::SessionService;
use crate::account::setup::SetupService;
use crate::account::sign_in::SignInService;
use crate::base::Base;
use std::sync::Arc;

/// The services of people's accounts.
pub struct AccountServices {
    pub accounts: Arc<AccountService>,
    pub passwords: Arc<PasswordService>,
    pub sessions: Arc<SessionService>,
    pub setup: Arc<SetupService>,
    pub sign_in: Arc<SignInService>,
}

impl AccountServices {
    pub(crate) fn new(base: &Base) -> Self {
        let hashing = Arc::new(HashingQueue::default());
        let sessions = Arc::new(SessionService { base: base.clone() });
        let setup = SetupService {
            base: base.clone(),
            hashing: Arc::clone(&hashing),
            sessions: Arc::clone(&sessions),
        };
        let passwords = PasswordService::new(base, &hashing, &sessions);
        let sign_in = SignInService::new(base, &hashing, &sessions);
        Self {
            accounts: Arc::new(AccountService::new(base.clone())),
            passwords: Arc::new(passwords),
            sessions,
            setup: Arc::new(setup),
            sign_in: Arc::new(sign_in),
        }
    }
}
