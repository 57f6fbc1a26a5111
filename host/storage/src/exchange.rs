//! PostgreSQL: hosts wake each other by notifications.

use crate::wake::{OutgoingWakeups, WorkQueueSet, WakeupSender};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep_until, timeout};

/// Where hosts tell each other that something is due.
const CHANNEL: &str = "stopover_job";

/// How often other hosts are told at most: each time is a commit of the server's. The
/// workers of this host know at once.
const NOTIFY_INTERVAL: Duration = Duration::from_millis(50);

/// How often the listening connection is tested: nothing is sent on it, so that
/// a server that vanished would never be missed.
const PROBE_EVERY: Duration = Duration::from_secs(30);

/// Tells other hosts of what is due and hears of theirs. Sent outside the transactions, because a NOTIFY inside them makes the
/// server commit one after the other.
pub(crate) struct PgNotifier {
    pub(crate) connect: PgConnectOptions,
    pub(crate) answer_timeout: Duration,
    pub(crate) announce: Arc<OutgoingWakeups>,
    pub(crate) wakes: WakeupSender,
}

impl PgNotifier {
    /// Until the store is closed, or dropped.
    pub(crate) async fn run(self, mut closed: watch::Receiver<bool>) {
        let listening = async {
            loop {
                if let Err(error) = self.listen().await {
                    tracing::warn!(error = %error, "not listening for other hosts' work; polling goes on");
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
        // A connection of its own: giving up a dead one takes none from the pool.
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(self.answer_timeout)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(self.connect.clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        self.with_timeout(listener.listen(CHANNEL)).await?;
        let mut probe = interval(PROBE_EVERY);
        let mut announce_at = Instant::now();
        loop {
            let own = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut listener);
            let own: i32 = self.with_timeout(own).await?;
            // Also after the connection was made anew: something may have been missed.
            self.wakes.send(WorkQueueSet::ALL);
            loop {
                tokio::select! {
                    heard = listener.try_recv() => {
                        let Some(heard) = heard? else { break };
                        if heard.process_id() != own.unsigned_abs() {
                            self.wakes.send(WorkQueueSet::from_payload(heard.payload()));
                        }
                    }
                    queues = self.next_outgoing(announce_at) => {
                        announce_at = Instant::now() + NOTIFY_INTERVAL;
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

    /// What other hosts are to be told of, not before it is time to.
    async fn next_outgoing(&self, at: Instant) -> WorkQueueSet {
        sleep_until(at).await;
        self.announce.next().await
    }

    async fn with_timeout<T>(
        &self,
        answer: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        let silence = |_| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
        timeout(self.answer_timeout, answer)
            .await
            .map_err(silence)?
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "between two looks at a server there is nothing else to wait for"
)]
async fn pause() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}
