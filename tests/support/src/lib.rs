//! What tests of several crates need: a separate database for each test, and a clock that they move.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests use this crate; they have no configuration, and a test that cannot continue fails by panicking"
)]
#![warn(missing_docs)]

mod clock;
mod database;

pub use clock::ManualClock;
pub use database::{TestDatabase, create_postgres, postgres_server};

/// Generates a test for each function on each of the two databases.
///
/// The fixture is a type with `async fn sqlite() -> Self`, `async fn postgres() -> Self` and
/// `async fn remove(self)`. Each function takes a reference to it.
#[macro_export]
macro_rules! on_both_databases {
    ($fixture:ty: $($name:ident),* $(,)?) => {
        $crate::on_both_databases! { sqlite $fixture: $($name)* }
        $crate::on_both_databases! { postgres $fixture: $($name)* }
    };
    ($database:ident $fixture:ty: $($name:ident)*) => {
        mod $database {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                let fixture = <$fixture>::$database().await;
                super::$name(&fixture).await;
                fixture.remove().await;
            })*
        }
    };
}
