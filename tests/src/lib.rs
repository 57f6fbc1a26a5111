//! Test support: the real server as a process, a client, and builders of requests. Tests use only
//! the public interface.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot continue fails by panicking"
)]

mod bag;
mod booking;
mod client;
mod cluster;
mod dashboard;
mod database;
mod event_stream;
mod example;
mod fault;
mod fixture;
mod flight;
mod hotel;
mod job;
mod oidc_provider;
mod operator;
mod pgbouncer;
mod receiver;
mod relay;
mod sandbox;
mod server;
mod subscriber;
mod upstream;
mod watch;
mod watcher;
mod webhook;

pub use booking::{Booking, BookingBuilder};
pub use client::{Client, Reply, concurrently, merged, money};
pub use cluster::{PostgresCluster, drop_connections};
pub use dashboard::{DashboardClient, PASSWORD, PageReply, accounts, link_path, totp_code};
pub use database::{Database, open_sqlite};
pub use event_stream::{EventStream, ServerEvent};
pub use example::{check_example, example_at};
pub use fault::{CALLER, Fault, FaultProxy, PlannedFault};
pub use fixture::{for_each_string, minutes_ahead, print_line, read_fixture, shift_dates};
pub use flight::{FlightBookingBuilder, passenger, prebook_flight_request, trip};
pub use hotel::{HotelBookingBuilder, days_ahead, offers_request, prebook_request, seconds_ahead};
pub use oidc_provider::{OidcProvider, TokenSignature};
pub use operator::{AdminClient, admin_command};
pub use pgbouncer::PgBouncer;
pub use receiver::{ReceivedDelivery, Receiver, ReceiverFault};
pub use relay::TcpRelay;
pub use sandbox::{Ledger, LedgerEntry, complete_payment, restore_content, set_price};
pub use server::{Server, ServerOptions, binary, target_dir};
pub use subscriber::{
    Subscriber, Subscription, response_statuses, subscriptions, unresponsive_server,
    verify_signatures,
};
pub use upstream::{MockResponse, MockServer, ReceivedRequest, count, routes, supplier_at};
pub use watch::{TRIP_WATCHES, WATCHES, auto_book, trip_watch_request, watch_request};
pub use watcher::{WATCHER_WEBHOOK, WatcherWebhook, wait_for_watch_event, watch_events};
pub use webhook::sign_supplier_webhook;

use std::time::{Duration, Instant};

/// Maximum wait for a condition. It is far longer than any condition needs, so reaching it is a
/// failure.
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

/// Polls `probe` until it returns a value. Polls often instead of sleeping for a fixed time.
///
/// # Panics
/// Panics if it returns none within a minute. The message names the condition.
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
