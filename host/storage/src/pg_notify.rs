//! PostgreSQL: wake-ups between hosts by `NOTIFY`.

use crate::wakeup::{OutgoingWakeups, WakeupSender, WorkQueueSet};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep_until, timeout};

/// The channel on which hosts notify each other of due items.
const CHANNEL: &str = "stopover_wakeup";

/// Minimum time between notifications to other processes, because each is a commit on the server.
/// Workers of this process are woken at once.
const NOTIFY_INTERVAL: Duration = Duration::from_millis(50);

/// Interval of tests of the listening connection. Nothing else is sent on it, so a vanished server
/// would otherwise never be detected.
const PROBE_EVERY: Duration = Duration::from_secs(30);

/// Sends wake-ups to other processes and receives theirs. They are sent outside the units of work,
/// because a `NOTIFY` inside a transaction makes the server serialize commits.
pub(crate) struct PgNotifier {
    pub(crate) connect: PgConnectOptions,
    pub(crate) response_timeout: Duration,
    pub(crate) outgoing: Arc<OutgoingWakeups>,
    pub(crate) wakeups: WakeupSender,
}

impl PgNotifier {
    /// Runs until the store is closed or dropped.
    pub(crate) async fn run(self, mut closed: watch::Receiver<bool>) {
        let listening = async {
            loop {
                if let Err(error) = self.listen().await {
                    tracing::warn!(error = %error, "cannot receive wake-ups from other processes; retrying, and polling continues");
                }
                pause().await;
            }
        };
        tokio::select! {
            () = listening => {}
            _ = closed.wait_for(|closed| *closed) => {}
        }
    }

    async fn listen(&self) -> Result<(), sqlx::Error> {
        // The listener has a connection of its own, so discarding a dead one takes none from the
        // pool.
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(self.response_timeout)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(self.connect.clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        self.with_timeout(listener.listen(CHANNEL)).await?;
        let mut probe = interval(PROBE_EVERY);
        let mut notify_at = Instant::now();
        loop {
            let own = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut listener);
            let own: i32 = self.with_timeout(own).await?;
            // Wake-ups may have been missed, at the start and after each reconnect.
            self.wakeups.send(WorkQueueSet::ALL);
            loop {
                tokio::select! {
                    notification = listener.try_recv() => {
                        let Some(notification) = notification? else { break };
                        if notification.process_id() != own.unsigned_abs() {
                            self.wakeups.send(WorkQueueSet::from_payload(notification.payload()));
                        }
                    }
                    queues = self.next_outgoing(notify_at) => {
                        notify_at = Instant::now() + NOTIFY_INTERVAL;
                        let notify = sqlx::query("SELECT pg_notify($1, $2)");
                        let notify = notify.bind(CHANNEL).bind(queues.to_payload());
                        self.with_timeout(notify.execute(&mut listener)).await?;
                    }
                    _ = probe.tick() => {
                        self.with_timeout(sqlx::query("SELECT 1").execute(&mut listener)).await?;
                    }
                }
            }
        }
    }

    /// Waits until `at` and then for wake-ups to send.
    async fn next_outgoing(&self, at: Instant) -> WorkQueueSet {
        sleep_until(at).await;
        self.outgoing.next().await
    }

    async fn with_timeout<T>(
        &self,
        response: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        let silence = |_| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
        timeout(self.response_timeout, response)
            .await
            .map_err(silence)?
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "between two attempts to connect to the server there is no event to wait for"
)]
async fn pause() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}
