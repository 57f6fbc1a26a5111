//! What tests are written with: the real server as a process, a client, and
//! builders for requests. Everything enters by the public surface.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails by panicking"
)]

mod bag;
mod client;
mod cluster;
mod database;
mod document;
mod example;
mod fault;
mod flight;
mod hotel;
mod operator;
mod receiver;
mod sandbox;
mod server;
mod subscriber;
mod upstream;
mod watch;
mod watcher;
mod webhook;

pub use client::{Client, Reply, concurrently, money};
pub use cluster::{PostgresCluster, drop_connections};
pub use database::Database;
pub use document::{for_each_string, minutes_ahead, shift_dates, read_fixture, print_line};
pub use example::{check_example, example_at};
pub use fault::{CALLER, Fault, FaultProxy, PlannedFault};
pub use flight::{FlightBookingBuilder, passenger, prebook_flight_request, trip};
pub use hotel::{HotelBookingBuilder, days_ahead, offers_request, prebook_request, seconds_ahead};
pub use operator::AdminClient;
pub use receiver::{ReceivedDelivery, Receiver, ReceiverFault};
pub use sandbox::{LedgerEntry, Ledger, restore_content, complete_payment, set_price};
pub use server::{Server, ServerOptions, binary, target_dir};
pub use subscriber::{Subscriber, Subscription, verify_signatures, unresponsive_server, subscriptions};
pub use upstream::{MockResponse, ReceivedRequest, MockServer, count, routes};
pub use watch::{WATCHES, auto_book, watch_request};
pub use watcher::{WatcherWebhook, wait_for_watch_event, watch_events};
pub use webhook::sign_supplier_webhook;

use std::time::{Duration, Instant};

/// Longest wait for a condition: far beyond what any needs, so that reaching it is a failure.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Makes two tests of each function that takes a [`Database`].
#[macro_export]
macro_rules! on_both_databases {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[tokio::test]
            async fn on_sqlite() {
                super::$test($crate::Database::Sqlite).await;
            }

            #[tokio::test]
            async fn on_postgres() {
                super::$test($crate::Database::Postgres).await;
            }
        }
    )*};
}

/// Waits until `probe` gives a value. Looks often; never waits for time itself.
///
/// # Panics
/// When it gives none for a minute; the message names what was waited for.
pub async fn eventually<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    while begin.elapsed() < WAIT_TIMEOUT {
        if let Some(value) = probe().await {
            return value;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("waited in vain for: {what}");
}
