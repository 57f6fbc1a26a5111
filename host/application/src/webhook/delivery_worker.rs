//! Sends due deliveries: claims them, starts an attempt of each, and stores the results in batches.
//! All state is in the database: if a process dies, its deliveries are sent again once their leases
//! have expired.

use crate::application::Application;
use crate::deadline::Deadline;
use crate::failpoint::FailpointPhase;
use crate::metric_names::{WEBHOOK_ATTEMPTS_TOTAL, WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL};
use crate::webhook::attempt::{self, AttemptResult};
use crate::webhook::endpoint::{ActiveSecrets, Endpoint, InFlight, Recipient, SubscriptionUpdates};
use crate::webhook::policy::WebhookError;
use crate::webhook::service::SubscriptionTransition;
use crate::webhook::signing_secret::{self, SecretSlot};
use host_domain::id::SubscriptionId;
use host_domain::time::Timestamp;
use host_domain::webhook::{Subscription, SubscriptionEvent, SubscriptionStatus};
use host_storage::{
    DeliveryClaim, DeliveryRelease, DueSubscription, StoredDelivery, UnitOfWork, WorkQueue,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// Maximum number of deliveries in flight on this host. It limits the memory that their bodies
/// take.
const IN_FLIGHT_MAX: u32 = 2048;
/// Number of subscriptions in one batch.
const SUBSCRIPTION_BATCH_SIZE: u32 = 200;
/// Number of attempts whose results are stored together.
const RESULT_BATCH_SIZE: usize = 256;
/// Number of endpoints above which idle ones are removed.
const ENDPOINTS_MAX: usize = 10_000;
/// Maximum number of attempts to store results; after that, the leases expire.
const STORE_ATTEMPTS_MAX: u32 = 5;
/// Delay between two of these attempts.
const STORE_RETRY_DELAY: Duration = Duration::from_millis(500);
/// Time limit of updating one subscription after an attempt: this maximum, or this share of the
/// time for storing if that is less. Other results wait meanwhile.
const SUBSCRIPTION_UPDATE_TIMEOUT: Duration = Duration::from_secs(1);
const SUBSCRIPTION_UPDATE_SHARE: u32 = 10;

/// The report about a claimed delivery: its attempt, or that there was none.
struct AttemptReport {
    recipient: Arc<Recipient>,
    delivery: DeliveryRelease,
    /// The event for the receiver's subscription.
    subscription_event: Option<SubscriptionEvent>,
    /// Counts the delivery as in flight until its result is stored.
    _in_flight: InFlight,
}

/// Name of the delivery step, in failpoints and tests.
const STEP: &str = "deliver";

/// Runs the delivery worker until the application stops.
pub async fn run_worker(app: Arc<Application>) {
    let stopping = app.tasks.shutdown_token();
    let freed = Arc::new(Notify::new());
    let (report, reports) = mpsc::channel(RESULT_BATCH_SIZE);
    let (recorder, told) = (Arc::clone(&app), Arc::clone(&freed));
    app.tasks.spawn("webhook outcomes", async move {
        store_results(&recorder, reports, &told).await;
    });
    let poll = Duration::from_secs(app.config.jobs.poll_s.max(1));
    let mut word = app.store.subscribe_wakeups(WorkQueue::Deliveries);
    let mut worker = DeliveryWorker {
        app: Arc::clone(&app),
        endpoints: HashMap::new(),
        report,
    };
    while !stopping.is_cancelled() {
        let next_at = worker.dispatch_due().await;
        let wait = next_at.map_or(poll, |at| duration_until(at, app.clock.now()).min(poll));
        tokio::select! {
            () = stopping.cancelled() => return,
            () = freed.notified() => {}
            _ = word.wait(wait) => {}
        }
    }
}

fn duration_until(at: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(at.since(now).max(0).unsigned_abs())
}

/// The deliveries that this host is sending.
struct DeliveryWorker {
    app: Arc<Application>,
    endpoints: HashMap<SubscriptionId, Arc<Endpoint>>,
    report: mpsc::Sender<AttemptReport>,
}

impl DeliveryWorker {
    /// Claims as many deliveries as there is capacity for and starts them. Returns when more are
    /// due, if known.
    async fn dispatch_due(&mut self) -> Option<Timestamp> {
        let stopping = self.app.tasks.shutdown_token();
        // A delivery that is claimed while the process stops is released at once.
        while !stopping.is_cancelled() {
            if self.endpoints.len() > ENDPOINTS_MAX {
                self.endpoints
                    .retain(|_, endpoint| endpoint.in_flight() > 0);
            }
            let now = self.app.clock.now();
            let due = self.due_subscriptions().await?;
            let later = due.iter().map(|one| one.due_at).find(|at| *at > now);
            let ready = due.into_iter().filter(|one| one.due_at <= now);
            let recipients: Vec<_> = ready.filter_map(|one| self.recipient(one)).collect();
            if self.claim(&recipients, now).await == 0 {
                return later;
            }
        }
        None
    }

    /// Returns the due subscriptions that have capacity.
    async fn due_subscriptions(&self) -> Option<Vec<DueSubscription>> {
        let full = self
            .endpoints
            .iter()
            .filter(|(_, one)| one.available_capacity() == 0);
        let full: Vec<&SubscriptionId> = full.map(|(id, _)| id).collect();
        let due = self
            .app
            .store
            .due_subscriptions(&full, SUBSCRIPTION_BATCH_SIZE);
        due.await
            .inspect_err(|error| log_warning(error, "due subscriptions could not be read"))
            .ok()
    }

    fn recipient(&mut self, due: DueSubscription) -> Option<Arc<Recipient>> {
        let signers = match self.app.active_secrets(&due) {
            Ok(signers) => signers,
            Err(error) => {
                tracing::error!(
                    subscription = %due.subscription.id,
                    error = &error as &dyn std::error::Error,
                    "the signing secrets of a subscription cannot be decrypted; nothing is sent to it"
                );
                return None;
            }
        };
        let config = &self.app.config.webhooks;
        let id = due.subscription.id.clone();
        let endpoint = self.endpoints.entry(id).or_insert_with(|| {
            Arc::new(Endpoint::new(
                config.endpoint_concurrency,
                config.endpoint_per_s,
            ))
        });
        Some(Arc::new(Recipient {
            subscription: due.subscription,
            secrets: signers,
            endpoint: Arc::clone(endpoint),
        }))
    }

    /// Claims deliveries for the recipients and starts them. Returns how many were claimed.
    async fn claim(&self, recipients: &[Arc<Recipient>], now: Timestamp) -> usize {
        let held: u32 = self.endpoints.values().map(|one| one.in_flight()).sum();
        let mut left = IN_FLIGHT_MAX.saturating_sub(held);
        let mut rooms = Vec::with_capacity(recipients.len());
        for recipient in recipients {
            let room = recipient.endpoint.available_capacity().min(left);
            left -= room;
            if room > 0 {
                rooms.push((&recipient.subscription.id, room));
            }
        }
        let token = format!("{:032x}", self.app.ids.generate());
        let claim = DeliveryClaim {
            capacities: &rooms,
            now,
            lease_ms: self.app.webhooks.lease_ms(),
            token: &token,
        };
        let send_before = Instant::now() + self.app.webhooks.queue_timeout();
        if !rooms.is_empty() {
            self.app.failpoint(STEP, FailpointPhase::StepPlanned);
        }
        let claimed = match self.app.store.claim_deliveries(claim).await {
            Ok(claimed) => claimed,
            Err(error) => {
                log_warning(&error, "deliveries could not be claimed");
                return 0;
            }
        };
        let count = claimed.len();
        if count > 0 {
            self.app.failpoint(STEP, FailpointPhase::IntentCommitted);
        }
        for stored in claimed {
            let mut recipients = recipients.iter();
            let of = |one: &&Arc<Recipient>| one.subscription.id == stored.delivery.subscription;
            if let Some(recipient) = recipients.find(of) {
                self.spawn_attempt(Arc::clone(recipient), stored, &token, send_before);
            }
        }
        count
    }

    fn spawn_attempt(
        &self,
        recipient: Arc<Recipient>,
        stored: StoredDelivery,
        token: &str,
        send_before: Instant,
    ) {
        let (app, report) = (Arc::clone(&self.app), self.report.clone());
        let held = recipient.endpoint.track();
        let token = token.to_owned();
        self.app.tasks.spawn("delivery", async move {
            let attempted = app.attempt(&recipient, &stored, send_before).await;
            let (webhooks, subscription) = (&app.webhooks, &recipient.subscription);
            let reported = AttemptReport {
                subscription_event: attempted
                    .as_ref()
                    .map(|(_, one)| webhooks.subscription_event(subscription, one)),
                delivery: webhooks.apply_attempt(
                    subscription.product,
                    stored,
                    attempted,
                    token,
                    attempt::jitter_permille(app.ids.as_ref()),
                    app.clock.now(),
                ),
                recipient,
                _in_flight: held,
            };
            // If the process ends, the report has no receiver; the lease then expires.
            let _ = report.send(reported).await;
        });
    }
}

/// Stores the results of attempts until all senders are dropped.
async fn store_results(
    app: &Application,
    mut reports: mpsc::Receiver<AttemptReport>,
    freed: &Notify,
) {
    let mut batch = Vec::with_capacity(RESULT_BATCH_SIZE);
    while reports.recv_many(&mut batch, RESULT_BATCH_SIZE).await > 0 {
        let (answered, rest): (Vec<_>, Vec<_>) = batch
            .drain(..)
            .map(|report| {
                let AttemptReport {
                    recipient,
                    delivery: answered,
                    subscription_event: heard,
                    _in_flight: _held,
                } = report;
                (answered, (recipient, heard, _held))
            })
            .unzip();
        app.failpoint(STEP, FailpointPhase::ResponseReceived);
        let heard = rest.iter();
        let heard = heard.filter_map(|(recipient, heard, _)| Some((&**recipient, heard.as_ref()?)));
        let news = SubscriptionUpdates::collect(heard, app.clock.now());
        app.store_attempts(&answered, &news.succeeded).await;
        app.failpoint(STEP, FailpointPhase::OutcomeCommitted);
        for (subscription, event) in news.others {
            app.apply_subscription_event(subscription, event).await;
        }
        drop(rest);
        freed.notify_one();
    }
}

impl Application {
    fn active_secrets(&self, due: &DueSubscription) -> Result<ActiveSecrets, WebhookError> {
        let Subscription { id, tenant, .. } = &due.subscription;
        let open =
            |column, sealed: &[u8]| signing_secret::open(&self.sealer, tenant, id, column, sealed);
        let current = open(SecretSlot::Current, &due.secrets.current)?;
        let expires_at = due.subscription.previous_secret_expires_at;
        let previous = match (&due.secrets.previous, expires_at) {
            (Some(sealed), Some(at)) if self.clock.now() < at => {
                Some((open(SecretSlot::Previous, sealed)?, at))
            }
            (Some(_), _) | (None, _) => None,
        };
        Ok(ActiveSecrets { current, previous })
    }

    /// Sends a delivery. Returns `None` if it got no permit in time or the process is stopping.
    async fn attempt(
        &self,
        recipient: &Recipient,
        stored: &StoredDelivery,
        send_before: Instant,
    ) -> Option<(Timestamp, AttemptResult)> {
        let stopping = self.tasks.shutdown_token();
        let turn = tokio::time::timeout_at(send_before, recipient.endpoint.acquire_permit());
        let _place = tokio::select! {
            biased;
            () = stopping.cancelled() => return None,
            turn = turn => turn.ok()??,
        };
        let now = self.clock.now();
        let subscription = &recipient.subscription;
        let letter = self.webhooks.delivery_request(recipient, stored, now);
        let attempted = self.webhooks.sender.send(letter, now).await;
        recipient.endpoint.record_latency(attempted.duration);
        let product = subscription.product.as_str();
        metrics::counter!(WEBHOOK_ATTEMPTS_TOTAL, "product" => product, "outcome" => attempted.outcome_label())
            .increment(1);
        tracing::debug!(
            subscription = %subscription.id,
            delivery = %stored.delivery.id,
            outcome = attempted.outcome_label(),
            cause = attempted.cause,
            ms = attempted.duration.as_millis(),
            "delivery attempt finished"
        );
        Some((now, attempted))
    }

    /// Stores the results of attempts. Deliveries whose results cannot be stored are sent again
    /// once their leases have expired.
    async fn store_attempts(&self, answered: &[DeliveryRelease], succeeded: &[&Subscription]) {
        let stopping = self.tasks.shutdown_token();
        for _ in 0..STORE_ATTEMPTS_MAX {
            let mut write = UnitOfWork::new(self.clock.now());
            write.release_deliveries(answered);
            write.clear_failing_since(succeeded);
            match self.store.commit(write).await {
                Ok(()) => return,
                Err(error) => log_warning(&error, "results of deliveries are not stored yet"),
            }
            let _ = tokio::time::timeout(STORE_RETRY_DELAY, stopping.cancelled()).await;
        }
        tracing::error!(
            deliveries = answered.len(),
            "the results of deliveries were not stored; these deliveries are sent again"
        );
    }

    async fn apply_subscription_event(&self, before: &Subscription, event: &SubscriptionEvent) {
        let Subscription {
            id,
            tenant,
            product,
            ..
        } = before;
        let deadline = Deadline::from_now(
            (self.webhooks.queue_timeout() / SUBSCRIPTION_UPDATE_SHARE)
                .min(SUBSCRIPTION_UPDATE_TIMEOUT),
        );
        let moved = self.apply_event(tenant, *product, id, event, None, deadline);
        let SubscriptionTransition { from, subscription } = match moved.await {
            Ok(moved) => moved,
            Err(WebhookError::NotFound) => return,
            Err(error) => {
                return log_warning(&error, "a subscription is not updated after an attempt");
            }
        };
        // Only the call that changed the status logs it, although several may have applied the same
        // event.
        if subscription.status == from {
            return;
        }
        let organization = &tenant.organization;
        match subscription.status {
            SubscriptionStatus::Disabled => {
                metrics::counter!(WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL).increment(1);
                tracing::error!(subscription = %id, organization, "a subscription is disabled: all deliveries to it have failed for days");
            }
            SubscriptionStatus::Paused => {
                tracing::warn!(subscription = %id, organization, "a subscription is paused: its receiver answered 410 Gone");
            }
            SubscriptionStatus::Active => {}
        }
    }
}

fn log_warning(error: &(dyn std::error::Error + 'static), what: &'static str) {
    tracing::warn!(error, "{what}");
}
