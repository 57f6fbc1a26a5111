//! Tests of accounts with a clock that tests move. Each runs on SQLite and on PostgreSQL.

mod account;
mod session;
mod setup;
mod sign_in;
mod two_factor;

use crate::account::AccountServices;
use crate::account::maintenance::AccountMaintenance;
use crate::account::session::{NewSession, SessionActivity};
use crate::account::sign_in::{SignInError, SignInStep};
use crate::account::viewer::{ClientInfo, Viewer};
use crate::base::Base;
use crate::config::oidc::OidcConfig;
use crate::id_generator::UuidV7Generator;
use crate::sealer::{KEY_BYTES, Sealer};
use crate::task_supervisor::TaskSupervisor;
use host_domain::account::{AccountRole, EmailAddress, OrganizationRole};
use host_domain::audit::Actor;
use host_domain::time::Timestamp;
use host_storage::{Store, StoreOptions};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use std::sync::Arc;
use test_support::{ManualClock, TestDatabase};

/// Generates a test for each function on each of the two databases.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        test_support::on_both_databases! { $crate::account::tests::TwoProcesses: $($name),* }
    };
}
use on_both_databases;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

const ADA: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery staple";

/// Two processes with one database and one clock.
struct TwoProcesses {
    database: TestDatabase,
    clock: Arc<ManualClock>,
    first: Process,
    other: Process,
}

struct Process {
    base: Base,
    services: AccountServices,
}

async fn open_store(url: &str) -> Store {
    let options = StoreOptions::default();
    let store = Store::open(url, &options).await.unwrap();
    store.migrate().await.unwrap();
    store
}

impl TwoProcesses {
    async fn sqlite() -> Self {
        Self::open(TestDatabase::sqlite()).await
    }

    async fn postgres() -> Self {
        Self::open(TestDatabase::postgres().await).await
    }

    async fn open(database: TestDatabase) -> Self {
        let clock = Arc::new(ManualClock::new(NOW));
        let key = SecretSlice::from(vec![7; KEY_BYTES]);
        let sealer = Arc::new(Sealer::new("k1", &key, &[]).unwrap());
        let tasks = TaskSupervisor::default();
        let process = async || {
            let base = Base {
                store: open_store(database.url()).await,
                clock: clock.clone(),
                ids: Arc::new(UuidV7Generator),
            };
            Process {
                services: AccountServices::new(&base, &tasks, &sealer, &OidcConfig::default())
                    .unwrap(),
                base,
            }
        };
        let (first, other) = (process().await, process().await);
        Self {
            database,
            clock,
            first,
            other,
        }
    }

    async fn remove(self) {
        self.first.base.store.close().await;
        self.other.base.store.close().await;
        self.database.remove().await;
    }

    fn set_clock(&self, after_ms: i64) {
        self.clock.set(NOW.plus_ms(after_ms));
    }

    /// Creates an account without a password and returns the token of its link.
    async fn invite(&self, address: &str) -> SecretString {
        let accounts = &self.first.services.accounts;
        accounts
            .create(&Actor::system(), &email(address), roles())
            .await
            .unwrap()
    }

    /// Creates an account with [`PASSWORD`] and returns its session.
    async fn set_up(&self, address: &str) -> NewSession {
        let token = self.invite(address).await;
        let setup = &self.first.services.setup;
        let client = client(0);
        let completed = setup.complete(token.expose_secret(), "", PASSWORD.into(), &client);
        completed.await.unwrap()
    }

    async fn disable(&self, address: &str) {
        let accounts = &self.other.services.accounts;
        accounts
            .disable(&Actor::system(), &email(address))
            .await
            .unwrap();
    }

    async fn reset(&self, address: &str) -> SecretString {
        let accounts = &self.other.services.accounts;
        accounts
            .reset(&Actor::system(), &email(address))
            .await
            .unwrap()
    }

    async fn purge(&self) {
        let base = self.first.base.clone();
        AccountMaintenance { base }.run_once().await.unwrap();
    }
}

impl Process {
    async fn sign_in(
        &self,
        address: &str,
        password: &str,
        client: &ClientInfo,
    ) -> Result<NewSession, SignInError> {
        match self.give_password(address, password, client).await? {
            SignInStep::Session(session) => Ok(session),
            SignInStep::CodeRequired { .. } => panic!("{address} needs a code"),
        }
    }

    async fn give_password(
        &self,
        address: &str,
        password: &str,
        client: &ClientInfo,
    ) -> Result<SignInStep, SignInError> {
        let sign_in = &self.services.sign_in;
        sign_in
            .with_password(address, password.into(), client)
            .await
    }

    /// Tries a wrong password and returns what the answer says.
    async fn fail(&self, address: &str, client: &ClientInfo) -> Answer {
        answer(&self.sign_in(address, "a wrong password", client).await)
    }

    /// Finds the person of a session. This does not keep the session alive.
    async fn find(&self, session: &NewSession) -> Option<Arc<Viewer>> {
        let found =
            self.services
                .sessions
                .find(&session.token, SessionActivity::Poll, client(1).address);
        found.await.unwrap()
    }
}

/// The answer to a sign-in as the client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Session,
    Refused,
    Locked { retry_after_s: u64 },
}

fn answer(result: &Result<NewSession, SignInError>) -> Answer {
    match result {
        Ok(_) => Answer::Session,
        Err(SignInError::Refused) => Answer::Refused,
        Err(SignInError::Locked { retry_after_s }) => Answer::Locked {
            retry_after_s: *retry_after_s,
        },
        Err(error) => panic!("{error:?}"),
    }
}

fn email(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap()
}

fn roles() -> Vec<AccountRole> {
    vec![AccountRole::Organization {
        organization: "acme".to_owned(),
        role: OrganizationRole::Developer,
    }]
}

/// Returns the client with this number. Each has an address of its own.
fn client(number: u8) -> ClientInfo {
    client_at(&format!("192.0.2.{number}"))
}

fn client_at(address: &str) -> ClientInfo {
    ClientInfo {
        address: address.parse().unwrap(),
        user_agent: "Mozilla/5.0".to_owned(),
    }
}
