//! Tests of accounts with a clock that tests move. Each runs on SQLite and on PostgreSQL.

mod account;
mod database;
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
use database::TestDatabase;
use host_domain::account::{AccountRole, EmailAddress, OrganizationRole};
use host_domain::audit::Actor;
use host_domain::time::{Clock, Timestamp};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Generates a test for each function on each of the two databases.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        on_both_databases! { sqlite: $($name)* }
        on_both_databases! { postgres: $($name)* }
    };
    ($database:ident: $($name:ident)*) => {
        mod $database {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                let office = $crate::account::tests::Office::$database().await;
                super::$name(&office).await;
                office.close().await;
            })*
        }
    };
}
use on_both_databases;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

const ADA: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery staple";

/// A clock that moves only when a test advances it.
struct StillClock(AtomicI64);

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// Two processes with one database and one clock.
struct Office {
    database: TestDatabase,
    clock: Arc<StillClock>,
    host: Host,
    other_host: Host,
}

struct Host {
    base: Base,
    services: AccountServices,
}

impl Office {
    async fn sqlite() -> Self {
        Self::open(TestDatabase::sqlite()).await
    }

    async fn postgres() -> Self {
        Self::open(TestDatabase::postgres().await).await
    }

    async fn open(database: TestDatabase) -> Self {
        let clock = Arc::new(StillClock(AtomicI64::new(NOW.0)));
        let key = SecretSlice::from(vec![7; KEY_BYTES]);
        let sealer = Arc::new(Sealer::new("k1", &key, &[]).unwrap());
        let host = async || {
            let base = Base {
                store: database.open_store().await,
                clock: clock.clone(),
                ids: Arc::new(UuidV7Generator),
            };
            Host {
                services: AccountServices::new(&base, &sealer, &OidcConfig::default()).unwrap(),
                base,
            }
        };
        let (host, other_host) = (host().await, host().await);
        Self {
            database,
            clock,
            host,
            other_host,
        }
    }

    async fn close(self) {
        self.host.base.store.close().await;
        self.other_host.base.store.close().await;
        self.database.remove().await;
    }

    fn set_clock(&self, after_ms: i64) {
        self.clock.0.store(NOW.0 + after_ms, Ordering::SeqCst);
    }

    /// Creates an account without a password and returns the token of its link.
    async fn invite(&self, address: &str) -> SecretString {
        let accounts = &self.host.services.accounts;
        accounts
            .create(&Actor::system(), &email(address), roles())
            .await
            .unwrap()
    }

    /// Creates an account with [`PASSWORD`] and returns its session.
    async fn set_up(&self, address: &str) -> NewSession {
        let token = self.invite(address).await;
        let setup = &self.host.services.setup;
        let client = client(0);
        let completed = setup.complete(token.expose_secret(), "", PASSWORD.into(), &client);
        completed.await.unwrap()
    }

    async fn disable(&self, address: &str) {
        let accounts = &self.other_host.services.accounts;
        accounts
            .disable(&Actor::system(), &email(address))
            .await
            .unwrap();
    }

    async fn reset(&self, address: &str) -> SecretString {
        let accounts = &self.other_host.services.accounts;
        accounts
            .reset(&Actor::system(), &email(address))
            .await
            .unwrap()
    }

    async fn purge(&self) {
        let base = self.host.base.clone();
        AccountMaintenance { base }.run_once().await.unwrap();
    }
}

impl Host {
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
