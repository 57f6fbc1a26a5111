//! Measures pending deliveries to one receiver that accepts them, from the moment they may be sent
//! until the last outcome is stored.

use crate::receiver::Receiver;
use crate::report::{Measured, measured};
use crate::rows::{Rows, copied, numbers};
use crate::setup::{self, key};
use anyhow::{Result, ensure};
use host_domain::id::EventId;
use serde_json::json;
use std::time::{Duration, Instant};
use tests::{Client, Database, Subscription};

const WARM_UP: u32 = 1_000;
const DELIVERIES: u32 = 10_000;
/// Configuration without the default rate limit of an endpoint, which would be measured instead.
const CONFIG: &str = "[webhooks]\nendpoint_per_s = 1000000";
/// Maximum wait; far longer than the deliveries take.
const WAIT_MAX: Duration = Duration::from_secs(120);

pub(super) async fn measure(database: Database) -> Result<Vec<Measured>> {
    let server = setup::gateway(database, CONFIG).await;
    let receiver = Receiver::start().await?;
    let client = server.client();
    let mut pending = PendingSubscription {
        subscription: Subscription::create(&client, &receiver.url).await,
        client,
        receiver,
        rows: Rows::of(&server).await?,
    };
    pending.pause().await;
    let first = pending.subscription.ping(&pending.client).await;
    pending.fill(&first, 1, WARM_UP).await?;
    // The count includes the delivery that is copied.
    pending.deliver(WARM_UP + 1).await?;
    pending.pause().await;
    let last = WARM_UP + DELIVERIES;
    pending.fill(&first, WARM_UP + 1, last).await?;
    let time = pending.deliver(DELIVERIES).await?;
    let rate = f64::from(DELIVERIES) / time.as_secs_f64();
    Ok(vec![measured(format!("delivery.{}", key(database)), rate)])
}

/// A subscription whose deliveries stay pending while it is paused.
struct PendingSubscription {
    client: Client,
    subscription: Subscription,
    receiver: Receiver,
    rows: Rows,
}

impl PendingSubscription {
    async fn pause(&self) {
        self.post("/pause").await;
    }

    async fn post(&self, action: &str) {
        let path = self.subscription.path(action);
        drop(self.client.post(&path, &json!({})).await.expect(200));
    }

    /// Copies a delivery and its event to the numbers from `from` to `to`.
    async fn fill(&mut self, delivery: &str, from: u32, to: u32) -> Result<()> {
        for copies in copies(delivery, from, to) {
            self.rows.execute(copies).await?;
        }
        self.rows.vacuum(&["outbox", "webhook_delivery"]).await
    }

    /// Resumes the subscription and returns the time until all `count` pending deliveries are
    /// stored as delivered.
    async fn deliver(&mut self, count: u32) -> Result<Duration> {
        let begin = Instant::now();
        self.post("/resume").await;
        let count = usize::try_from(count)?;
        while self.receiver.count() < count || !self.is_stored().await? {
            ensure!(
                begin.elapsed() < WAIT_MAX,
                "{} of {count} deliveries were delivered",
                self.receiver.count()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let time = begin.elapsed();
        let sent = self.receiver.take().len();
        ensure!(
            sent == count,
            "{count} deliveries were sent in {sent} requests"
        );
        Ok(time)
    }

    async fn is_stored(&mut self) -> Result<bool> {
        let open = "SELECT COUNT(*) FROM webhook_delivery WHERE next_attempt_at IS NOT NULL";
        Ok(self.rows.numbers(open).await? == [0])
    }
}

fn copies(delivery: &str, from: u32, to: u32) -> [String; 2] {
    let (numbers, copy) = (numbers(from, to), copied("d.event_id"));
    let event = EventId::PREFIX.len() + 1;
    let tables = format!(
        "FROM webhook_delivery AS d JOIN outbox AS o ON o.organization = d.organization \
           AND o.mode = d.mode AND o.id = d.event_id CROSS JOIN numbers \
         WHERE d.id = '{delivery}'"
    );
    [
        format!(
            "INSERT INTO outbox (organization, mode, id, event_type, product, payload, created_at) \
             {numbers} \
             SELECT o.organization, o.mode, {copy}, o.event_type, o.product, \
               REPLACE(o.payload, o.id, {copy}), o.created_at - n {tables}"
        ),
        format!(
            "INSERT INTO webhook_delivery (organization, mode, id, subscription_id, event_id, \
             status, generation, attempt_count, next_attempt_at, created_at, pending_since) \
             {numbers} \
             SELECT d.organization, d.mode, \
               REPLACE(d.id, substr(d.event_id, {event}), substr({copy}, {event})), \
               d.subscription_id, {copy}, 'PENDING', 0, 0, d.created_at - n, d.created_at - n, \
               d.created_at - n {tables}"
        ),
    ]
}
