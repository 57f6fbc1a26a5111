//! Measures the time from an event to its receiver at a constant rate, and the effect of another
//! receiver that accepts every connection but never responds.

use crate::http_connection::HttpConnection;
use crate::receiver::Receiver;
use crate::report::{Measured, measured};
use crate::sample::{Samples, median, ms, ratio};
use crate::setup::{self, key};
use anyhow::{Result, ensure};
use serde_json::json;
use std::time::{Duration, Instant};
use tests::{Client, Database, Server, Subscription, unresponsive_server};

const RECEIVERS: usize = 10;
const EVENTS_PER_S: u32 = 50;
const PHASE_S: u32 = 5;
const ROUNDS: usize = 5;
/// Number of events after which there is one for the silent receiver. That is more than can be
/// attempted.
const BESIDE: u32 = 5;
/// Delivery timeout. It is shorter than the default, so that many attempts time out within a phase.
const TIMEOUT: Duration = Duration::from_secs(2);
const ATTEMPTS: &str = "stopover_webhook_attempts_total";
/// Maximum wait; far longer than the last event of a phase takes.
const WAIT_MAX: Duration = Duration::from_secs(30);

pub(super) async fn measure(database: Database) -> Result<Vec<Measured>> {
    let config = format!("[webhooks]\ntimeout_s = {}", TIMEOUT.as_secs());
    let server = setup::gateway(database, &config).await;
    let (_port, url) = unresponsive_server();
    let receivers = EventReceivers::subscribe(&server, &url).await?;
    receivers.silent_does("/pause").await;
    receivers.phase().await?;
    let (mut alone, mut beside) = (Samples::default(), Samples::default());
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let quiet = receivers.phase().await?;
        receivers.silent_does("/resume").await;
        let disturbed = receivers.phase().await?;
        receivers.silent_does("/pause").await;
        // Attempts that are still waiting reach their timeout.
        tokio::time::sleep(TIMEOUT).await;
        ratios.push(ratio(disturbed.percentile(99), quiet.percentile(99)));
        alone.extend(quiet);
        beside.extend(disturbed);
    }
    let hung = server.metric(ATTEMPTS, &[("outcome", "timeout")]).await;
    ensure!(hung > 0, "no delivery to the silent receiver was attempted");
    let key = format!("event.{}", key(database));
    Ok(vec![
        measured(&key, ms(alone.percentile(99))),
        measured(format!("{key}_p50"), ms(alone.percentile(50))),
        measured(format!("{key}_beside"), median(ratios)),
        measured(format!("{key}_beside_p99"), ms(beside.percentile(99))),
    ])
}

/// The receivers of the measurement.
struct EventReceivers<'a> {
    server: &'a Server,
    client: Client,
    receiver: Receiver,
    quick: Vec<Subscription>,
    silent: Subscription,
}

impl<'a> EventReceivers<'a> {
    async fn subscribe(server: &'a Server, silence: &str) -> Result<Self> {
        let (client, receiver) = (server.client(), Receiver::start().await?);
        let mut quick = Vec::new();
        for _ in 0..RECEIVERS {
            quick.push(Subscription::create(&client, &receiver.url).await);
        }
        Ok(Self {
            silent: Subscription::create(&client, silence).await,
            server,
            client,
            receiver,
            quick,
        })
    }

    async fn silent_does(&self, what: &str) {
        let path = self.silent.path(what);
        drop(self.client.post(&path, &json!({})).await.expect(200));
    }

    /// Returns the ages of events at their arrival. The silent receiver gets its own events in
    /// every phase, whether they are sent or not.
    async fn phase(&self) -> Result<Samples> {
        let mut connection = HttpConnection::connect(&self.server.api).await?;
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / EVENTS_PER_S);
        let events = EVENTS_PER_S * PHASE_S;
        let others = (0..events).zip(self.quick.iter().cycle());
        for (number, quick) in others {
            ticks.tick().await;
            self.tell(&mut connection, quick).await?;
            if number % BESIDE == 0 {
                self.tell(&mut connection, &self.silent).await?;
            }
        }
        let (begin, events) = (Instant::now(), usize::try_from(events)?);
        while self.receiver.count() < events {
            ensure!(
                begin.elapsed() < WAIT_MAX,
                "an event did not arrive in time"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(self.receiver.take())
    }

    async fn tell(&self, connection: &mut HttpConnection, whom: &Subscription) -> Result<()> {
        let test = setup::post(self.server, &whom.path("/test"), &json!({}));
        connection.exchange(&test).await?.expect(202)?;
        Ok(())
    }
}
